"""Whether the reference itself holds."""

from __future__ import annotations

import pytest

from agenttrace.domain import (
    ALL,
    AssertedValue,
    Boundary,
    Case,
    Conduct,
    Contract,
    Evidence,
    Execution,
    First,
    ForbiddenCall,
    HumanEdit,
    Outcome,
    Owner,
    Plan,
    RequiredCall,
    Run,
    ToolCall,
    Tools,
)
from agenttrace.scoring import score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    clean_run,
    contract,
    due,
    evidence,
    execution,
    model_call,
    rule,
    said,
)

LABEL = ("inconclusive", "label", "label-owner")
PASS = ("pass", "none", "none")
WRONG = ("refund", {"order": "A-104", "cents": 8900})


@pytest.mark.parametrize(
    "asked",
    [
        case(due(), forbidden=(ForbiddenCall(name="refund"),)),
        case(due(), forbidden=(ForbiddenCall(name="refund", arguments=ARGS),)),
        case(due(), due(), max_calls={"refund": 1}),
        case(max_calls={"refund": 1}, min_calls={"refund": 2}),
        case(min_calls={"refund": 1}, forbidden=(ForbiddenCall(name="refund"),)),
        case(due(), due(), once_per={"refund": "/order"}),
    ],
)
def test_a_reference_that_contradicts_itself_judges_nobody(asked):
    verdict = score(asked, clean_run())

    assert said(verdict) == LABEL
    assert verdict.causes[0].code == "contradiction"


def test_forbidding_other_arguments_is_no_contradiction():
    asked = case(due(), forbidden=(ForbiddenCall(name="refund", arguments={"cents": 1}),))

    assert said(score(asked, clean_run())) == PASS


@pytest.mark.parametrize(
    ("asked", "value", "expected"),
    [
        (case(due()), 9800, PASS),
        (case(due()), 8900, LABEL),
        (case(due()), 9800.0, LABEL),
        (case(due(args={"order": "A-104"})), 9800, LABEL),
        (case(), 9800, LABEL),
        (
            case(due(args={"order": "A-104"}, rules={"/cents": rule("range", {"min": 1})})),
            9800,
            PASS,
        ),
        (
            case(due(args={"order": "A-104"}, rules={"/cents": rule("range", {"max": 1})})),
            9800,
            LABEL,
        ),
    ],
)
def test_a_plan_that_the_cases_own_assertions_deny_judges_nobody(asked, value, expected):
    asserted = (AssertedValue(tool="refund", path="/cents", value=value),)

    assert said(score(asked, clean_run(tools=Tools(asserted=asserted)))) == expected


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"reference": 2, "model": 3, "adapter": 3, "executor": 3}, "label-owner"),
        ({"reference": 2, "adapter": 3}, "label-owner"),
        ({"reference": 3, "model": 3, "executor": 3}, "agent"),
        ({"model": 3, "executor": 3}, "agent"),
    ],
)
def test_a_reference_of_an_older_schema_does_not_blame_the_run(versions, expected):
    verdict = score(case(due()), clean_run(WRONG, tools=Tools(versions=versions)))

    assert verdict.owner == expected


def test_an_older_reference_that_is_met_is_no_fault():
    made = clean_run(tools=Tools(versions={"reference": 2, "executor": 3}))

    assert said(score(case(due()), made)) == PASS


SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "cents": {"type": "integer"},
        "note": {"type": "string", "default": ""},
    },
    "required": ["order", "cents", "note"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("args", "owner"),
    [
        ({"order": "A-104", "cents": 9801}, "agent"),
        ({"order": "A-104", "cents": "9800"}, "label-owner"),
        ({"order": "A-104", "euros": 98}, "label-owner"),
        ({"order": "A-104"}, "label-owner"),
    ],
)
def test_a_reference_that_breaks_the_tools_schema_is_the_label_owners(args, owner):
    made = clean_run(WRONG, tools=Tools(schemas={"refund": SCHEMA}))

    assert score(case(due(args=args)), made).owner == owner


def test_a_field_that_a_rule_covers_is_not_lacking():
    asked = case(due(args={"order": "A-104"}, rules={"/cents": rule("range", {"max": 1})}))
    made = clean_run(tools=Tools(schemas={"refund": SCHEMA}))

    assert score(asked, made).owner == "agent"


