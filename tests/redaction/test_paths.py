"""Paths lead into JSON texts inside strings, alike at every boundary."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import Status
from agenttrace.records import canonical, parse_arguments
from agenttrace.redaction import Redactor
from agenttrace.scoring import score
from tests.builders import case, clean_run, due, rule

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef", paths=["/a/b", "/a/*/c", "/*/b/0/c"])

names = st.sampled_from(["a", "b", "c", "0", "note"])
leaves = st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x y", "hunter22", "{"])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(names, inner, max_size=3)
        | st.dictionaries(names, inner, max_size=2).map(json.dumps)
        | st.lists(inner, max_size=2).map(lambda each: json.dumps(each, indent=1))
    ),
    max_leaves=10,
)
arguments = st.dictionaries(names, values, max_size=3)


def opened(value: Any) -> Any:
    """A value in which every JSON text of an object or array is what it says."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return opened(json.loads(value))
        except json.JSONDecodeError:
            return value
    if isinstance(value, dict):
        return {key: opened(item) for key, item in value.items()}
    return [opened(item) for item in value] if isinstance(value, list) else value


@given(arguments)
def test_raw_text_is_masked_to_what_the_parsed_arguments_are_masked_to(given_arguments):
    mask = REDACTOR.for_run()

    raw = mask.mask_raw(json.dumps(given_arguments))

    masked = canonical(mask.mask_arguments(given_arguments))
    assert canonical(parse_arguments(raw).value) == masked
    assert canonical(REDACTOR.mask_expected(given_arguments)) == masked
    assert canonical(REDACTOR.mask_expected(json.loads(masked))) == masked
    assert mask.errors == 0


@pytest.mark.parametrize(
    "secret", ["blue sky", 77, 7.5, {"x": "blue sky"}, ["blue sky", 1]], ids=str
)
@pytest.mark.parametrize("quoted", ["inner", "outer", "both"])
def test_the_token_in_a_json_text_is_the_one_of_the_same_place_unquoted(secret, quoted):
    plain = {"a": {"q": {"c": secret, "d": "seen"}}}
    inner = {"q": json.dumps(plain["a"]["q"])}
    stated = {
        "inner": {"a": inner},
        "outer": {"a": json.dumps(plain["a"])},
        "both": {"a": json.dumps(inner)},
    }[quoted]

    masked = REDACTOR.mask_expected(stated)

    assert opened(masked) == REDACTOR.mask_expected(plain)
    assert opened(masked)["a"]["q"]["d"] == "seen"
    assert "blue sky" not in str(masked)


def test_a_text_is_masked_by_its_place_whatever_was_found_clean_before():
    text = json.dumps({"b": "blue sky"})
    mask = REDACTOR.for_run()

    before = mask.mask_arguments({"note": text})
    masked = mask.mask_arguments({"a": text, "note": text})

    assert before == {"note": text}
    assert "blue sky" not in str(masked)


def test_broken_json_in_a_string_is_masked_by_path_as_far_as_it_can_be_read():
    cut = '{"b": "blue sky", "d": [1, {"e": '

    masked = REDACTOR.mask_expected({"a": cut})["a"]

    assert isinstance(masked, str)
    assert "blue sky" not in masked
    assert masked.endswith(', "d": [1, {"e": ')


@pytest.mark.parametrize(
    "value", ["blue sky", {"deep": "blue sky"}, json.dumps({"b": "x"})], ids=str
)
def test_a_rule_is_compared_at_a_place_that_a_path_or_a_field_around_it_hides(value):
    for place, given_arguments in (
        ("/a/b", {"a": {"b": value}}),
        ("/credentials/user", {"credentials": {"user": value}}),
    ):
        seen = clean_run(("t", REDACTOR.mask_expected(given_arguments)))
        for operand, status in ((value, Status.PASS), ("other", Status.FAIL)):
            around = {name: {} for name in given_arguments}
            asked = due("t", around, rules={place: rule("equals", operand)})

            assert score(case(asked), seen, redactor=REDACTOR).status is status


def test_paths_reach_what_schemas_state():
    mask = Redactor(b"k" * 32, paths=["/opt/answer", "/lines/*/answer"]).for_run()
    secret = "blue-hunter22"
    answer = {"type": "string", "default": secret, "enum": [secret, "other"], "examples": [secret]}
    schema = {
        "type": "object",
        "properties": {
            "opt": {"default": {"answer": secret}, "anyOf": [{"properties": {"answer": answer}}]},
            "lines": {"items": {"properties": {"answer": answer}}},
            "password": {"type": "string", "pattern": f"^{secret}$"},
        },
        "required": ["opt"],
    }

    masked = mask.mask_schema(schema)

    assert secret not in repr(masked)
    assert masked["required"] == ["opt"]  # type: ignore[index,call-overload]
    alike = mask.mask_arguments({"opt": {"answer": secret}})["opt"]
    assert masked["properties"]["opt"]["default"] == alike  # type: ignore[index,call-overload]
