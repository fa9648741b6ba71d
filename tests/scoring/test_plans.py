"""Accepted alternatives: which plan a run is judged by, and what a case says beside its plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttrace.domain import AssertedValue, Boundary, Conduct, Integrity, Plan, Tools
from agenttrace.redaction import Redactor
from agenttrace.scoring import choose_plan, score
from tests.builders import (
    case,
    clean_run,
    contract,
    due,
    evidence,
    model_call,
    rule,
    said,
)

KEY = Redactor(b"k" * 32)
PASS = ("pass", "none", "none")
LABEL = ("inconclusive", "label", "label-owner")
HOLE = ("inconclusive", "instrumentation", "instrumentation")


def plan(plan_id: str, *names: str, **fields: Any) -> Plan:
    return Plan(plan_id=plan_id, required=tuple(due(name, {}) for name in names), **fields)


def any_of(*plans: Plan, **fields: Any) -> Any:
    return case(plans=plans, plan_by="any_of", **fields)


def router(*plans: Plan) -> Any:
    return case(plans=plans, plan_by="router")


TWO, ONE, NONE = plan("two", "look", "pay"), plan("one", "ask"), plan("none")


@pytest.mark.parametrize(
    ("names", "used", "status"),
    [
        (["look", "pay"], "two", "pass"),
        (["ask"], "one", "pass"),
        ([], "none", "pass"),
        (["pay"], "two", "fail"),
        (["other"], "two", "fail"),
    ],
)
def test_the_verdict_says_which_plan_was_used(names, used, status):
    made = clean_run(*[(name, {}) for name in names]) if names else _silent()
    verdict = score(any_of(TWO, ONE, NONE), made)

    assert (verdict.plan, verdict.status) == (used, status)


def _silent() -> Any:
    base = clean_run(("ask", {}))
    return replace(
        base,
        model=(),
        adapter=(),
        executor=(),
        completeness=replace(base.completeness, responses_recorded=1),
    )


def test_of_equal_plans_the_first_is_used():
    again = plan("again", "look", "pay")

    for plans in ((TWO, again), (again, TWO)):
        assert score(any_of(*plans), clean_run(("look", {}), ("pay", {}))).plan == plans[0].plan_id


def test_a_plan_of_no_calls_is_not_chosen_by_a_run_that_made_some():
    verdict = score(any_of(NONE, ONE), clean_run(("ask", {})))

    assert (verdict.plan, said(verdict)) == ("one", PASS)


@pytest.mark.parametrize("order", [(TWO, ONE), (ONE, TWO)])
def test_an_agent_that_kept_one_plan_is_not_blamed_by_another_where_no_execution_was_seen(order):
    made = evidence([model_call("ask", {})], None, None)
    verdict = score(any_of(*order), made)

    assert (verdict.plan, said(verdict)[:2]) == ("one", ("inconclusive", "instrumentation"))
    assert [cause.code for cause in verdict.causes] == ["boundary-not-recorded"]


def test_the_plan_is_found_behind_the_models_own_names():
    sums = Plan(plan_id="sums", required=(due("pay", {"cents": 100}),))
    made = evidence([model_call("pay", {"euros": 1})], None, None)
    ways = contract("pay", rename={"euros": "cents"}, unit={"euros": "x100"})

    assert choose_plan(any_of(TWO, sums, contract=ways), made, Boundary.EXECUTOR)[0] == "sums"


def test_a_rule_that_only_one_plan_states_chooses_it():
    loose = Plan(
        plan_id="loose", required=(due("pay", {}, {"/n": rule("schema", {"minimum": 3})}),)
    )
    strict = Plan(plan_id="strict", required=(due("pay", {"n": 1}),))

    assert score(any_of(strict, loose), clean_run(("pay", {"n": 5}))).plan == "loose"


CARD, CASH = plan("card", "pay", when="card"), plan("cash", "ask", when="cash")


@pytest.mark.parametrize(
    ("value", "used", "expected"),
    [
        ("card", "card", PASS),
        ("cash", "cash", ("fail", "model", "agent")),
        ("gift", None, LABEL),
        (None, None, HOLE),
    ],
)
def test_the_router_picks_the_plan_and_a_route_that_was_not_recorded_blames_nobody(
    value, used, expected
):
    made = clean_run(("pay", {}), conduct=Conduct(router_value=value))
    verdict = score(router(CARD, CASH), made)

    assert (verdict.plan, said(verdict)) == (used, expected)
    if value is None:
        assert [cause.code for cause in verdict.causes] == ["route-not-recorded"]


def test_a_plan_for_no_route_is_picked_where_none_was_recorded():
    verdict = score(router(CARD, plan("free", "pay", when=None)), clean_run(("pay", {})))

    assert (verdict.plan, said(verdict)) == ("free", PASS)


@pytest.mark.parametrize("redactor", [KEY, Redactor(b"q" * 32), None])
def test_a_route_that_was_kept_as_a_digest_is_known_with_its_key_alone(redactor):
    mask = KEY.digests_for_run()
    made = clean_run(
        ("pay", {}),
        conduct=Conduct(router_value=mask.mask_value("card")),
        integrity=Integrity(masking=mask.masking()),
    )

    verdict = score(router(CARD, CASH), made, redactor=redactor)

    assert said(verdict) == (PASS if redactor is KEY else HOLE)


WRONG = ("refund", {"order": "A-104", "cents": 8900})


def asserting(value: Any, path: str = "/cents") -> tuple[AssertedValue, ...]:
    return (AssertedValue(tool="refund", path=path, value=value),)


@pytest.mark.parametrize(
    ("value", "expected"), [(9800, PASS), (9800.0, LABEL), (8900, LABEL), (None, LABEL)]
)
def test_a_plan_that_the_cases_asserted_values_deny_judges_nobody(value, expected):
    assert said(score(case(due(), asserted=asserting(value)), clean_run())) == expected


def test_asserted_values_of_case_and_evidence_are_asked_alike():
    made = clean_run(tools=Tools(asserted=asserting(8900)))

    assert said(score(case(due(), asserted=asserting(9800)), made)) == LABEL


@pytest.mark.parametrize("mask", [KEY.for_run(), KEY.digests_for_run()])
@pytest.mark.parametrize(("value", "expected"), [("A-104", PASS), ("B-1", LABEL)])
def test_asserted_values_are_compared_with_a_plan_that_was_masked(mask, value, expected):
    args = mask.mask_arguments({"password": "pw-12345", "order": "A-104"})
    made = clean_run(("refund", args), integrity=Integrity(masking=KEY.masking()))
    if mask.__class__ is KEY.digests_for_run().__class__:
        made = replace(made, integrity=Integrity(masking=mask.masking()))
    asked = case(
        due(args={"order": "A-104"}, rules={"/password": rule("equals", "pw-12345")}),
        asserted=(*asserting(value, "/order"), *asserting("pw-12345", "/password")),
    )

    verdict = score(asked, made, redactor=KEY)

    assert said(verdict) == expected
    assert "pw-12345" not in repr(verdict)


def test_a_pattern_is_asked_of_an_asserted_value_before_it_is_masked():
    mask = KEY.digests_for_run()
    made = clean_run(
        ("refund", mask.mask_arguments({"order": "A-104"})),
        integrity=Integrity(masking=mask.masking()),
    )
    asked = case(
        due(args={}, rules={"/order": rule("length", {"min": 5})}),
        asserted=asserting("A-104", "/order"),
    )
    patterned = replace(
        asked, required=(due(args={}, rules={"/order": rule("regex", "A-[0-9]+")}),)
    )

    assert said(score(asked, made, redactor=KEY)) == PASS
    assert score(patterned, made, redactor=KEY).first == "instrumentation"


@pytest.mark.parametrize(
    ("versions", "own", "owner"),
    [
        ({"model": 3, "executor": 3}, 2, "label-owner"),
        ({"model": 3, "executor": 3}, 3, "agent"),
        ({"model": 3, "executor": 3}, None, "agent"),
        ({"model": 3, "executor": 3}, "3", "label-owner"),
        ({"reference": 3, "executor": 3}, 2, "agent"),
        ({"reference": None, "executor": 3}, 2, "label-owner"),
        ({}, 2, "agent"),
    ],
)
def test_the_cases_own_schema_version_dates_it_where_the_evidence_names_none(versions, own, owner):
    verdict = score(
        case(due(), tool_schema_version=own), clean_run(WRONG, tools=Tools(versions=versions))
    )

    assert verdict.owner == owner
