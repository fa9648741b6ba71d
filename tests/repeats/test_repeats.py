"""Several runs of one case brought together: figures, and what differs where."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import (
    MISSING,
    Boundary,
    Completeness,
    Evidence,
    Run,
    ToolCall,
)
from agenttrace.repeats import CaseRepeats, Repeats, Varies
from agenttrace.report import repeats_to_json
from agenttrace.scoring import score
from tests.builders import adapter_call, case, clean_run, due, evidence, execution, model_call

REFUND = {"order": "A-104", "cents": 9800}


def as_run(number: int, one: Evidence, **fields: Any) -> Evidence:
    return replace(one, run=Run(run_id=f"named-{number}", case_id="case-1", **fields))


def repeated(*runs: Evidence, by: tuple[str, ...] = (), **fields: Any) -> list[CaseRepeats]:
    repeats = Repeats(by)
    for number, one in enumerate(runs):
        named = one if one.run.run_id.startswith("named-") else as_run(100 + number, one)
        repeats.add(score(case(due()), named), named)
    return repeats.cases(**fields)


def refund(**arguments: Any) -> Evidence:
    return clean_run(("refund", {**REFUND, **arguments}))


def handed_on(args: dict[str, Any], ran: dict[str, Any], **fields: Any) -> Evidence:
    """One call that the model made as planned, and what came of it."""
    return evidence(
        model=[model_call("refund", REFUND, call_id="c0")],
        adapter=[adapter_call("refund", args, call_id="c0")],
        executor=[execution("refund", ran, call_id="c0", **fields)],
    )


def test_equal_runs_are_stable_and_nothing_varies():
    (found,) = repeated(refund(), refund(), refund())

    assert (found.runs, found.passed, found.failed, found.inconclusive) == (3, 3, 0, 0)
    assert (found.pass_rate, found.is_unstable, found.variations) == (1.0, False, ())
    assert found.pass_hat == {1: 1.0, 2: 1.0, 3: 1.0}


def test_an_argument_that_the_model_varies_is_named_at_the_model_alone():
    (found,) = repeated(refund(), refund(cents=8900), refund())

    (one,) = found.variations
    assert (one.tool, one.call, one.varies, one.path) == ("refund", 1, Varies.ARGUMENT, "/cents")
    assert one.boundary is Boundary.MODEL
    assert one.values == ((9800, 2), (8900, 1))
    assert found.is_unstable
    assert found.first_divergence == {"model": 1, "none": 2}


@pytest.mark.parametrize(
    ("odd", "boundary"),
    [
        (handed_on({**REFUND, "cents": 98}, {**REFUND, "cents": 98}), Boundary.ADAPTER),
        (handed_on(REFUND, {**REFUND, "cents": 98}), Boundary.EXECUTOR),
    ],
)
def test_a_value_is_named_at_the_boundary_that_made_it_differ(odd: Evidence, boundary: Boundary):
    (found,) = repeated(handed_on(REFUND, REFUND), odd)

    assert [(one.path, one.boundary) for one in found.variations] == [("/cents", boundary)]


def test_a_boundary_that_differs_by_itself_is_found_beside_one_before_it_that_differs():
    steady = handed_on(REFUND, REFUND)
    (found,) = repeated(steady, refund(cents=1), handed_on({**REFUND, "cents": 5}, REFUND))

    assert [one.boundary for one in found.variations] == [Boundary.MODEL]


def test_a_call_that_some_runs_make_is_a_call_of_its_own():
    two = clean_run(("refund", REFUND), ("look", {"id": 1}))
    (found,) = repeated(refund(), two, two)

    (one,) = found.variations
    assert (one.tool, one.varies, one.values) == ("look", Varies.TIMES, ((1, 2), (0, 1)))
    assert one.boundary is Boundary.MODEL


def test_a_repeated_execution_is_named_at_the_executor():
    (found,) = repeated(handed_on(REFUND, REFUND), handed_on(REFUND, REFUND, count=2))

    (one,) = found.variations
    assert (one.varies, one.boundary) == (Varies.TIMES, Boundary.EXECUTOR)
    assert one.values == ((1, 1), (2, 1))


def test_a_result_and_an_error_that_differ_are_named():
    (found,) = repeated(
        handed_on(REFUND, REFUND, result="a"),
        handed_on(REFUND, REFUND, result="b"),
        handed_on(REFUND, REFUND, error="no", error_type="TimeoutError"),
    )

    assert {(one.varies, one.values) for one in found.variations} == {
        (Varies.RESULT, (("a", 1), ("b", 1))),
        (Varies.OUTCOME, (("ok", 2), ("TimeoutError", 1))),
    }


def test_an_argument_that_is_sometimes_left_out_is_told_from_null():
    (found,) = repeated(refund(note=None), refund(), refund(note="x"))

    (one,) = found.variations
    assert set(one.values) == {(None, 1), (MISSING, 1), ("x", 1)}


def test_equal_calls_are_paired_before_alike_ones_whatever_their_order():
    first = clean_run(("refund", REFUND), ("refund", {**REFUND, "cents": 1}))
    other = clean_run(("refund", {**REFUND, "cents": 1}), ("refund", REFUND))
    (found,) = repeated(first, other)

    assert found.variations == ()


def test_inconclusive_runs_are_counted_apart_and_their_calls_are_not_compared():
    cut = replace(refund(cents=5), completeness=Completeness(settled=False))
    (found,) = repeated(refund(), cut, refund())

    assert (found.runs, found.counted, found.inconclusive) == (3, 2, 1)
    assert (found.pass_rate, found.pass_hat) == (1.0, {1: 1.0, 2: 1.0})
    assert found.causes == {"unsettled": 1}
    assert (found.variations, found.compared) == ((), 2)


def test_runs_that_are_all_inconclusive_have_no_rate():
    cut = replace(refund(), completeness=Completeness(settled=False))
    (found,) = repeated(cut, cut)

    assert (found.pass_rate, found.interval, found.pass_hat) == (None, None, {})
    assert not found.is_unstable


def test_runs_of_two_revisions_are_counted_apart_with_a_note():
    first, other = repeated(
        as_run(1, refund(), case_revision="1"),
        as_run(2, refund(), case_revision="2"),
        as_run(3, refund(), case_revision="2"),
    )

    assert [(one.case_revision, one.runs) for one in (first, other)] == [("1", 1), ("2", 2)]
    assert all(
        "2 revisions (1: 1, 2: 2 runs)" in note for one in (first, other) for note in one.notes
    )


def test_versions_are_counted_together_with_a_note_or_apart_when_asked():
    runs = [as_run(n, refund(), agent_version=str(n % 2)) for n in range(4)]
    (together,) = repeated(*runs)
    apart = repeated(*runs, by=("agent-version",))

    assert "--by agent-version" in together.notes[0]
    assert [(one.versions, one.runs) for one in apart] == [
        (("agent-version 0",), 2),
        (("agent-version 1",), 2),
    ]


def test_a_run_that_is_given_twice_counts_once():
    (found,) = repeated(as_run(1, refund()), as_run(1, refund()), as_run(2, refund()))

    assert found.runs == 2
    assert found.notes == ("1 runs were given again and counted once",)


def test_runs_without_a_case_are_repeats_of_nothing():
    repeats = Repeats()
    alone = replace(refund(), run=Run(run_id="r"))
    repeats.add(score(None, alone), alone)

    assert (repeats.cases(), repeats.caseless) == ([], 1)


def test_masks_of_different_keys_say_nothing_about_equality():
    tokens = [f"[masked:order:{key}:{'0' * 31}{n}]" for n, key in enumerate(("0a1b2c3d", "f" * 8))]
    runs = [refund(order=token) for token in tokens]
    (found,) = repeated(*runs)

    assert found.variations == ()
    assert "different keys" in found.notes[0]


def test_values_beyond_the_first_twenty_are_counted():
    (found,) = repeated(*(refund(cents=n) for n in range(30)))

    (one,) = found.variations
    assert (len(one.values), one.more) == (20, 10)


def test_argument_text_that_nobody_could_read_is_compared_as_text():
    def run(raw: str) -> Evidence:
        return evidence(
            model=[ToolCall(boundary=Boundary.MODEL, ref="model/0", name="refund", raw=raw)]
        )

    (found,) = repeated(run('{"a"'), run('{"b"'))

    assert [(one.path, one.varies) for one in found.variations] == [("", Varies.ARGUMENT)]


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_runs_hold_all_are_counted_and_equal_ones_never_vary(plans):
    runs = [clean_run(*((name, {"x": x}) for name, x in plan)) for plan in plans if plan]
    if not runs:
        return
    (found,) = repeated(*runs)
    (doubled,) = repeated(runs[0], runs[0])

    assert found.runs == found.passed + found.failed + found.inconclusive == len(runs)
    assert doubled.variations == ()
    for one in found.variations:
        assert sum(count for _, count in one.values) + one.more <= len(runs)
        assert len({str(value) for value, _ in one.values}) > 1


@pytest.mark.parametrize("odd", [float("nan"), object(), {1, 2}, b"x"])
def test_a_result_that_is_no_json_is_told_from_others_and_can_be_printed(odd: Any):
    runs = [handed_on({"cents": 1}, {"cents": 1}, result=value) for value in (odd, float("inf"))]

    (found,) = repeated(*runs)

    assert [one.varies for one in found.variations] == [Varies.RESULT]
    assert json.dumps(repeats_to_json(found), allow_nan=False)
