"""What `default` rules of a plan say about tools: which value they fill in for an argument.

Such a rule declares the change as a tool's own schema would: an argument that the model left out
and a later boundary holds with that value was added by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import (
    Boundary,
    Case,
    Contract,
    Evidence,
    JsonValue,
    RequiredCall,
    RuleKind,
)
from agenttrace.records import canonical, split_pointer
from agenttrace.scoring._declared import Declared, Defaults, stated_defaults, tool_name

if TYPE_CHECKING:
    from typing import Final

_TWO: Final = object()


def declared_by(
    case: Case, evidence: Evidence, required: Sequence[RequiredCall] | None, at: Boundary
) -> Declared:
    """What is declared of a run: by the case's contract, by its tools, and by its plan's rules."""
    stated = stated_defaults(case.contract, evidence)
    stated = with_default_rules(stated, required or (), case.contract, at)
    return Declared(case.contract, stated, evidence.tools.signatures)


def with_default_rules(
    stated: Defaults, required: Sequence[RequiredCall], contract: Contract, at: Boundary
) -> Defaults:
    """Defaults that tools state, and those of the plan's rules where the tool states none.

    A rule inside an argument says nothing about the tool; nor do rules that contradict each other.

    Args:
        at: Boundary that the plan is written for, whose names its rules use.
    """
    found: dict[str, dict[str, JsonValue | object]] = {}
    for tool, name, value in defaults_of(required, contract, at):
        known = found.setdefault(tool, {}).setdefault(name, value)
        if known is not _TWO and canonical(known) != canonical(value):  # type: ignore[arg-type]
            found[tool][name] = _TWO
    if not found:
        return stated
    made: dict[str, Mapping[str, JsonValue]] = dict(stated)
    for tool, values in found.items():
        sure = {name: value for name, value in values.items() if value is not _TWO}
        made[tool] = {**sure, **stated.get(tool, {})}  # type: ignore[dict-item]
    return made


def defaults_of(
    required: Sequence[RequiredCall], contract: Contract, at: Boundary
) -> Iterator[tuple[str, str, JsonValue]]:
    """Tool, argument and value of each `default` rule, by the executor's names."""
    for call in required:
        if not call.rules:
            continue
        tool = tool_name(call.name, contract)
        for pointer, rule in call.rules.items():
            parts = split_pointer(pointer)
            if rule.kind is RuleKind.DEFAULT and len(parts) == 1:
                renamed = contract.tool(tool).rename if at is Boundary.MODEL else {}
                yield tool, renamed.get(parts[0], parts[0]), rule.operand
