"""A plan is met under what its contract calls equal; in another boundary's form it is at fault."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace import score
from agenttrace.domain import Case, Tools
from tests.builders import adapter_call, case, contract, due, evidence, execution, model_call

NUMBER = {"refund": {"type": "object", "properties": {"v": {"type": "number"}}}}


def judged(asked: Case, model: Any, tool: Any, tools: Tools | None = None) -> Any:
    made = evidence(
        [model_call(args={"v": model})],
        [adapter_call(args={"v": tool})],
        [execution(args={"v": tool})],
        tools=tools or Tools(),
    )
    return score(asked, made)


@pytest.mark.parametrize("compare", ["executor", "adapter"])
@pytest.mark.parametrize(
    ("declared", "plan", "model", "tool"),
    [
        ({"fold_case": ("v",)}, "a-1", "a-1", "A-1"),
        ({"fold_case": ("v",)}, "a-1", "A-1", "A-1"),
        ({"normalize": {"v": "trim"}}, "A", " A", "A "),
        ({"schema": NUMBER["refund"]}, 98, 98, 98.0),
    ],
)
def test_a_plan_that_is_met_as_declared_passes_and_says_so(declared, plan, model, tool, compare):
    asked = case(due(args={"v": plan}), contract=contract(**declared), compare=compare)

    verdict = judged(asked, model, tool)

    assert (verdict.status, verdict.first, verdict.divergences) == ("pass", "none", ())
    written = plan == tool and type(plan) is type(tool)
    assert ("equal-as-declared" in [one.code for one in verdict.findings]) is not written


def test_what_the_model_is_offered_as_a_number_is_one_value_in_the_plan_too():
    tools = Tools(schemas=NUMBER)

    for compare in ("model", "executor"):
        assert (
            judged(case(due(args={"v": 98}), compare=compare), 98.0, 98.0, tools).status == "pass"
        )
    assert judged(case(due(args={"v": 98})), 98.0, 98.0).status == "fail"


@pytest.mark.parametrize(
    ("declared", "plan", "model", "tool"),
    [
        ({"coerce": {"v": "integer"}}, "1", "1", 1),
        ({"coerce": {"v": "boolean"}}, "true", "true", True),
    ],
)
def test_a_plan_in_the_models_form_is_at_fault_after_the_adapter(declared, plan, model, tool):
    asked = case(due(args={"v": plan}), contract=contract(**declared))

    verdict = judged(asked, model, tool)

    assert (verdict.status, verdict.first, verdict.owner) == (
        "inconclusive",
        "label",
        "label-owner",
    )
    assert [one.code for one in verdict.causes] == ["reference-of-earlier-boundary"]


def test_a_plan_with_an_old_name_is_at_fault_after_the_adapter():
    asked = case(due(args={"sum": 1}), contract=contract(rename={"sum": "v"}))
    made = evidence(
        [model_call(args={"sum": 1})], [adapter_call(args={"v": 1})], [execution(args={"v": 1})]
    )

    assert [one.code for one in score(asked, made).causes] == ["reference-of-earlier-boundary"]


def test_a_unit_says_nothing_of_the_boundary_that_a_plan_is_written_for():
    asked = case(due(args={"v": 98}), contract=contract(unit={"v": "x100"}))

    assert judged(asked, 98, 9800).first != "label"


@pytest.mark.parametrize("tool", ["B-1", "a1"])
def test_another_value_is_another_under_any_declaration(tool):
    asked = case(due(args={"v": "a-1"}), contract=contract(fold_case=("v",)))

    assert judged(asked, tool, tool).status == "fail"
    assert judged(asked, "a-1", tool).status == "fail"
