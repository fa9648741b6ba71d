"""Records of one run to Evidence: copies, conflicts, holes, several recorders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agenttrace.domain import (
    ALL,
    Boundary,
    Execution,
    Manifest,
    Observed,
    Response,
    Run,
    ToolCall,
    UnusableRecord,
)
from agenttrace.records import Event, Record, RecordKind, RunEnd, ToolSchema, assemble

RUN = Run(run_id="run-1", case_id="refund")
TRACE = "a" * 32


def record(kind, payload, seq, recorder="one", span=None):
    span = span or f"{seq:016x}"
    if hasattr(payload, "ref"):
        payload = replace(payload, ref=f"{TRACE}-{span}")
    return Record(
        kind=kind,
        trace_id=TRACE,
        span_id=span,
        run=RUN,
        recorder_id=recorder,
        seq=seq,
        start_ns=seq,
        end_ns=seq + 1,
        payload=payload,
    )


def response(seq, **fields):
    fields = {"response_id": f"resp-{seq}", "request_id": f"req-{seq}", **fields}
    return record(RecordKind.RESPONSE, Response(ref="", **fields), seq)


def call(seq, kind=RecordKind.CALL, boundary=Boundary.MODEL, **fields):
    made = ToolCall(boundary=boundary, ref="", name="pay", arguments={"cents": 1}, **fields)
    return record(kind, made, seq)


def execution(seq, recorder="one", **fields):
    made = Execution(boundary=Boundary.EXECUTOR, ref="", name="pay", arguments={}, **fields)
    return record(RecordKind.EXECUTION, made, seq, recorder)


def end(seq, recorder="one", **fields):
    manifest = Manifest(recorder_id=recorder, last_seq=seq, **fields)
    return record(RecordKind.RUN, RunEnd(manifest=manifest), seq, recorder)


def test_records_stand_at_their_boundaries_in_causal_order():
    evidence = assemble([execution(3), call(2), response(1), end(4)])

    assert [c.name for c in evidence.model] == ["pay"]
    assert len(evidence.executor) == 1
    assert evidence.adapter == ()
    assert evidence.completeness.settled is True
    assert evidence.completeness.missing_seqs == ()


def test_equal_copies_are_one_record():
    records = [response(1), call(2), end(3)]

    assert assemble(records + records).model == assemble(records).model
    assert assemble(records + records).digest == assemble(records).digest


def test_unequal_copies_are_a_conflict():
    one = call(2)
    other = replace(one, payload=replace(one.payload, arguments={"cents": 2}))

    evidence = assemble([response(1), one, other, end(3)])

    assert evidence.completeness.conflicts == (one.ref,)


def test_a_number_that_never_came_is_a_hole():
    evidence = assemble([response(1), execution(3), end(4)])

    assert evidence.completeness.missing_seqs == (2,)


def test_the_end_of_the_numbers_is_known_from_the_manifest():
    evidence = assemble([response(1), end(4), call(2)])

    assert evidence.completeness.missing_seqs == (3,)


def test_a_run_without_its_end_is_not_settled():
    assert assemble([response(1), call(2)]).completeness.settled is False


def test_a_recorder_whose_manifest_is_missing_leaves_the_run_unsettled():
    evidence = assemble([response(1), end(2), execution(3, recorder="two")])

    assert evidence.completeness.settled is False


def test_a_later_revision_of_a_manifest_replaces_the_earlier_one():
    first = end(3, settled=False)
    second = replace(
        first, payload=RunEnd(manifest=Manifest(recorder_id="one", last_seq=3, revision=2))
    )

    evidence = assemble([response(1), call(2), second, first])

    assert evidence.completeness.settled is True
    assert evidence.completeness.conflicts == ()


def test_what_a_boundary_sees_is_what_its_recorders_say():
    seen = {"model": None, "executor": ("pay", "refund")}

    evidence = assemble([response(1), end(2, observes=seen)])

    assert evidence.observed[Boundary.MODEL] == ALL
    assert evidence.observed[Boundary.ADAPTER] == Observed()
    assert evidence.observed[Boundary.EXECUTOR] == Observed(tools=frozenset({"pay", "refund"}))


def test_a_lost_approval_is_a_loss_although_no_call_is_missing():
    evidence = assemble([response(1), end(3, made={"event": 1, "response": 1})])

    assert evidence.completeness.lost == {"event not arrived": 1}


def test_two_recordings_of_one_response_are_seen_as_such():
    twice = response(2, response_id="resp-1", request_id="req-1")

    evidence = assemble([response(1), twice, end(3)])

    assert evidence.completeness.duplicates[0].response_ids == ("resp-1",)


def test_events_fill_the_fields_of_their_name():
    evidence = assemble(
        [
            response(1),
            record(RecordKind.EVENT, Event(name="output", local={"value": "done"}), 2),
            record(RecordKind.EVENT, Event(name="state", data={"value": {"paid": True}}), 3),
            record(
                RecordKind.EVENT,
                Event(name="approval", data={"call": "c1", "decision": "approve"}),
                4,
            ),
            record(RecordKind.EVENT, Event(name="a word of the user's own"), 5),
            end(6),
        ]
    )

    assert evidence.outcome.final_message == "done"
    assert evidence.outcome.final_state == {"paid": True}
    assert evidence.conduct.approvals[0].call == "c1"


def test_schemas_are_known_by_tool():
    schema = ToolSchema(tool="pay", schema={"type": "object"}, digest="d")

    evidence = assemble([response(1), record(RecordKind.SCHEMA, schema, 2), end(3)])

    assert evidence.tools.schemas == {"pay": {"type": "object"}}


def test_unusable_records_stay_on_record():
    cut = UnusableRecord(boundary=Boundary.MODEL, reason="its text was cut: …", call_id="c1")

    evidence = assemble([response(1), end(2)], [cut])

    assert evidence.completeness.unusable == (cut,)
    assert evidence.completeness.truncated == ("c1",)


def test_records_of_two_runs_are_refused():
    other = replace(response(1), run=Run(run_id="run-2"))

    with pytest.raises(ValueError, match="one run"):
        assemble([response(2), other])


def test_two_records_of_one_number_are_a_conflict():
    stray = replace(execution(2), span_id="f" * 16)

    evidence = assemble([response(1), call(2), stray, end(3)])

    assert evidence.completeness.conflicts == (stray.ref,)


def test_a_record_newer_than_the_newest_manifest_leaves_the_run_unsettled():
    assert assemble([response(1), end(2), call(3)]).completeness.settled is False


@pytest.mark.parametrize("kind", ["response", "event", "schema"])
def test_a_record_that_is_no_call_and_never_came_is_lost(kind):
    evidence = assemble([execution(1), end(3, made={"executor": 1, kind: 1})])

    assert evidence.completeness.lost == {f"{kind} not arrived": 1}


def test_requests_of_a_run_are_those_that_its_manifests_list():
    records = [response(1), end(2, requests=("req-1",)), end(1, "two", requests=("req-9",))]

    owned = assemble(records).ownership

    assert set(owned.requests_of_case or ()) == {"req-1", "req-9"}
    assert owned.foreign_requests == ()


@pytest.mark.parametrize(
    "foreign",
    [
        response(2, request_id="req-x"),
        call(2, request_id="req-x"),
        call(2, RecordKind.ADAPT, Boundary.ADAPTER, request_id="req-x"),
        execution(2, request_id="req-x"),
    ],
    ids=lambda record: record.kind,
)
def test_a_record_of_a_request_that_no_manifest_lists_is_foreign(foreign):
    owned = assemble([response(1), foreign, end(3, requests=("req-1",))]).ownership

    assert owned.foreign_requests == ("req-x",)


@pytest.mark.parametrize(
    "records",
    [
        [end(3)],
        [execution(9, "two"), end(3, requests=("req-1",))],
        [end(1, "two"), end(3, requests=("req-1",))],
        [],
    ],
    ids=["not listed", "a manifest is missing", "one lists none", "no manifest"],
)
def test_where_requests_are_not_known_a_tools_run_is_not_foreign(records):
    owned = assemble([response(1), execution(2, request_id="req-x"), *records]).ownership

    assert (owned.requests_of_case, owned.foreign_requests) == (None, ())


def test_of_two_cases_under_one_run_the_other_one_is_named():
    other = replace(call(2), run=Run(run_id=call(2).run.run_id, case_id="other"))

    evidence = assemble([response(1), other, end(3)])

    assert {evidence.run.case_id, evidence.ownership.case_id_in_trace} == {
        response(1).run.case_id,
        "other",
    }


def test_of_two_copies_the_one_with_texts_is_kept_whichever_came_first():
    local = record(RecordKind.EVENT, Event(name="output", local={"value": "Done."}), 2)
    carried = replace(local, payload=Event(name="output"))

    said = [
        assemble([response(1), *copies, end(3)]).outcome.final_message
        for copies in ((local, carried), (carried, local))
    ]

    assert said == ["Done.", "Done."]


def test_what_conflicts_and_what_could_not_be_read_stands_in_one_order():
    one, two = call(2), replace(call(3), seq=2)
    lost = [UnusableRecord(boundary=Boundary.MODEL, reason=reason) for reason in ("b", "a", "b")]

    forward = assemble([response(1), one, two, end(4)], lost)
    backward = assemble([two, end(4), one, response(1)], lost[::-1])

    assert forward == backward
    assert forward.completeness.conflicts == (two.ref,)
    assert [record.reason for record in forward.completeness.unusable] == ["a", "b"]
