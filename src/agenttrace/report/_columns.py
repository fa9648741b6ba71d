"""What one logical call looked like at each boundary, as columns: one record, or equal ones.

A tool that ran three times on the same arguments is one column and a count; runs on different
arguments are columns of their own, because that difference is the finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    ArgumentRule,
    Boundary,
    Case,
    Chain,
    Evidence,
    Execution,
    RequiredCall,
    RuleKind,
    ToolCall,
    Verdict,
)
from agenttrace.records import at_pointer, canonical, parse_arguments
from agenttrace.report._text import value_text

_MOST_COLUMNS = 3
"""Unequal records of one boundary that are shown; further ones are counted."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a call's table."""

    title: str
    boundary: Boundary | None
    """None: what the case expects."""
    calls: tuple[ToolCall, ...] = ()
    """Equal records."""
    expected: RequiredCall | None = None
    without: str = ""
    """What stands in place of records where there are none."""

    @property
    def name(self) -> str:
        """Name of the tool, or that there is no record."""
        if self.expected is not None:
            return self.expected.name
        return self.calls[0].name if self.calls else self.without

    @property
    def arguments(self) -> Mapping[str, object] | None:
        """Arguments by name. None: not readable."""
        if self.expected is not None:
            return self.expected.arguments
        return self.calls[0].arguments if self.calls else None

    def cell(self, pointer: str) -> str:
        """The argument at a pointer, as text."""
        if self.expected is not None and pointer in self.expected.rules:
            return rule_text(self.expected.rules[pointer])
        arguments = self.arguments
        if arguments is None:
            return ""
        try:
            value = at_pointer(arguments, pointer, MISSING)  # type: ignore[arg-type]
        except ValueError:
            return ""
        return value_text(value)


_WORDS: Final = {
    RuleKind.ONE_OF: "one of ",
    RuleKind.REGEX: "fits ",
    RuleKind.SCHEMA: "fits schema ",
    RuleKind.DEFAULT: "left out, or ",
}


def rule_text(rule: ArgumentRule) -> str:
    """What an argument rule asks, in a few characters."""
    operand = rule.operand
    if isinstance(operand, Mapping):
        low, high = value_text(operand.get("min", "")), value_text(operand.get("max", ""))
        ends = f"{low}..{high}".replace('""', "")
        if rule.kind is RuleKind.RANGE:
            return ends
        if rule.kind is RuleKind.LENGTH:
            return f"length {ends}"
        if rule.kind is RuleKind.TOLERANCE:
            return f"{value_text(operand.get('value'))} ±{value_text(operand.get('abs'))}"
    if rule.kind is RuleKind.IGNORE:
        return "(anything)"
    word = _WORDS.get(rule.kind, "")
    named = f" by {rule.normalizer}" if rule.normalizer else ""
    return f"{word}{value_text(operand)}{named}"


def columns_of(
    chain: Chain,
    records: Mapping[str, ToolCall],
    expected: RequiredCall | None,
    evidence: Evidence | None,
) -> list[Column]:
    """The columns of one chain, the expectation first and then every boundary."""
    columns = []
    if expected is not None:
        columns.append(Column(title="expected", boundary=None, expected=expected))
    for boundary in BOUNDARIES:
        found = [records[ref] for ref in chain.records.get(boundary, ()) if ref in records]
        if not found:
            seen = evidence is not None and evidence.sees(boundary, chain.name)
            without = "(no record)" if seen else "(not observed)"
            columns.append(Column(title=boundary.value, boundary=boundary, without=without))
        groups: dict[str, list[ToolCall]] = {}
        for call in found:
            groups.setdefault(_key(call), []).append(call)
        for number, group in enumerate(groups.values(), start=1):
            if number > _MOST_COLUMNS:
                break
            title = boundary.value if number == 1 else f"{boundary.value} ({number})"
            columns.append(Column(title=title, boundary=boundary, calls=tuple(group)))
    return columns


