from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import semconv
from agenttrace.domain import Boundary
from agenttrace.errors import MissingExtraError
from agenttrace.readers import OtlpShapeError, _otlp, records_from_otlp_spans
from agenttrace.records import Record, record_to_attributes
from tests.readers.sample_run import refund_run


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, tuple | list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {"stringValue": value}


def span_of(record: Record, **more: Any) -> dict[str, Any]:
    return {
        "traceId": record.trace_id,
        "spanId": record.span_id,
        "name": "x",
        "startTimeUnixNano": str(record.start_ns),
        "endTimeUnixNano": str(record.end_ns),
        "attributes": [
            {"key": key, "value": any_value(value)}
            for key, value in record_to_attributes(record, content=True).items()
        ],
        **more,
    }


def request_of(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": list(spans)}]}]}


RECORDS = refund_run()


def test_records_come_back_equal_from_the_collectors_json():
    found = records_from_otlp_spans(request_of(*map(span_of, RECORDS)))

    assert found.records == RECORDS
    assert (found.unusable, found.foreign) == ((), 0)


def test_protobufs_own_json_with_base64_ids_and_old_names_is_read():
    def old(span: dict[str, Any]) -> dict[str, Any]:
        for name, size in (("traceId", 16), ("spanId", 8)):
            raw = bytes.fromhex(span.pop(name))
            assert len(raw) == size
            span[{"traceId": "trace_id", "spanId": "span_id"}[name]] = base64.b64encode(
                raw
            ).decode()
        for name, snake in (
            ("startTimeUnixNano", "start_time_unix_nano"),
            ("endTimeUnixNano", "end_time_unix_nano"),
        ):
            span[snake] = int(span.pop(name))
        for one in span["attributes"]:
            ((kind, value),) = one["value"].items()
            one["value"] = {kind.replace("Value", "_value"): value}
        return span

    spans = [old(span_of(record)) for record in RECORDS]

    found = records_from_otlp_spans({"resource_spans": [{"scope_spans": [{"spans": spans}]}]})

    assert found.records == RECORDS


def test_records_come_back_equal_from_the_standard_exporters_bytes():
    proto = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    document = request_of(*map(span_of, RECORDS))
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId"):
            span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    message = json_format.ParseDict(document, proto.ExportTraceServiceRequest())

    from_bytes = records_from_otlp_spans(message.SerializeToString())

    assert from_bytes.records == RECORDS
    assert records_from_otlp_spans(message) == from_bytes


def test_spans_that_the_sdk_made_are_read_after_the_standard_encoding():
    encoder = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("t")
    for record in RECORDS:
        tracer.start_span("x", attributes=record_to_attributes(record)).end()
    tracer.start_span("another tool's").end()

    found = records_from_otlp_spans(encoder.encode_spans(exporter.get_finished_spans()))

    assert [record.payload.__class__ for record in found.records] == [
        record.payload.__class__ for record in RECORDS
    ]
    assert [record.run for record in found.records] == [record.run for record in RECORDS]
    assert found.foreign == 1


def test_spans_of_other_tools_are_counted_and_left_alone():
    foreign = {"traceId": "?", "attributes": [{"key": "a", "value": {"stringValue": "b"}}]}

    found = records_from_otlp_spans(request_of(foreign, span_of(RECORDS[0])))

    assert (found.records, found.foreign) == (RECORDS[:1], 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"droppedAttributesCount": 2}, "2 attributes were dropped"),
        ({"traceId": "AAAA"}, "an id has 3 bytes, not 16"),
        ({"traceId": "0" * 32}, "the span has no id"),
        ({"spanId": 7}, "an id is no text"),
        ({"startTimeUnixNano": "soon"}, "the time 'soon' is no integer"),
    ],
)
def test_a_span_of_ours_that_was_harmed_is_no_record(change: dict[str, Any], reason: str):
    (lost,) = records_from_otlp_spans(request_of(span_of(RECORDS[3], **change))).unusable

    assert lost.run_id == "run-1"
    assert reason in lost.record.reason
    assert (lost.record.boundary, lost.record.call_id) == (Boundary.EXECUTOR, "c1")


def test_a_cut_text_is_lost_and_not_read_as_a_change():
    span = span_of(RECORDS[3])
    for one in span["attributes"]:
        if one["key"] == semconv.GEN_AI_TOOL_CALL_ARGUMENTS:
            one["value"]["stringValue"] = one["value"]["stringValue"][:-5]

    found = records_from_otlp_spans(request_of(span))

    assert found.records == ()
    assert "its text was cut" in found.unusable[0].record.reason


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"resourceLogs": []},
        {"resourceSpans": 7},
        {"resourceSpans": [{"scopeSpans": [7]}]},
        request_of({"attributes": [{"value": {}}]}),
        request_of({"attributes": [{"key": "a", "value": {"intValue": "x"}}]}),
        request_of({"attributes": [{"key": "a", "value": {"thingValue": "x"}}]}),
        object(),
    ],
)
def test_what_is_no_export_request_is_refused(source: Any):
    with pytest.raises(OtlpShapeError):
        records_from_otlp_spans(source)


def test_bytes_that_are_no_request_are_refused():
    pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

    with pytest.raises(OtlpShapeError, match="no export request"):
        records_from_otlp_spans(b"\xff\xff\xff")


def test_bytes_without_the_extra_name_it(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(_otlp, "import_module", absent)

    with pytest.raises(MissingExtraError, match=r"agenttrace-otel\[otlp\]"):
        records_from_otlp_spans(b"")


loose = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(
            ["resourceSpans", "scopeSpans", "spans", "attributes", "key", "value", "traceId",
             "intValue", "stringValue", "arrayValue", "values", "kvlistValue", "bytesValue"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(inner=loose, kind=st.sampled_from(["execution", "call", "run", "x"]))
def test_a_random_document_is_read_or_refused(inner: Any, kind: str):
    attribute = {"key": semconv.RECORD_KIND, "value": {"stringValue": kind}}
    for source in (
        {"resourceSpans": inner},
        request_of({"attributes": [attribute, {"key": "a", "value": inner}]}),
        request_of({"attributes": [attribute], "traceId": inner}),
    ):
        json.dumps(source)
        with suppress(OtlpShapeError):
            records_from_otlp_spans(source)


def test_a_span_of_ours_that_lost_even_its_kind_is_unusable_and_not_foreign():
    cut = {**span_of(refund_run()[0]), "attributes": [], "droppedAttributesCount": 12}
    request = {
        "resourceSpans": [{"scopeSpans": [{"scope": {"name": "agenttrace"}, "spans": [cut]}]}]
    }

    found = records_from_otlp_spans(request)

    assert (found.records, found.foreign) == ((), 0)
    assert "12 attributes were dropped" in found.unusable[0].record.reason
