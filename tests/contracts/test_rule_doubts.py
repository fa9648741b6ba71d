"""Rules of a case beside what its tools' own schemas say."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.contracts._doubts import doubts
from agenttrace.domain import ForbiddenCall
from tests.builders import case, contract, due, no_plan, rule

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["a", "b"]},
        "loud": {"type": "boolean"},
        "sum": {"type": "integer", "default": 1},
        "odd": {"type": "string", "x-unit": "m"},
        "new": {},
    },
    "required": ["mode", "loud"],
}
TOOL = contract("pay", schema=SCHEMA)


def found(asked: Any) -> list[tuple[Any, ...]]:
    """Doubts about rules; those about arguments that a tool lacks have tests of their own."""
    of_tools = ("leaves out", "none of the parameters", "which args do not have")
    return [one.loc for one in doubts(asked) if not any(word in one.found for word in of_tools)]


@pytest.mark.parametrize(
    ("pointer", "one", "doubtful"),
    [
        ("/sum", rule("schema", {"type": "string"}), True),
        ("/sum", rule("schema", {"type": "number"}), False),
        ("/sum", rule("schema", {"minimum": 1}), False),
        ("/sum", rule("default", 2), True),
        ("/sum", rule("default", 1), False),
        ("/mode", rule("default", "c"), True),
        ("/mode", rule("default", "a"), False),
        ("/odd", rule("default", "x"), False),
        ("/new", rule("default", 3), False),
        ("/sum/x", rule("default", 3), False),
        ("/sum", rule("equals", "x"), True),
        ("/sum", rule("equals", 3), False),
        ("/sum", rule("one_of", ["x", 3]), False),
        ("/mode", rule("one_of", ["c", "d"]), True),
        ("/sum", rule("range", {"min": 1}), False),
        ("/odd", rule("range", {"min": 1}), True),
        ("/odd", rule("tolerance", {"value": 1, "abs": 0}), True),
        ("/odd", rule("length", {"min": 1}), False),
        ("/sum", rule("length", {"min": 1}), True),
        ("/sum", rule("regex", "[0-9]"), True),
        ("/new", rule("regex", "[0-9]"), False),
    ],
)
def test_a_rule_that_the_tools_schema_excludes_is_doubtful(pointer, one, doubtful):
    asked = case(due("pay", {}, {pointer: one}), contract=TOOL)

    assert bool(found(asked)) is doubtful


@pytest.mark.parametrize(
    ("pointer", "least", "doubtful"),
    [
        ("/mode", 3, True),
        ("/mode", 2, False),
        ("/loud", 3, True),
        ("/sum", 9, False),
        ("/a/b", 9, False),
    ],
)
def test_more_calls_than_there_are_values_for_once_per_are_doubtful(pointer, least, doubtful):
    asked = no_plan(min_calls={"pay": least}, once_per={"pay": pointer}, contract=TOOL)

    assert found(asked) == [("min_calls", "pay")] * doubtful


def test_rules_of_the_end_state_are_compared_until_a_bound(monkeypatch):
    inner = {f"/a/{name}": rule("equals", 1) for name in "xyz"}
    asked = no_plan(outcome={"/a": rule("equals", {}), **inner})

    whole = found(asked)
    monkeypatch.setattr("agenttrace.contracts._rule_doubts._MOST_ASKED", 2)

    assert whole == [("outcome", pointer) for pointer in inner]
    assert found(asked) == whole[:2]


def test_every_required_call_that_is_forbidden_is_doubtful_once_a_rule():
    calls = [due("pay", {"a": 1}), due("pay", {"a": 2}), due("other", {"a": 1})]
    never = [("pay", {"a": 2}), ("other", None), ("pay", {"a": 3})]
    rules = tuple(ForbiddenCall(name=name, arguments=args) for name, args in never)
    asked = case(*calls, forbidden=rules)

    assert found(asked) == [("required", 1), ("required", 2)]
