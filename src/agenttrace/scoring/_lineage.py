"""Where the values of the first divergence came from, and which calls carried the wrong one on.

Asked of rows that diverge and of no others. It changes nothing of a verdict: a place says where to
look, and blames nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agenttrace._dataclass import replace
from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    Boundary,
    Case,
    Chain,
    Divergence,
    Evidence,
    JsonValue,
    Kind,
    Lineage,
    Missing,
    Origin,
    Place,
    Unseen,
    Verdict,
)
from agenttrace.scoring._default_rules import declared_by
from agenttrace.scoring._lineage_needle import Needle, is_container, is_too_common
from agenttrace.scoring._lineage_search import CALLED, Hit, Texts, first_place, holds
from agenttrace.scoring._lineage_sources import (
    SHOWN,
    STAGE_OF,
    Home,
    Order,
    Timeline,
    timeline_of,
)
from agenttrace.scoring._lineage_subject import RESULTS, Subject, leaves_of, subjects
from agenttrace.scoring._lineage_tokens import MOST_PLACES
from agenttrace.scoring._link import build_chains
from agenttrace.scoring._refusing import Refusing

MOST_CARRIERS: Final = 50
"""Calls that are listed as having carried a value."""
_MOST_ASKED: Final = 8
_BOUNDARY_PLACE: Final = {
    Boundary.MODEL: Place.ARGUMENTS,
    Boundary.ADAPTER: Place.ADAPTER,
    Boundary.EXECUTOR: Place.EXECUTOR,
}


def with_lineage(verdict: Verdict, evidence: Evidence) -> Verdict:
    """The verdict with the lineage of its first divergence, where that has a value."""
    if not verdict.divergences:
        return verdict
    divergence = verdict.divergences[0]
    asked = subjects(divergence)
    if not asked:
        return verdict
    search = _Search(evidence, verdict.chains)
    return replace(verdict, lineage=search.of_divergence(divergence, asked))


def trace_value(
    evidence: Evidence,
    value: JsonValue,
    call: str | None = None,
    *,
    path: str = "",
    expected: JsonValue | Missing = MISSING,
) -> Lineage:
    """Where a value of a call came from, whether or not anything is wrong with it.

    Args:
        value: What is looked for.
        call: The call's id, or `ref` of one of its records: what came to be before its arguments
            is searched, and the arguments themselves are the last place. None: all of the run.
        path: JSON Pointer of the value, which the answer repeats.
        expected: The value that should stand there, which is looked for in all of the run.

    Raises:
        LookupError: The evidence holds no such call.
        UnscorableError: The evidence holds a value that is none that JSON could hold.

    Example:
        >>> from agenttrace.domain import Message, Outcome
        >>> from agenttrace.testing import clean_run
        >>> said = Message(role="user", turn=1, content="Refund 8900, please.")
        >>> run = clean_run(("refund", {"cents": 8900}), outcome=Outcome(messages=(said,)))
        >>> origin = trace_value(run, 8900, "c0").observed
        >>> (str(origin.place), origin.turn)
        ('user', 1)
    """
    with Refusing():
        declared = declared_by(Case(case_id=""), evidence, None, Boundary.EXECUTOR)
        chains = [chain.to_chain() for chain in build_chains(evidence, declared)]
        search = _Search(evidence, chains)
        home = None if call is None else search.home_of(call)
    if call is not None and home is None:
        raise LookupError(f"the evidence holds no such call: {call!r:.80}")
    with Refusing():
        limit = own = None
        if home is not None:
            limit = (home.order, STAGE_OF[Boundary.MODEL], home.index)
            own = _own(home, Place.ARGUMENTS)
        return search.lineage(Subject(path, value, expected), limit, own)


class _Search:
    """What one run is asked, with its texts and values in order."""

    def __init__(self, evidence: Evidence, chains: Sequence[Chain]) -> None:
        self._evidence = evidence
        self._chains = {chain.key: chain for chain in chains}
        self._line: Timeline = timeline_of(evidence, chains)
        self._texts = Texts()

    def home_of(self, call: str) -> Home | None:
        """The chain of a call, by its key or by a record of it."""
        chain = self._chains.get(call)
        refs = [call] if chain is None else [ref for refs in chain.records.values() for ref in refs]
        return next((self._line.homes[ref] for ref in refs if ref in self._line.homes), None)

    def of_divergence(self, divergence: Divergence, asked: Sequence[Subject]) -> Lineage:
        """The lineage of the value that tells most."""
        home = self.home_of(divergence.call)
        limit: Order | None = None
        own: Origin | None = None
        if home is not None:
            stage = SHOWN if divergence.kind in RESULTS else STAGE_OF[divergence.boundary]
            limit = (home.order, stage, -1 if divergence.kind in RESULTS else home.index)
            place = _BOUNDARY_PLACE[divergence.boundary]
            if divergence.kind in RESULTS:
                place = Place.ADAPTER
            own = _own(home, place)
        if len(asked) > 1:
            return self._most_telling(divergence, asked, limit, own)
        return self.lineage(asked[0], limit, own)

    def _most_telling(
        self,
        divergence: Divergence,
        asked: Sequence[Subject],
        limit: Order | None,
        own: Origin | None,
    ) -> Lineage:
        """Of a missing call the first value that stands nowhere, else the first one; of a call
        that is one too many the first that no other call holds, else the first one."""
        if divergence.kind is Kind.DROPPED:
            first: Lineage | None = None
            for subject in asked[:_MOST_ASKED]:
                one = self.lineage(subject, limit, own)
                if one.expected is None and not one.expected_unseen:
                    return one
                first = first or one
            return first or self.lineage(asked[0], limit, own)
        others = [
            call.arguments
            for call in self._evidence.model
            if call.arguments is not None
            and (home := self._line.homes.get(call.ref)) is not None
            and home.key != divergence.call
        ]
        for subject in asked[:_MOST_ASKED]:
            needle = Needle(_plain(subject.value))
            if not any(holds(arguments, needle, self._texts) for arguments in others):
                return self.lineage(subject, limit, own)
        return self.lineage(asked[0], limit, own)

    def lineage(self, subject: Subject, limit: Order | None, own: Origin | None) -> Lineage:
        """The lineage of one value and of the expected one."""
        notes: list[str] = []
        made = Lineage(path=subject.path, value=subject.value, expected_value=subject.expected)
        if not isinstance(subject.value, Missing):
            made = self._with_observed(made, subject.value, limit, own, notes)
        if not isinstance(subject.expected, Missing):
            key = None if own is None else own.call
            made = self._with_expected(made, subject.expected, key, notes)
        if self._is_nowhere(made):
            members = leaves_of(subject)
            if members and members[0].path != subject.path:
                return self.lineage(members[0], limit, own)
        return replace(made, note="; ".join(notes) or None)

    def _is_nowhere(self, made: Lineage) -> bool:
        """Whether an object or a list stands nowhere as a whole, so that its members may tell."""
        if is_container(made.value) and made.value:
            found = made.observed
            return found is None or found.place in CALLED
        is_asked = isinstance(made.value, Missing) and is_container(made.expected_value)
        return is_asked and bool(made.expected_value) and made.expected is None

    def _with_observed(
        self,
        made: Lineage,
        value: JsonValue,
        limit: Order | None,
        own: Origin | None,
        notes: list[str],
    ) -> Lineage:
        if is_too_common(value):
            notes.append("the value is too common for a place to say where it came from")
            return replace(made, too_common=True)
        needle = Needle(value)
        key = None if own is None else own.call
        hit = first_place(self._line, needle, self._texts, limit, call=key)
        found, earlier = hit.exact, hit.rendered
        if found is None and own is not None:
            # In no message: the call's own, as far as every message is known.
            is_known = not hit.unseen or own.place is not Place.ARGUMENTS
            found = own if is_known else None
        elif found is not None and found.place is Place.ARGUMENTS and hit.unseen:
            found = None
        if found is None and earlier is not None:
            found, earlier = earlier, None
        carriers = self._carriers(needle)
        if len(carriers) > MOST_CARRIERS:
            notes.append(f"{len(carriers) - MOST_CARRIERS} more calls carried the value")
        _note_cap(hit, notes)
        return replace(
            made,
            observed=found,
            observed_earlier=earlier,
            carried_by=tuple(carriers[:MOST_CARRIERS]),
            unseen=hit.unseen,
        )

    def _with_expected(
        self, made: Lineage, value: JsonValue, call: str | None, notes: list[str]
    ) -> Lineage:
        if is_too_common(value):
            notes.append("the expected value is too common for a place to say anything")
            return replace(made, expected_too_common=True)
        hit = first_place(self._line, Needle(value), self._texts, call=call)
        _note_cap(hit, notes)
        found = hit.exact
        if found is not None and found.place is Place.ARGUMENTS and hit.unseen:
            found = None
        return replace(
            made,
            expected=found or hit.rendered,
            expected_earlier=hit.rendered if found is not None else None,
            expected_unseen=hit.unseen,
        )

    def _carriers(self, needle: Needle) -> list[str]:
        """Keys of the calls whose arguments hold the value at some boundary, in order."""
        held: set[str] = set()
        for boundary in BOUNDARIES:
            for call in self._evidence.at(boundary):
                home = self._line.homes.get(call.ref)
                if home is None or home.key in held or call.arguments is None:
                    continue
                if holds(call.arguments, needle, self._texts):
                    held.add(home.key)
        return [key for key in self._line.keys if key in held]


def _own(home: Home, place: Place) -> Origin:
    """The call itself as the place at which its value stood first."""
    return Origin(place=place, turn=home.turn, call=home.key, tool=home.tool)


def _plain(value: JsonValue | Missing) -> JsonValue:
    return None if isinstance(value, Missing) else value


def _note_cap(hit: Hit, notes: list[str]) -> None:
    if Unseen.REST in hit.unseen:
        notes.append(
            f"the search ended after {MOST_PLACES:,} places that only looked like the value"
        )
