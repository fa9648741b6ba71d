"""What the records of one call show by themselves."""

from __future__ import annotations

import pytest

from agenttrace.domain import (
    Approval,
    Conduct,
    Contract,
    Decision,
    First,
    Guardrail,
    RuntimeTypes,
    Tools,
)
from agenttrace.scoring import records_alone, score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
    places,
    said,
)

PASS = ("pass", "none", "none")
OTHER = {"n": 2}
CUT = '{"order": "A-104", "cents": 98'


def alone(*boundaries, **parts):
    return score(no_plan(), evidence(*boundaries, **parts))


@pytest.mark.parametrize(
    ("made", "answer", "kind"),
    [
        (evidence([model_call()], [], []), ("pass", "adapter", "adapter"), "dropped"),
        (
            evidence([model_call()], [adapter_call(error="unknown tool")], []),
            ("pass", "adapter", "adapter"),
            "rejected",
        ),
        (
            evidence([model_call()], [adapter_call(), adapter_call()], [execution(count=2)]),
            ("fail", "adapter", "adapter"),
            "duplicated",
        ),
        (
            evidence(
                [model_call("list", OTHER)],
                [adapter_call("link", OTHER)],
                [execution("link", OTHER)],
            ),
            ("fail", "adapter", "adapter"),
            "name_changed",
        ),
        (
            evidence(
                [model_call("list", OTHER)],
                [adapter_call("list", OTHER)],
                [execution("link", OTHER)],
            ),
            ("fail", "executor", "executor"),
            "name_changed",
        ),
        (
            evidence([model_call()], [adapter_call()], []),
            ("pass", "executor", "executor"),
            "not_executed",
        ),
        (
            evidence([model_call()], [adapter_call()], [execution(error="no", count=0)]),
            ("pass", "executor", "executor"),
            "rejected",
        ),
        (
            evidence([model_call()], [adapter_call()], [execution(count=2)]),
            ("fail", "executor", "executor-retries"),
            "duplicated",
        ),
        (
            evidence([model_call()], [adapter_call()], [execution(), execution()]),
            ("fail", "executor", "executor-retries"),
            "duplicated",
        ),
        (
            evidence([], [], [execution(call_id=None)]),
            ("fail", "executor", "executor"),
            "not_requested",
        ),
        (evidence([], [adapter_call(call_id=None)], []), ("pass", "adapter", "adapter"), "added"),
        (
            evidence([model_call()], [adapter_call()], [execution(digest="aa", exit_digest="bb")]),
            ("fail", "executor", "tool-owner"),
            "mutated",
        ),
        (
            evidence(
                [model_call(raw=CUT)], [adapter_call(args={"n": 1})], [execution(args={"n": 1})]
            ),
            ("fail", "adapter", "adapter"),
            "repaired",
        ),
        (
            evidence([model_call(raw=CUT)], None, [execution(args={"n": 1})]),
            ("fail", "executor", "adapter"),
            "repaired",
        ),
    ],
)
def test_a_fault_between_the_records_needs_no_plan(made, answer, kind):
    verdict = score(no_plan(), made)

    assert said(verdict) == answer
    assert verdict.divergences[0].kind == kind
    assert records_alone(None, made) == answer[1]


def test_a_cut_off_text_that_nobody_ran_is_a_finding_without_a_plan():
    verdict = alone([model_call(raw=CUT)], [adapter_call(error="not JSON")], [])

    assert said(verdict) == ("pass", "model", "agent")
    assert places(verdict) == [("model", "truncated", "", "c1")]


def test_a_cut_off_text_that_ran_is_the_models_with_a_plan_and_the_adapters_too():
    verdict = score(
        case(due()),
        evidence([model_call(raw=CUT)], [adapter_call(args={})], [execution(args={})]),
    )

    assert said(verdict) == ("fail", "model", "agent")
    assert [one.value for one in verdict.also] == ["adapter"]
    assert places(verdict) == [
        ("model", "truncated", "", "c1"),
        ("adapter", "repaired", "", "c1"),
    ]


