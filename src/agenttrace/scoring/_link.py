"""Which records are one logical call.

Neighbouring boundaries are linked first; what passed one without a trace joins the first of all.
How records are linked is in the steps. A link by nothing but a tool's name is shown, and what
differs at or below it is owned by nobody.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from agenttrace.domain import Boundary, Chain, Evidence, LinkedBy, Phase
from agenttrace.scoring._declared import Declared
from agenttrace.scoring._link_steps import Made, link, repeated_ids
from agenttrace.scoring._sight import Entry, Sight

__all__ = ["Entry", "Links", "build_chains"]

_WEAK = (LinkedBy.POSITION, LinkedBy.ONLY_ONE_LEFT)


class Links:
    """The records of one logical call, while chains are being built."""

    __slots__ = ("entries", "key", "lead", "linked_by")

    def __init__(self, lead: Entry) -> None:
        self.lead = lead
        """The record at the earliest boundary."""
        self.key = ""
        self.entries: dict[Boundary, list[Entry]] = {lead.boundary: [lead]}
        self.linked_by: dict[str, LinkedBy] = {}

    def add(self, entry: Entry, how: LinkedBy) -> None:
        """Take in one more record, of the same boundary as the last one or of a later one."""
        self.linked_by[entry.call.ref] = how
        here = self.entries.get(entry.boundary)
        if here is None:
            self.entries[entry.boundary] = [entry]
        else:
            here.append(entry)

    def at(self, boundary: Boundary) -> list[Entry]:
        """Records of one boundary, in the order they were seen."""
        return self.entries.get(boundary, [])

    def first(self, boundary: Boundary) -> Entry | None:
        """The first record of one boundary."""
        here = self.entries.get(boundary)
        return here[0] if here else None

    @property
    def runs(self) -> int:
        """How often the tool's body was entered for this call."""
        return sum(getattr(entry.call, "count", 0) for entry in self.at(Boundary.EXECUTOR))

    def is_guess(self, boundary: Boundary) -> bool:
        """Whether what differs there rests on a link by nothing but a tool's name.

        Only the guessed record and what stands below it do; what is above is known without it.
        """
        return any(
            self.linked_by.get(entry.call.ref) is LinkedBy.ONLY_ONE_LEFT
            for one, entries in self.entries.items()
            if one.position <= boundary.position
            for entry in entries
        )

    def to_chain(self) -> Chain:
        """The chain as the verdict shows it."""
        records = {}
        for boundary, here in self.entries.items():
            refs = (here[0].call.ref,) if len(here) == 1 else tuple(e.call.ref for e in here)
            records[boundary] = refs
        return Chain(
            key=self.key,
            name=self.lead.call.name,
            records=records,
            linked_by=self.linked_by,
        )


def build_chains(
    evidence: Evidence,
    declared: Declared,
    sight: Sight | None = None,
) -> list[Links]:
    """Link all records of a run; the earliest observed boundary leads.

    Args:
        sight: The records, where they were looked at already.
    """
    sight = sight or Sight(evidence)
    thorough = sight.thorough
    seen = sight.captured
    by_boundary = [_entries(sight, boundary, declared) for boundary in seen]
    decided = bool(evidence.conduct.approvals) or evidence.conduct.guardrail is not None
    chains: list[Links] = []
    homes: list[dict[int, Links]] = []
    for n, here in enumerate(by_boundary):
        # A decision is about the call of one id: which one ran may then not be told by likeness.
        above = None if decided else by_boundary[:n]
        before = by_boundary[n - 1]
        over = link(here, before, above, [here], thorough=thorough) if n else {}
        skip: Made = {}
        if n > 1 and (thorough or not _is_sure(here, over)):
            skip = link(here, by_boundary[0], above, [here, before], thorough=thorough)
        home: dict[int, Links] = {}
        for entry in here:
            index, chain, how = entry.index, None, None
            if skip and index in skip and _is_nearer(index, over, skip):
                passed = homes[0][skip[index][0]]
                if not passed.at(seen[n - 1]):
                    del over[index]
            if index in over:
                upper, how = over[index]
                chain = homes[n - 1][upper]
            elif index in skip:
                upper, how = skip[index]
                chain = homes[0][upper]
            if chain is None or how is None:
                chain = Links(entry)
                chains.append(chain)
            else:
                chain.add(entry, how)
            home[index] = chain
        homes.append(home)
    repeated: dict[Boundary, set[Hashable]] = {}
    for chain in chains:
        at = chain.lead.boundary
        if at not in repeated:
            repeated[at] = repeated_ids(sight.entries(at))
        chain.key = _key(chain.lead, repeated[at])
    return chains


def _is_sure(here: Sequence[Entry], over: Made) -> bool:
    """Whether all records of the run are linked to the boundary before by more than a place."""
    for entry in here:
        call = entry.call
        if call.phase is not Phase.RUN:
            continue
        if entry.index not in over or over[entry.index][1] in _WEAK:
            return False
        if call.call_id is not None or call.parent is None:
            _ = entry.declared.key  # a value that is no JSON is refused here, as in the steps
    return True


def _is_nearer(index: int, over: Made, skip: Made) -> bool:
    """Whether a place or a name alone speaks for one request, and likeness for an earlier one."""
    return index in over and over[index][1] in _WEAK and skip[index][1] not in _WEAK


def _entries(sight: Sight, boundary: Boundary, declared: Declared) -> list[Entry]:
    seen = sight.entries(boundary)
    if declared.is_plain:
        return seen
    adapted = boundary is not Boundary.MODEL
    made = []
    for one in seen:
        entry = Entry(boundary, one.index, one.call, one.form, one.is_usual)
        entry.declared = declared(one.form, adapted=adapted)
        made.append(entry)
    return made


def _key(entry: Entry, repeated: set[Hashable]) -> str:
    call_id = entry.call.call_id
    if isinstance(call_id, str) and call_id not in repeated:
        return call_id
    return f"{entry.boundary}/{entry.index}"