def hidden_columns(chain: Chain, columns: Sequence[Column]) -> int:
    """Records of the chain that no column shows."""
    shown = sum(len(column.calls) for column in columns)
    return sum(len(refs) for refs in chain.records.values()) - shown


def pair_expected(
    case: Case | None, verdict: Verdict, records: Mapping[str, ToolCall]
) -> dict[str, RequiredCall]:
    """Which required call to show beside which chain, for the eye alone.

    Equal calls first, then those of one name with the most equal arguments; the verdict's own
    matching is the scorer's, and only counts.
    """
    if case is None:
        return {}
    plan = next((plan for plan in case.plans if plan.plan_id == verdict.plan), None)
    left = list(plan.required if plan else case.required or ())
    paired: dict[str, RequiredCall] = {}
    for chain in sorted(verdict.chains, key=lambda chain: -_best(chain, records, left)):
        scores = [_likeness(chain, records, one) for one in left]
        if scores and max(scores) > 0:
            paired[chain.key] = left.pop(scores.index(max(scores)))
    return paired


def _best(chain: Chain, records: Mapping[str, ToolCall], left: Sequence[RequiredCall]) -> float:
    return max((_likeness(chain, records, one) for one in left), default=0)


def _likeness(chain: Chain, records: Mapping[str, ToolCall], required: RequiredCall) -> float:
    """2 for an equal call, 1 to 2 for one of the same name, 0 for any other."""
    best = 0.0
    for refs in chain.records.values():
        for ref in refs:
            call = records.get(ref)
            if call is not None and call.name == required.name:
                wanted = required.arguments
                seen = call.arguments or {}
                equal = sum(k in seen and _same(seen[k], v) for k, v in wanted.items())
                best = max(best, 1 + equal / max(1, len(wanted.keys() | seen.keys())))
    return best


def records_by_ref(evidence: Evidence | None) -> dict[str, ToolCall]:
    """Every call record of the evidence by its reference."""
    if evidence is None:
        return {}
    return {call.ref: call for boundary in BOUNDARIES for call in evidence.at(boundary)}


def raw_differs(call: ToolCall) -> bool:
    """Whether the text as received is not what the arguments say."""
    if call.raw is None:
        return call.arguments is None and call.boundary is Boundary.MODEL
    if call.raw.startswith("[digest:text_object:"):
        return False
    read = parse_arguments(call.raw)
    return read.value is None or call.arguments is None or not _same(read.value, call.arguments)


def runs_text(column: Column) -> str:
    """How often a column's calls ran and how that ended."""
    runs = [call for call in column.calls if isinstance(call, Execution)]
    if column.boundary is Boundary.EXECUTOR and column.without == "(no record)":
        return "did not run"
    if not runs:
        return ""
    count = sum(run.count for run in runs)
    times = {0: "did not run", 1: "once", 2: "twice"}.get(count, f"{count} times")
    endings = dict.fromkeys(run.ending.value for run in runs if run.ending is not None)
    unusual = [word for word in endings if word != "returned"]
    return f"{times}, {', '.join(unusual)}" if unusual and count else times


def outcome_text(column: Column) -> str:
    """What came out of a column's calls: an error, or the results."""
    errors = dict.fromkeys(_error_text(call) for call in column.calls)
    errors.pop("", None)
    results = dict.fromkeys(
        value_text(call.result)
        for call in column.calls
        if isinstance(call, Execution) and call.result_observed and not call.error and call.count
    )
    return " | ".join([*errors, *results])


def _error_text(call: ToolCall) -> str:
    message, kind = call.error or "", call.error_type or ""
    return message if message.startswith(kind) else f"{kind}: {message}".removesuffix(": ")


def _key(call: ToolCall) -> str:
    arguments = call.raw if call.arguments is None else _canonical(call.arguments)
    return f"{call.name}\x00{arguments}\x00{call.error}"


def _same(left: object, right: object) -> bool:
    return _canonical(left) == _canonical(right)


def _canonical(value: object) -> str:
    try:
        return canonical(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return repr(type(value))
