from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.contracts import content_revision, parse_case
from agenttrace.contracts._parse import case_and_faults
from agenttrace.domain import (
    ArgumentRule,
    AssertedValue,
    Boundary,
    Envelope,
    RuleKind,
    SequenceSide,
    StateMachine,
    StateStep,
)
from agenttrace.errors import InvalidCaseError

SHARED = Path(os.environ.get("AGENTTRACE_SHARED", Path(__file__).parents[3] / "shared")) / "cases"


def case_with(**fields: Any) -> dict[str, Any]:
    return {"id": "case-1", **fields}


def one_call(**fields: Any) -> dict[str, Any]:
    return case_with(required=[{"name": "pay", "args": {}, **fields}])


def refusal(document: Any) -> str:
    with pytest.raises(InvalidCaseError) as caught:
        parse_case(document, "cases.json")
    return caught.value.reason


def test_every_field_arrives_in_the_case():
    case = parse_case(
        {
            "id": "case-1",
            "revision": "7",
            "intent": "Refund it.",
            "why": "a note",
            "schema_version": 1,
            "required": [
                {
                    "name": "refund",
                    "args": {"order": "A-1"},
                    "rules": {"/cents": {"range": {"min": 1, "max": 2.5}}},
                    "why": "asked for",
                }
            ],
            "forbidden": [{"name": "purge"}, {"name": "refund", "args": {"order": "B"}}],
            "ordered": ["get", ["refund", "note"]],
            "sequence": [
                {
                    "id": "s1",
                    "before": {"name": "get"},
                    "after": {"name": "refund", "where": {"/cents": {"equals": None}}},
                    "same": ["/order"],
                }
            ],
            "states": [
                {
                    "id": "m1",
                    "start": "new",
                    "steps": [
                        {
                            "from": "new",
                            "on": {"name": "get", "where": {"/a": {"default": 1}}},
                            "to": "old",
                        }
                    ],
                    "end": ["old"],
                    "per": ["/order"],
                }
            ],
            "max_calls": {"refund": 1},
            "min_calls": {"get": 2},
            "once_per": {"refund": "/key"},
            "outcome": {"/done": {"equals": True}},
            "leak": [{"tool": "get", "path": "/secret"}],
            "agents": ["front"],
            "ignore_args": {"get": ["trace"]},
            "asserted_values": [{"tool": "get", "path": "/a", "value": None}],
            "tool_schema_version": "2026-11",
            "compare": "model",
        },
        "here",
    )

    assert (case.case_id, case.revision, case.intent) == ("case-1", "7", "Refund it.")
    assert case.required is not None
    assert case.required[0].arguments == {"order": "A-1"}
    assert case.required[0].why == "asked for"
    assert case.required[0].rules["/cents"] == ArgumentRule(
        kind=RuleKind.RANGE, operand={"min": 1, "max": 2.5}
    )
    assert [one.arguments for one in case.forbidden] == [None, {"order": "B"}]
    assert case.ordered == ("get", ("refund", "note"))
    assert case.asserted == (AssertedValue(tool="get", path="/a", value=None),)
    assert case.tool_schema_version == "2026-11"
    assert case.states == (
        StateMachine(
            rule_id="m1",
            start="new",
            steps=(
                StateStep(
                    source="new",
                    on=SequenceSide(
                        name="get",
                        where={"/a": ArgumentRule(kind=RuleKind.DEFAULT, operand=1)},
                    ),
                    target="old",
                ),
            ),
            end=frozenset({"old"}),
            per=("/order",),
        ),
    )
    assert case.sequence[0].after.where["/cents"] == ArgumentRule(kind=RuleKind.EQUALS)
    assert case.sequence[0].same == ("/order",)
    assert (case.max_calls, case.min_calls) == ({"refund": 1}, {"get": 2})
    assert case.once_per == {"refund": "/key"}
    assert case.outcome["/done"].operand is True
    assert (case.leak[0].tool, case.leak[0].path) == ("get", "/secret")
    assert case.agents == frozenset({"front"})
    assert case.ignore_args == {"get": frozenset({"trace"})}
    assert case.compare is Boundary.MODEL


