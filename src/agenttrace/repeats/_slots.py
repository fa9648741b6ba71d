"""The same call in several runs, and where it is not the same.

Runs have no ids in common, so calls are paired by tool: equal ones first, then those with the
fewest differing places, in order. What a run has beyond the others becomes a call of its own that
the others did not make.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from agenttrace.domain import BOUNDARIES, Boundary, JsonValue, Missing
from agenttrace.repeats._seen import ABSENT, OUTCOME, RESULT, TIMES, Seen, Value

MOST_VALUES: Final = 20
"""Different values of one place that are kept; further ones are counted."""
_MOST_PAIRS: Final = 2_500


class Varies(StrEnum):
    """What of a call differs from run to run."""

    TIMES = TIMES
    """How often it was made, handed on or run."""
    ARGUMENT = "argument"
    """A value at a place in its arguments."""
    OUTCOME = OUTCOME
    """Whether it was refused or raised, and by what."""
    RESULT = RESULT
    """What it returned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variation:
    """One place of one call that differs from run to run."""

    tool: str
    call: int
    """Which of the tool's calls in a run, from 1, in the order in which runs first showed it."""
    varies: Varies
    path: str
    """JSON Pointer into the arguments; empty for the call as a whole."""
    boundary: Boundary
    """The first boundary that differs although the one before it was the same."""
    values: tuple[tuple[JsonValue | Missing, int], ...]
    """Each value there with the number of runs that had it, the most frequent first."""
    more: int = 0
    """Runs that had still other values."""


@dataclass(slots=True)
class _Place:
    """One place of a call at one boundary, over all runs."""

    runs: dict[str, tuple[Value, int]] = field(default_factory=dict)
    after: dict[str, set[str]] = field(default_factory=dict)
    """Text at the boundary before, to the texts here."""
    more: int = 0
    key_ids: set[str] = field(default_factory=set)

    def add(self, value: Value, before: Value | None) -> None:
        self.key_ids |= value.key_ids
        if value.text not in self.runs and len(self.runs) >= MOST_VALUES:
            self.more += 1
            return
        count = self.runs[value.text][1] if value.text in self.runs else 0
        self.runs[value.text] = (value, count + 1)
        # Where nothing stood before, the value was made here, whatever else was seen.
        self.after.setdefault(before.text if before else "", set()).add(value.text)

    @property
    def differs_by_itself(self) -> bool:
        return self.more > 0 or any(len(here) > 1 for here in self.after.values())

    @property
    def is_undecided(self) -> bool:
        """Whether masks of several keys stand here, which say nothing about equality."""
        return len(self.key_ids) > 1


class Slot:
    """One call as all runs made it."""

    def __init__(self, call: Seen, number: int) -> None:
        self.name = call.name
        self.number = number
        self.keys: dict[str, None] = {}
        self._reference = call
        self._places: dict[Boundary, dict[str, _Place]] = {}
        self._runs: dict[Boundary, int] = {}

    def distance(self, call: Seen) -> int:
        """How many places of the call differ from the first run's."""
        found = 0
        for boundary, places in self._reference.places.items():
            other = call.places.get(boundary, places)
            found += sum(
                places.get(place, ABSENT).text != other.get(place, ABSENT).text
                for place in {**places, **other}
                if place != RESULT
            )
        return found

    def add(self, call: Seen) -> None:
        """Take one run's call."""
        if len(self.keys) < MOST_VALUES:
            self.keys[call.key] = None
        before: dict[str, Value] = {}
        for boundary, places in call.places.items():
            kept = self._places.setdefault(boundary, {})
            if places[TIMES].text == "0":
                # It went no further than the boundary before, so nothing else stands here.
                kept.setdefault(TIMES, _Place()).add(places[TIMES], before.get(TIMES))
                before = {TIMES: places[TIMES]}
                continue
            runs = self._runs.get(boundary, 0)
            for place in {**kept, **places}:
                if place not in kept:
                    kept[place] = _Place()
                    if runs and _is_argument(place):
                        kept[place].runs[""] = (ABSENT, runs)
                        kept[place].after[""] = {""}
                if place in places or _is_argument(place):
                    kept[place].add(places.get(place, ABSENT), before.get(place))
            self._runs[boundary] = runs + 1
            before = {**before, **places}

    def left_out(self, observed: Sequence[Boundary], runs: int = 1) -> None:
        """So many runs did not make the call."""
        none = Value("0", 0, frozenset())
        for boundary in observed:
            place = self._places.setdefault(boundary, {}).setdefault(TIMES, _Place())
            for _ in range(runs):
                place.add(none, none if boundary is not observed[0] else None)

    @property
    def observed(self) -> tuple[Boundary, ...]:
        """The boundaries at which the call could be seen, in order."""
        return tuple(boundary for boundary in BOUNDARIES if boundary in self._places)

    def variations(self) -> Iterator[Variation]:
        """What differs, each place once, at its first boundary."""
        names = {name: None for places in self._places.values() for name in places}
        for name in names:
            for boundary in BOUNDARIES:
                place = self._places.get(boundary, {}).get(name)
                if place is None or place.is_undecided or not place.differs_by_itself:
                    continue
                ranked = sorted(place.runs.values(), key=lambda one: (-one[1], one[0].text))
                yield Variation(
                    tool=self.name,
                    call=self.number,
                    varies=Varies.ARGUMENT if _is_argument(name) else Varies(name),
                    path=name if _is_argument(name) else "",
                    boundary=boundary,
                    values=tuple((value.shown, count) for value, count in ranked),
                    more=place.more,
                )
                break

    @property
    def undecided(self) -> bool:
        """Whether masks made with different keys kept a place from being compared."""
        return any(one.is_undecided for at in self._places.values() for one in at.values())


def paired(slots: list[Slot], calls: Sequence[Seen]) -> list[tuple[Slot | None, Seen]]:
    """Which slot each call of one run and one tool belongs to; None: it is new."""
    free = dict(enumerate(slots))
    found: dict[int, Slot] = {}
    by_key: dict[str, list[int]] = {}
    for number, slot in free.items():
        for key in slot.keys:
            by_key.setdefault(key, []).append(number)
    for index, call in enumerate(calls):
        equal = next((n for n in by_key.get(call.key, ()) if n in free), None)
        if equal is not None:
            found[index] = free.pop(equal)
    left = [index for index in range(len(calls)) if index not in found]
    if len(left) * len(free) > _MOST_PAIRS:
        order = list(zip(left, list(free), strict=False))
    else:
        pairs = ((free[n].distance(calls[i]), n, i) for i in left for n in free)
        order = [(index, number) for _, number, index in sorted(pairs)]
    for index, number in order:
        if index not in found and number in free:
            found[index] = free.pop(number)
    return [(found.get(index), call) for index, call in enumerate(calls)]


def _is_argument(place: str) -> bool:
    return place not in (TIMES, OUTCOME, RESULT)
