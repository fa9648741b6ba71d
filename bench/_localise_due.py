"""What is due for an artifact with a fault, and the steps that every fault is made of.

What is due is written down from the rules of the field cases and of the design. A fault at the
model is carried on to the adapter and the executor, one at the adapter to the executor. Where only
a plan can show a fault, the evidence is that of another untouched run, which is named.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench._localise_edit import Artifact, Place, Record, refuse, set_args
from bench._localise_script import Script

Json = Any
Inject = Callable[[Artifact, Place, Random], "Due | None"]
BOUNDARIES = ("model", "adapter", "executor")
OWNERS = {"model": "agent", "adapter": "adapter", "executor": "executor"}
LAST = (1e9, 0.0)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One divergence that is due."""

    boundary: str
    kind: str
    path: str
    owner: str
    time: tuple[float, float]
    calls: frozenset[str] = frozenset()
    """Keys that the verdict may give the call; several where equal calls cannot be told apart."""

    @property
    def order(self) -> tuple[tuple[float, float], int, str]:
        """By time of the call, then by boundary, then by path."""
        return self.time, BOUNDARIES.index(self.boundary), self.path


@dataclass(kw_only=True)
class Due:
    """What is due for one artifact."""

    planned: list[Point] = field(default_factory=list)
    """With a plan, the first one first; empty: nothing may be found."""
    alone: list[Point] = field(default_factory=list)
    """Without one."""
    open: tuple[str, str] | None = None
    """The row is inconclusive, with this boundary and owner, with a plan and without."""
    twin: Script | None = None
    """The untouched run whose evidence this is, so that nothing but a plan can tell."""
    plan: Script | None = None
    """The run whose calls are the plan; None: those of the clean run."""
    compare: str | None = None
    """The boundary that the plan is written for, where it is not the executor."""
    tools: frozenset[str] = frozenset()
    """Tools whose calls the plan must pair; of two faults at the model each needs its own."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A kind of fault at a boundary."""

    kind: str
    boundary: str
    way: str = "value"
    """Tells faults of one kind at one boundary from each other."""
    inject: Callable[[Artifact, Place, Random], Due | None]
    """Changes the artifact and says what is due; None where the call does not admit it."""
    plant: Callable[[Script, Place, Random], Script | None] | None = None
    """Puts into the clean run what the corpus has too little of."""
    is_benign: bool = False
    pairs: bool = True
    """Whether another fault may stand beside it."""

    @property
    def name(self) -> str:
        """Kind, boundary and way: stands in the seed of each single fault."""
        return f"{self.kind}@{self.boundary}/{self.way}"


def keys_of(artifact: Artifact, place: Place) -> frozenset[str]:
    """The keys that a verdict may give a call: that of any equal one where no id tells them."""
    calls = sorted((r for r in artifact if r["kind"] == "call"), key=lambda r: r["payload"]["seq"])
    own = artifact.at("model", place)["payload"]
    ids = [call["payload"].get("call_id") for call in calls]
    found = set()
    for number, call in enumerate(calls):
        payload = call["payload"]
        mine = payload is own
        alike = payload["name"] == own["name"] and payload["raw"] == own["raw"]
        if mine or (alike and payload.get("call_id") == own.get("call_id")):
            key = payload.get("call_id")
            found.add(key if key and ids.count(key) == 1 else f"model/{number}")
    return frozenset(found)


def point_of(
    artifact: Artifact,
    place: Place,
    boundary: str,
    kind: str,
    *,
    path: str = "",
    owner: str = "",
) -> Point:
    """A divergence of a call; its owner is the boundary's own where no other is named."""
    return Point(
        boundary=boundary,
        kind=kind,
        path=path,
        owner=owner or OWNERS[boundary],
        time=(float(place[0]), float(place[1])),
        calls=keys_of(artifact, place),
    )


def below(boundary: str) -> tuple[str, ...]:
    """A boundary and all that follow it."""
    return BOUNDARIES[BOUNDARIES.index(boundary) :]


def carried(artifact: Artifact, place: Place, boundary: str, args: Json) -> None:
    """Give a call other arguments at a boundary and at all that follow."""
    for one in below(boundary):
        set_args(artifact.at(one, place), deepcopy(args))


def refused(artifact: Artifact, place: Place, message: str) -> None:
    """Have the adapter refuse a call, so that nothing runs and the model is told of it."""
    refuse(artifact.at("adapter", place), message)
    artifact.remove(artifact.at("executor", place))
    artifact.show(place, f"Error: {message}", is_error=True)
    artifact.finish()


def key_of(artifact: Artifact, record: Record, boundary: str) -> str:
    """A record's name by its place among those of its boundary."""
    places = sorted(r["payload"]["seq"] for r in artifact if r["kind"] == record["kind"])
    return f"{boundary}/{places.index(record['payload']['seq'])}"