@pytest.mark.parametrize(
    ("fields", "model_args", "reference"),
    [
        ({"defaults": {"locale": "de"}}, {"n": 1}, {"n": 1, "locale": "de"}),
        ({"rename": {"euros": "cents"}, "unit": {"euros": "x100"}}, {"euros": 1}, {"cents": 100}),
    ],
)
def test_asking_of_the_model_what_the_adapter_supplies_is_the_labels_fault(
    fields, model_args, reference
):
    made = evidence(
        [model_call(args=model_args)], [adapter_call(args=reference)], [execution(args=reference)]
    )
    rules = contract(**fields)

    assert (
        said(score(case(due(args=reference), compare=Boundary.MODEL, contract=rules), made))
        == LABEL
    )
    assert said(score(case(due(args=reference), contract=rules), made)) == PASS


def test_a_type_that_the_model_did_not_keep_is_not_excused_by_a_coercion():
    made = evidence(
        [model_call(args={"n": "1"})], [adapter_call(args={"n": 1})], [execution(args={"n": 1})]
    )
    asked = case(
        due(args={"n": 1}), compare=Boundary.MODEL, contract=contract(coerce={"n": "integer"})
    )

    assert said(score(asked, made)) == ("fail", "model", "agent")


READS = Contract(read_only=frozenset({"look"}))


@pytest.mark.parametrize(
    ("calls", "matches", "expected"),
    [
        ([("refund", ARGS)], True, ("inconclusive", "label", "product-owner")),
        ([("look", {"n": 2}), ("refund", ARGS)], True, ("inconclusive", "label", "product-owner")),
        ([("look", {"n": 1}), WRONG], True, ("fail", "model", "agent")),
        ([("refund", ARGS)], False, ("fail", "model", "agent")),
        ([("refund", ARGS)], None, ("fail", "model", "agent")),
    ],
)
def test_a_run_that_differs_in_reads_only_and_reaches_the_state_is_the_product_owners(
    calls, matches, expected
):
    asked = case(due("look", {"n": 1}), due(), contract=READS)
    made = clean_run(*calls, outcome=Outcome(state_matches_intent=matches))

    assert said(score(asked, made)) == expected


def test_a_route_without_a_plan_is_the_labels_fault():
    asked = case(plan_by="router", plans=(Plan(plan_id="card", required=(due(),), when="card"),))

    assert said(score(asked, clean_run(conduct=Conduct(router_value="cash")))) == LABEL
    assert said(score(asked, clean_run(conduct=Conduct(router_value="card")))) == PASS


def test_a_persons_edit_that_leaves_the_plan_is_not_blamed_on_the_model():
    edit = HumanEdit(call_id="c1", path="/cents", before=9800, after=100, by="clerk")
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution(args={**ARGS, "cents": 100})],
        conduct=Conduct(human_edits=(edit,)),
    )

    assert said(score(case(due()), made)) == LABEL
    assert said(score(case(due(args={**ARGS, "cents": 100})), made)) == PASS


def test_a_plan_without_the_tools_own_default_is_the_labels_and_nobody_is_blamed():
    shown = {"order_id": "A-104", "currency": "USD"}
    run = Execution(
        boundary=Boundary.EXECUTOR,
        ref="executor/0",
        name="pay",
        call_id="c1",
        arguments=shown,
        defaults=("currency",),
    )
    asked = ToolCall(
        boundary=Boundary.MODEL,
        ref="model/0",
        name="pay",
        call_id="c1",
        turn=1,
        arguments={"order_id": "A-104"},
        raw='{"order_id":"A-104"}',
    )
    recorded = Evidence(
        run=Run(run_id="run"),
        observed={Boundary.MODEL: ALL, Boundary.EXECUTOR: ALL},
        model=(asked,),
        executor=(run,),
    )
    plan = Case(
        case_id="case", required=(RequiredCall(name="pay", arguments={"order_id": "A-104"}),)
    )

    verdict = score(plan, recorded)

    assert (verdict.first, verdict.owner) == (First.LABEL, Owner.LABEL_OWNER)
    assert [cause.code for cause in verdict.causes] == ["reference-lacks-default"]