def test_a_contract_is_regrouped_by_tool():
    contract = parse_case(
        case_with(
            contract={
                "envelope": {"tool": "bridge", "name": "name", "args": "arguments"},
                "strip_prefix": ["mcp__"],
                "name_map": {"a": "b"},
                "unit": {"pay": {"euros": "x100"}},
                "rename": {"pay": {"euros": "cents"}},
                "coerce": {"pay": {"cents": "integer"}},
                "drop_null_optional": {"pay": ["note"]},
                "drop_unknown": {"get": ["id"]},
                "defaults": {"pay": {"currency": "EUR", "tip": None}},
                "normalize": {"get": {"id": "trim"}},
                "fold_case": {"get": ["id"]},
                "client_side_tools": ["ask"],
                "read_only": ["get"],
            }
        ),
        "here",
    ).contract

    pay, get = contract.tool("pay"), contract.tool("get")
    assert contract.envelope == Envelope(tool="bridge", name="name", arguments="arguments")
    assert (contract.strip_prefix, contract.name_map) == (("mcp__",), {"a": "b"})
    assert (pay.unit, pay.rename) == ({"euros": "x100"}, {"euros": "cents"})
    assert (pay.coerce, pay.drop_null_optional) == ({"cents": "integer"}, ("note",))
    assert pay.defaults == {"currency": "EUR", "tip": None}
    assert (get.drop_unknown, get.normalize, get.fold_case) == (("id",), {"id": "trim"}, ("id",))
    assert (contract.client_side_tools, contract.read_only) == ({"ask"}, {"get"})


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"equals": None}, ArgumentRule(kind=RuleKind.EQUALS, operand=None)),
        ({"regex": "K-[0-9]{4}"}, ArgumentRule(kind=RuleKind.REGEX, operand="K-[0-9]{4}")),
        ({"range": {"min": 3}}, ArgumentRule(kind=RuleKind.RANGE, operand={"min": 3})),
        (
            {"tolerance": {"value": 1, "abs": 0.5}},
            ArgumentRule(kind=RuleKind.TOLERANCE, operand={"value": 1, "abs": 0.5}),
        ),
        ({"one_of": [1, "1"]}, ArgumentRule(kind=RuleKind.ONE_OF, operand=[1, "1"])),
        ({"length": {"max": 2}}, ArgumentRule(kind=RuleKind.LENGTH, operand={"max": 2})),
        (
            {"normalizer": "trim", "value": "x"},
            ArgumentRule(kind=RuleKind.NORMALIZER, operand="x", normalizer="trim"),
        ),
        ({"ignore": True}, ArgumentRule(kind=RuleKind.IGNORE, operand=True)),
    ],
)
def test_each_kind_of_rule_keeps_its_operand(rule: dict[str, Any], expected: ArgumentRule):
    case = parse_case(one_call(rules={"/a": rule}), "here")

    assert case.required is not None
    assert case.required[0].rules["/a"] == expected


def test_integers_keep_full_precision():
    big = 2**53 + 1

    case = parse_case(one_call(args={"id": 10**400, "n": big}), "here")

    assert case.required is not None
    assert case.required[0].arguments == {"id": 10**400, "n": big}


def test_no_plan_and_an_empty_plan_are_told_apart():
    assert parse_case(case_with(required=None), "here").required is None
    assert parse_case(case_with(), "here").required is None
    assert parse_case(case_with(required=[]), "here").required == ()


def test_a_revision_follows_from_the_content():
    first = parse_case(case_with(required=[], forbidden=[], why="one"), "here")
    same = parse_case(case_with(required=[], why="two"), "there")
    other = parse_case(case_with(required=[{"name": "pay", "args": {"a": 1}}]), "here")
    other_type = parse_case(case_with(required=[{"name": "pay", "args": {"a": 1.0}}]), "here")

    assert first.revision == same.revision == content_revision(first)
    assert first.revision is not None
    assert first.revision.startswith("sha256:")
    assert len({first.revision, other.revision, other_type.revision}) == 3


STEP = {"from": "a", "on": {"name": "get"}, "to": "b"}
MACHINE = {"id": "m", "start": "a", "steps": [STEP]}
PLAN = {"id": "a", "required": []}

