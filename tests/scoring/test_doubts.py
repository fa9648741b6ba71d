"""What leaves open a divergence that was found: masks, and records that could not be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agenttrace.domain import (
    NOTHING,
    Boundary,
    Completeness,
    Conduct,
    First,
    ForbiddenCall,
    Integrity,
    Masking,
    Plan,
    Response,
    ResultShown,
    UnusableRecord,
)
from agenttrace.redaction import Redactor
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
    said,
)

PASS = ("pass", "none", "none")
HOLE = ("inconclusive", "instrumentation", "instrumentation")
MODEL, ADAPTER, EXECUTOR = Boundary


def unreadable(*boundaries):
    return Completeness(
        unusable=tuple(UnusableRecord(boundary=b, reason="not JSON") for b in boundaries)
    )


@pytest.mark.parametrize(
    ("asked", "boundary", "expected"),
    [
        (case(due()), EXECUTOR, HOLE),
        (case(due()), ADAPTER, PASS),
        (case(due()), MODEL, PASS),
        (case(due(), compare=MODEL), MODEL, HOLE),
        (case(due(), compare=MODEL), EXECUTOR, PASS),
        (no_plan(), MODEL, HOLE),
    ],
)
def test_an_unreadable_record_counts_where_a_clean_row_needs_it(asked, boundary, expected):
    verdict = score(asked, clean_run(completeness=unreadable(boundary)))

    assert said(verdict) == expected
    assert "unusable-record" in [one.code for one in (*verdict.findings, *verdict.causes)]


def test_without_the_label_an_unreadable_record_leaves_everything_open():
    made = clean_run(completeness=unreadable(MODEL))

    assert records_alone(case(due()), made) is First.INSTRUMENTATION


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [(MODEL, HOLE), (ADAPTER, HOLE), (EXECUTOR, ("fail", "adapter", "adapter"))],
)
def test_records_after_the_first_divergence_are_not_needed(boundary, expected):
    made = evidence(
        [model_call()],
        [adapter_call(args={"n": 1})],
        [execution(args={"n": 1})],
        completeness=unreadable(boundary),
    )

    assert said(score(case(due(), compare=ADAPTER), made)) == expected


MASK = {**ARGS, "order": "[REDACTED]"}


def masked_at_the_executor(masked_by, digests=None, masking=None):
    return evidence(
        [model_call()],
        [adapter_call()],
        [execution(args=MASK)],
        integrity=Integrity(digests=digests or {}, masked_by=masked_by, masking=masking),
    )


@pytest.mark.parametrize(
    ("masked_by", "digests", "expected"),
    [
        ("framework", {}, ("fail", "executor", "executor")),
        (None, {}, ("fail", "executor", "executor")),
        ("recorder", {}, HOLE),
        ("recorder", {"adapter": "a", "entry": "a"}, HOLE),
        ("recorder", {"adapter": "a", "entry": "b"}, ("fail", "executor", "instrumentation")),
        ("recorder", {"value_expected": "a", "value_observed": "a"}, HOLE),
    ],
)
@pytest.mark.parametrize("asked", [case(due()), no_plan()])
def test_a_mask_is_a_change_of_the_record_unless_digests_say_more(
    asked, masked_by, digests, expected
):
    assert said(score(asked, masked_at_the_executor(masked_by, digests))) == expected


@pytest.mark.parametrize(
    ("method", "reference", "expected"),
    [
        ("hash", True, ("fail", "model", "agent")),
        ("hash", False, HOLE),
        ("sequential", True, HOLE),
    ],
)
def test_different_masks_are_different_values_where_both_were_masked_alike(
    method, reference, expected
):
    masking = Masking(method=method, boundaries=tuple(Boundary), reference=reference, bits=256)
    made = clean_run(
        ("refund", {"to": "[EMAIL_ab12]"}),
        integrity=Integrity(masking=masking, masked_by="recorder"),
    )

    assert said(score(case(due(args={"to": "[EMAIL_cd34]"})), made)) == expected


def test_a_real_fault_beside_an_unstable_mask_is_still_found():
    made = clean_run(
        ("refund", {"a": 2, "to": "[EMAIL_2]"}),
        integrity=Integrity(
            digests={"value_expected": "e", "value_observed": "e"}, masked_by="recorder"
        ),
    )
    verdict = score(case(due(args={"a": 1, "to": "[EMAIL_2]"})), made)

    assert said(verdict) == ("fail", "model", "agent")


REDACTOR = Redactor(b"k" * 32)
SECRET = {"order": "A-104", "password": "hunter2"}


def recorded(args, redactor=REDACTOR):
    """A clean run whose records were masked by a redactor."""
    masked = redactor.mask_expected(args)
    return clean_run(("refund", masked), integrity=Integrity(masking=redactor.masking()))


def test_with_the_recorders_key_expected_secrets_are_compared():
    right, wrong = case(due(args=SECRET)), case(due(args={**SECRET, "password": "hunter3"}))

    assert said(score(right, recorded(SECRET), redactor=REDACTOR)) == PASS
    assert said(score(wrong, recorded(SECRET), redactor=REDACTOR)) == ("fail", "model", "agent")


def test_a_plan_among_several_is_masked_too():
    asked = case(plan_by="any_of", plans=(Plan(plan_id="only", required=(due(args=SECRET),)),))

    assert said(score(asked, recorded(SECRET), redactor=REDACTOR)) == PASS


def test_without_the_key_a_masked_value_is_unknown_and_never_different():
    assert said(score(case(due(args=SECRET)), recorded(SECRET))) == HOLE


def test_with_another_key_a_masked_value_is_unknown_too():
    verdict = score(case(due(args=SECRET)), recorded(SECRET), redactor=Redactor(b"q" * 32))

    assert said(verdict) == HOLE
    assert verdict.causes[0].code == "other-key"


def test_masked_records_are_compared_with_each_other_without_a_key():
    changed = REDACTOR.mask_expected({**SECRET, "password": "hunter3"})
    made = evidence(
        [model_call(args=REDACTOR.mask_expected(SECRET))],
        [adapter_call(args=changed)],
        [execution(args=changed)],
        integrity=Integrity(masking=REDACTOR.masking()),
    )

    assert said(score(None, recorded(SECRET))) == PASS
    assert said(score(None, made)) == ("fail", "adapter", "adapter")


# Answers that were not read to their end

CUT = (Response(ref="r1", turn=1, complete=False),)
READ = (Response(ref="r1", turn=1),)
TORN = (*READ, Response(ref="r2", turn=2, complete=False))
GONE_ON = (*CUT, Response(ref="r2", turn=2))
OTHER = {"order_id": "B-220"}


@pytest.mark.parametrize(
    ("asked", "responses", "expected"),
    [
        (case(due()), CUT, HOLE),
        (case(due()), TORN, HOLE),
        (case(due()), GONE_ON, ("fail", "model", "agent")),
        (case(due()), READ, ("fail", "model", "agent")),
        (case(), CUT, PASS),
        (case(compare=MODEL), CUT, HOLE),
        (case(compare=MODEL), GONE_ON, PASS),
    ],
)
def test_what_is_missing_may_stand_in_the_part_of_the_last_answer_that_nobody_read(
    asked, responses, expected
):
    assert said(score(asked, evidence(responses=responses))) == expected


def test_what_really_ran_stands_whatever_the_last_answer_went_on_to_say():
    ran = clean_run(("refund", OTHER), responses=CUT)

    assert said(score(case(due()), ran)) == ("fail", "model", "agent")


OTHER = {**ARGS, "cents": 8900}


def silent(call):
    """The record without what it was handed."""
    return replace(call, arguments=None)


@pytest.mark.parametrize(
    ("made", "asked", "expected"),
    [
        ([model_call()], case(due()), HOLE),
        ([model_call(args=OTHER)], case(due()), ("fail", "model", "agent")),
        ([model_call()], case(due(), compare=MODEL), PASS),
        ([model_call()], no_plan(), PASS),
        ([model_call()], case(due(), compare=MODEL, forbidden=(ForbiddenCall(name="x"),)), PASS),
    ],
)
def test_a_run_with_unknown_arguments_counts_where_the_verdict_needs_them(made, asked, expected):
    verdict = score(asked, evidence(made, [adapter_call()], [silent(execution())]))

    assert said(verdict) == expected
    assert (expected is HOLE) == ([c.code for c in verdict.causes] == ["arguments-not-recorded"])


@pytest.mark.parametrize(("ran", "expected"), [(ARGS, PASS), (OTHER, HOLE)])
def test_an_adapter_without_arguments_refused_nothing_and_leaves_a_change_unplaced(ran, expected):
    made = evidence([model_call()], [silent(adapter_call())], [execution(args=ran)])

    assert said(score(case(due()), made)) == expected
    assert said(score(None, made)) == expected


def test_a_fault_of_another_call_stands_beside_one_of_unknown_arguments():
    made = evidence(
        [model_call(), model_call("other", {}, call_id="c2")],
        [adapter_call(), silent(adapter_call("other", call_id="c2"))],
        [execution(args=OTHER), execution("other", {}, call_id="c2")],
    )

    assert said(score(None, made)) == ("fail", "executor", "executor")


@pytest.mark.parametrize("asked", [case(due()), case(due(args=OTHER)), no_plan(), None])
def test_a_silent_record_where_nothing_is_said_to_be_observed_leaves_the_rest_to_be_judged(asked):
    made = evidence([model_call()], [silent(adapter_call())], [execution(args=OTHER)])
    made = replace(made, observed={**made.observed, ADAPTER: NOTHING})

    assert score(asked, made).run_id == made.run.run_id
    assert isinstance(records_alone(asked, made), First)


@pytest.mark.parametrize("asked", [case(due()), no_plan(), None])
def test_a_result_of_a_call_where_nothing_is_said_to_be_observed_leaves_the_rest_to_be_judged(
    asked,
):
    made = evidence(
        [model_call()],
        None,
        [execution(result="a")],
        conduct=Conduct(results_shown=(ResultShown(shown="b", call_id="c1", turn=1, position=0),)),
    )
    made = replace(made, observed={**made.observed, MODEL: NOTHING})

    assert score(asked, made).run_id == made.run.run_id
    assert isinstance(records_alone(asked, made), First)
