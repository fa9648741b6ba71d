"""Records that are not there, known from those that are: nobody is blamed for what follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agenttrace.domain import (
    ALL,
    NOTHING,
    Approval,
    Boundary,
    Completeness,
    Conduct,
    Decision,
    First,
    Message,
    Observed,
    Outcome,
    Phase,
    Response,
    ResultShown,
)
from agenttrace.scoring import records_alone, score
from tests.builders import (
    adapter_call,
    case,
    clean_run,
    due,
    evidence,
    execution,
    model_call,
    places,
    said,
)

MODEL, ADAPTER, EXECUTOR = Boundary
HOLE = ("inconclusive", "instrumentation", "instrumentation")
ASKED = case(due())
COUNTED = Completeness(made={MODEL: 1, ADAPTER: 0, EXECUTOR: 1})


def without(made, boundary, **parts):
    return replace(made, **{boundary.value: ()}, **parts)


@pytest.mark.parametrize("asked", [ASKED, None])
@pytest.mark.parametrize("boundary", [MODEL, ADAPTER])
def test_what_stands_between_or_above_the_records_of_a_call_is_missing(asked, boundary):
    verdict = score(asked, without(clean_run(), boundary))

    assert said(verdict) == HOLE
    assert [cause.code for cause in verdict.causes] == ["record-absent"]
    assert records_alone(asked, without(clean_run(), boundary)) is First.INSTRUMENTATION


@pytest.mark.parametrize(
    "made",
    [
        evidence([], [adapter_call()], []),
        evidence([model_call()], [], [execution(call_id="c9")]),
        evidence([], None, [execution()]),
        evidence(None, [], [execution()]),
    ],
)
def test_an_id_that_no_response_gave_is_of_one_that_was_not_recorded(made):
    assert said(score(ASKED, made)) == HOLE


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (evidence([], [adapter_call(call_id=None)], []), ("adapter", "added")),
        (evidence([], [], [execution(call_id=None)]), ("executor", "not_requested")),
        (evidence([], [], [execution()]), ("executor", "not_requested")),
        (
            evidence(
                [model_call(call_id=None)],
                [adapter_call(call_id="made-1"), adapter_call(call_id="made-2")],
                [],
            ),
            ("adapter", "added"),
        ),
    ],
)
def test_a_call_without_an_id_or_with_one_of_the_adapters_own_was_asked_for_by_nobody(
    made, expected
):
    assert expected in [place[:2] for place in places(score(None, made))]


def hooked_late(*told, later=(), asked=("c2",)):
    """A run with one call on record of two that ran; what the two requests on record told."""
    return evidence(
        [model_call(call_id=one, turn=1) for one in asked],
        [adapter_call(call_id="c1"), adapter_call(call_id="c2")],
        [execution(call_id="c1"), execution(call_id="c2")],
        responses=(
            Response(ref="r1", turn=1, calls=len(asked), messages=told),
            Response(ref="r2", turn=2, messages=later),
        ),
        completeness=Completeness(made={MODEL: len(asked), ADAPTER: 2, EXECUTOR: 2}),
    )


ANSWER = Message(role="tool", call_id="c1", turn=1)


@pytest.mark.parametrize("plan", [case(due(), due()), None])
def test_a_call_that_the_first_request_answers_was_asked_for_before_it(plan):
    verdict = score(plan, hooked_late(ANSWER))

    assert said(verdict) == HOLE
    assert [cause.code for cause in verdict.causes] == ["record-absent"]
    assert records_alone(plan, hooked_late(ANSWER)) is First.INSTRUMENTATION


@pytest.mark.parametrize(
    "made",
    [
        hooked_late(),
        hooked_late(replace(ANSWER, role="assistant")),
        hooked_late(replace(ANSWER, call_id=None)),
        hooked_late(replace(ANSWER, call_id="of an earlier run")),
        hooked_late(later=(replace(ANSWER, turn=2),)),
    ],
)
def test_a_call_that_no_request_before_the_record_answers_was_added(made):
    assert ("adapter", "added", "", "c1") in places(score(None, made))


@pytest.mark.parametrize(("asked_at", "expected"), [(3, True), (1, False), (None, False)])
def test_an_id_that_a_later_response_gives_again_did_not_ask_for_an_earlier_call(
    asked_at, expected
):
    made = evidence(
        [model_call(call_id="c1", args={"n": 2}, turn=1, seq=asked_at)],
        [
            adapter_call(call_id="c1", args={"n": 1}, seq=2),
            adapter_call(call_id="c1", args={"n": 2}),
        ],
        [],
        responses=(Response(ref="r1", turn=1, calls=1, messages=(ANSWER,)),),
        completeness=Completeness(made={MODEL: 1, ADAPTER: 2, EXECUTOR: 0}),
    )

    codes = [cause.code for cause in score(None, made).causes]

    assert ("record-absent" in codes) is expected


def test_answers_to_earlier_runs_say_nothing_of_this_one():
    told = (replace(ANSWER, call_id="old"), ANSWER)

    assert said(score(None, hooked_late(*told, asked=("c1", "c2")))) == ("pass", "none", "none")


def test_calls_of_set_up_carry_what_ids_they_like():
    made = evidence([], [], [execution(call_id="s1", phase=Phase.SETUP)])

    assert "record-absent" not in [cause.code for cause in score(ASKED, made).causes]


ONE, OTHER = ({"call_id": None, "args": {"n": n}} for n in (1, 2))


def test_a_run_that_equals_a_request_which_the_adapter_lost_is_no_change_of_another():
    made = evidence(
        [model_call(**ONE), model_call(**OTHER)], [adapter_call(**ONE)], [execution(**OTHER)]
    )

    assert [cause.code for cause in score(None, made).causes] == ["record-absent"]


def test_a_run_that_equals_an_earlier_form_of_its_own_call_is_a_change_of_it():
    made = evidence([model_call(**ONE)], [adapter_call(**OTHER)], [execution(**ONE)])

    assert places(score(None, made))[0] == ("adapter", "value_changed", "/n", "model/0")


def test_a_tool_that_the_model_side_could_not_see_has_no_request_to_miss():
    seen = {MODEL: Observed(tools=frozenset({"other"})), ADAPTER: NOTHING, EXECUTOR: ALL}
    made = evidence([], None, [execution()], observed=seen)

    assert said(score(None, made)) == ("pass", "none", "none")


def test_a_manifest_can_prove_that_the_adapter_was_passed_by():
    made = without(clean_run(), ADAPTER, completeness=COUNTED)

    assert said(score(ASKED, made)) == ("fail", "adapter", "adapter")
    assert places(score(ASKED, made)) == [("adapter", "dropped", "", "c0")]


def test_an_adapter_that_nobody_watches_has_nothing_to_miss():
    assert said(score(ASKED, evidence([model_call()], None, [execution()])))[0] == "pass"


@pytest.mark.parametrize(
    "made",
    [
        evidence([model_call()], [adapter_call(link="gone")], [execution()]),
        evidence([model_call()], [adapter_call()], [execution(link="gone")]),
        evidence([model_call()], [adapter_call()], [execution(), execution(parent="gone")]),
    ],
)
def test_a_link_or_a_parent_that_leads_nowhere_is_a_lost_record(made):
    verdict = score(ASKED, made)

    assert said(verdict) == HOLE
    assert "gone" in verdict.causes[0].detail


def test_a_call_that_the_provider_ran_stands_inside_its_response():
    made = evidence(
        [model_call(), model_call("search", {}, call_id="s1", parent="r1")],
        [adapter_call()],
        [execution()],
        responses=(Response(ref="r1", response_id="resp-1", turn=1, calls=2),),
    )

    assert said(score(ASKED, made)) == ("pass", "none", "none")


@pytest.mark.parametrize(
    "response",
    [
        Response(ref="r1", response_id="resp-1", calls=2),
        Response(ref="r1", turn=1, calls=2),
        Response(ref="r1", calls=2),
        Response(ref="r2", response_id="resp-2", turn=2, calls=1),
    ],
)
def test_a_response_that_held_more_calls_than_are_on_record_leaves_the_row_open(response):
    made = clean_run(responses=(response,))

    assert said(score(ASKED, made)) == HOLE


@pytest.mark.parametrize(
    "response",
    [
        Response(ref="r1", response_id="resp-1", turn=1, calls=1),
        Response(ref="r1", response_id="another", turn=1, calls=1),
        Response(ref="r1", calls=1),
        Response(ref="r1", calls=0),
    ],
)
def test_a_response_whose_calls_are_all_on_record_is_whole(response):
    assert said(score(ASKED, clean_run(responses=(response,)))) == ("pass", "none", "none")


TOLD = [
    {"conduct": Conduct(answers_in_history=("c1",))},
    {"conduct": Conduct(results_shown=(ResultShown(shown="ok", call_id="c1"),))},
    {"outcome": Outcome(messages=(Message(role="tool", call_id="c1", content="ok"),))},
]


@pytest.mark.parametrize("told", TOLD)
def test_an_answer_to_a_call_is_a_sign_of_the_run_that_is_missing(told):
    made = evidence([model_call()], [adapter_call()], [], **told)

    assert said(score(ASKED, made)) == HOLE
    assert score(ASKED, made).causes[0].code == "run-not-recorded"


@pytest.mark.parametrize("told", TOLD)
def test_an_answer_to_a_refused_call_is_the_refusal(told):
    made = evidence([model_call()], [adapter_call(error="no")], [], **told)

    assert said(score(ASKED, made))[1] == "adapter"


def test_a_run_without_count_answer_or_child_is_not_told_from_one_that_never_was():
    """The one loss that nothing shows: without a manifest this is what a lost dispatch leaves."""
    whole, holed = clean_run(), without(clean_run(), EXECUTOR)
    never_ran = evidence(whole.model, whole.adapter, [])

    assert holed == never_ran
    assert places(score(ASKED, holed)) == [("executor", "not_executed", "", "c0")]


def test_an_approval_that_is_not_on_record_is_one_that_was_not_given():
    given = Approval(call="c2", decision=Decision.APPROVE)
    made = clean_run(conduct=Conduct(approvals=(given,)))

    assert said(score(ASKED, made)) == ("fail", "executor", "executor")
