"""What kind of change turned one argument object into another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import MISSING, Kind
from agenttrace.scoring import changes, value_kind

scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab*[ 1é", max_size=4)
values = st.recursive(
    scalars | st.floats(-9, 9, width=16),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy/~", max_size=2), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abc", max_size=1), values, max_size=4)

KINDS = [
    ("secret-1", "[REDACTED]", Kind.MASKED),
    ("Bearer k-1", "Bearer ***", Kind.MASKED),
    ("abcdef", "abc", Kind.TRUNCATED),
    ([1, 2, 3], [1, 2], Kind.TRUNCATED),
    (2.5, 2, Kind.PRECISION_LOST),
    (2.0, 2, Kind.TYPE_COERCED),
    (6093318845027716419, 6093318845027716096, Kind.PRECISION_LOST),
    (10**18, 1e18, Kind.TYPE_COERCED),
    (2**60 + 1, 2.0**60, Kind.PRECISION_LOST),
    (42, 4200, Kind.SCALED),
    (0.98, 98.0, Kind.SCALED),
    (2, 7200, Kind.SCALED),
    (60, 1, Kind.SCALED),
    ("2026-03-14T16:30:00+07:00", "2026-03-14T09:30:00", Kind.TIME_SHIFTED),
    ("e\u0301", "\u00e9", Kind.UNICODE_NORMALIZED),
    ("\uff21", "A", Kind.UNICODE_NORMALIZED),
    ("SN-4b", "sn-4B", Kind.CASE_CHANGED),
    ("4  Quay Road ", "4 Quay Road", Kind.WHITESPACE_CHANGED),
    ([1, 2], [2, 1], Kind.REORDERED),
    ({"a": 1}, '{"a": 1}', Kind.NESTED),
    ([1, 2], "[1,2]", Kind.NESTED),
    ("x", {"value": "x"}, Kind.NESTED),
    (["x"], "x", Kind.NESTED),
    ("5", 5, Kind.TYPE_COERCED),
    (3, 3.0, Kind.TYPE_COERCED),
    (True, 1, Kind.TYPE_COERCED),
    ([], None, Kind.TYPE_COERCED),
    ("open", "closed", Kind.VALUE_CHANGED),
    ({"a": 1}, {}, Kind.VALUE_CHANGED),
    (5, 7, Kind.VALUE_CHANGED),
]


@pytest.mark.parametrize(("before", "after", "kind"), KINDS)
def test_the_most_specific_kind_of_a_change_wins(before, after, kind):
    assert value_kind(before, after) is kind


@pytest.mark.parametrize("text", ["[note_1]", "a*b", "removed", "secret: ask", "<b>removed</b>"])
def test_ordinary_text_is_no_mask(text):
    assert value_kind("old", text) is Kind.VALUE_CHANGED


def test_an_equal_value_under_another_key_is_one_rename():
    (found,) = changes({"city": "Suhl"}, {"location": "Suhl"})

    assert (found.kind, found.path, found.after) == (Kind.RENAMED, "/city", "/location")


def test_another_value_under_another_key_is_dropped_and_added():
    found = changes({"city": "Suhl"}, {"location": "Gera"})

    assert [(c.kind, c.path, c.before, c.after) for c in found] == [
        (Kind.DROPPED, "/city", "Suhl", MISSING),
        (Kind.ADDED, "/location", MISSING, "Gera"),
    ]


def test_objects_are_compared_member_by_member_and_lists_as_wholes():
    found = changes(
        {"to": {"city": "A", "zip": 1}, "items": [{"n": 1}]},
        {"to": {"city": "B", "zip": 1}, "items": [{"n": 2}]},
    )

    assert [c.path for c in found] == ["/items", "/to/city"]


def test_keys_of_a_path_are_escaped():
    assert [c.path for c in changes({"a/b~c": 1}, {"a/b~c": 2})] == ["/a~1b~0c"]


def test_null_is_not_missing():
    assert [c.kind for c in changes({"limit": None}, {})] == [Kind.DROPPED]


def test_ten_thousand_levels_are_compared_without_recursion():
    before, after = {"v": 1}, {"v": 2}
    for _ in range(10_000):
        before, after = {"v": before}, {"v": after}

    (found,) = changes(before, after)

    assert (found.before, found.after, found.path.count("/")) == (1, 2, 10_001)


def test_integers_beyond_the_digit_limit_are_compared_exactly():
    big = 10**4301 + 7

    assert value_kind(big, big * 100) is Kind.SCALED
    assert value_kind(big, str(5)) is Kind.TYPE_COERCED


@given(objects)
def test_nothing_changes_between_equal_objects(value):
    assert changes(value, dict(reversed(value.items()))) == []


@given(objects, objects)
def test_what_is_dropped_one_way_is_added_the_other(left, right):
    there, back = changes(left, right), changes(right, left)

    assert sorted(c.path for c in there if c.kind is Kind.DROPPED) == sorted(
        c.path for c in back if c.kind is Kind.ADDED
    )
    assert len(there) == len(back)


@given(objects, objects)
def test_every_difference_has_a_difference(left, right):
    for change in changes(left, right):
        assert (
            change.before is MISSING
            or change.after is MISSING
            or change.before != (change.after)
            or type(change.before) is not type(change.after)
        )


SYMMETRIC = {
    Kind.SCALED,
    Kind.TIME_SHIFTED,
    Kind.UNICODE_NORMALIZED,
    Kind.CASE_CHANGED,
    Kind.WHITESPACE_CHANGED,
    Kind.REORDERED,
    Kind.NESTED,
    Kind.TYPE_COERCED,
}


@pytest.mark.parametrize(
    ("before", "after", "kind"), [row for row in KINDS if row[2] in SYMMETRIC and row[0] != 2.0]
)
def test_kinds_that_name_a_relation_hold_both_ways(before, after, kind):
    assert value_kind(after, before) in {kind, Kind.TRUNCATED}