REFUSED: list[tuple[Any, str]] = [
    ([], "the case is a list, not an object"),
    ({}, "id is missing"),
    ({"id": 1}, "id is the number 1, not a text"),
    ({"id": ""}, "id is the text '', not a text with something in it"),
    (case_with(schema_version=2), "newer than 1"),
    (case_with(schema_version=True), "schema_version is true, not an integer"),
    (case_with(requierd=[]), "requierd is an unknown field"),
    (case_with(required={}), "required is an object, not a list"),
    (case_with(required=[{"name": "pay"}]), "required[0].args is missing"),
    (one_call(args=[1]), "required[0].args is a list, not an object"),
    (one_call(args={"a": float("nan")}), "required[0].args holds a number that is not finite"),
    (one_call(args={"a": {1: 2}}), "a key that is the number 1, not text"),
    (one_call(args={"a": b"x"}), "of type bytes, which JSON cannot hold"),
    (one_call(args={"a": 1}, rules={"/a": {"equals": 1}}), "both a literal in args and a rule"),
    (
        one_call(rules={"/a": {"ignore": True}, "/a/b": {"equals": 1}}),
        "a rule for /a/b inside the rule for /a",
    ),
    (one_call(rules={"a": {"equals": 1}}), "not a JSON Pointer"),
    (one_call(rules={"/a~2": {"equals": 1}}), "not a JSON Pointer"),
    (one_call(rules={"": {"equals": 1}}), "is empty; a JSON Pointer to a field"),
    (one_call(rules={"/a": {}}), "asks none; exactly one is needed of: equals, regex"),
    (one_call(rules={"/a": {"equals": 1, "ignore": True}}), "asks equals and ignore"),
    (one_call(rules={"/a": {"matches": "x"}}), "matches is an unknown field"),
    (one_call(rules={"/a": {"ignore": False}}), "leave it out instead"),
    (one_call(rules={"/a": {"equals": 1, "optional": False}}), "leave it out instead"),
    (one_call(rules={"/a": {"ignore": True, "optional": True}}), "needs no value anyway"),
    (one_call(rules={"/a": {"default": 1, "optional": True}}), "needs no value anyway"),
    (one_call(rules={"/a": {"ignore": 1}}), "is the number 1, not true or false"),
    (one_call(rules={"/a": {"range": None}}), "null for range, which asks nothing"),
    (one_call(rules={"/a": {"range": {}}}), "has neither min nor max"),
    (one_call(rules={"/a": {"range": {"min": True}}}), "is true, not a number"),
    (one_call(rules={"/a": {"range": {"min": "1"}}}), "is the text '1', not a number"),
    (one_call(rules={"/a": {"range": {"min": 3, "max": 1}}}), "a min of 3 above its max of 1"),
    (one_call(rules={"/a": {"length": {"min": 1.0}}}), "is the number 1.0"),
    (one_call(rules={"/a": {"length": {"min": -1}}}), "not 0 or more"),
    (one_call(rules={"/a": {"tolerance": {"value": 1}}}), "tolerance.abs is missing"),
    (one_call(rules={"/a": {"tolerance": {"value": 1, "abs": -1}}}), "a negative abs"),
    (one_call(rules={"/a": {"one_of": []}}), "an empty one_of"),
    (one_call(rules={"/a": {"normalizer": "trim"}}), "normalizer and value together"),
    (one_call(rules={"/a": {"equals": 1, "value": 2}}), "normalizer and value together"),
    (
        one_call(rules={"/a": {"normalizer": "soundex", "value": "x"}}),
        "unknown normalizer 'soundex'",
    ),
    (one_call(rules={"/a": {"regex": "("}}), "is no pattern"),
    (one_call(rules={"/a": {"regex": r"(a)\1"}}), "a pattern that was refused"),
    (case_with(ordered=["a"]), "two or more tool names"),
    (case_with(ordered=[["a", "b"]]), "two or more tool names"),
    (case_with(ordered=["a", "b", "a"]), "names 'a' twice"),
    (case_with(ordered=["a", ["b", "a"]]), "names 'a' twice"),
    (case_with(ordered=["a", []]), "a group of no names"),
    (case_with(ordered=["a", 3]), "the number 3 where a tool's name"),
    (case_with(ordered=["a", ["b", ["c"]]]), "a list where a tool's name"),
    (case_with(ordered=[[f"a{n}" for n in range(101)], [f"b{n}" for n in range(101)]]), "pairs"),
    (case_with(states=[{**MACHINE, "start": "z"}]), "starts in 'z', which no step leaves"),
    (case_with(states=[{**MACHINE, "end": ["z"]}]), "ends in 'z', which no step leads to"),
    (case_with(states=[{**MACHINE, "steps": []}]), "not a list with something in it"),
    (case_with(states=[MACHINE, MACHINE]), "states with 'm' twice"),
    (case_with(states=[{**MACHINE, "steps": [STEP, {**STEP, "to": "c"}]}]), "by one call of 'get'"),
    (
        case_with(states=[{**MACHINE, "steps": [{"from": "a", "to": "b"}]}]),
        "steps[0].on is missing",
    ),
    (case_with(states=[{**MACHINE, "steps": [{**STEP, "frm": "a"}]}]), "frm is an unknown field"),
    (case_with(max_calls={"a": -1}), "not 0 or more"),
    (case_with(max_calls={"a": True}), "is true, not an integer"),
    (case_with(max_calls={"a": 1}, min_calls={"a": 2}), "no run can do both"),
    (case_with(once_per={"a": "key"}), "not a JSON Pointer"),
    (case_with(agents=[]), "not a list with something in it"),
    (case_with(asserted_values=[{"tool": "a", "path": "/x"}]), "value is missing"),
    (case_with(tool_schema_version=[1]), "is a list, not a version"),
    (case_with(tool_schema_version=True), "is true, not a version"),
    (case_with(compare="tool"), "'model', 'adapter' or 'executor'"),
    (case_with(plan_by="any_of"), "plans and plan_by together"),
    (case_with(plans=[PLAN]), "plans and plan_by together"),
    (case_with(plans=[PLAN], plan_by="first"), "'router' or 'any_of'"),
    (case_with(plans=[PLAN], plan_by="router"), "every plan needs when"),
    (case_with(plans=[{**PLAN, "when": 1}], plan_by="any_of"), "none of them may have when"),
    (case_with(plans=[PLAN, PLAN], plan_by="any_of"), "plans with 'a' twice"),
    (
        case_with(plans=[{**PLAN, "when": 1}, {**PLAN, "id": "b", "when": 1}], plan_by="router"),
        "plans by when with '1' twice",
    ),
    (
        case_with(plans=[PLAN], plan_by="any_of", required=[{"name": "a", "args": {}}]),
        "its own required must be []",
    ),
    (case_with(plans=[PLAN], plan_by="any_of", required=None), "its own required must be []"),
    (case_with(contract={"units": {}}), "contract.units is an unknown field"),
    (case_with(contract={"unit": {"a": {"b": "100"}}}), "not a unit such as x100"),
    (case_with(contract={"coerce": {"a": {"b": "int"}}}), "'integer', 'number'"),
    (case_with(contract={"drop_unknown": {"a": []}}), "not a list with something in it"),
    (case_with(contract={"rename": {"a": {"b": "x", "c": "x"}}}), "two arguments of 'a'"),
]


