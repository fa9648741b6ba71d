"""The command line: results to stdout, the rest to stderr; 0 passed, 1 failed, 2 bad input."""

from agenttrace.cli._main import main

__all__ = ["main"]
