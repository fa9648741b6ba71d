"""Which JSON Schemas a rule may hold, and what is said of the others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.contracts import PatternError, check_cases, parse_case
from agenttrace.contracts._parse import case_and_faults
from agenttrace.contracts._pattern_search import compile_search
from agenttrace.contracts._schema_form import _OPERANDS, check_schema
from agenttrace.contracts._values import FormError
from agenttrace.domain import ArgumentRule, RuleKind
from agenttrace.errors import UnscorableError
from agenttrace.scoring import SCHEMA_KEYWORDS, fits_schema
from tests.support.steps import hangs


def with_rule(one: Any) -> dict[str, Any]:
    return {"id": "a", "required": [{"name": "pay", "args": {}, "rules": {"/a": one}}]}


def faults_of(schema: Any) -> list[tuple[tuple[Any, ...], str]]:
    _, faults = case_and_faults(with_rule({"schema": schema}))
    return [(fault.loc[5:], f"{fault.found}; {fault.instead}") for fault in faults]


FULL = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"line": {"type": "object", "properties": {"parts": {"items": True}}}},
    "type": ["object", "null"],
    "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}},
    "required": ["lines"],
    "additionalProperties": False,
    "anyOf": [{"minProperties": 1}, {"not": {"const": None}}],
}


def test_a_schema_arrives_in_the_case_as_it_was_written():
    (call,) = parse_case(with_rule({"schema": FULL}), "here").required or ()

    assert call.rules == {"/a": ArgumentRule(kind=RuleKind.SCHEMA, operand=FULL)}


@pytest.mark.parametrize("value", [None, "USD", [1]])
def test_a_default_may_be_any_value(value: Any):
    (call,) = parse_case(with_rule({"default": value}), "here").required or ()

    assert call.rules == {"/a": ArgumentRule(kind=RuleKind.DEFAULT, operand=value)}


REFUSED: list[tuple[Any, tuple[Any, ...], str]] = [
    (None, (), "is null, not an object; write a JSON Schema"),
    (True, (), "is true, not an object"),
    ({"typ": "string"}, ("typ",), "write type, or take it out"),
    ({"if": {}}, ("if",), "no keyword"),
    ({"properties": {"a": {"definitions": {}}}}, ("properties", "a", "definitions"), "write $defs"),
    ({"type": "int"}, ("type",), "the text 'int'; write one of array, boolean"),
    ({"type": []}, ("type",), "write one of"),
    ({"enum": []}, ("enum",), "a list with something in it"),
    ({"required": "a"}, ("required",), "a list of names"),
    ({"properties": []}, ("properties",), "an object of schemas"),
    ({"properties": {"a": 3}}, ("properties", "a"), "the number 3, not a schema"),
    ({"anyOf": []}, ("anyOf",), "a list of schemas"),
    ({"items": [{}]}, ("items",), "a list of them is prefixItems"),
    ({"additionalProperties": "no"}, ("additionalProperties",), "write a schema"),
    ({"minItems": -1}, ("minItems",), "a whole number from 0"),
    ({"minItems": True}, ("minItems",), "a whole number from 0"),
    ({"minimum": "1"}, ("minimum",), "write a number"),
    ({"exclusiveMinimum": True}, ("exclusiveMinimum",), "write a number"),
    ({"multipleOf": 0}, ("multipleOf",), "a number above 0"),
    ({"uniqueItems": 1}, ("uniqueItems",), "true or false"),
    ({"pattern": "("}, ("pattern",), "is no pattern"),
    ({"pattern": "(a+)+b"}, ("pattern",), "a pattern that was refused"),
    ({"$ref": "#/$defs/a"}, ("$ref",), "which is not there; refer to #/$defs/"),
    ({"$defs": {"b": {}}, "$ref": "b"}, ("$ref",), "write one of #/$defs/b"),
    ({"minLength": 2, "maxLength": 1}, ("minLength",), "above maxLength, which is the number 1"),
    ({"not": {"minimum": 2, "maximum": 1.5}}, ("not", "minimum"), "no value can meet both"),
    (
        {"$defs": {"a": {"anyOf": [{"not": {"$ref": "#/$defs/a"}}]}}},
        ("$defs", "a", "anyOf", 0, "not", "$ref"),
        "refers to itself",
    ),
]


@pytest.mark.parametrize(("schema", "at", "said"), REFUSED, ids=str)
def test_what_is_outside_the_subset_is_refused_where_it_stands(schema: Any, at: Any, said: str):
    ((place, sentence),) = faults_of(schema)

    assert place == at
    assert said in sentence


def test_every_fault_of_a_schema_is_named():
    found = faults_of({"typ": 1, "properties": {"a": {"minimum": "x"}, "b": {"pattern": "["}}})

    assert [at[-1] for at, _ in found] == ["typ", "minimum", "pattern"]


def test_a_keyword_that_is_unknown_is_said_with_its_own_line(tmp_path: Path):
    path = tmp_path / "c.json"
    path.write_text(
        '{"id": "a", "required": [{"name": "pay", "args": {},\n"rules": {"/a":\n'
        '{"schema": {"properties": {"x": {\n"nulable":\ntrue}}}}}}]}'
    )

    (fault,) = check_cases(path).faults

    assert (fault.line, fault.case_id) == (4, "a")
    assert fault.field == "required[0].rules['/a'].schema.properties.x.nulable"


def test_integers_beyond_the_interpreters_own_limit_are_compared_and_described():
    ((_, sentence),) = faults_of({"minimum": 10**5_000, "maximum": 1})

    assert sentence.startswith("is a very large integer, above maximum")
    assert fits_schema({"multipleOf": 7, "minimum": 10**5_000}, 7 * 10**5_000) is True


def test_references_may_go_round_where_they_go_into_the_value():
    defs = {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}

    assert faults_of({"$defs": defs, "$ref": "#/$defs/n"}) == []


def test_ten_thousand_levels_are_read_and_a_fault_at_their_end_is_found():
    schema: Any = {"typ": 1}
    for _ in range(10_000):
        schema = {"not": schema}

    ((place, _),) = faults_of(schema)

    assert len(place) == 10_001


def test_each_keyword_of_the_scorer_has_a_stated_operand():
    stated = {word for words, _, _ in _OPERANDS for word in words}
    free = {"const", "$schema", "$comment"}
    free |= {"default", "deprecated", "description", "examples", "format", "title"}
    free |= {"readOnly", "writeOnly"}

    assert stated | free == SCHEMA_KEYWORDS


plain = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["a", "^a", "#/$defs/a"])
trees = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from([*sorted(SCHEMA_KEYWORDS), "a", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(trees, trees)
def test_a_schema_that_was_taken_is_judged_without_an_error(schema: Any, value: Any):
    try:
        check_schema(schema)
    except FormError:
        return

    assert fits_schema(schema, value) in (True, False)


def test_a_schema_made_without_the_check_is_refused_when_it_judges():
    with pytest.raises(UnscorableError):
        fits_schema({"nulable": True}, None)


SEARCHED = [
    ("b", "abc", True),
    ("^b", "abc", False),
    ("c$", "abc", True),
    ("b$", "abc", False),
    ("b$", "b\n", False),
    ("^abc$", "abc", True),
    ("^abc$", "abcd", False),
    ("^a.*c$", "abbc", True),
    ("^[a-z]+@", "ab@c", True),
    ("[0-9]+", "a7", True),
    ("[0-9]{4}$", "in 2026", True),
    ("a|b", "xb", True),
    ("^(?:a|b)$", "b", True),
    ("^(?:a|b)$", "ab", False),
    (r"a\$", "xa$", True),
    ("", "x", True),
    ("^$", "", True),
    ("^$", "x", False),
]


@pytest.mark.parametrize(("pattern", "text", "found"), SEARCHED)
def test_a_pattern_is_searched_for_and_its_anchors_are_the_ends_of_the_text(pattern, text, found):
    assert (compile_search(pattern).search(text) is not None) is found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("[a-z]+@", "without end at each character"),
        ("[0-9]+$", "without end at each character"),
        ("a{0,900}[ab]{0,900}c", "too many ways"),
        ("^a|b$", "anchors one alternative only"),
        ("(a+)+", "repeats a group"),
        (r"\bword", "the escape"),
    ],
)
def test_a_search_whose_time_is_not_promised_is_refused(monkeypatch, pattern: str, reason: str):
    monkeypatch.setattr("agenttrace.contracts._patterns._linear_engine", lambda: None)

    with pytest.raises(PatternError, match=reason):
        compile_search.__wrapped__(pattern)


@pytest.mark.parametrize("pattern", ["[ab]+", "^[ab]*c", "a[ab]{0,9}c", "[ab]{3}$", "b|ab{2,8}c"])
def test_an_accepted_search_does_not_hang_on_a_hostile_text(pattern: str):
    searcher = compile_search(pattern)

    assert not hangs(lambda: searcher.search("ab" * 50_000), beyond_s=2)


pieces = st.sampled_from(["a", "b", "[ab]", "a*", "b+", "a{0,3}", "(?:ab|b)", "a?", "[^a]", "."])


@settings(max_examples=60)
@given(
    st.sampled_from(["", "^"]),
    st.lists(pieces, min_size=1, max_size=4),
    st.sampled_from(["", "$"]),
    st.text("ab\nc", max_size=6),
)
def test_an_accepted_search_finds_what_pythons_own_finds(start, parts, end, text):
    body = "".join(parts)
    try:
        searcher = compile_search(f"{start}{body}{end}")
    except PatternError:
        return

    last = r"\Z" if end else ""
    own = re.search(f"{start}{body}{last}", text)
    assert (searcher.search(text) is None) is (own is None)


def test_the_extra_searches_for_what_python_could_not():
    pytest.importorskip("re2")

    assert compile_search("[a-z]+@").search("1ab@") is not None
    assert compile_search("(a+)+b$").search("a" * 50_000) is None
    assert compile_search("[a-z]+@").search("\ud800") is None