@pytest.mark.parametrize(("document", "reason"), REFUSED)
def test_what_does_not_fit_is_refused_in_a_sentence(document: Any, reason: str):
    assert reason in refusal(document)


def test_several_faults_are_counted_and_the_first_is_said():
    assert "(1 more to repair" in refusal(case_with(x=1, y=2))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = [
    "id", "revision", "intent", "required", "forbidden", "ordered", "sequence", "max_calls",
    "min_calls", "once_per", "plans", "plan_by", "outcome", "leak", "agents", "ignore_args",
    "compare", "contract", "schema_version", "why", "name", "args", "rules", "equals", "regex",
    "range", "min", "max", "one_of", "length", "normalizer", "value", "ignore", "unit", "rename",
    "asserted_values", "tool_schema_version",
    "states", "start", "steps", "from", "on", "to", "end", "per",
    "/a", "/a/b", "schema", "default", "$ref", "type", "properties", "anyOf",
    "when", "before", "after", "where", "same", "tool", "path",
]  # fmt: skip
near_cases = st.recursive(
    json_values | st.sampled_from(["router", "any_of", "x100", "trim", "model", "(a+)+"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
    ),
    max_leaves=25,
)


@given(document=json_values | near_cases | st.dictionaries(st.sampled_from(FIELDS), near_cases))
def test_a_random_document_is_a_case_or_an_invalid_one(document: Any):
    try:
        case = parse_case(document, "here")
    except InvalidCaseError as error:
        assert str(error).startswith("here: ")  # noqa: PT017 - either outcome is right
    else:
        assert case.case_id == document["id"]
        assert case.revision


@given(document=json_values | near_cases | st.dictionaries(st.sampled_from(FIELDS), near_cases))
def test_a_document_has_a_fault_exactly_where_it_is_no_case(document: Any):
    try:
        case, is_case = parse_case(document, "here"), True
    except InvalidCaseError:
        case, is_case = None, False

    read, faults = case_and_faults(document)

    assert is_case == (not faults)
    assert case is None or read == case


def test_a_newer_form_is_refused_before_its_fields_are_looked_at():
    _, faults = case_and_faults(case_with(schema_version=2, later=1, required="x"))

    assert [fault.loc for fault in faults] == [("schema_version",)]


def test_a_fault_of_one_rule_hides_none_of_the_others():
    def both(cents: Any) -> dict[str, Any]:
        rules = {"/a": {"equals": 1}, "/b": cents}
        return {"name": "pay", "args": {"a": 1}, "rules": rules}

    plans = [{"id": "p", "required": [both({"equals": 1}), both({"range": {"min": "1"}})]}]
    _, faults = case_and_faults(
        case_with(plans=plans, plan_by="any_of", contract={"fold_case": {"rules": [1]}})
    )

    assert {fault.loc for fault in faults} == {
        ("plans", 0, "required", 0, "rules", "/a"),
        ("plans", 0, "required", 1, "rules", "/a"),
        ("plans", 0, "required", 1, "rules", "/b", "range", "min"),
        ("contract", "fold_case", "rules", 0),
    }


@pytest.mark.skipif(not SHARED.is_dir(), reason="the field cases are not here")
def test_every_field_case_fits_the_form():
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(SHARED.glob("*.json"))]

    cases = [parse_case(document["case"], document["id"]) for document in documents]

    assert len(cases) > 100
    assert [case.case_id for case in cases] == [f"case-{d['id']}" for d in documents]
