"""Where a tool call of an LLM agent first went wrong.

Records each tool call of an LLM agent at three boundaries (the model's response, what the adapter
hands on, what the function receives) and names the first one where it changed. Names are loaded on
first use, so that importing the scorer alone costs no tracer.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING, late_names
from agenttrace._version import __version__

if TYPE_CHECKING:
    from typing import Final

    from agenttrace.capture import adapter, trace
    from agenttrace.contracts import load_cases, tool_contract
    from agenttrace.domain import Case, Evidence, ToolCall, ToolContract, Verdict
    from agenttrace.integrations import instrument, model_response, uninstrument
    from agenttrace.readers import read_evidence
    from agenttrace.scoring import score
    from agenttrace.session import configure, flush, run

__all__ = [
    "Case",
    "Evidence",
    "ToolCall",
    "ToolContract",
    "Verdict",
    "__version__",
    "adapter",
    "configure",
    "flush",
    "instrument",
    "load_cases",
    "model_response",
    "read_evidence",
    "run",
    "score",
    "tool_contract",
    "trace",
    "uninstrument",
]

_HOMES: Final = {
    "Case": "domain",
    "Evidence": "domain",
    "ToolCall": "domain",
    "ToolContract": "domain",
    "Verdict": "domain",
    "adapter": "capture",
    "configure": "session",
    "flush": "session",
    # With these recording may begin, and then the session says how.
    "instrument": "session",
    "load_cases": "contracts",
    "model_response": "session",
    "read_evidence": "readers",
    "run": "session",
    "score": "scoring",
    "tool_contract": "contracts",
    "trace": "capture",
    "uninstrument": "session",
}


if not TYPE_CHECKING:
    __getattr__ = late_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
