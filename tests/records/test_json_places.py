from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.records import places

TEXT = """{
  "a": [1,
        {"b":
           2}],
  "c": {}, "c":
     {"d": null}
}"""


@pytest.mark.parametrize(
    ("loc", "line", "key_line"),
    [
        ((), 1, 1),
        (("a",), 2, 2),
        (("a", 0), 2, 2),
        (("a", 1), 3, 3),
        (("a", 1, "b"), 4, 3),
        (("c",), 6, 5),
        (("c", "d"), 6, 6),
    ],
)
def test_a_value_and_its_key_have_the_lines_they_begin_on(
    loc: tuple[str | int, ...], line: int, key_line: int
):
    place = places(TEXT, [loc])[loc]

    assert (place.line, place.key_line) == (line, key_line)


def test_what_stands_around_a_missing_value_is_found():
    assert {*places(TEXT, [("a", 1, "x", "y")])} == {(), ("a",), ("a", 1)}


def test_a_place_is_found_beyond_any_depth_that_a_parser_recurses_to():
    text = f'{{"deep": {"[" * 20_000}{"]" * 20_000},\n"next": 1}}'

    assert places(text, [("next",)])[("next",)].line == 2


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
)


def locs(value: Any, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value)) if isinstance(value, list) else []
    return [here, *(loc for part, one in inner for loc in locs(one, (*here, part)))]


@given(value=values)
def test_values_that_stand_on_lines_of_their_own_are_counted_in_their_order(value: Any):
    text = json.dumps(value, indent=1)

    found = places(text, locs(value))

    lines = [found[loc].line for loc in locs(value)]
    assert lines == sorted(set(lines))
