"""Our records out of OTLP, however they came: protobuf bytes, protobuf objects, or JSON.

Spans of other tools are counted and left alone. A span of ours that was cut or that lost attributes
on the way is no record: read as one it would show a change that nobody made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from agenttrace import semconv
from agenttrace.domain import Boundary, UnusableRecord
from agenttrace.errors import MissingExtraError
from agenttrace.readers._otlp_values import (
    OtlpShapeError,
    field,
    hex_id,
    json_attributes,
    messages,
    nanoseconds,
    proto_attributes,
)
from agenttrace.records import Record, read_attributes


@dataclass(frozen=True, kw_only=True)
class UnusableSpan:
    """A span of ours that could not be read."""

    run_id: str | None
    """None: not even that could be read."""
    record: UnusableRecord


@dataclass(frozen=True, kw_only=True)
class OtlpRecords:
    """What one export request held."""

    records: tuple[Record, ...]
    """In the order of the request; a span that was sent twice is here twice."""
    unusable: tuple[UnusableSpan, ...]
    foreign: int
    """Spans of other tools."""


def records_from_otlp_spans(source: bytes | Mapping[str, Any] | Any) -> OtlpRecords:
    """Read the records of one `ExportTraceServiceRequest`.

    Args:
        source: Its protobuf bytes, its protobuf object, or its JSON form as a dictionary.

    Raises:
        MissingExtraError: It is bytes, and the protobuf classes of OTLP are not installed.
        OtlpShapeError: It is no such request.
    """
    found = list(read_spans(source))
    return OtlpRecords(
        records=tuple(one.record for one in found if isinstance(one, FoundRecord)),
        unusable=tuple(one for one in found if isinstance(one, UnusableSpan)),
        foreign=found.count(None),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRecord:
    """A record, and the JSON values that it was made of."""

    record: Record
    plain: dict[str, Any]


def read_spans(
    source: bytes | Mapping[str, Any] | Any,
) -> Iterator[FoundRecord | UnusableSpan | None]:
    """As `records_from_otlp_spans`, span after span; None is a span of another tool."""
    if isinstance(source, bytes | bytearray | memoryview):
        source = _from_bytes(bytes(source))
    for span in _json_spans(source) if isinstance(source, Mapping) else _proto_spans(source):
        if semconv.RECORD_KIND not in span.attributes and span.scope != semconv.SCOPE:
            yield None
            continue
        found = _read(span)
        if isinstance(found, UnusableRecord):
            run_id = span.attributes.get(semconv.RUN_ID)
            yield UnusableSpan(run_id=run_id if isinstance(run_id, str) else None, record=found)
        else:
            yield FoundRecord(record=found[0], plain=found[1])


def check_around(request: Any) -> None:
    """Look at a JSON request of which spans were taken out and `null` put in.

    Raises:
        OtlpShapeError: What is left is no such request.
    """
    if not isinstance(request, Mapping):
        raise OtlpShapeError("it is no object")
    for resource in messages(request, "resourceSpans"):
        for scope in messages(resource, "scopeSpans"):
            spans = field(scope, "spans")
            if isinstance(spans, list):
                spans[:] = [span for span in spans if span is not None]
    for _ in _json_spans(request):
        pass


@dataclass(frozen=True, kw_only=True, slots=True)
class _Span:
    scope: Any
    attributes: Mapping[str, Any]
    trace_id: Any
    span_id: Any
    parent_id: Any
    start: Any
    end: Any
    dropped: int


def _read(span: _Span) -> tuple[Record, dict[str, Any]] | UnusableRecord:
    try:
        trace_id, span_id = hex_id(span.trace_id, 16), hex_id(span.span_id, 8)
        parent_id = hex_id(span.parent_id, 8)
        start_ns, end_ns = nanoseconds(span.start), nanoseconds(span.end)
        if trace_id is None or span_id is None:
            raise OtlpShapeError("the span has no id")
    except OtlpShapeError as error:
        return _lost(span, str(error))
    if span.dropped:
        return _lost(span, f"a limit cut it: {span.dropped} attributes were dropped on the way")
    return read_attributes(
        span.attributes,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        start_ns=start_ns,
        end_ns=end_ns,
    )


def _lost(span: _Span, reason: str) -> UnusableRecord:
    boundary = span.attributes.get(semconv.BOUNDARY)
    call_id = span.attributes.get(
        semconv.TOOL_CALL_ID, span.attributes.get(semconv.GEN_AI_TOOL_CALL_ID)
    )
    return UnusableRecord(
        boundary=Boundary(boundary) if boundary in set(Boundary) else Boundary.MODEL,
        reason=reason,
        call_id=call_id if isinstance(call_id, str | int) else None,
    )


def _json_spans(request: Mapping[str, Any]) -> Iterator[_Span]:
    if field(request, "resourceSpans") is None:
        raise OtlpShapeError("there is no resourceSpans in it")
    for resource in messages(request, "resourceSpans"):
        for scope in messages(resource, "scopeSpans"):
            of = field(scope, "scope", {})
            name = field(of, "name") if isinstance(of, Mapping) else None
            for span in messages(scope, "spans"):
                dropped = field(span, "droppedAttributesCount", 0)
                yield _Span(
                    scope=name,
                    attributes=json_attributes(span),
                    trace_id=field(span, "traceId"),
                    span_id=field(span, "spanId"),
                    parent_id=field(span, "parentSpanId"),
                    start=field(span, "startTimeUnixNano"),
                    end=field(span, "endTimeUnixNano"),
                    dropped=dropped if isinstance(dropped, int) else 1,
                )


def _proto_spans(request: Any) -> Iterator[_Span]:
    try:
        resources = request.resource_spans
    except AttributeError:
        raise OtlpShapeError(f"{type(request).__name__} is no export request") from None
    for resource in resources:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield _Span(
                    scope=scope.scope.name,
                    attributes=proto_attributes(span),
                    trace_id=span.trace_id,
                    span_id=span.span_id,
                    parent_id=span.parent_span_id,
                    start=span.start_time_unix_nano,
                    end=span.end_time_unix_nano,
                    dropped=span.dropped_attributes_count,
                )


def _from_bytes(data: bytes) -> Any:
    try:
        protocol = import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        errors = import_module("google.protobuf.message")
    except ImportError as error:
        raise MissingExtraError(extra="otlp", package="opentelemetry-proto") from error
    try:
        return protocol.ExportTraceServiceRequest.FromString(data)
    except errors.DecodeError as error:
        raise OtlpShapeError(f"the bytes are no export request ({error})") from error
