"""The codec: one record in memory, on a line, on a span, is the same record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace import semconv
from agenttrace.domain import UnusableRecord
from agenttrace.records import (
    RecordKind,
    ShapeError,
    dump_json,
    evidence_digest,
    parse_json,
    record_from_attributes,
    record_from_plain,
    record_to_attributes,
    record_to_line,
    record_to_plain,
)
from tests.readers.sample_run import refund_run
from tests.records.strategies import records


def place(record):
    return {
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "parent_id": record.parent_id,
        "start_ns": record.start_ns,
        "end_ns": record.end_ns,
    }


@given(records())
def test_a_record_comes_back_from_its_line(record):
    line = record_to_line(record)

    assert line.isascii()
    assert "\n" not in line
    assert record_to_line(record_from_plain(parse_json(line).value)) == line


@given(records())
def test_a_record_comes_back_from_its_span(record):
    back = record_from_attributes(record_to_attributes(record, content=True), **place(record))

    assert not isinstance(back, UnusableRecord), back
    assert dump_json(record_to_plain(back)) == dump_json(record_to_plain(record))


@given(records())
def test_a_span_without_message_texts_has_the_digest_of_the_whole_record(record):
    back = record_from_attributes(record_to_attributes(record), **place(record))

    assert evidence_digest([back]) == evidence_digest([record])


@given(records())
def test_span_attributes_are_values_that_otlp_carries_unharmed(record):
    for value in record_to_attributes(record).values():
        for one in value if isinstance(value, tuple) else (value,):
            assert type(one) in (str, bool, int)
            if isinstance(one, str):
                one.encode()
            else:
                assert -(2**63) <= one < 2**63


@given(records().filter(lambda r: r.kind is not RecordKind.EXECUTION))
def test_only_real_executions_look_like_executions_to_other_backends(record):
    attributes = record_to_attributes(record)

    assert attributes.get(semconv.GEN_AI_OPERATION_NAME) != semconv.OPERATION_EXECUTE_TOOL
    assert semconv.GEN_AI_TOOL_NAME not in attributes


@given(records(), st.data())
def test_a_span_whose_text_was_cut_is_unusable_and_says_so(record, data):
    attributes = record_to_attributes(record)
    text = attributes.get(semconv.RECORD, "")
    if len(text) < 2:
        return
    attributes[semconv.RECORD] = text[: data.draw(st.integers(1, len(text) - 1))]

    back = record_from_attributes(attributes, **place(record))

    assert isinstance(back, UnusableRecord)
    assert "cut" in back.reason


def test_raw_text_that_a_limit_cut_is_unusable_by_its_length():
    attributes = {
        semconv.RECORD_KIND: "call",
        semconv.BOUNDARY: "model",
        semconv.RECORDER_ID: "r",
        semconv.SEQ: 1,
        semconv.RUN_ID: "run",
        semconv.TOOL_NAME: "pay",
        semconv.TOOL_CALL_ID: "call_1",
        semconv.TOOL_CALL_RAW: '{"order',
        semconv.RECORD: dump_json({"payload": {"raw_length": 20}}),
    }

    back = record_from_attributes(
        attributes, trace_id="a" * 32, span_id="b" * 16, parent_id=None, start_ns=1, end_ns=2
    )

    assert back == UnusableRecord(
        boundary="model", reason="raw holds 7 of 20 characters", call_id="call_1"
    )


@given(records(), st.dictionaries(st.sampled_from(["later", "newer"]), st.integers(), min_size=1))
def test_fields_of_a_later_minor_version_are_kept_and_written_back(record, more):
    plain = {**record_to_plain(record), **more}
    plain["payload"] = {**plain["payload"], **more}

    back = record_to_plain(record_from_plain(plain))

    assert dump_json(back) == dump_json(plain)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "dream"}, "kind"),
        ({"seq": "1"}, "seq"),
        ({"payload": None}, "payload"),
        ({"run": {}}, "run"),
        ({"trace_id": None}, "trace_id"),
    ],
)
@settings(max_examples=15)  # whatever else the record holds
@given(record=records())
def test_a_field_of_the_wrong_type_is_named(change, said, record):
    with pytest.raises(ShapeError) as caught:
        record_from_plain({**record_to_plain(record), **change})

    assert said in str(caught.value)


@settings(max_examples=30)  # of up to five records each
@given(st.lists(records(), max_size=5), st.randoms())
def test_the_digest_does_not_depend_on_order_or_copies(made, random):
    shuffled = made + made[:2]
    random.shuffle(shuffled)

    assert evidence_digest(shuffled) == evidence_digest(made)


@given(records())
def test_the_digest_changes_with_any_field_that_leaves_the_process(record):
    other = replace(record, seq=record.seq + 1)

    assert evidence_digest([record]) != evidence_digest([other])


def test_a_record_with_a_value_of_any_depth_comes_back_from_its_line():
    deep: list[object] = []
    for _ in range(5_000):
        deep = [{"in": deep}]
    (execution,) = [r for r in refund_run(executed=[{"deep": deep}]) if r.kind == "execution"]

    line = record_to_line(execution)
    assert record_to_line(record_from_plain(parse_json(line).value)) == line
