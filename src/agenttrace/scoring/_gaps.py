"""Records that are not there, known from the records that are.

Nobody need have counted: a run that was linked to a request, an id that a response gave, a
response that says how many calls it held, each speaks of a record. Where that one is missing, what
follows from its absence is no fault of the run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Cause,
    Evidence,
    Execution,
    ToolCall,
    is_agents_own,
)
from agenttrace.records import canonical
from agenttrace.scoring._link import Links


def gap_causes(evidence: Evidence, chains: Sequence[Links]) -> list[Cause]:
    """Why a record must be missing that would have been judged; owner: instrumentation."""
    found = [*_dangling(evidence), *_short_responses(evidence), *_asked_before(evidence, chains)]
    if not _is_proven_whole(evidence):
        found += _unanswered_ids(evidence, chains)
        found += _skipped(evidence, chains)
    return found


def _is_proven_whole(evidence: Evidence) -> bool:
    """Whether counts, or numbers without a hole, say that no further record was made."""
    whole = evidence.completeness
    numbered = whole.last_seq is not None and not (whole.missing_seqs or whole.dropped)
    return whole.made is not None or numbered


def _dangling(evidence: Evidence) -> Iterator[Cause]:
    """Records that were linked to, or made inside, one that is not there."""
    pointing = [
        call
        for boundary in BOUNDARIES
        for call in evidence.at(boundary)
        if call.link is not None or call.parent is not None
    ]
    if pointing:
        known = {call.ref for boundary in BOUNDARIES for call in evidence.at(boundary)}
        known |= {response.ref for response in evidence.responses or ()}
        for call in pointing:
            for what, ref in (("answers", call.link), ("was made inside", call.parent)):
                if ref is not None and ref not in known:
                    yield _missing(f"{_shown(call)} {what} {ref:.60}, which is not on record")
                    return


def _short_responses(evidence: Evidence) -> Iterator[Cause]:
    """Responses that held more calls than were recorded of them."""
    if not evidence.responses or not evidence.is_observed(Boundary.MODEL):
        return
    of_id = Counter(call.response_id for call in evidence.model)
    of_turn = Counter(call.turn for call in evidence.model)
    short = 0
    for one in evidence.responses:
        here = max(
            of_id[one.response_id] if one.response_id is not None else 0,
            of_turn[one.turn] if one.turn is not None else 0,
        )
        if one.response_id is not None or one.turn is not None:
            short = max(short, one.calls - here)
    # Ids repeat, and some responses have none: what all of them held is asked for as well.
    held = sum(one.calls for one in evidence.responses)
    short = max(short, held - len(evidence.model))
    if short > 0:
        yield _missing(f"{short} of the calls that the responses held are not on record")


def _unanswered_ids(evidence: Evidence, chains: Sequence[Links]) -> Iterator[Cause]:
    """Calls that carry an id which no earlier record gave: the one that gave it is missing.

    Where a provider gives no ids the adapter makes its own, and these say nothing of a response.
    Where two boundaries watched and neither knows the id, two records would have to be missing for
    one call: then the call is what it looks like, one that nobody asked for.
    """
    later = [chain for chain in chains if chain.lead.boundary is not Boundary.MODEL]
    if not later:
        return
    givers = [b for b in (Boundary.MODEL, Boundary.ADAPTER) if _gives_ids(evidence.at(b))]
    given = {b: {canonical(call.call_id) for call in evidence.at(b)} for b in givers}
    for chain in later:
        call = chain.lead.call
        if call.call_id is None or not is_agents_own(call):
            continue
        earlier = [
            boundary
            for boundary in givers
            if boundary.position < call.boundary.position
            and not may_be_unread(evidence, boundary, call)
        ]
        if any(canonical(call.call_id) in given[boundary] for boundary in earlier):
            continue  # one more record under an id that is known
        if sum(evidence.sees(boundary, call.name) for boundary in earlier) == 1:
            yield _missing(f"{_shown(call)}, and no earlier record gave that id")
            return


def _asked_before(evidence: Evidence, chains: Sequence[Links]) -> Iterator[Cause]:
    """Calls that an unrecorded response asked for: the first request on record holds their answers.

    The client was hooked, or the run opened, after that response had come. No manifest counts it.
    """
    firsts = {one.agent: one for one in reversed(evidence.responses or ())}
    answered = {
        canonical(message.call_id)
        for response in firsts.values()
        for message in response.messages
        if message.role == "tool" and message.call_id is not None
    }
    if not answered:
        return
    given: dict[str, list[int | None]] = defaultdict(list)
    for one in evidence.model:
        given[canonical(one.call_id)].append(one.seq)
    for chain in chains:
        call = chain.lead.call
        if call.boundary is Boundary.MODEL or not is_agents_own(call):
            continue
        call_id = canonical(call.call_id)
        # Ids repeat: what gave this one later did not ask for a call that stands before it.
        is_given = any(
            seq is None or call.seq is None or seq < call.seq for seq in given.get(call_id, ())
        )
        if call_id in answered and not is_given and evidence.sees(Boundary.MODEL, call.name):
            yield _missing(
                f"{_shown(call)}, whose answer stands in the first request on record: what asked "
                "for it came before"
            )
            return


def _gives_ids(calls: Sequence[ToolCall]) -> bool:
    return all(call.call_id is not None for call in calls if is_agents_own(call) and not call.error)


def _skipped(evidence: Evidence, chains: Sequence[Links]) -> Iterator[Cause]:
    """Runs that answer a request and passed an adapter which should have seen them."""
    for chain in chains:
        if Boundary.ADAPTER in chain.entries:
            continue
        upper, ran = chain.first(Boundary.MODEL), chain.first(Boundary.EXECUTOR)
        if upper is None or ran is None or not _entered(ran.call):
            continue
        if may_be_unread(evidence, Boundary.ADAPTER, upper.call):
            continue
        if is_agents_own(ran.call) and evidence.sees(Boundary.ADAPTER, upper.call.name):
            yield _missing(
                f"{_shown(ran.call)} answers a request that the adapter has no record of"
            )
            return


def may_be_unread(evidence: Evidence, boundary: Boundary, call: ToolCall) -> bool:
    """Whether a record came that cannot be read and may be this call's, by its id or by none."""
    return any(
        one.boundary is boundary
        and (one.call_id is None or canonical(one.call_id) == canonical(call.call_id))
        for one in evidence.completeness.unusable
    )


def _entered(call: ToolCall) -> bool:
    return isinstance(call, Execution) and call.count > 0


def _shown(call: ToolCall) -> str:
    return f"{call.name:.60} with the id {canonical(call.call_id):.40} at the {call.boundary}"


def _missing(detail: str) -> Cause:
    return Cause(code="record-absent", detail=detail)
