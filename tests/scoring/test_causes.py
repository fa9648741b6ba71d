"""What is asked before blame: do the records belong here, and are they whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import (
    Approval,
    Boundary,
    Completeness,
    Conduct,
    Contract,
    Decision,
    DuplicateRecord,
    First,
    Integrity,
    LeakRule,
    Masking,
    Observed,
    Outcome,
    Ownership,
    Response,
    Run,
    SourceCall,
    StatusReport,
)
from agenttrace.scoring import records_alone, score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    clean_run,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
    rule,
    said,
)

JOIN = ("inconclusive", "join", "evaluation-platform")
HOLE = ("inconclusive", "instrumentation", "instrumentation")
PASS = ("pass", "none", "none")
ASKED = case(due())
ALL_MADE = {Boundary.MODEL: 1, Boundary.ADAPTER: 1, Boundary.EXECUTOR: 1}


def judged(asked=ASKED, **parts):
    return score(asked, clean_run(**parts))


@pytest.mark.parametrize(
    ("ownership", "code"),
    [
        ({"foreign_requests": ("req-9",)}, "foreign-request"),
        ({"requests_of_case": ("req-8",)}, "foreign-request"),
        ({"link_case_id": "case-9", "scored_case_id": "case-1"}, "link-to-other-case"),
        ({"link_case_id": "case-9"}, "link-to-other-case"),
        ({"reference_chosen_by": "fallback"}, "reference-not-by-id"),
        ({"reference_chosen_by": "position"}, "reference-not-by-id"),
        ({"scored_case_id": "case-9"}, "other-case"),
        ({"case_id_in_trace": "case-9"}, "other-case"),
        ({"case_id_observed": True}, "no-case-id"),
    ],
)
def test_records_that_may_be_another_cases_leave_the_row_to_the_platform(ownership, code):
    verdict = judged(ownership=Ownership(**ownership))

    assert said(verdict) == JOIN
    assert verdict.causes[0].code == code


@pytest.mark.parametrize(
    "ownership",
    [
        {},
        {"reference_chosen_by": "id"},
        {"case_id_in_trace": "case-1", "case_id_observed": True},
        {"link_case_id": "case-1"},
        {"requests_of_case": ("req-1", "req-2")},
        {"case_id_observed": True, "requests_of_case": ("req-1",)},
        {"clock_offset_ms": {"host": -240_000}},
    ],
)
def test_records_that_are_known_to_be_the_cases_own_are_judged(ownership):
    assert said(judged(ownership=Ownership(**ownership))) == PASS


def test_a_run_of_another_case_is_not_judged_by_this_one():
    made = replace(clean_run(), run=Run(run_id="run-1", case_id="case-9"))

    assert said(score(ASKED, made)) == JOIN


@pytest.mark.parametrize(
    ("loss", "code"),
    [
        ({"settled": False}, "unsettled"),
        ({"late": ("c9",)}, "late"),
        ({"unfinished": ("executor/0",)}, "never-finished"),
        (
            {"orphans": (SourceCall(boundary=Boundary.EXECUTOR, call_id="x", name="a"),)},
            "orphans",
        ),
        ({"truncated": ("c0",)}, "record-cut"),
        (
            {"duplicates": (DuplicateRecord(boundary=Boundary.EXECUTOR, recorders=("a", "b")),)},
            "recorded-twice",
        ),
        ({"conflicts": ("model/0",)}, "conflict"),
        ({"dropped": 1}, "spans-dropped"),
        ({"sampled_out": 1}, "sampled-out"),
        ({"missing_seqs": (4,)}, "sequence-hole"),
        ({"lost": {"queue": 1}}, "lost"),
        ({"lost": {"queue": 1}, "made": ALL_MADE}, "lost"),
        ({"made": {**ALL_MADE, Boundary.ADAPTER: 2}}, "records-missing"),
        ({"statuses": (StatusReport(recorded="ok", actual="error"),)}, "status-contradicted"),
        (
            {"source_calls": (SourceCall(boundary=Boundary.MODEL, call_id="c9", name="a"),)},
            "lost-in-conversion",
        ),
        ({"requests_made": 2, "responses_recorded": 1}, "response-missing"),
    ],
)
def test_evidence_that_is_not_whole_blames_nobody(loss, code):
    verdict = judged(completeness=Completeness(**loss))

    assert said(verdict) == HOLE
    assert verdict.causes[0].code == code
    assert records_alone(ASKED, clean_run(completeness=Completeness(**loss))) is (
        First.INSTRUMENTATION
    )


@pytest.mark.parametrize(
    ("whole", "finding"),
    [
        ({"dropped": 4, "made": ALL_MADE}, "spans-dropped"),
        ({"sampled_out": 4, "made": ALL_MADE}, "sampled-out"),
        ({"missing_seqs": (3,), "made": ALL_MADE}, "sequence-hole"),
    ],
)
def test_a_loss_that_the_manifest_proves_to_concern_no_call_is_a_finding(whole, finding):
    verdict = judged(completeness=Completeness(**whole))

    assert said(verdict) == PASS
    assert [one.code for one in verdict.findings] == [finding]


@pytest.mark.parametrize(
    "whole",
    [
        {},
        {"settled": True},
        {"dropped": 0},
        {"requests_made": 2},
        {"requests_made": 1, "responses_recorded": 1},
        {"statuses": (StatusReport(recorded="ok", actual="ok"),)},
        {"source_calls": (SourceCall(boundary=Boundary.MODEL, call_id="c0", name="refund"),)},
    ],
)
def test_what_nobody_counted_is_no_loss(whole):
    assert said(judged(completeness=Completeness(**whole))) == PASS


@pytest.mark.parametrize("asked", [case(), ASKED, no_plan(), None])
def test_no_response_at_all_is_blank_whatever_was_expected(asked):
    verdict = score(asked, evidence())

    assert said(verdict) == HOLE
    assert verdict.causes[0].code == "blank"


@pytest.mark.parametrize(
    "parts",
    [
        {"responses": (Response(ref="r1", text="I cannot do that."),)},
        {"completeness": Completeness(responses_recorded=1)},
    ],
)
def test_a_recorded_response_without_calls_meets_a_plan_of_none(parts):
    assert said(score(case(), evidence(**parts))) == PASS


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"outcome": {"/a": rule("ignore")}}, "state-not-recorded"),
        ({"leak": (LeakRule(tool="refund", path="/a"),)}, "message-not-recorded"),
    ],
)
def test_a_check_with_nothing_to_look_at_is_not_passed(asked, code):
    verdict = judged(case(due(), **asked))

    assert said(verdict) == HOLE
    assert verdict.causes[0].code == code


def test_a_required_tool_that_nobody_decorated_leaves_the_row_open():
    made = clean_run()
    blind = replace(
        made,
        observed={**made.observed, Boundary.EXECUTOR: Observed(tools=frozenset({"other"}))},
        executor=(),
    )

    assert said(score(ASKED, blind)) == HOLE
    assert score(ASKED, blind).causes[0].code == "tool-not-observed"


def test_a_tool_that_nobody_decorated_is_not_missed_where_there_is_no_plan():
    made = clean_run()
    blind = replace(
        made,
        observed={**made.observed, Boundary.EXECUTOR: Observed(tools=frozenset({"other"}))},
        executor=(),
    )

    assert said(score(None, blind)) == PASS


def answered(**parts):
    return evidence([model_call()], [adapter_call()], [], **parts)


def test_an_answer_without_a_run_on_record_is_a_lost_record():
    verdict = score(ASKED, answered(conduct=Conduct(answers_in_history=("c1",))))

    assert said(verdict) == HOLE
    assert verdict.causes[0].code == "run-not-recorded"


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            ASKED,
            {
                "conduct": Conduct(answers_in_history=("c1",)),
                "completeness": Completeness(made={**ALL_MADE, Boundary.EXECUTOR: 0}),
            },
        ),
        (ASKED, {"conduct": Conduct(answers_in_history=("c1",), cache_hits=("c1",))}),
        (ASKED, {"conduct": Conduct(answers_in_history=("c2",))}),
        (
            case(
                due(),
                contract=Contract(client_side_tools=frozenset({"refund"})),
                compare=Boundary.MODEL,
            ),
            {"conduct": Conduct(answers_in_history=("c1",))},
        ),
        (
            case(),
            {
                "conduct": Conduct(
                    answers_in_history=("c1",),
                    approvals=(Approval(call="c1", decision=Decision.REJECT),),
                )
            },
        ),
    ],
)
def test_an_answer_that_needs_no_run_is_no_lost_record(asked, parts):
    assert said(score(asked, answered(**parts)))[1] != "instrumentation"


HASH = Masking(method="hash", boundaries=tuple(Boundary), reference=True, bits=256)


@pytest.mark.parametrize(
    ("masking", "digests", "expected"),
    [
        (HASH, {}, PASS),
        (HASH, {"value_expected": "aa", "value_observed": "aa"}, PASS),
        (HASH, {"value_expected": "aa", "value_observed": "ab"}, HOLE),
        (replace(HASH, method="constant"), {}, HOLE),
        (
            replace(HASH, method="constant"),
            {"value_expected": "aa", "value_observed": "aa"},
            PASS,
        ),
    ],
)
def test_equal_masks_count_only_where_they_keep_equality(masking, digests, expected):
    args = {"to": "[REDACTED]"}
    made = clean_run(("refund", args), integrity=Integrity(digests=digests, masking=masking))

    assert said(score(case(due(args=args)), made)) == expected


@pytest.mark.parametrize(
    "digests",
    [
        {"raw_response": "a", "recorded_model": "b"},
        {"entry": "a", "recorded_executor": "b"},
    ],
)
def test_a_record_that_is_not_what_was_received_decides_nothing(digests):
    assert said(judged(integrity=Integrity(digests=digests))) == HOLE


@pytest.mark.parametrize(
    "digests",
    [
        {"raw_response": "a"},
        {"raw_response": "a", "recorded_model": "a"},
        {"entry": "a"},
        {"entry": "a", "recorded_executor": "a"},
        {"recorded_model": "b", "recorded_executor": "c"},
        {"adapter": "a", "entry": "b"},
    ],
)
def test_digests_that_contradict_no_record_say_nothing(digests):
    assert said(judged(integrity=Integrity(digests=digests))) == PASS


calls = st.lists(
    st.tuples(st.sampled_from(["refund", "look"]), st.sampled_from([ARGS, {"n": 1}, {}])),
    min_size=1,
    max_size=4,
)


@given(calls, st.data())
def test_no_lost_record_of_a_passing_run_is_blamed_on_the_product(made, data):
    whole = clean_run(
        *made, completeness=Completeness(made=dict.fromkeys(Boundary, len(made)), settled=True)
    )
    asked = case(*[due(name, args) for name, args in made])
    boundary = data.draw(st.sampled_from(list(Boundary)))
    lost = data.draw(st.integers(0, len(made) - 1))
    kept = tuple(call for n, call in enumerate(whole.at(boundary)) if n != lost)
    holed = replace(whole, **{boundary.value: kept})

    assert said(score(asked, whole)) == PASS
    assert said(score(asked, holed)) == HOLE


def test_long_lists_of_causes_stay_short():
    verdict = judged(ownership=Ownership(foreign_requests=tuple(f"req-{n}" for n in range(9999))))

    assert len(verdict.causes[0].detail) < 300


def test_the_state_and_the_message_may_be_recorded_and_clean():
    asked = case(
        due(), outcome={"/a": rule("equals", 1)}, leak=(LeakRule(tool="refund", path="/code"),)
    )
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution(result={"code": "488102"})],
        outcome=Outcome(final_state={"a": 1}, final_message="Done."),
    )

    assert said(score(asked, made)) == PASS