def test_a_refusal_that_follows_from_an_earlier_fault_is_no_second_one():
    verdict = score(
        case(due()), evidence([model_call(raw=CUT)], [adapter_call(error="not JSON")], [])
    )

    assert places(verdict) == [("model", "truncated", "", "c1")]


def test_a_call_of_a_tool_that_was_not_offered_is_the_models():
    offered = Tools(offered=("look",))
    ran = [[adapter_call(args=OTHER)], [execution(args=OTHER)]]

    assert said(alone([model_call(args=OTHER)], *ran, tools=offered)) == ("fail", "model", "agent")
    assert alone([model_call(raw=CUT)], *ran, tools=offered).first == "model"


def test_arguments_that_break_the_tools_schema_are_the_models():
    schema = {"properties": {"n": {"type": "integer"}}}
    verdict = alone(
        [model_call(args={"n": "3"})],
        [adapter_call(args={"n": "3"}, error="n must be an integer")],
        [],
        tools=Tools(schemas={"refund": schema}),
    )

    assert said(verdict) == ("pass", "model", "agent")


def test_a_call_twice_in_one_response_under_one_id_is_a_duplicate():
    verdict = alone(
        [model_call(), model_call()], [adapter_call(), adapter_call()], [execution(), execution()]
    )

    assert places(verdict) == [("model", "duplicated", "", "model/1")]


def runs_of(*runs):
    """Of one call that asked for 9800, these runs, all inside its dispatch."""
    asked, handed = model_call(args={"n": 9800}), adapter_call(args={"n": 9800})
    made = [execution(name, {"n": n}, link="adapter/0") for name, n in runs]
    return places(score(no_plan(), evidence([asked], [handed], made)))


NOT_ASKED = ("executor", "not_requested", "", "c1")
TWICE = ("executor", "duplicated", "", "c1")


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ([("refund", 9800), ("refund", 5)], [NOT_ASKED]),
        ([("refund", 5), ("refund", 9800)], [NOT_ASKED]),
        ([("refund", 9800), ("notify", 9800)], [NOT_ASKED]),
        ([("refund", 9800), ("refund", 5), ("refund", 7)], [NOT_ASKED, NOT_ASKED]),
        ([("refund", 9800), ("refund", 5), ("refund", 9800)], [TWICE, NOT_ASKED]),
        ([("refund", 5), ("refund", 5)], [TWICE, ("executor", "value_changed", "/n", "c1")]),
        ([("refund", 5), ("refund", 7)], [NOT_ASKED, ("executor", "value_changed", "/n", "c1")]),
        ([("refund", 9800), ("refund", 9800)], [TWICE]),
    ],
)
def test_a_further_run_in_a_dispatch_is_a_repeat_or_was_not_requested(runs, found):
    assert sorted(runs_of(*runs)) == sorted(found)


def test_the_run_of_a_twin_is_no_second_run():
    verdict = alone([model_call(), model_call()], None, [execution(count=2)])

    assert [one.kind.value for one in verdict.divergences if one.boundary == "executor"] == []


def test_a_tool_that_the_users_side_runs_has_no_run():
    rules = Contract(client_side_tools=frozenset({"refund"}))

    assert said(score(no_plan(contract=rules), evidence([model_call()], [adapter_call()], []))) == (
        PASS
    )


def approved(*decisions):
    return Conduct(approvals=tuple(Approval(call=c, decision=d) for c, d in decisions))


YES, NO = Decision.APPROVE, Decision.REJECT


