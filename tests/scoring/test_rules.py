"""Argument rules: one question to one value."""

from __future__ import annotations

import pytest

from agenttrace.domain import MISSING, RuleKind
from agenttrace.scoring import accepts
from tests.builders import rule

RULES = [
    ("equals", 10, 10, True),
    ("equals", 10, 10.0, False),
    ("equals", 10, "10", False),
    ("equals", 1, True, False),
    ("equals", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ("equals", None, None, True),
    ("equals", 0.0, -0.0, True),
    ("regex", "K-[0-9]{4}", "K-4471", True),
    ("regex", "K-[0-9]{4}", "K-44711", False),
    ("regex", "a|b", "ab", False),
    ("regex", ".*", 5, False),
    ("regex", ".*", None, False),
    ("range", {"min": 300, "max": 1500}, 300, True),
    ("range", {"min": 300, "max": 1500}, 1500.0, True),
    ("range", {"min": 300, "max": 1500}, 1501, False),
    ("range", {"min": 300}, 10**400, True),
    ("range", {"max": 2**53}, 2**53 + 1, False),
    ("range", {"min": 0.1}, 0.1, True),
    ("range", {"min": 0}, True, False),
    ("range", {"min": 0}, "5", False),
    ("tolerance", {"value": 12.5, "abs": 0.05}, 12.45, True),
    ("tolerance", {"value": 12.5, "abs": 0.05}, 12.44, False),
    ("tolerance", {"value": 0.3, "abs": 0.1}, 0.2, True),
    ("tolerance", {"value": 1, "abs": 1}, True, False),
    ("one_of", ["A", 1], "A", True),
    ("one_of", ["A", 1], 1.0, False),
    ("one_of", ["A", 1], "B", False),
    ("length", {"min": 1}, "x", True),
    ("length", {"min": 1}, [], False),
    ("length", {"max": 2}, [1, 2, 3], False),
    ("length", {"max": 2}, {"a": 1}, False),
    ("length", {"min": 0}, None, False),
    ("ignore", True, object, True),
]


@pytest.mark.parametrize(("kind", "operand", "value", "accepted"), RULES)
def test_a_rule_asks_one_question_of_a_value(kind, operand, value, accepted):
    assert accepts(rule(kind, operand), value) is accepted


@pytest.mark.parametrize("kind", list(RuleKind))
def test_every_kind_but_ignore_and_default_needs_the_value_to_be_there(kind):
    asked = rule(kind, None, "trim" if kind is RuleKind.NORMALIZER else None)

    assert accepts(asked, MISSING) is (kind in (RuleKind.IGNORE, RuleKind.DEFAULT))


@pytest.mark.parametrize(
    ("name", "wanted", "value", "accepted"),
    [
        ("collapse_whitespace", "4 Quay Road", "4  Quay Road ", True),
        ("casefold", "AB", "ab", True),
        ("casefold", "AB", 5, False),
        ("digits", 5, 5, True),
        ("trim", None, None, True),
    ],
)
def test_a_normalizer_rule_compares_what_the_normalizer_makes(name, wanted, value, accepted):
    assert accepts(rule("normalizer", wanted, name), value) is accepted
