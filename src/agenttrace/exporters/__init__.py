"""Sends spans on: OTLP as the standard environment variables say, a run as soon as it settles."""

from agenttrace.exporters._ledger import ledger, read_ledger, write_ledger
from agenttrace.exporters._otlp import load_otlp, span_processors
from agenttrace.exporters._processor import RunSpanProcessor

__all__ = [
    "RunSpanProcessor",
    "ledger",
    "load_otlp",
    "read_ledger",
    "span_processors",
    "write_ledger",
]
