"""The form of order rules: `ordered`, `sequence` and `states`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator

from agenttrace.contracts._rules import RuleForm
from agenttrace.contracts._values import FieldPointer, Form, FormError, Name, described, refuse
from agenttrace.domain import SequenceSide, StateMachine, StateStep
from agenttrace.records import canonical, to_plain

Rules = dict[FieldPointer, RuleForm]
MOST_PAIRS: Final = 10_000


def _order(value: list[Any]) -> list[Any]:
    """Two or more names or groups of names, none of them twice."""
    if len(value) < 2:
        raise FormError(
            f"has {len(value)} of the two or more tool names that say an order",
            "add the others, or take it out",
        )
    refuse(_faults_of_order(value))
    sizes = [len(one) if isinstance(one, list) else 1 for one in value]
    pairs = sum(one * other for one, other in pairwise(sizes))
    if pairs > MOST_PAIRS:
        raise FormError(
            f"puts {pairs} pairs of names in order, more than {MOST_PAIRS}",
            "make the groups smaller, or write sequence rules",
        )
    return value


def _faults_of_order(value: list[Any]) -> Iterator[FormError]:
    seen: set[str] = set()
    for index, one in enumerate(value):
        names = list(enumerate(one)) if isinstance(one, list) else [(None, one)]
        if not names:
            yield FormError("has a group of no names", "take it out", at=(index,))
        for place, name in names:
            at = (index,) if place is None else (index, place)
            if not isinstance(name, str) or not name:
                yield FormError(
                    f"has {described(name)} where a tool's name is needed",
                    "write a name, or a list of names that have no order among each other",
                    at=at,
                )
            elif name in seen:
                yield FormError(
                    f"names {name!r:.60} twice, so that it waits for itself",
                    "keep one of them; a sequence rule can tell single calls apart",
                    at=at,
                )
            else:
                seen.add(name)


Order = Annotated[list[Any], AfterValidator(_order)]


class SideForm(Form):
    """Which calls one side of a sequence rule, or a step of states, speaks of."""

    name: Name
    """The tool."""
    where: Rules = Field(default_factory=dict)
    """JSON Pointer into the arguments to an argument rule: which calls of it."""

    def to_domain(self) -> SequenceSide:
        """The side as the scorer knows it."""
        where = {pointer: one.to_domain() for pointer, one in self.where.items()}
        return SequenceSide(name=self.name, where=where)

    @property
    def text(self) -> str:
        """Equal for equal sides."""
        return canonical(to_plain(self.to_domain()))


class SequenceForm(Form):
    """Every call that fits `after` needs an earlier one that fits `before`."""

    id: Name
    """Name of the rule, as the verdict spells it."""
    before: SideForm
    """The call that must have come before."""
    after: SideForm
    """The call that needs it."""
    same: list[FieldPointer] = Field(default_factory=list)
    """JSON Pointers at which both calls must have equal values."""
    why: str | None = None
    """For readers."""


class StepForm(Form):
    """A call that leads from one state to another."""

    from_: Name = Field(alias="from")
    """The state that the step leaves."""
    on: SideForm
    """The call that makes the step."""
    to: Name
    """The state that it leads to."""


class StatesForm(Form):
    """Which calls may be made in which state."""

    id: Name
    """Name of the rule, as the verdict spells it."""
    start: Name
    """The state before the first call."""
    steps: Annotated[list[StepForm], Field(min_length=1)]
    """Calls that lead from one state to another."""
    end: Annotated[list[Name], Field(min_length=1)] | None = None
    """States in which a run may end. Left out: in any."""
    per: list[FieldPointer] = Field(default_factory=list)
    """JSON Pointers: there is one machine for each tuple of values there."""
    why: str | None = None
    """For readers."""

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        refuse(self._faults())
        return self

    def _faults(self) -> Iterator[FormError]:
        left = list(dict.fromkeys(step.from_ for step in self.steps))
        if self.start not in left:
            yield FormError(
                f"starts in {self.start!r:.60}, which no step leaves",
                f"write one of {', '.join(left):.200}",
                at=("start",),
            )
        reached = {self.start, *(step.to for step in self.steps)}
        for index, state in enumerate(self.end or ()):
            if state not in reached:
                yield FormError(
                    f"ends in {state!r:.60}, which no step leads to",
                    f"write one of {', '.join(sorted(reached)):.200}",
                    at=("end", index),
                )
        targets: dict[tuple[str, str], str] = {}
        for index, step in enumerate(self.steps):
            first = targets.setdefault((step.from_, step.on.text), step.to)
            if first != step.to:
                yield FormError(
                    f"leads from {step.from_!r:.60} to {first!r:.60} and to {step.to!r:.60} by "
                    f"one call of {step.on.name!r:.60}",
                    "tell the calls apart with where, or keep one of the steps",
                    at=("steps", index),
                )

    def to_domain(self) -> StateMachine:
        """The machine as the scorer knows it."""
        return StateMachine(
            rule_id=self.id,
            start=self.start,
            steps=tuple(
                StateStep(source=one.from_, on=one.on.to_domain(), target=one.to)
                for one in self.steps
            ),
            end=None if self.end is None else frozenset(self.end),
            per=tuple(self.per),
        )
