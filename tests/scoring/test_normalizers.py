"""Named normalizers: what each takes for equal, and what it keeps apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.errors import InvalidCaseError
from agenttrace.scoring import normalizer, normalizer_names, register_normalizer
from agenttrace.scoring._normalizers import instant_of


@pytest.mark.parametrize(
    ("name", "left", "right", "equal"),
    [
        ("casefold", "Straße", "STRASSE", True),
        ("trim", "\u00a0a ", "a", True),
        ("trim", "a  b", "a b", False),
        ("collapse_whitespace", "a\t\n b ", "a b", True),
        ("collapse_whitespace", "ab", "a b", False),
        ("nfc", "e\u0301", "\u00e9", True),
        ("nfc", "\uff21", "A", False),
        ("digits", "48-81 02", "488102", True),
        ("digits", "12", "21", False),
        ("utc_instant", "2026-01-01T12:00:00+01:00", "2026-01-01T11:00:00Z", True),
        ("utc_instant", "2026-01-01T12:00:00.000+00:00", "2026-01-01T12:00:00Z", True),
        ("utc_instant", "2026-01-01T12:00:00", "2026-01-01T12:00:00Z", False),
        ("utc_instant", "2026-01-01", "2026-01-01T00:00:00Z", False),
        ("utc_instant", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", False),
    ],
)
def test_a_normalizer_decides_which_texts_are_equal(name, left, right, equal):
    one = normalizer(name)

    assert (one(left) == one(right)) is equal


@given(st.sampled_from(normalizer_names()), st.text(max_size=40))
def test_normalizing_twice_is_normalizing_once(name, text):
    one = normalizer(name)

    assert one(one(text)) == one(text)


@pytest.mark.parametrize("value", [None, 5, 5.0, True, ["A"], {"a": "A"}])
def test_other_values_than_text_pass_unchanged(value):
    assert all(normalizer(name)(value) is value for name in normalizer_names())


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidCaseError, match="casefold"):
        normalizer("lower")


@pytest.mark.parametrize(
    ("accepts", "rejects", "reason"),
    [
        ([], [("a", "b")], "needs a pair"),
        ([("a", "A")], [], "needs a pair"),
        ([("a", "b")], [("a", "c")], "does not accept"),
        ([("a", "A")], [("b", "B")], "apart"),
    ],
)
def test_a_normalizer_that_fails_its_own_examples_is_not_registered(accepts, rejects, reason):
    with pytest.raises(InvalidCaseError, match=reason):
        register_normalizer("mine", str.lower, accepts=accepts, rejects=rejects)

    assert "mine" not in normalizer_names()


@pytest.mark.parametrize("text", ["T", "2026T", "not a Time at all", "2026-13-01T00:00:00", ""])
def test_text_that_states_no_instant_has_none(text):
    assert instant_of(text) is None
