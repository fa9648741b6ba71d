"""Rules of blame that small runs show one by one."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace import score
from agenttrace.domain import (
    Boundary,
    Completeness,
    Conduct,
    Contract,
    Guardrail,
    Outcome,
    Tools,
    UnusableRecord,
)
from tests.builders import (
    adapter_call,
    case,
    clean_run,
    contract,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
)


def said(verdict: Any) -> tuple[str, str, str]:
    return verdict.status.value, verdict.first.value, verdict.owner.value


@pytest.mark.parametrize(
    ("declared", "due_value", "model", "handed"),
    [
        ({"coerce": {"v": "integer"}}, {"v": 12}, {"v": "12"}, {"v": "12"}),
        ({"coerce": {"v": "boolean"}}, {"v": False}, {"v": "false"}, {"v": "false"}),
        ({"rename": {"w": "v"}}, {"v": 1}, {"w": 1}, {"w": 1}),
        ({"defaults": {"u": 2}}, {"v": 1, "u": 2}, {"v": 1}, {"v": 1}),
        ({"drop_unknown": ("v",)}, {"v": 1}, {"v": 1, "x": 9}, {"v": 1, "x": 9}),
        ({"drop_null_optional": ("u",)}, {"v": 1}, {"v": 1, "u": None}, {"v": 1, "u": None}),
    ],
)
def test_a_declared_change_that_was_not_made_is_the_adapters(declared, due_value, model, handed):
    verdict = score(
        case(due(args=due_value), contract=contract(**declared)),
        evidence([model_call(args=model)], [adapter_call(args=handed)], [execution(args=handed)]),
    )

    assert said(verdict) == ("fail", "adapter", "adapter")


@pytest.mark.parametrize(
    "whole",
    [
        Completeness(made={"model": 1, "executor": 2}),
        Completeness(last_seq=3, missing_seqs=(), dropped=0),
    ],
)
def test_a_run_under_an_unknown_id_was_not_requested_where_nothing_can_be_missing(whole):
    made = evidence(
        [model_call()],
        None,
        [execution(), execution(call_id="c9", args={"n": 9})],
        completeness=whole,
    )

    assert said(score(case(due()), made)) == ("fail", "executor", "executor")
    lost = evidence(made.model, None, made.executor)
    assert score(case(due()), lost).status == "inconclusive"


@pytest.mark.parametrize("fault", ["changed", "twice", "lost"])
def test_reads_that_the_product_itself_changed_are_not_the_product_owners(fault):
    ran = {
        "changed": [execution("look", {"n": 2})],
        "twice": [execution("look", {"n": 1}), execution("look", {"n": 1})],
        "lost": [],
    }[fault]
    made = evidence(
        [model_call("look", {"n": 1})],
        [adapter_call("look", {"n": 1})],
        ran,
        outcome=Outcome(state_matches_intent=True),
    )
    asked = case(due("look", {"n": 1}), contract=Contract(read_only=frozenset({"look"})))

    assert score(asked, made).status == "fail"
    other = evidence(
        [model_call("look", {"n": 2})],
        [adapter_call("look", {"n": 2})],
        [execution("look", {"n": 2})],
        outcome=Outcome(state_matches_intent=True),
    )
    assert said(score(asked, other)) == ("inconclusive", "label", "product-owner")


def test_an_argument_that_is_ignored_makes_no_reference_off_schema():
    schema = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "id": {"type": "string"}},
        "required": ["v", "id"],
    }
    made = evidence(
        [model_call(args={"v": 2, "id": "x"})],
        [adapter_call(args={"v": 2, "id": "x"})],
        [execution(args={"v": 2, "id": "x"})],
        tools=Tools(schemas={"refund": schema}),
    )
    asked = case(due(args={"v": 1}), ignore_args={"refund": frozenset({"id"})})

    assert said(score(asked, made)) == ("fail", "model", "agent")


@pytest.mark.parametrize("call_id", ["c1", None])
def test_a_record_that_cannot_be_read_was_there(call_id):
    unread = UnusableRecord(boundary=Boundary.ADAPTER, reason="no JSON", call_id=call_id)
    made = evidence(
        [model_call()], [], [execution()], completeness=Completeness(unusable=(unread,))
    )

    verdict = score(case(due()), made)

    assert said(verdict) == ("pass", "none", "none")
    assert [one.code for one in verdict.findings] == ["unusable-record"]


def test_a_call_that_fits_its_schema_once_it_is_declared_breaks_none():
    schema = {"type": "object", "properties": {"v": {"type": "integer"}}}
    made = evidence(
        [model_call(args={"v": "12"})],
        [adapter_call(args={"v": 12})],
        [execution(args={"v": 12})],
        tools=Tools(schemas={"refund": schema}),
    )

    assert said(score(no_plan(contract=contract(coerce={"v": "integer"})), made))[0] == "pass"
    assert said(score(no_plan(), made)) == ("fail", "model", "agent")


@pytest.mark.parametrize(
    "guard",
    [
        Guardrail(blocked=True, call="c0"),
        Guardrail(blocked=True, call="c0", tripped_at_ms=9, tool_started_at_ms=20),
        Guardrail(blocked=False, call="c0", tripped_at_ms=9, tool_started_at_ms=20),
    ],
)
def test_a_call_that_was_blocked_and_ran_was_not_requested(guard):
    verdict = score(None, clean_run(("refund", {}), conduct=Conduct(guardrail=guard)))

    assert said(verdict) == ("fail", "executor", "executor")
    assert [one.kind for one in verdict.divergences] == ["not_requested"]


@pytest.mark.parametrize(
    "guard",
    [
        Guardrail(blocked=True, call="c9"),
        Guardrail(blocked=True),
        Guardrail(blocked=True, call="c0", tripped_at_ms=20, tool_started_at_ms=9),
    ],
)
def test_a_call_that_no_guardrail_stopped_is_none(guard):
    verdict = score(None, clean_run(("refund", {}), conduct=Conduct(guardrail=guard)))

    assert verdict.status == "pass"
