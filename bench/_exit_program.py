"""A program that records 1,200 spans and ends: `python -m bench._exit_program ours http URL DIR`.

Its last line says the time, on the clock that all processes of the machine share.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

SPANS = 1_200


def _exporter(protocol: str, endpoint: str) -> SpanExporter:
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        return Grpc(endpoint=endpoint, insecure=True)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

    return Http(endpoint=endpoint)


def _ours(exporter: SpanExporter, folder: str) -> None:
    import agenttrace

    @agenttrace.trace
    def work(number: int) -> dict[str, Any]:
        return {"number": number}

    agenttrace.configure(evidence=folder, exporter=exporter)
    with agenttrace.run():
        for number in range(SPANS - 1):
            work(number)


def _standard(exporter: SpanExporter, _: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("bench")
    for number in range(SPANS):
        with tracer.start_as_current_span("work") as span:
            span.set_attribute("number", number)


if __name__ == "__main__":
    who, protocol, endpoint, folder = sys.argv[1:]
    (_ours if who == "ours" else _standard)(_exporter(protocol, endpoint), folder)
    print(time.monotonic(), flush=True)
