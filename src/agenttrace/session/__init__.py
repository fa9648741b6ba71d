"""Binds recording and judging: the one place where capture meets scoring."""

from agenttrace.session._configure import configure, flush
from agenttrace.session._run import AgentRun, run

__all__ = ["AgentRun", "configure", "flush", "run"]
