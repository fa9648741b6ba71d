"""Binds recording and judging: the one place where capture meets scoring."""

from agenttrace.integrations import instrument, model_response, uninstrument
from agenttrace.session._configure import configure, flush
from agenttrace.session._requests import AsgiRuns, WsgiRuns, run_headers
from agenttrace.session._run import AgentRun, run

__all__ = [
    "AgentRun",
    "AsgiRuns",
    "WsgiRuns",
    "configure",
    "flush",
    "instrument",
    "model_response",
    "run",
    "run_headers",
    "uninstrument",
]
