"""The face for a first look: an agent with known faults, recorded and judged offline.

The agent, its tools and its adapter are ordinary code on the real SDKs, asking a scripted
provider on the loopback. `main` is what `agenttrace demo` runs; the provider serves anybody who
wants an agent to run offline.
"""

from agenttrace.demo._main import DEFAULT_OUTPUT, main
from agenttrace.demo._provider import ReceivedRequest, ScriptedCall, ScriptedProvider, Turn

__all__ = [
    "DEFAULT_OUTPUT",
    "ReceivedRequest",
    "ScriptedCall",
    "ScriptedProvider",
    "Turn",
    "main",
]
