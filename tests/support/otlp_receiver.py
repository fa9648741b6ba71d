"""An OTLP receiver on loopback: what the standard HTTP exporter really sent, decoded."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from agenttrace import semconv
from agenttrace.domain import UnusableRecord
from agenttrace.records import Record, record_from_attributes


@dataclass(frozen=True)
class ReceivedSpan:
    """One span as it came over the wire."""

    scope: str
    schema_url: str
    span: Span

    @property
    def attributes(self) -> dict[str, Any]:
        return {pair.key: _value(pair.value) for pair in self.span.attributes}

    @property
    def is_ours(self) -> bool:
        return semconv.RECORD_KIND in self.attributes

    def record(self) -> Record | UnusableRecord:
        span = self.span
        return record_from_attributes(
            self.attributes,
            trace_id=span.trace_id.hex(),
            span_id=span.span_id.hex(),
            parent_id=span.parent_span_id.hex() or None,
            start_ns=span.start_time_unix_nano,
            end_ns=span.end_time_unix_nano,
        )


class OtlpReceiver:
    """Everything that arrived so far."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.spans: list[ReceivedSpan] = []
        self.bodies: list[bytes] = []
        """Each export request as it came, unpacked."""

    def clear(self) -> None:
        """Forget what arrived."""
        self.spans.clear()
        self.bodies.clear()

    def records(self) -> list[Record]:
        read = [span.record() for span in self.spans if span.is_ours]
        unusable = [one for one in read if isinstance(one, UnusableRecord)]
        assert unusable == []
        return [one for one in read if isinstance(one, Record)]

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        self.bodies.append(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(
                    ReceivedSpan(scope.scope.name, scope.schema_url, span) for span in scope.spans
                )


@contextmanager
def otlp_receiver(pass_on: Callable[[bytes], None] | None = None) -> Iterator[OtlpReceiver]:
    """A receiver while the block is open.

    Args:
        pass_on: Handed each export request too, before its sender is answered.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.take(body)
            if pass_on is not None:
                pass_on(body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = OtlpReceiver(f"http://127.0.0.1:{server.server_port}/v1/traces")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(_value(item) for item in value.array_value.values)
    return None if kind is None else getattr(value, kind)
