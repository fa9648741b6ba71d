"""The standard OTLP exporter, where the standard environment variables ask for one.

Everything else about it (headers, timeout, compression, certificates) is read from the environment
by the exporter itself, as its own documentation says.
"""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from typing import Final

from opentelemetry.sdk.trace.export import SpanExporter

from agenttrace.capture import warn_once
from agenttrace.errors import MissingExtraError
from agenttrace.exporters._processor import RunSpanProcessor

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_IMPORTED_LATER: Final = ("requests", "encodings.idna")
"""What exporters import when they are made and first send, on a thread of ours: a child that is
forked in the middle of that waits for ever."""


def span_processors(exporter: SpanExporter | None = None) -> tuple[RunSpanProcessor, ...]:
    """What our own provider hands its spans to: an exporter that was given, and OTLP if asked for.

    Where OTLP is asked for and its package is missing, that is logged, and nothing is sent there.
    """
    made = () if exporter is None else (RunSpanProcessor(exporter),)
    otlp = load_otlp()
    return made if otlp is None else (*made, RunSpanProcessor(otlp))


def load_otlp() -> type[SpanExporter] | None:
    """The exporter's class, imported, if an OTLP endpoint is set in the environment.

    Importing it takes some tenths of a second, so it is done where a program sets itself up.
    """
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return None
    try:
        found = _otlp_class()
    except MissingExtraError as error:
        warn_once("otlp", f"agenttrace sends no spans: {error}")
        return None
    for name in _IMPORTED_LATER:
        with suppress(ImportError):
            importlib.import_module(name)
    return found


def _otlp_class() -> type[SpanExporter]:
    protocol = next((p for name in _PROTOCOLS if (p := os.environ.get(name))), "http/protobuf")
    try:
        if protocol == "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
                OTLPSpanExporter as GrpcExporter,
            )

            return GrpcExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
    except ImportError as error:
        package = f"opentelemetry-exporter-otlp-proto-{'grpc' if protocol == 'grpc' else 'http'}"
        raise MissingExtraError(extra="otlp", package=package) from error
    return OTLPSpanExporter
