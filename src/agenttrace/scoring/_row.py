"""One row while it is judged: the run, its contract, its chains, and what was found so far."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from agenttrace._dataclass import dataclass, field
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    Boundary,
    BoundaryFigures,
    Case,
    Contract,
    Decision,
    Divergence,
    Evidence,
    Execution,
    HumanEdit,
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
from agenttrace.scoring._forms import form_of, id_key
from agenttrace.scoring._link import Links
from agenttrace.scoring._match import Due
from agenttrace.scoring._opaque import text_state
from agenttrace.scoring._sight import Sight

if TYPE_CHECKING:
    from typing import Final

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


@dataclass
class Row:
    """What all questions of one row are asked about, with what is looked up call by call."""

    case: Case
    evidence: Evidence
    required: Sequence[RequiredCall] | None
    """Calls of the plan that was chosen. None: no plan."""
    compare: Boundary
    declared: Declared
    chains: list[Links]
    due: Due | None
    """The required calls with what they are matched by. None: no plan."""
    sight: Sight
    found: list[Found] = field(default_factory=list)
    faulty: set[int] = field(default_factory=set)
    """`id` of the chains that hold a divergence already; what follows from it is none."""
    figures: Mapping[Boundary, BoundaryFigures | None] = field(default_factory=dict)
    """Figures of each boundary; None where it was not observed, or there is no plan."""

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
        guessed = chain.is_guess(boundary)
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

    @cached_property
    def left_to_do(self) -> Declared:
        """What is declared to be done to a call on its way and shows in the result."""
        if not self.declared.changes_calls:
            return Declared(Contract())
        without = self.declared.without("unit", "normalize", "fold_case", "schema")
        return Declared(without.contract)

    @cached_property
    def may_agree(self) -> bool:
        """Whether equal records settle a chain: no decision is on record, nothing is left to do."""
        conduct = self.evidence.conduct
        decided = bool(conduct.approvals) or conduct.guardrail is not None
        return not (self.sight.thorough or decided) and self.left_to_do.is_plain

    @cached_property
    def times(self) -> Mapping[int, Order]:
        """When the call of each chain was made, by the chain's `id`."""
        return _times_of(self.sight, self.chains)

    @cached_property
    def decisions(self) -> Mapping[str, Decision]:
        """The last decision about each call, by its id's canonical text."""
        return {canonical(a.call): a.decision for a in self.evidence.conduct.approvals}

    @cached_property
    def edits(self) -> Mapping[str, Sequence[HumanEdit]]:
        """Recorded edits of each call, by its id's canonical text."""
        found: dict[str, list[HumanEdit]] = defaultdict(list)
        for edit in self.evidence.conduct.human_edits:
            found[canonical(edit.call_id)].append(edit)
        return found

    @cached_property
    def call_ids(self) -> frozenset[str]:
        """Canonical text of every id that a chain begins with."""
        return frozenset(canonical(chain.lead.call.call_id) for chain in self.chains)

    @cached_property
    def twins(self) -> Mapping[Hashable, Sequence[Links]]:
        """Chains whose model records repeat each other within one response, by what is equal."""
        found: dict[Hashable, list[Links]] = defaultdict(list)
        for chain in self.chains:
            entry = chain.first(Boundary.MODEL)
            if entry is not None and entry.call.call_id is not None:
                found[twin_key(entry.call)].append(chain)
        return found

    @cached_property
    def blind_repeats(self) -> frozenset[str]:
        """`ref` of each call that repeats an earlier one for a reason outside the model.

        Either the run was restarted without the history of an earlier attempt, or the earlier run
        was reported as failed although it had its effect.
        """
        conduct, evidence = self.evidence.conduct, self.evidence
        blind = {one.number for one in conduct.attempts if one.history_has_first_result is False}
        told_failed = {
            entry.call.ref
            for chain in self.chains
            if any(
                isinstance(run.call, Execution) and run.call.error is not None and run.call.effect
                for run in chain.at(Boundary.EXECUTOR)
            )
            for entry in chain.at(Boundary.MODEL)
        }
        if not blind and not told_failed:
            return frozenset()
        found = set()
        first_told: dict[str, int] = {}
        first_of: dict[str, dict[int, int]] = defaultdict(dict)
        for call in sorted(evidence.model, key=lambda call: call.turn or 0):
            turn, key = call.turn or 0, form_of(call).key
            restarted = call.attempt in blind and any(
                attempt < call.attempt and first < turn for attempt, first in first_of[key].items()
            )
            if restarted or first_told.get(key, turn) < turn:
                found.add(call.ref)
            first_of[key].setdefault(call.attempt, turn)
            if call.ref in told_failed:
                first_told.setdefault(key, turn)
        return frozenset(found)


def twin_key(call: ToolCall) -> Hashable:
    """What twins have in common."""
    return id_key(call.call_id), call.response_id, call.name, call.raw


def _times_of(sight: Sight, chains: Sequence[Links]) -> dict[int, Order]:
    """When each chain's call was made: turn, then place; never a clock.

    A chain without a record at the model stands after the last response that is proven to be
    earlier, or after the last one where nothing is proven.
    """
    evidence = sight.evidence
    turns = [call.turn or 0 for call in evidence.model]
    last = float(max(turns, default=0))
    numbered = sorted((c.seq, float(c.turn or 0)) for c in evidence.model if c.seq is not None)
    latest = list(accumulate((turn for _, turn in numbered), max))
    rank = {
        (boundary, entry.index): n
        for boundary in BOUNDARIES
        for n, entry in enumerate(sight.entries(boundary))
    }
    times: dict[int, Order] = {}
    for chain in chains:
        lead = chain.lead
        place = float(rank[lead.boundary, lead.index])
        if lead.boundary is Boundary.MODEL:
            times[id(chain)] = (float(lead.call.turn or 0), place)
            continue
        turn = last
        if lead.call.seq is not None and len(numbered) == len(evidence.model):
            before = bisect_left(numbered, (lead.call.seq, 0.0))
            turn = latest[before - 1] if before else 0.0
        times[id(chain)] = (turn, 1e6 * lead.boundary.position + place)
    return times


def is_planned(call: ToolCall, agents: frozenset[str] | None) -> bool:
    """Whether the plan speaks of this call."""
    return is_agents_own(call) and (agents is None or call.agent in agents)


def is_cut_off(call: ToolCall) -> bool:
    """Whether the argument text is the beginning of an object that never ends."""
    state = text_state(call.raw) or parse_arguments(call.raw).state
    return call.arguments is None and state == "truncated"


def was_refused(chain: Links) -> bool:
    """Whether every adapter record of the chain refused the call."""
    here = chain.at(Boundary.ADAPTER)
    return bool(here) and all(entry.call.error is not None for entry in here)
