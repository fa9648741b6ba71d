"""Argument rules: one question to one value, with typed equality and nothing looser."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import ArgumentRule, JsonValue, Missing, RuleKind
from agenttrace.records import canonical
from agenttrace.scoring._normalizers import normalizer
from agenttrace.scoring._numbers import at_most, exact, is_number
from agenttrace.scoring._opaque import (
    digest_of,
    holds_opaque,
    is_cut_down,
    is_opaque,
    is_unknown,
    opaque_keys,
    same,
)
from agenttrace.scoring._undecided import undecided

if TYPE_CHECKING:
    from typing import Any, Final


def accepts(rule: ArgumentRule, value: JsonValue | Missing, at: str = "") -> bool:
    """Whether a rule is content with a value.

    All kinds but `ignore` and `default` need the value to be there, unless the rule is optional:
    null is a value, missing is not null, and an empty list is neither. Patterns are checked for
    linear running time, and schemas for their keywords, where cases are loaded.

    Args:
        at: Where the value stands, for what is said of a rule that cannot be decided.
    """
    if rule.kind is RuleKind.IGNORE:
        return True
    if isinstance(value, Missing):
        return rule.optional or rule.kind is RuleKind.DEFAULT
    if holds_opaque(value):
        return _accepts_opaque(rule, value, at)
    return _CHECKS[rule.kind](rule, value)


def _accepts_opaque(rule: ArgumentRule, value: JsonValue, at: str) -> bool:
    """Whether a rule is content with a value of which only digests or masks are known."""
    kind = rule.kind
    if kind is RuleKind.SCHEMA:
        answer = _fits_schema(rule, value)
        return undecided(_question(rule, at)) if answer is None else answer
    if kind in (RuleKind.EQUALS, RuleKind.DEFAULT, RuleKind.ONE_OF):
        listed = rule.operand if kind is RuleKind.ONE_OF else [rule.operand]
        choices = listed if isinstance(listed, list | tuple) else ()
        if any(same(choice, value) for choice in choices):
            return True
        if all(_is_comparable(choice, value) for choice in choices):
            return False
        return undecided(_question(rule, at))
    if kind is RuleKind.LENGTH and not is_opaque(value) and not is_cut_down(value):
        return _length(rule, value)
    found = digest_of(value)
    if found is None or kind is RuleKind.NORMALIZER:
        return undecided(_question(rule, at))
    if kind is RuleKind.LENGTH:
        size = found.length if found.type in ("string", "array") else None
        return size is not None and _is_within(rule, size)
    fitting = ("string",) if kind is RuleKind.REGEX else ("integer", "number")
    # A container that was cut down may hold the value that is asked for.
    is_possible = found.type in fitting or is_cut_down(value)
    return is_possible and undecided(_question(rule, at))


def _is_comparable(stated: JsonValue, value: JsonValue) -> bool:
    if is_cut_down(value) or is_unknown(stated, value) is not None:
        return False
    return bool(opaque_keys(stated)) or stated is None or stated in ({}, [], "")


def _question(rule: ArgumentRule, at: str) -> str:
    # Never its operand: what is asked of a secret may give the secret away.
    return f"the rule {rule.kind.value} {f'of {at:.60}' if at else ''}".rstrip()


def _equals(rule: ArgumentRule, value: JsonValue) -> bool:
    return canonical(value) == canonical(rule.operand)


def _regex(rule: ArgumentRule, value: JsonValue) -> bool:
    # Few plans have such a rule.
    from agenttrace.scoring._pattern import fits_whole  # noqa: PLC0415

    return isinstance(value, str) and fits_whole(str(rule.operand), value)


def _range(rule: ArgumentRule, value: JsonValue) -> bool:
    if not is_number(value):
        return False
    bounds = _bounds(rule)
    low, high = bounds.get("min"), bounds.get("max")
    return (low is None or at_most(low, value)) and (high is None or at_most(value, high))


def _tolerance(rule: ArgumentRule, value: JsonValue) -> bool:
    if not is_number(value):
        return False
    bounds = _bounds(rule)
    return abs(exact(value) - exact(bounds["value"])) <= exact(bounds["abs"])


def _one_of(rule: ArgumentRule, value: JsonValue) -> bool:
    choices = rule.operand if isinstance(rule.operand, list | tuple) else ()
    text = canonical(value)
    return any(canonical(choice) == text for choice in choices)


def _length(rule: ArgumentRule, value: JsonValue) -> bool:
    if not isinstance(value, str | list | tuple):
        return False
    return _is_within(rule, len(value))


def _is_within(rule: ArgumentRule, size: int) -> bool:
    bounds = _bounds(rule)
    low, high = bounds.get("min"), bounds.get("max")
    return (low is None or low <= size) and (high is None or size <= high)


def _schema(rule: ArgumentRule, value: JsonValue) -> bool:
    return _fits_schema(rule, value) is True


def _fits_schema(rule: ArgumentRule, value: JsonValue) -> bool | None:
    # Few plans have such a rule, and it is a good part of the scorer.
    from agenttrace.scoring._json_schema import fits_schema  # noqa: PLC0415

    return fits_schema(_bounds(rule), value)


def _normalized(rule: ArgumentRule, value: JsonValue) -> bool:
    one = normalizer(rule.normalizer or "")
    return canonical(one(value)) == canonical(one(rule.operand))


def _bounds(rule: ArgumentRule) -> Mapping[str, Any]:
    return rule.operand if isinstance(rule.operand, Mapping) else {}


_CHECKS: Final[Mapping[RuleKind, Callable[[ArgumentRule, JsonValue], bool]]] = {
    RuleKind.EQUALS: _equals,
    RuleKind.REGEX: _regex,
    RuleKind.RANGE: _range,
    RuleKind.TOLERANCE: _tolerance,
    RuleKind.ONE_OF: _one_of,
    RuleKind.LENGTH: _length,
    RuleKind.NORMALIZER: _normalized,
    RuleKind.SCHEMA: _schema,
    RuleKind.DEFAULT: _equals,
}
