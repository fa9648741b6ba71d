"""Schemas of tools in a case's contract, also such as are none."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from agenttrace.contracts import parse_case
from agenttrace.contracts._doubts import doubts
from agenttrace.contracts._parse import case_and_faults
from agenttrace.errors import InvalidCaseError

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
NO_OPERANDS: list[Any] = [None, 5, "strng", True, [], [5], [{"x": 1}], {"x": 1}]


def with_schema(schema: Any) -> dict[str, Any]:
    rules = {"/a": {"schema": {"type": "integer"}}, "/b": {"default": 5}}
    return {
        "id": "c",
        "required": [{"name": "t", "args": {"c": 1}, "rules": rules}],
        "once_per": {"t": "/a"},
        "min_calls": {"t": 3},
        "contract": {"schemas": {"t": schema}},
    }


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "function": {"name": "t", "parameters": SCHEMA}},
        {"type": "function", "name": "t", "parameters": SCHEMA},
        {"name": "t", "input_schema": SCHEMA},
        {"name": "t", "inputSchema": SCHEMA},
    ],
)
def test_a_tools_definition_is_as_good_as_the_schema_in_it(definition):
    assert parse_case(with_schema(definition), "here") == parse_case(with_schema(SCHEMA), "here")


@pytest.mark.parametrize("schema", [{"type": "objct"}, {"a": {"type": "string"}}])
def test_an_object_that_is_no_schema_is_refused(schema):
    with pytest.raises(InvalidCaseError, match=r"contract\.schemas\.t .*no type: object"):
        parse_case(with_schema(schema), "here")


@pytest.mark.parametrize("schema", [{}, {"$ref": "#/$defs/t"}, {"properties": {}}, {"anyOf": [{}]}])
def test_what_may_be_a_schema_is_taken_as_it_is(schema):
    assert parse_case(with_schema(schema), "here").contract.tool("t").schema == schema


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({"type": "objct", "properties": {}}, ("type",)),
        ({"properties": ["a"]}, ("properties",)),
        ({"properties": {}, "required": 5}, ("required",)),
        ({"properties": {"a": {"type": "strng"}}}, ("properties", "a", "type")),
        ({"properties": {"a": {"enum": 5}}}, ("properties", "a", "enum")),
        (
            {"properties": {"a": {"anyOf": [{"type": [5]}]}}},
            ("properties", "a", "anyOf", 0, "type"),
        ),
    ],
)
def test_what_states_nothing_in_a_tools_schema_is_worth_a_warning(schema, at):
    case = parse_case(with_schema(schema), "here")

    assert ("contract", "schemas", "t", *at) in [one.loc for one in doubts(case)]


def test_no_schema_however_malformed_breaks_the_check():
    words = ("type", "enum", "required", "properties", "const", "default")
    for (word, inner), one, other in itertools.product(
        itertools.product(words, words), NO_OPERANDS, NO_OPERANDS
    ):
        schema = {"properties": {"a": {inner: other}}, "required": ["a"], word: one}
        case, faults = case_and_faults(with_schema(schema))

        assert case is not None or faults
        if case is not None:
            list(doubts(case))
