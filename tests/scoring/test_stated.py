"""What the records state of tools counts as declared, where the case itself says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace import score
from agenttrace.domain import Case, Contract, ToolContract, Tools
from agenttrace.errors import UnscorableError
from agenttrace.scoring._number_places import number_places, one_form
from tests.builders import adapter_call, evidence, execution, model_call


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def judged(before: Any, after: Any, tools: Tools, case: Case | None = None) -> Any:
    made = evidence(
        [model_call(args={"amount": before})],
        [adapter_call(args={"amount": after})],
        [execution(args={"amount": after})],
        tools=tools,
    )
    verdict = score(case, made)
    return verdict.status, [one.kind for one in verdict.divergences]


NUMBER = schema(amount={"type": "number"})
LINES = schema(
    amount={"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}}
)


@pytest.mark.parametrize(
    ("stated", "before", "after"),
    [
        (NUMBER, 98, 98.0),
        (NUMBER, 98.0, 98),
        (schema(amount={"type": "integer"}), 98.0, 98),
        (schema(amount={"type": ["null", "number"]}), 98, 98.0),
        (schema(amount={"anyOf": [{"type": "null"}, {"type": "number"}]}), 98, 98.0),
        (LINES, [{"n": 1, "x": 1}, {}], [{"n": 1.0, "x": 1}, {}]),
        (
            {**schema(amount={"$ref": "#/$defs/Money"}), "$defs": {"Money": {"type": "number"}}},
            98,
            98.0,
        ),
    ],
)
@pytest.mark.parametrize("by", ["offered", "code", "signature", "case"])
def test_what_a_schema_calls_a_number_may_be_written_with_or_without_a_point(
    stated, before, after, by
):
    case = None
    tools = Tools()
    if by == "offered":
        tools = Tools(schemas={"refund": stated})
    elif by == "code":
        tools = Tools(contracts={"refund": ToolContract(schema=stated)})
    elif by == "signature":
        tools = Tools(signatures={"refund": stated})
    else:
        contract = Contract(tools={"refund": ToolContract(schema=stated)})
        case = Case(case_id="c", contract=contract)

    assert judged(before, after, tools, case) == ("pass", [])


@pytest.mark.parametrize(
    ("stated", "before", "after", "kind"),
    [
        (schema(), 98, 98.0, "type_coerced"),
        (schema(other={"type": "number"}), 98, 98.0, "type_coerced"),
        (schema(amount={"type": "string"}), 98, 98.0, "type_coerced"),
        (NUMBER, 98, 98.5, "type_coerced"),
        (NUMBER, 98, "98", "type_coerced"),
        (NUMBER, 1, True, "type_coerced"),
        (NUMBER, 2**53 + 1, float(2**53), "precision_lost"),
        (LINES, [{"x": 1}], [{"x": 1.0}], "value_changed"),
    ],
)
def test_what_is_another_value_is_another_under_any_schema(stated, before, after, kind):
    status, kinds = judged(before, after, Tools(schemas={"refund": stated}))

    assert status == "fail"
    assert kind in kinds


def test_a_change_declared_beside_the_code_is_none():
    tools = Tools(contracts={"refund": ToolContract(coerce={"amount": "integer"})})

    assert judged("98", 98, tools) == ("pass", [])
    assert judged("98", 98, Tools())[0] == "fail"


def test_a_tool_that_the_case_declares_is_as_the_case_declares_it():
    tools = Tools(contracts={"refund": ToolContract(coerce={"amount": "integer"})})
    case = Case(case_id="c", contract=Contract(tools={"refund": ToolContract(fold_case=("name",))}))

    assert judged("98", 98, tools, case)[0] == "fail"


def test_the_schema_of_the_case_comes_before_the_offered_one_and_that_before_the_codes():
    text = schema(amount={"type": "string"})
    case = Case(case_id="c", contract=Contract(tools={"refund": ToolContract(schema=text)}))

    assert judged(98, 98.0, Tools(schemas={"refund": NUMBER}), case)[0] == "fail"
    both = Tools(schemas={"refund": text}, contracts={"refund": ToolContract(schema=NUMBER)})
    assert judged(98, 98.0, both)[0] == "fail"


def test_a_schema_that_leads_back_to_itself_ends():
    stated: Any = {
        **schema(amount={"$ref": "#/$defs/Node"}),
        "$defs": {
            "Node": {"properties": {"n": {"type": "number"}, "next": {"$ref": "#/$defs/Node"}}}
        },
    }

    assert one_form({"amount": {"n": 1.0, "next": {"n": 2.0}}}, number_places(stated)) == {
        "amount": {"n": 1, "next": {"n": 2}}
    }


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"properties": None},
        {"properties": {"a": 1, "b": {"type": {}}, "c": {"anyOf": 1}, "d": {"$ref": "#/$defs/x"}}},
        {"properties": {"a": {"type": ["string", None]}}, "$defs": []},
    ],
)
def test_a_schema_of_any_form_is_read_as_far_as_it_says_something(stated):
    assert number_places(stated) is None


def test_a_signature_breaks_nothing():
    text = {**schema(amount={"type": "string"}), "additionalProperties": False}

    assert judged(98, 98, Tools(signatures={"refund": text})) == ("pass", [])
    assert judged(98, 98, Tools(schemas={"refund": text}))[0] == "fail"


def test_a_mark_of_what_json_cannot_hold_breaks_no_schema():
    text = Tools(schemas={"refund": schema(amount={"type": "string"})})
    cut = {"$cut": {"type": "str", "length": 9, "head": "x"}}

    assert judged(cut, cut, text) == ("pass", [])


@pytest.mark.parametrize("by", ["offered", "code"])
def test_a_default_under_the_models_name_is_filled_in_under_the_tools(by):
    stated = schema(Amount={"type": "number"}, Currency={"type": "string", "default": "USD"})
    declared = ToolContract(rename={"Amount": "amount", "Currency": "currency"})
    tools = Tools(contracts={"refund": ToolContract(rename=declared.rename, schema=stated)})
    if by == "offered":
        tools = Tools(contracts={"refund": declared}, schemas={"refund": stated})
    handed = {"amount": 1.0, "currency": "USD"}
    made = evidence(
        [model_call(args={"Amount": 1})],
        [adapter_call(args=handed)],
        [execution(args=handed)],
        tools=tools,
    )

    assert score(None, made).status == "pass"


def test_a_recorded_contract_with_an_unknown_normalizer_is_refused_with_its_tool():
    tools = Tools(contracts={"refund": ToolContract(normalize={"amount": "trimm"})})

    with pytest.raises(UnscorableError, match=r"'refund'.*'trimm'.*Register it"):
        judged("a", "a", tools)
