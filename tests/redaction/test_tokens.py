"""Tokens keep equality, and nothing but equality."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import BOUNDARIES, Boundary, Evidence, Run, ToolCall
from agenttrace.records import canonical
from agenttrace.redaction import Redactor, contains_token, is_token, key_id_of, token_key_id

KEY = b"0123456789abcdef0123456789abcdef"
REDACTOR = Redactor(KEY)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(json_values, json_values)
def test_tokens_are_equal_exactly_when_values_are(left, right):
    same = canonical(left) == canonical(right)

    assert (REDACTOR.token(left, "pin") == REDACTOR.token(right, "pin")) is same
    assert (REDACTOR.digest(left) == REDACTOR.digest(right)) is same


def test_types_groups_and_keys_tell_tokens_apart():
    other = Redactor(b"another key of the same length..")
    made = [
        REDACTOR.token(9800, "pin"),
        REDACTOR.token("9800", "pin"),
        REDACTOR.token(9800.0, "pin"),
        REDACTOR.token(9800, "card"),
        other.token(9800, "pin"),
    ]

    assert len(set(made)) == len(made)
    assert all(map(is_token, made))
    assert {token_key_id(token) for token in made} == {REDACTOR.key_id, other.key_id}


def test_a_token_shows_128_bits_and_never_the_key():
    token = REDACTOR.token("hunter22", "password")

    assert len(token.rpartition(":")[2].rstrip("]")) * 4 == 128
    for text in (token, repr(REDACTOR), str(vars(REDACTOR.masking().__class__)), REDACTOR.key_id):
        assert KEY.decode() not in text
        assert KEY.hex() not in text


def test_the_digest_of_canonical_text_is_that_of_the_value():
    value = {"b": [1, 2.5, "é"], "a": None}

    assert REDACTOR.digest_text(canonical(value)) == REDACTOR.digest(value)
    assert REDACTOR.digest(value).startswith(f"hmac-sha256:{REDACTOR.key_id}:")


def test_a_long_text_has_the_digest_of_its_bytes():
    text = "aé\ud800" * 1_000_000

    assert REDACTOR.digest_text(text) == REDACTOR.digest_text(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    "value", ["[masked:pin:0a1b2c3d:short]", "masked", "", 5, None, "x[masked:", "[dropped:x]"]
)
def test_what_is_no_token_is_none(value):
    assert not is_token(value)
    assert token_key_id(value) is None


def test_tokens_are_found_in_texts_keys_and_depths():
    first, second = REDACTOR.token(1, "pin"), Redactor(b"y" * 32).token(2, "pin")
    deep: object = f"x {first} y"
    for _ in range(5_000):
        deep = [deep]

    assert contains_token({"a": deep, second: 1}) == {REDACTOR.key_id, key_id_of(b"y" * 32)}


def test_evidence_masked_with_another_key_is_told():
    other = Redactor(b"y" * 32)
    call = ToolCall(
        boundary=Boundary.MODEL,
        ref="model/0",
        name="pay",
        arguments={"pin": other.token(1234, "pin"), "card": REDACTOR.token("1", "card")},
    )
    evidence = Evidence(run=Run(run_id="r"), observed={}, model=(call,))

    assert REDACTOR.unknown_keys(evidence) == {other.key_id}


def test_masking_says_how_it_was_done():
    masking = REDACTOR.masking()

    assert masking.method == "hmac-sha256"
    assert masking.boundaries == BOUNDARIES
    assert masking.reference
    assert (masking.bits or 0) >= 128
    assert masking.key_id == REDACTOR.key_id


def test_groups_that_no_token_could_hold_are_made_fit():
    tokens = [REDACTOR.token("v", group) for group in ("A b/c", "x" * 500, "", "]:[")]

    assert all(map(is_token, tokens))
    assert all(a != b for a, b in itertools.combinations(tokens[:3], 2))


@pytest.mark.parametrize(("key", "key_id"), [(b"short", None), (KEY, "XYZ"), (KEY, "0123456G")])
def test_a_weak_key_or_a_malformed_key_id_is_refused(key, key_id):
    with pytest.raises(ValueError, match="key"):
        Redactor(key, key_id)
