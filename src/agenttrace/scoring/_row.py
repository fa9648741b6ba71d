"""One row while it is judged: the run, its contract, its chains, and what was found so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agenttrace.domain import (
    MISSING,
    Boundary,
    Case,
    Divergence,
    Evidence,
    JsonValue,
    Kind,
    Missing,
    Owner,
    RequiredCall,
    ToolCall,
    is_agents_own,
)
from agenttrace.records import canonical, parse_arguments
from agenttrace.scoring._declared import Declared
from agenttrace.scoring._link import Links

Order = tuple[float, float]
LAST: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Found:
    """A divergence with its place in time and the chain it stands in."""

    order: Order
    chain: Links | None
    divergence: Divergence

    @property
    def sort_key(self) -> tuple[Order, int, str]:
        """By the call's time, then by boundary, then by argument path."""
        return self.order, self.divergence.boundary.position, self.divergence.path


@dataclass(slots=True)
class Row:
    """What all questions of one row are asked about."""

    case: Case
    evidence: Evidence
    required: tuple[RequiredCall, ...] | None
    """Calls of the plan that was chosen. None: no plan."""
    compare: Boundary
    declared: Declared
    chains: list[Links]
    found: list[Found] = field(default_factory=list)
    faulty: set[int] = field(default_factory=set)
    """`id` of the chains that hold a divergence already; what follows from it is none."""
    times: Mapping[int, Order] = field(default_factory=dict)

    def note(
        self,
        chain: Links,
        boundary: Boundary,
        kind: Kind,
        owner: Owner,
        *,
        path: str = "",
        before: JsonValue | Missing = MISSING,
        after: JsonValue | Missing = MISSING,
        later: float = 0.0,
        detail: str | None = None,
    ) -> None:
        """Record one divergence; one that rests on a guessed link owns nobody."""
        turn, place = self.times[id(chain)]
        guessed = chain.is_guess and boundary is not Boundary.MODEL
        divergence = Divergence(
            boundary=boundary,
            kind=kind,
            path=path,
            call=chain.key,
            before=before,
            after=after,
            owner=Owner.NONE if guessed else owner,
            detail=detail
            or ("the records are linked by the tool's name alone" if guessed else None),
        )
        self.found.append(Found((turn, place + later), chain, divergence))
        self.faulty.add(id(chain))

    def is_faulty(self, chain: Links) -> bool:
        """Whether the chain holds a divergence already."""
        return id(chain) in self.faulty

    def in_order(self) -> list[Found]:
        """All divergences, the first one first."""
        return sorted(self.found, key=lambda one: one.sort_key)


def times_of(evidence: Evidence, chains: Sequence[Links]) -> dict[int, Order]:
    """When each chain's call was made: turn, then place; never a clock.

    A chain without a record at the model stands after the last response that is proven to be
    earlier, or after the last one where nothing is proven.
    """
    turns = [call.turn or 0 for call in evidence.model]
    last = float(max(turns, default=0))
    numbered = [(c.seq, float(c.turn or 0)) for c in evidence.model if c.seq is not None]
    times: dict[int, Order] = {}
    for n, chain in enumerate(chains):
        lead = chain.lead
        if lead.boundary is Boundary.MODEL:
            times[id(chain)] = (float(lead.call.turn or 0), float(lead.index))
            continue
        turn = last
        if lead.call.seq is not None and len(numbered) == len(evidence.model):
            seq = lead.call.seq
            turn = max((t for s, t in numbered if s < seq), default=0.0)
        times[id(chain)] = (turn, 1e6 + n)
    return times


def is_planned(call: ToolCall, agents: frozenset[str] | None) -> bool:
    """Whether the plan speaks of this call."""
    return is_agents_own(call) and (agents is None or call.agent in agents)


def is_cut_off(call: ToolCall) -> bool:
    """Whether the argument text is the beginning of an object that never ends."""
    return call.arguments is None and parse_arguments(call.raw).state == "truncated"


def was_refused(chain: Links) -> bool:
    """Whether every adapter record of the chain refused the call."""
    here = chain.at(Boundary.ADAPTER)
    return bool(here) and all(entry.call.error is not None for entry in here)


def is_blind_repeat(evidence: Evidence, call: ToolCall) -> bool:
    """Whether a call repeats an earlier one for a reason outside the model.

    Either the run was restarted without the history of its first attempt, or the earlier run was
    reported as failed although it had its effect.
    """
    earlier = [
        c
        for c in evidence.model
        if (c.turn or 0) < (call.turn or 0) and c.name == call.name and _same_payload(c, call)
    ]
    if not earlier:
        return False
    blind = {
        one.number for one in evidence.conduct.attempts if one.history_has_first_result is False
    }
    told_failed = {
        canonical(e.call_id)
        for e in evidence.executor
        if e.error is not None and e.effect and e.call_id is not None
    }
    return any(
        (call.attempt in blind and c.attempt < call.attempt) or canonical(c.call_id) in told_failed
        for c in earlier
    )


def _same_payload(left: ToolCall, right: ToolCall) -> bool:
    if left.arguments is None or right.arguments is None:
        return left.raw == right.raw
    return canonical(left.arguments) == canonical(right.arguments)
