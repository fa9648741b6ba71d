"""Rules at places that no call can have, and calls that a plan has no place for."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.contracts._doubts import doubts
from agenttrace.domain import ForbiddenCall, LeakRule, Plan
from tests.builders import case, due, no_plan, rule

ONE = rule("equals", 1)


def found(asked: Any) -> list[tuple[Any, ...]]:
    return [one.loc for one in doubts(asked)]


@pytest.mark.parametrize(
    ("args", "pointers", "doubtful"),
    [
        ({}, ["/a"], []),
        ({}, ["/o/x"], ["/o/x"]),
        ({"o": {}}, ["/o/x"], []),
        ({"o": 5}, ["/o/x"], ["/o/x"]),
        ({"l": []}, ["/l/0"], []),
        ({"l": []}, ["/l/3"], ["/l/3"]),
        ({"l": []}, ["/l/0", "/l/1"], []),
        ({"l": [7]}, ["/l/1"], []),
        ({"l": [7]}, ["/l/2"], ["/l/2"]),
        ({"l": []}, ["/l/x"], ["/l/x"]),
        ({"l": []}, ["/l/" + "9" * 5000], ["/l/" + "9" * 5000]),
        ({"l": [{}]}, ["/l/0/x"], []),
    ],
)
def test_a_rule_needs_a_place_in_args(args, pointers, doubtful):
    asked = case(due("pay", args, dict.fromkeys(pointers, ONE)))

    assert found(asked) == [("required", 0, "rules", one) for one in doubtful]


@pytest.mark.parametrize(
    ("one", "is_doubtful"),
    [(ONE, True), (rule("ignore", None), False), (rule("default", 1), False)],
)
def test_a_rule_about_an_ignored_argument_never_sees_a_value(one, is_doubtful):
    asked = case(due("pay", {}, {"/a": one}), ignore_args={"pay": frozenset({"a"})})

    assert found(asked) == ([("required", 0, "rules", "/a")] if is_doubtful else [])


@pytest.mark.parametrize(
    ("ordered", "doubtful"),
    [
        (("get", "pay"), [("ordered", 0)]),
        (("pay", "get"), []),
        ((("see", "get"), "pay"), [("ordered", 0, 1)]),
    ],
)
def test_nothing_can_wait_for_what_is_forbidden(ordered, doubtful):
    asked = no_plan(ordered=ordered, forbidden=(ForbiddenCall(name="get", arguments=None),))

    assert found(asked) == doubtful


def test_a_plan_has_no_place_for_more_calls_than_it_requires():
    few = Plan(plan_id="few", required=(due(),), when=None)
    many = Plan(plan_id="many", required=(due(), due()), when=None)

    assert found(case(due(), min_calls={"refund": 2})) == [("required",)]
    assert found(case(due(), due(), min_calls={"refund": 2})) == []
    assert found(no_plan(min_calls={"refund": 2})) == []
    chosen = case(plans=(few, many), plan_by="any_of", min_calls={"refund": 2})
    assert found(chosen) == [("plans", 0, "required")]


@pytest.mark.parametrize(
    ("ordered", "is_doubtful"),
    [
        (("get", "refund"), True),
        (("refund", "get"), False),
        (("get", "see"), False),
        ((("get", "see"), ("refund", "say")), True),
        ((("refund", "get"), "say"), False),
        (("refund", "get", "say"), False),
    ],
)
def test_a_plan_has_the_calls_that_its_own_have_to_wait_for(ordered, is_doubtful):
    assert found(case(due(), ordered=ordered)) == ([("required",)] if is_doubtful else [])
    assert found(no_plan(ordered=ordered)) == []


def test_what_an_earlier_entry_says_already_is_named():
    never = [("t", None), ("t", {"a": 1}), ("t", {"a": 1}), ("t", {"a": True})]
    forbidden = tuple(ForbiddenCall(name=name, arguments=args) for name, args in never)
    leak = (LeakRule(tool="t", path="/a"), LeakRule(tool="t", path=""), LeakRule(tool="t", path=""))

    assert found(no_plan(forbidden=forbidden, leak=leak)) == [("forbidden", 2), ("leak", 2)]
