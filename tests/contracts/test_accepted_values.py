"""An answer in BFCL's accepted-values form requires what it accepts."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace import Case, score
from agenttrace.contracts import required_from_accepted
from agenttrace.errors import InvalidCaseError
from agenttrace.testing import clean_run

PERSON = {"name": ["Ann", "Anna"], "age": [30, ""]}


def passes(answer: dict[str, Any], arguments: dict[str, Any]) -> bool:
    case = Case(case_id="c", required=required_from_accepted([{"find": answer}]))
    figures = score(case, clean_run(("find", arguments))).boundaries
    return all(one is not None and one.counts.exact for one in figures.values())


@pytest.mark.parametrize(
    ("answer", "taken", "refused"),
    [
        ({"n": [10]}, [{"n": 10}], [{}, {"n": 11}, {"n": "10"}, {"n": 10, "m": 1}]),
        ({"n": ["cm", "m"]}, [{"n": "cm"}, {"n": "m"}], [{}, {"n": "km"}]),
        ({"n": ["cm", ""]}, [{}, {"n": "cm"}, {"n": ""}], [{"n": "km"}, {"n": None}]),
        ({"n": [5.0]}, [{"n": 5}, {"n": 5.0}], [{"n": 5.5}]),
        ({"n": [5]}, [{"n": 5}], [{"n": 5.0}, {"n": True}]),
        ({"n": [["a", "b"]]}, [{"n": ["a", "b"]}], [{"n": ["b", "a"]}, {"n": "a"}]),
        (
            {"n": [PERSON]},
            [{"n": {"name": "Ann"}}, {"n": {"name": "Anna", "age": 30}}],
            [
                {},
                {"n": {"age": 30}},
                {"n": {"name": "Ann", "age": 31}},
                {"n": {"name": "Al"}},
                {"n": {"name": "Ann", "x": 1}},
            ],
        ),
        (
            {"n": [[PERSON, {"name": ["Bo"]}], ""]},
            [{}, {"n": [{"name": "Ann"}, {"name": "Bo"}]}],
            [{"n": [{"name": "Ann"}]}, {"n": [{"name": "Bo"}, {"name": "Ann"}]}],
        ),
        ({"a/b~c": ["x", "y"]}, [{"a/b~c": "x"}], [{"a/b~c": "z"}]),
    ],
)
def test_what_is_accepted_is_required_and_nothing_else(answer, taken, refused):
    assert all(passes(answer, arguments) for arguments in taken)
    assert not any(passes(answer, arguments) for arguments in refused)


def test_each_object_of_the_list_is_a_call_of_its_own():
    found = required_from_accepted([{"a": {}}, {"b": {"n": [1]}}, {"a": {}}])

    assert [call.name for call in found] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"a": {}}, "not a list"),
        ([{"a": {}, "b": {}}], "one function"),
        ([{"a": [1]}], "the parameters of 'a'"),
        ([{"a": {"n": 1}}], r"a\.n"),
        ([{"a": {"n": []}}], "list of accepted values"),
        ([{"a": {"n": [{"x": 1}]}}], r"a\.n\.x"),
        ([{"": {}}], "function's name"),
        ([{1: {}}], "function's name"),
        ([{"a": {1: [2]}}], "as a parameter of 'a'"),
        ([{"a": {"n": [float("inf")]}}], r"a\.n.*not finite"),
        ([{"a": {"n": [object()]}}], r"a\.n.*JSON cannot hold"),
    ],
)
def test_another_form_is_refused_with_its_place(answers, said):
    with pytest.raises(InvalidCaseError, match=said):
        required_from_accepted(answers)


def test_values_nested_to_any_depth_are_read_or_refused():
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    (call,) = required_from_accepted([{"a": {"n": [deep]}}])

    assert call.arguments["n"] is deep
    for _ in range(200):
        deep = {"n": [deep]}
    with pytest.raises(InvalidCaseError, match="nested more than"):
        required_from_accepted([{"a": {"n": [deep]}}])
