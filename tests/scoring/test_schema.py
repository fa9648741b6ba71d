"""The stated subset of JSON Schema."""

from __future__ import annotations

import pytest

from agenttrace.scoring._schema import breaks_schema, lacks_required


def schema(kind, **more):
    return {"type": "object", "properties": {"n": {"type": kind}}, **more}


@pytest.mark.parametrize(
    ("kind", "value", "broken"),
    [
        ("integer", 3, False),
        ("integer", 3.0, False),
        ("integer", 3.5, True),
        ("integer", True, True),
        ("integer", "3", True),
        ("number", 3, False),
        ("number", True, True),
        ("string", "x", False),
        ("string", None, True),
        ("boolean", False, False),
        ("boolean", 0, True),
        ("array", [], False),
        ("array", "[]", True),
        ("object", {}, False),
        ("object", [], True),
        ("null", None, False),
        (["string", "null"], None, False),
        (["string", "null"], 5, True),
        ("instant", 5, False),
        (7, 5, False),
    ],
)
def test_a_value_has_a_type_that_the_schema_states(kind, value, broken):
    assert breaks_schema({"n": value}, schema(kind)) is broken


def test_a_parameter_that_is_not_there_breaks_a_closed_schema_only():
    assert not breaks_schema({"m": 1}, schema("integer"))
    assert breaks_schema({"m": 1}, schema("integer", additionalProperties=False))
    assert not breaks_schema({"m": 1}, schema("integer", additionalProperties={}))


@pytest.mark.parametrize("odd", [None, {}, {"properties": 5}, {"properties": {"n": True}}])
def test_a_schema_that_states_nothing_is_not_broken(odd):
    assert not breaks_schema({"n": 1}, odd)
    assert not lacks_required({}, odd)


def test_a_required_parameter_is_given_stated_or_lacking():
    stated = {
        "properties": {"a": {"type": "string"}, "b": {"type": "string", "default": ""}},
        "required": ["a", "b", "unknown"],
    }

    assert not lacks_required({"a": "x"}, stated)
    assert lacks_required({"b": "x"}, stated)
    assert not lacks_required({}, stated, ["/a/deep"])
