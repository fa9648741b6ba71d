"""The stated subset of JSON Schema, as a rule asks it of one value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.domain import MISSING
from agenttrace.errors import UnscorableError
from agenttrace.redaction import Redactor
from agenttrace.scoring import accepts, fits_schema
from agenttrace.scoring._undecided import assuming
from tests.builders import rule

KEY = Redactor(b"k" * 32)
NODE = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
TEXTS = {"properties": {"a": {"type": "string"}}}

ANSWERS: list[tuple[dict[str, Any], Any, bool]] = [
    ({}, None, True),
    ({"type": "integer"}, 10, True),
    ({"type": "integer"}, 10.0, True),
    ({"type": "integer"}, 10.5, False),
    ({"type": "integer"}, True, False),
    ({"type": "number"}, True, False),
    ({"type": "number"}, 1, True),
    ({"type": "null"}, None, True),
    ({"type": "boolean"}, 0, False),
    ({"type": ["string", "null"]}, None, True),
    ({"type": ["string", "null"]}, 3, False),
    ({"type": "array"}, "[]", False),
    ({"type": "object"}, {}, True),
    ({"enum": ["a", 1]}, 1.0, True),
    ({"enum": ["a", 1]}, True, False),
    ({"enum": [{"a": [1]}]}, {"a": [1.0]}, True),
    ({"enum": [{"a": [1]}]}, {"a": [2]}, False),
    ({"const": None}, None, True),
    ({"const": 2**63 + 1}, 2**63, False),
    ({"const": 1e23}, 10**23, True),
    ({"const": 0.5}, 0.5, True),
    ({"const": "1"}, 1, False),
    ({"minimum": 2**63 + 1}, 2**63, False),
    ({"minimum": 1}, 1.0, True),
    ({"maximum": 0.1}, 0.1, True),
    ({"maximum": 1}, 2, False),
    ({"exclusiveMinimum": 1}, 1, False),
    ({"exclusiveMinimum": 1}, 1.1, True),
    ({"exclusiveMaximum": 1}, 1.0, False),
    ({"exclusiveMaximum": 1}, 0, True),
    ({"minimum": 5}, "4", True),
    ({"multipleOf": 0.01}, 19.99, True),
    ({"multipleOf": 0.01}, 19.995, False),
    ({"multipleOf": 3}, 10**30, False),
    ({"multipleOf": 3}, 9, True),
    ({"minLength": 2}, "é", False),
    ({"minLength": 1, "maxLength": 1}, "😀", True),
    ({"maxLength": 1}, "ab", False),
    ({"pattern": "b"}, "abc", True),
    ({"pattern": "^b"}, "abc", False),
    ({"pattern": "b$"}, "ab", True),
    ({"pattern": "b$"}, "ab\n", False),
    ({"pattern": "^ab$"}, "ab\n", False),
    ({"pattern": "^a"}, "ab", True),
    ({"pattern": "[0-9]+"}, "a1", True),
    ({"pattern": "b"}, 3, True),
    ({"properties": {"a": {"type": "string"}}}, {"a": 1}, False),
    ({"properties": {"a": {"type": "string"}}}, {}, True),
    ({"properties": {"a": False}}, {"a": 1}, False),
    ({"properties": {"a": {"type": "string"}}}, [1], True),
    ({"required": ["a"]}, {"a": None}, True),
    ({"required": ["a"]}, {}, False),
    ({**TEXTS, "additionalProperties": False}, {"a": "x"}, True),
    ({**TEXTS, "additionalProperties": False}, {"b": 1}, False),
    ({**TEXTS, "additionalProperties": {"type": "integer"}}, {"a": "x", "b": 1}, True),
    ({**TEXTS, "additionalProperties": {"type": "integer"}}, {"b": "x"}, False),
    ({"items": {"type": "integer"}}, [1, "2"], False),
    ({"items": {"type": "integer"}}, [], True),
    ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1], True),
    ({"prefixItems": [{"type": "string"}], "items": False}, ["a", 1], False),
    ({"prefixItems": [{"type": "string"}]}, [], True),
    ({"prefixItems": [{"type": "string"}]}, [1], False),
    ({"minItems": 1}, [], False),
    ({"maxItems": 1}, [1, 2], False),
    ({"uniqueItems": True}, [1, True, "1", None, [], {}], True),
    ({"uniqueItems": True}, [1, 1.0], False),
    ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
    ({"uniqueItems": False}, [1, 1], True),
    ({"minProperties": 1}, {}, False),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, False),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 2, False),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 3, True),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, False),
    ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, 1, False),
    ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, 3, True),
    ({"oneOf": [False, False]}, 3, False),
    ({"not": {"type": "null"}}, None, False),
    (NODE, [[], [[]]], True),
    (NODE, [[], [1]], False),
    ({"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}, None, True),
    ({"title": "t", "format": "email", "default": 3, "$comment": "x", "examples": []}, 7, True),
]


@pytest.mark.parametrize(("schema", "value", "fits"), ANSWERS)
def test_a_keyword_asks_what_json_schema_says(schema: Any, value: Any, fits: bool):
    assert fits_schema(schema, value) is fits
    assert accepts(rule("schema", schema), value) is fits


def test_a_missing_value_fits_no_schema():
    assert not accepts(rule("schema", {}), MISSING)


REFUSED = [
    {"typ": "string"},
    {"properties": {"a": {"if": {}}}},
    {"$ref": "#/$defs/a"},
    {"$ref": "other.json"},
    {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    {"anyOf": [3]},
]


@pytest.mark.parametrize("schema", REFUSED, ids=str)
def test_what_the_subset_lacks_is_refused_and_never_passed_over(schema: Any):
    with pytest.raises(UnscorableError, match="not judged"):
        fits_schema(schema, {"a": 1})


def nested(depth: int, around: Any, inner: Any = 1) -> Any:
    for _ in range(depth):
        inner = around(inner)
    return inner


def test_ten_thousand_levels_of_value_and_of_schema_are_judged():
    lists = nested(10_000, lambda one: [one], [])

    assert fits_schema(NODE, lists) is True
    assert fits_schema(NODE, nested(10_000, lambda one: [one])) is False
    assert fits_schema(nested(10_000, lambda one: {"not": one}, {"type": "null"}), None) is True
    assert fits_schema({"const": lists}, nested(10_000, lambda one: [one], [])) is True


def test_a_question_at_every_level_of_a_deep_value_costs_no_square():
    asks = {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/n"}}
    comb: Any = []
    for _ in range(3_000):
        comb = [comb, [[]]]

    assert fits_schema({"$defs": {"n": asks}, "$ref": "#/$defs/n"}, comb) is True


def test_alternatives_that_double_at_each_level_are_asked_once_each():
    defs: dict[str, Any] = {
        f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
        for n in range(200)
    }
    defs["a200"] = {"type": "string"}

    assert fits_schema({"$defs": defs, "$ref": "#/$defs/a0"}, 1) is False


def test_an_answer_that_would_take_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agenttrace.scoring._json_schema.MOST_STEPS", 100)

    with pytest.raises(UnscorableError, match="more than 100 steps"):
        fits_schema({"items": {"type": "integer"}}, list(range(1_000, 1_200)))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "bb"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=5,
)
simple = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "array", "object", "null"]),
        "enum": st.lists(values, min_size=1, max_size=2),
        "minimum": st.integers(-2, 2),
        "minLength": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "required": st.lists(st.sampled_from("ab"), max_size=1),
    },
)
schemas = st.recursive(
    simple,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=4,
)


@settings(max_examples=40)
@given(schemas, values)
def test_negation_and_alternatives_keep_the_laws_of_logic(schema: Any, value: Any):
    fits = fits_schema(schema, value)

    assert fits_schema({"not": schema}, value) is not fits
    assert fits_schema({"allOf": [schema, {}]}, value) is fits
    assert fits_schema({"anyOf": [schema, {"not": schema}]}, value) is True
    assert fits_schema({"oneOf": [schema, schema]}, value) is False


@settings(max_examples=40)
@given(schemas, values)
def test_what_digests_decide_is_what_the_values_decide(schema: Any, value: Any):
    hidden = KEY.digest_expected({"v": value})["v"]
    masked = KEY.token("x", "v") if isinstance(value, str) else value

    assert fits_schema(schema, hidden) in (None, fits_schema(schema, value))
    assert fits_schema(schema, masked) in (None, fits_schema(schema, value))


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "string"}, True),
        ({"type": "integer"}, False),
        ({"maxLength": 3}, False),
        ({"minLength": 5}, True),
        ({"const": 5}, False),
        ({"const": "A-104"}, None),
        ({"const": "A-10"}, False),
        ({"pattern": "^A"}, None),
        ({"anyOf": [{"pattern": "^A"}, {"type": "string"}]}, True),
        ({"not": {"pattern": "^A"}}, None),
    ],
)
def test_of_a_digest_type_and_length_are_decided_and_the_rest_is_open(schema, answer):
    hidden = KEY.digest_expected({"v": "A-104"})["v"]

    assert fits_schema(schema, hidden) is answer
    with assuming(True) as questions:
        assert accepts(rule("schema", schema), hidden, "/v") is (answer is not False)
    assert list(questions.asked) == (["the rule schema of /v"] if answer is None else [])
