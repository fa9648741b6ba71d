"""What the boundaries of one run saw, each record looked at once.

Every question of a row asks the same records in the same order. Their forms carry their canonical
text from one question to the next, so that no call is written out twice.
"""

from __future__ import annotations

from agenttrace.domain import Boundary, Evidence, Execution, Phase, ToolCall, is_agents_own
from agenttrace.records import canonical_writer
from agenttrace.scoring._forms import (
    CallForm,
    captured,
    handed_on,
    id_key,
    in_causal_order,
)

RUN, EXECUTOR = Phase.RUN, Boundary.EXECUTOR


class Entry:
    """One record with its place, its form, and its form after declared changes."""

    __slots__ = ("boundary", "call", "declared", "form", "id", "index", "is_usual")

    def __init__(
        self,
        boundary: Boundary,
        index: int,
        call: ToolCall,
        form: CallForm,
        is_usual: bool,
    ) -> None:
        self.boundary = boundary
        self.index = index
        """Place of the record at its boundary, as the evidence lists it."""
        self.call = call
        self.form = form
        self.declared = form
        """The form after declared changes, where anything is declared."""
        call_id = call.call_id
        self.id = call_id if call_id.__class__ is str else id_key(call_id)
        """The call's id as a key; None where it has none."""
        self.is_usual = is_usual
        """Whether it is a call of the run itself, with arguments and entered once, with no error.

        True leaves questions out that only other records can be the answer to.
        """


class Sight:
    """The records of one run by boundary, while it is judged."""

    __slots__ = ("_calls", "_entries", "_usual", "captured", "evidence", "thorough", "write")

    def __init__(self, evidence: Evidence, *, thorough: bool = False) -> None:
        self.evidence = evidence
        self.thorough = thorough
        """Take no record for a usual one, and ask everything of every call."""
        self.captured = captured(evidence)
        """Boundaries at which anything could have been seen."""
        self.write = canonical_writer()
        """Canonical text, as it is made of every call of the run and of its plan."""
        self._entries: dict[Boundary, list[Entry]] = {}
        self._usual: dict[Boundary, bool] = {}
        self._calls: dict[tuple[Boundary, frozenset[str] | None], list[Entry] | None] = {}

    def entries(self, boundary: Boundary) -> list[Entry]:
        """All records of one boundary in causal order, with nothing declared of them."""
        made = self._entries.get(boundary)
        if made is None:
            write, thorough = self.write, self.thorough
            calls = self.evidence.at(boundary)
            usual = [not thorough and _is_usual(call, boundary) for call in calls]
            made = []
            for index, call in in_causal_order(self.evidence, boundary):
                form = CallForm(call.name, call.arguments, call.raw, write)
                made.append(Entry(boundary, index, call, form, usual[index]))
            self._entries[boundary], self._usual[boundary] = made, all(usual)
        return made

    def is_usual(self, boundary: Boundary) -> bool:
        """Whether every record of a boundary is a usual one."""
        if boundary not in self._usual:
            self.entries(boundary)
        return self._usual[boundary]

    def calls(self, boundary: Boundary, agents: frozenset[str] | None = None) -> list[Entry] | None:
        """The agent's own calls at one boundary; see `observed_calls`."""
        key = boundary, agents
        if key not in self._calls:
            is_seen = boundary in self.captured
            self._calls[key] = self._own(boundary, agents) if is_seen else None
        return self._calls[key]

    def _own(self, boundary: Boundary, agents: frozenset[str] | None) -> list[Entry]:
        entries = self.entries(boundary)
        if agents is None and self._usual[boundary]:
            return entries
        mine = [
            entry
            for entry in entries
            if is_agents_own(entry.call) and (agents is None or entry.call.agent in agents)
        ]
        if boundary is Boundary.MODEL:
            return mine
        if boundary is Boundary.ADAPTER:
            return [entry for entry in mine if handed_on(entry.call)]
        seen: list[Entry] = []
        for entry in mine:
            call = entry.call
            if isinstance(call, Execution) and call.arguments is not None:
                seen += [entry] * call.count
        return seen


def _is_usual(call: ToolCall, boundary: Boundary) -> bool:
    return (
        call.arguments is not None
        and call.error is None
        and call.parent is None
        and call.phase is RUN
        and not call.inferred
        and (boundary is not EXECUTOR or (isinstance(call, Execution) and call.count == 1))
    )
