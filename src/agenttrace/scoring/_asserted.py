"""What a case's own assertions state of its plan, beside the plan itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace import records
from agenttrace.domain import (
    MISSING,
    ArgumentRule,
    AssertedValue,
    Case,
    Cause,
    JsonValue,
    Missing,
    RequiredCall,
)
from agenttrace.records import canonical, dump_json
from agenttrace.scoring._match import value_at
from agenttrace.scoring._rules import accepts


def asserted_otherwise(
    asserted: Sequence[AssertedValue], required: Sequence[RequiredCall] | None
) -> Iterator[Cause]:
    """Assertions that no planned call can meet; none where there is no plan."""
    if required is None or not asserted:
        return
    plan = _Plan(required)
    for one in asserted:
        if plan.meets(one):
            continue
        first = plan.first.get(one.tool)
        stated = value_at(first.arguments, one.path) if first is not None else MISSING
        yield Cause(
            code="contradiction",
            detail=f"the plan says {_shown(stated)} at {one.tool:.60}{one.path:.60}, "
            f"the case's own assertions say {_shown(one.value)}",
        )


def unmet(case: Case) -> tuple[AssertedValue, ...]:
    """Assertions of a case that some plan of its does not meet.

    Asked before values are masked: a pattern or a range says nothing of a mask.
    """
    required = [plan.required for plan in case.plans]
    if not required and case.required is not None:
        required = [case.required]
    plans = [_Plan(one) for one in required]
    return tuple(one for one in case.asserted if not all(plan.meets(one) for plan in plans))


class _Plan:
    """What the calls of a plan say at the places that assertions are about.

    Each place of a tool is looked up once, however many assertions are about it.
    """

    def __init__(self, required: Sequence[RequiredCall]) -> None:
        self.first: dict[str, RequiredCall] = {}
        self._calls: dict[str, list[RequiredCall]] = {}
        for call in required:
            self.first.setdefault(call.name, call)
            self._calls.setdefault(call.name, []).append(call)
        self._said: dict[tuple[str, str], tuple[set[str], list[ArgumentRule]]] = {}

    def meets(self, one: AssertedValue) -> bool:
        """Whether some call has, or may have, the asserted value."""
        key = (one.tool, one.path)
        if key not in self._said:
            self._said[key] = self._at(*key)
        literals, rules = self._said[key]
        return canonical(one.value) in literals or any(
            accepts(rule, one.value, one.path) for rule in rules
        )

    def _at(self, tool: str, path: str) -> tuple[set[str], list[ArgumentRule]]:
        literals: set[str] = set()
        rules: dict[str, ArgumentRule] = {}
        for call in self._calls.get(tool, ()):
            rule = call.rules.get(path)
            if rule is not None:
                rules.setdefault(canonical(records.to_plain(rule)), rule)
                continue
            stated = value_at(call.arguments, path)
            if not isinstance(stated, Missing):
                literals.add(canonical(stated))
        return literals, list(rules.values())


def _shown(value: JsonValue | Missing) -> str:
    return "nothing" if isinstance(value, Missing) else f"{dump_json(value):.40}"
