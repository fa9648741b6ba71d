"""`default` rules: an argument that may be left out, because the tool fills it in."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.domain import MISSING, Boundary, Integrity, Kind, Tools
from agenttrace.redaction import Redactor
from agenttrace.scoring import accepts, score
from tests.builders import (
    adapter_call,
    case,
    contract,
    due,
    evidence,
    execution,
    model_call,
    places,
    rule,
    said,
)

KEY = Redactor(b"k" * 32)
PASS = ("pass", "none", "none")
USD = {"/currency": rule("default", "USD")}
LEFT_OUT: dict[str, Any] = {"order": "A-104"}
FILLED = {**LEFT_OUT, "currency": "USD"}
OTHER = {**LEFT_OUT, "currency": "EUR"}


def asked(rules: Any = USD, **fields: Any) -> Any:
    return case(due(args=LEFT_OUT, rules=rules), **fields)


def run(model: Any, adapter: Any, executor: Any, **fields: Any) -> Any:
    return evidence(
        [model_call(args=model)], [adapter_call(args=adapter)], [execution(args=executor)], **fields
    )


def stating(default: str) -> Tools:
    properties = {"order": {"type": "string"}, "currency": {"type": "string", "default": default}}
    return Tools(schemas={"refund": {"type": "object", "properties": properties}})


@pytest.mark.parametrize(
    ("value", "accepted"), [(MISSING, True), ("USD", True), ("usd", False), (None, False)]
)
def test_an_argument_is_left_out_or_equals_the_default(value, accepted):
    assert accepts(USD["/currency"], value) is accepted


@pytest.mark.parametrize(
    ("model", "adapter", "executor"),
    [
        (LEFT_OUT, LEFT_OUT, LEFT_OUT),
        (LEFT_OUT, LEFT_OUT, FILLED),
        (LEFT_OUT, FILLED, FILLED),
        (FILLED, FILLED, FILLED),
    ],
)
def test_the_default_may_be_filled_in_at_any_boundary(model, adapter, executor):
    verdict = score(asked(), run(model, adapter, executor))

    assert said(verdict) == PASS
    assert [one.counts.f1 for one in verdict.boundaries.values() if one] == [1.0, 1.0, 1.0]


def test_another_value_than_the_default_is_a_change_of_who_filled_it_in():
    verdict = score(asked(), run(LEFT_OUT, OTHER, OTHER))

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert [(d.kind, d.path) for d in verdict.divergences] == [(Kind.VALUE_CHANGED, "/currency")]


def test_another_value_of_the_models_own_is_the_agents():
    verdict = score(asked(), run(OTHER, OTHER, OTHER))

    assert said(verdict) == ("fail", "model", "agent")
    assert places(verdict) == [("model", "value_changed", "/currency", "c1")]


def test_dropping_a_value_that_is_not_the_default_is_a_change():
    verdict = score(asked(), run(OTHER, LEFT_OUT, LEFT_OUT))

    assert verdict.divergences[0].boundary is Boundary.MODEL
    assert verdict.also == (Boundary.ADAPTER,)


def test_a_default_that_the_tool_states_otherwise_is_a_fault_of_the_reference():
    verdict = score(asked(), run(LEFT_OUT, OTHER, OTHER, tools=stating("EUR")))

    assert said(verdict) == ("inconclusive", "label", "label-owner")
    assert verdict.causes[0].code == "reference-off-schema"


def test_a_default_that_the_tool_states_alike_is_none():
    made = run(LEFT_OUT, LEFT_OUT, FILLED, tools=stating("USD"))

    assert said(score(asked(), made)) == PASS
    assert said(score(asked(compare=Boundary.MODEL), made)) == PASS


def test_a_default_under_the_models_own_name_is_known_under_the_tools():
    ways = contract(rename={"cur": "currency"})
    made = run(LEFT_OUT, FILLED, FILLED)
    plan = asked({"/cur": rule("default", "USD")}, compare=Boundary.MODEL, contract=ways)

    assert said(score(plan, made)) == PASS


def test_rules_that_contradict_each_other_declare_nothing():
    plan = case(
        due(args=LEFT_OUT, rules=USD),
        due("refund", {"order": "B"}, {"/currency": rule("default", "EUR")}),
    )
    made = evidence(
        [model_call(args=LEFT_OUT), model_call(args={"order": "B"}, call_id="c2", turn=2)],
        [adapter_call(args=FILLED), adapter_call(args={"order": "B"}, call_id="c2")],
        [execution(args=FILLED), execution(args={"order": "B"}, call_id="c2")],
    )

    assert said(score(plan, made)) == ("fail", "adapter", "adapter")


def test_a_value_that_another_rule_asks_for_does_not_hide_a_default_that_the_plan_lacks():
    properties = {"mode": {"default": "fast"}, "currency": {"default": "USD"}}
    tools = Tools(schemas={"refund": {"type": "object", "properties": properties}})
    full = {**FILLED, "mode": "fast"}

    verdict = score(asked(), run(LEFT_OUT, full, full, tools=tools))

    assert [cause.code for cause in verdict.causes] == ["reference-lacks-default"]


@pytest.mark.parametrize("mask", [KEY.for_run(), KEY.digests_for_run()])
@pytest.mark.parametrize(("value", "status"), [("pw-1", "pass"), ("pw-2", "fail")])
def test_a_default_that_was_masked_or_digested_is_compared_all_the_same(mask, value, status):
    plan = case(due(args={}, rules={"/password": rule("default", "pw-1")}))
    full = mask.mask_arguments({"password": value})
    masking = KEY.masking() if "masked" in str(full) else mask.masking()

    verdict = score(plan, run({}, full, full, integrity=Integrity(masking=masking)), redactor=KEY)

    assert verdict.status == status
    assert "pw-1" not in repr(verdict)
