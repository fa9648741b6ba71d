"""Sends spans on: OTLP as the standard environment variables say, a run as soon as it settles."""

from agenttrace.exporters._otlp import load_otlp, span_processors
from agenttrace.exporters._processor import RunSpanProcessor

__all__ = ["RunSpanProcessor", "load_otlp", "span_processors"]
