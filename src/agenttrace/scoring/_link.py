"""Which records are one logical call.

Neighbouring boundaries are linked first; what passed one without a trace joins the first of all.
How records are linked is in the steps. A link by nothing but a tool's name is shown, and what
differs at or below it is owned by nobody.
"""

from __future__ import annotations

from collections.abc import Hashable

from agenttrace._dataclass import dataclass, field
from agenttrace.domain import BOUNDARIES, Boundary, Chain, Evidence, LinkedBy
from agenttrace.scoring._declared import Declared
from agenttrace.scoring._forms import captured, form_of, in_causal_order
from agenttrace.scoring._link_steps import Entry, Made, id_of, link, repeated_ids

__all__ = ["Entry", "Links", "build_chains"]


@dataclass(slots=True)
class Links:
    """The records of one logical call, while chains are being built."""

    key: str = ""
    entries: dict[Boundary, list[Entry]] = field(default_factory=dict)
    linked_by: dict[str, LinkedBy] = field(default_factory=dict)

    def at(self, boundary: Boundary) -> list[Entry]:
        """Records of one boundary, in the order they were seen."""
        return self.entries.get(boundary, [])

    def first(self, boundary: Boundary) -> Entry | None:
        """The first record of one boundary."""
        here = self.entries.get(boundary)
        return here[0] if here else None

    @property
    def lead(self) -> Entry:
        """The record at the earliest boundary."""
        return next(self.entries[b][0] for b in BOUNDARIES if b in self.entries)

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
        return Chain(
            key=self.key,
            name=self.lead.call.name,
            records={b: tuple(e.call.ref for e in es) for b, es in self.entries.items()},
            linked_by=dict(self.linked_by),
        )


def build_chains(evidence: Evidence, declared: Declared) -> list[Links]:
    """Link all records of a run; the earliest observed boundary leads."""
    seen = captured(evidence)
    by_boundary = {b: _entries(evidence, b, declared) for b in seen}
    ids = [frozenset(map(id_of, by_boundary[b])) for b in seen]
    decided = bool(evidence.conduct.approvals) or evidence.conduct.guardrail is not None
    chains: list[Links] = []
    home: dict[tuple[Boundary, int], Links] = {}
    for n, boundary in enumerate(seen):
        here = by_boundary[boundary]
        # A decision is about the call of one id: which one ran may then not be told by likeness.
        above = None if decided else frozenset[Hashable]().union(*ids[:n])
        over = link(here, by_boundary[seen[n - 1]], above, ids[n]) if n else {}
        skip = link(here, by_boundary[seen[0]], above, ids[n] | ids[n - 1]) if n > 1 else {}
        for entry in here:
            chain = None
            if _is_nearer(entry.index, over, skip):
                passed = home[seen[0], skip[entry.index][0]]
                if not passed.at(seen[n - 1]):
                    del over[entry.index]
            if entry.index in over:
                index, how = over[entry.index]
                chain = home[seen[n - 1], index]
                chain.linked_by[entry.call.ref] = how
            elif entry.index in skip:
                index, how = skip[entry.index]
                chain = home[seen[0], index]
                chain.linked_by[entry.call.ref] = how
            if chain is None:
                chain = Links()
                chains.append(chain)
            chain.entries.setdefault(boundary, []).append(entry)
            home[boundary, entry.index] = chain
    repeated = {b: repeated_ids(by_boundary[b]) for b in seen}
    for chain in chains:
        lead = chain.lead
        chain.key = _key(lead, repeated[lead.boundary])
    return chains


def _is_nearer(index: int, over: Made, skip: Made) -> bool:
    """Whether a place or a name alone speaks for one request, and likeness for an earlier one."""
    weak = (LinkedBy.POSITION, LinkedBy.ONLY_ONE_LEFT)
    return index in over and index in skip and over[index][1] in weak and skip[index][1] not in weak


def _entries(evidence: Evidence, boundary: Boundary, declared: Declared) -> list[Entry]:
    made = []
    for index, call in in_causal_order(evidence, boundary):
        form = form_of(call)
        changed = declared(form, adapted=boundary is not Boundary.MODEL)
        made.append(Entry(boundary, index, call, form, changed))
    return made


def _key(entry: Entry, repeated: set[Hashable]) -> str:
    call_id = entry.call.call_id
    if isinstance(call_id, str) and call_id not in repeated:
        return call_id
    return f"{entry.boundary}/{entry.index}"
