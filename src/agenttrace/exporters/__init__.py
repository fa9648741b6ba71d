"""Sends spans on: OTLP as the standard environment variables say."""

from agenttrace.exporters._otlp import otlp_exporters

__all__ = ["otlp_exporters"]