@pytest.mark.parametrize(
    ("decisions", "ran", "kinds"),
    [
        ([("c1", YES)], 1, []),
        ([("c1", YES)], 0, ["not_executed"]),
        ([("c1", NO)], 0, []),
        ([("c1", NO)], 1, ["not_requested"]),
        ([("c9", YES)], 1, ["not_requested"]),
        ([("c1", NO), ("c1", YES)], 1, []),
        ([("c1", YES), ("c1", NO)], 1, ["not_requested"]),
        ([], 1, []),
    ],
)
def test_a_call_runs_with_its_own_approval_only(decisions, ran, kinds):
    verdict = alone(
        [model_call()],
        [adapter_call()],
        [execution(count=ran)] if ran else [],
        conduct=approved(*decisions),
    )

    assert [one.kind.value for one in verdict.divergences] == kinds


@pytest.mark.parametrize(
    ("guard", "ran", "kinds"),
    [
        (Guardrail(blocked=True), 0, []),
        (Guardrail(blocked=True, call="c1"), 0, []),
        (Guardrail(blocked=True, call="c2"), 0, ["not_executed"]),
        (Guardrail(blocked=True, call="nobody"), 0, []),
        (Guardrail(blocked=False, tripped_at_ms=50, tool_started_at_ms=80), 1, ["not_requested"]),
        (Guardrail(blocked=False, tripped_at_ms=50, tool_started_at_ms=40), 1, []),
        (Guardrail(blocked=False, tripped_at_ms=50), 1, []),
    ],
)
def test_a_guardrail_explains_a_stopped_call_and_forbids_a_late_one(guard, ran, kinds):
    verdict = alone(
        [model_call(), model_call("look", OTHER, call_id="c2")],
        [adapter_call(), adapter_call("look", OTHER, call_id="c2")],
        [*([execution()] if ran else []), execution("look", OTHER, call_id="c2")],
        conduct=Conduct(guardrail=guard),
    )
    mine = [one.kind.value for one in verdict.divergences if one.call == "c1"]

    assert mine == kinds


def test_a_call_answered_from_a_cache_was_not_executed():
    verdict = alone(
        [model_call()],
        [adapter_call()],
        [execution(count=0, error="served from cache")],
        conduct=Conduct(cache_hits=("c1",)),
    )

    assert places(verdict) == [("executor", "not_executed", "", "c1")]


def test_another_runtime_type_is_the_adapters():
    types = RuntimeTypes(
        call_id="c1",
        declared={"/when": "date", "/n": "int"},
        received={"/when": "str", "/n": "int"},
    )
    verdict = alone(
        [model_call()], [adapter_call()], [execution()], tools=Tools(runtime_types=types)
    )

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert places(verdict) == [("adapter", "type_coerced", "/when", "c1")]


def test_divergences_stand_by_time_then_boundary_then_path():
    verdict = score(
        case(due("a", {"x": 1, "y": 1}), due("b", {"x": 1})),
        evidence(
            [model_call("a", {"x": 1, "y": 1}), model_call("b", {"x": 2}, call_id="c2", turn=2)],
            [
                adapter_call("a", {"x": 2, "y": 2}),
                adapter_call("b", {"x": 2}, call_id="c2"),
            ],
            [execution("a", {"x": 3, "y": 2}), execution("b", {"x": 2}, call_id="c2")],
        ),
    )

    assert places(verdict) == [
        ("adapter", "value_changed", "/x", "c1"),
        ("adapter", "value_changed", "/y", "c1"),
        ("executor", "value_changed", "/x", "c1"),
        ("model", "value_changed", "/x", "c2"),
    ]


def test_numeric_ids_and_arguments_of_any_name_are_linked_and_shown():
    verdict = alone(
        [model_call(args={"a/b": {"": 1}}, call_id=7)],
        [adapter_call(args={"a/b": {"": 2}}, call_id=7)],
        None,
    )

    assert places(verdict) == [("adapter", "value_changed", "/a~1b/", "model/0")]


def test_an_unrequested_run_of_a_tool_that_the_lead_cannot_see_is_no_fault():
    assert records_alone(None, evidence(None, None, [execution()])) is First.NONE


def test_what_ran_is_shown_as_it_was_received():
    verdict = alone([], [], [execution(call_id=None)])

    assert verdict.divergences[0].after == {"name": "refund", "args": ARGS}
