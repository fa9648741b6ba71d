"""Hooks into other people's libraries; each reads the library's objects and calls capture.

Importing this package imports none of those libraries.
"""

from agenttrace.integrations._by_hand import model_response
from agenttrace.integrations._exchange import settle_streams
from agenttrace.integrations._patching import HookCheck
from agenttrace.integrations._registry import (
    Supported,
    instrument,
    instrumented,
    supported,
    uninstrument,
)

__all__ = [
    "HookCheck",
    "Supported",
    "instrument",
    "instrumented",
    "model_response",
    "settle_streams",
    "supported",
    "uninstrument",
]
