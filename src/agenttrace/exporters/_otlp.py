"""The standard OTLP exporter, where the standard environment variables ask for one.

Everything else about it (headers, timeout, compression, certificates) is read from the environment
by the exporter itself, as its own documentation says.
"""

from __future__ import annotations

import os
from typing import Final

from opentelemetry.sdk.trace.export import SpanExporter

from agenttrace.errors import MissingExtraError

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


def otlp_exporters() -> tuple[SpanExporter, ...]:
    """One exporter if an OTLP endpoint is set in the environment, else none.

    Raises:
        MissingExtraError: An endpoint is set and the exporter's package is not installed.
    """
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return ()
    protocol = next((p for name in _PROTOCOLS if (p := os.environ.get(name))), "http/protobuf")
    try:
        if protocol == "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
                OTLPSpanExporter as GrpcExporter,
            )

            return (GrpcExporter(),)
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
    except ImportError as error:
        package = f"opentelemetry-exporter-otlp-proto-{'grpc' if protocol == 'grpc' else 'http'}"
        raise MissingExtraError(extra="otlp", package=package) from error
    return (OTLPSpanExporter(),)
