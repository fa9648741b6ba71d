"""Which faults are tried, by a seed that is a name: each single one can be repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from bench._localise_due import BOUNDARIES, Due, Fault
from bench._localise_edit import Artifact, Place
from bench._localise_evidence import EVIDENCE_FAULTS
from bench._localise_faults import FAULTS
from bench._localise_script import Script, pick_style
from bench._localise_values import leaves

PAIR = "two_at_once"
KEY_KINDS = {"renamed", "dropped", "added"}
_MOST_TRIES = 4_000
_WITHOUT_RESULT = {
    "malformed",
    "truncated",
    "rejected",
    "not_executed",
    "dropped",
    "error_hidden",
}
_RESHAPING = ("dropped@model/call", "added@model/call", "duplicated@model/call")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One artifact with a fault, and what is due for it."""

    seed: str
    """Fault and number, as `--show` takes it."""
    kind: str
    is_benign: bool
    script: Script
    """The clean run that the fault was put into."""
    artifact: Artifact
    due: Due


def names() -> list[str]:
    """Every fault that is tried, by name."""
    return [*(fault.name for fault in (*FAULTS, *EVIDENCE_FAULTS)), PAIR]


def seeds(each: int, *, pairs: int, kind: str | None = None) -> Iterator[str]:
    """The seeds of at least so many faults of each kind, spread over its boundaries and ways."""
    kinds = Counter(name.split("@")[0] for name in names())
    for name in names():
        own = name.split("@")[0]
        count = pairs if name == PAIR else -(-each // kinds[own])
        if kind is None or (name.startswith(kind) and (kind == own or "@" in kind)):
            yield from (f"{name}#{n}" for n in range(count))


class Sampler:
    """Makes samples of clean runs."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.scripts = scripts
        self._lines: dict[Script, list[str]] = {}
        self._faults = {fault.name: fault for fault in (*FAULTS, *EVIDENCE_FAULTS)}

    def sample(self, seed: str) -> Sample:
        """The sample of a seed.

        Raises:
            RuntimeError: No recorded run admits such a fault.
        """
        name = seed.rpartition("#")[0]
        random = Random(seed)
        for number in range(_MOST_TRIES):
            script = pick_style(random.choice(self.scripts), random)
            made = self._pair(script, random) if name == PAIR else None
            if name != PAIR:
                made = self._single(self._faults[name], script, random, is_late=number > 20)
            if made is not None:
                whole, artifact, due = made
                fault = self._faults.get(name)
                return Sample(
                    seed=seed,
                    kind=fault.kind if fault else PAIR,
                    is_benign=fault is not None and fault.is_benign and due.open is None,
                    script=whole,
                    artifact=artifact,
                    due=due,
                )
        raise RuntimeError(f"{seed}: no recorded run admits this fault. Nothing was measured.")

    def artifact(self, script: Script) -> Artifact:
        """The clean artifact of a run, to be changed."""
        return Artifact(script, script.lines(is_placed=True))

    def _single(
        self, fault: Fault, script: Script, random: Random, *, is_late: bool
    ) -> tuple[Script, Artifact, Due] | None:
        place = random.choice(script.places())
        if fault.plant is not None and (is_late or random.random() < 0.4):
            changed = fault.plant(script, place, random)
            if changed is None:
                return None
            script = changed
        artifact = self.artifact(script)
        due = fault.inject(artifact, place, random)
        return None if due is None else (script, artifact, due)

    def _pair(self, script: Script, random: Random) -> tuple[Script, Artifact, Due] | None:
        """Two faults in one run: in two calls, or at two boundaries of one call."""
        if script.style.is_bare:
            return None  # which of two calls is which may then rest on their likeness alone
        one, other = (random.choice(_PAIRABLE) for _ in range(2))
        found = script.places()
        places = [random.choice(found), random.choice(found)]
        same = places[0] == places[1]
        if same and not _may_share(one, other):
            return None
        reshapes = one.name in _RESHAPING or other.name in _RESHAPING
        if not same and reshapes and places[0][0] == places[1][0]:
            return None
        if not same and _is_alike(script, *places):
            return None
        kinds = {one.kind, other.kind}
        if "result_swapped" in kinds and kinds & _WITHOUT_RESULT:
            return None  # a result that stands in no record is only another one
        if one.name in _RESHAPING:
            one, other, places = other, one, places[::-1]
        artifact = self.artifact(script)
        first = one.inject(artifact, places[0], random)
        second = other.inject(artifact, places[1], random) if first is not None else None
        if first is None or second is None:
            return None
        if same and one.boundary == other.boundary:
            if not _are_apart(script.call(places[0]).args, first, second):
                return None
        elif first.tools & second.tools:
            return None
        return script, artifact, _both(first, second)


_PAIRABLE = [fault for fault in FAULTS if fault.pairs and not fault.is_benign]


def _may_share(one: Fault, other: Fault) -> bool:
    """Whether two faults may stand in one call: values that change, the later one no earlier.

    At one boundary no two of them are of keys: what is gone and what is new may then be one.
    """
    if {one.way, other.way} != {"value"}:
        return False
    if one.boundary == other.boundary:
        return not {one.kind, other.kind} <= KEY_KINDS
    return BOUNDARIES.index(one.boundary) < BOUNDARIES.index(other.boundary)


def _are_apart(args: dict[str, Any], first: Due, second: Due) -> bool:
    """Whether two changes at one boundary are of two places that the call had before."""
    paths = [due.planned[0].path for due in (first, second)]
    kinds = [due.planned[0].kind for due in (first, second)]
    left, right = (f"{path}/" for path in paths)
    if left.startswith(right) or right.startswith(left):
        return False
    known = {path for path, _ in leaves(args)}
    return all(path in known or kind == "added" for path, kind in zip(paths, kinds, strict=True))


def _is_alike(script: Script, one: Place, other: Place) -> bool:
    left, right = script.call(one), script.call(other)
    return left.name == right.name and left.args == right.args


def _both(first: Due, second: Due) -> Due:
    """What is due for two faults; which calls are meant is told by the first alone."""
    planned = sorted([*first.planned, *second.planned], key=lambda point: point.order)
    alone = sorted([*first.alone, *second.alone], key=lambda point: point.order)
    return Due(
        planned=[replace(point, calls=frozenset()) for point in planned],
        alone=[replace(point, calls=frozenset()) for point in alone],
    )
