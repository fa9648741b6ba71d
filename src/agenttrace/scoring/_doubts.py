"""What leaves open a divergence that was found: masks, lost contexts, records that are not whole.

A record whose run was only inferred may be another run's, unless the call's own ids say that it
answers one of this run. A mask that a recorder wrote says nothing about the value behind it, unless
both sides were masked by the same equality-keeping method, or digests taken before masking decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Cause,
    Divergence,
    Kind,
    LinkedBy,
    Missing,
    ToolCall,
)
from agenttrace.scoring._causes import arguments_not_recorded, unusable_records
from agenttrace.scoring._forms import is_silent
from agenttrace.scoring._link import Links
from agenttrace.scoring._masks import holds_mask
from agenttrace.scoring._row import Row, is_planned
from agenttrace.scoring._unknown import unknown_causes

_KEEP_DIFFERENCES = ("hash", "hmac-sha256", "pattern", "constant")


def doubts(row: Row, *, clean: bool, reference_masked: bool = False) -> list[Cause]:
    """Why the first divergence, or the absence of one, is not proven.

    Args:
        clean: The figures at the compared boundary are exact and no rule is broken.
        reference_masked: The plan's values were masked just now, the way the records were.
    """
    return [
        *_unreadable(row, clean),
        *_silent(row, clean),
        *_unfinished(row, clean),
        *_inferred(row),
        *unknown_causes(row),
        *_masked(row, reference_masked),
    ]


def _inferred(row: Row) -> Iterator[Cause]:
    """Records of a lost context, where the first divergence rests on their being of this run."""
    if not row.found:
        return
    one = row.in_order()[0]
    boundary, chain = one.divergence.boundary, one.chain
    if chain is None or boundary is Boundary.MODEL:
        return
    guessed = [call for call in row.evidence.at(boundary) if _is_guessed(row, call)]
    own = {entry.call.ref for entry in chain.at(boundary)}
    if own:
        guessed = [call for call in guessed if call.ref in own]
    else:  # nothing was seen there of this call, unless one of those was it
        guessed = [call for call in guessed if call.name == chain.lead.call.name]
    if guessed:
        yield Cause(
            code="context-lost",
            detail=f"{guessed[0].name:.80} ran where the context was lost, as in a thread; whether "
            "it is a call of this run is not known",
        )


def _is_guessed(row: Row, call: ToolCall) -> bool:
    if not call.inferred:
        return False
    how = next((c.linked_by[call.ref] for c in row.chains if call.ref in c.linked_by), None)
    return how not in (LinkedBy.SPAN, LinkedBy.CALL_ID)


def _silent(row: Row, clean: bool) -> Iterator[Cause]:
    """Calls without recorded arguments, where these may be what a divergence or a figure is about.

    The model's own words stand whatever was made of them, and so does a change of another call.
    """
    first = row.in_order()[0] if row.found else None
    for boundary in (Boundary.ADAPTER, Boundary.EXECUTOR):
        if row.sight.is_usual(boundary):
            continue
        here = [call for call in row.evidence.at(boundary) if is_silent(call)]
        for call in here:
            if not is_planned(call, row.case.agents):
                continue
            if first is None:
                needed = not clean or (boundary is row.compare and row.required is not None)
            else:
                needed = first.divergence.boundary.position >= boundary.position and (
                    first.chain is None or _may_be_of(row, call, first.chain)
                )
            if needed:
                yield arguments_not_recorded(call)
                return


def _may_be_of(row: Row, call: ToolCall, chain: Links) -> bool:
    """Whether a record stands in a chain, or in one of its own that nothing links to any call.

    A record at a boundary that is said not to be observed stands in none.
    """
    found = (c for c in row.chains if any(e.call is call for e in c.at(call.boundary)))
    home = next(found, None)
    return home is not None and (home is chain or home.lead.boundary is call.boundary)


def _unfinished(row: Row, clean: bool) -> Iterator[Cause]:
    """A last response that did not come to its end may have gone on to ask for what is missing.

    What really ran stands in any case, so only findings that rest on the model's words are open.
    """
    last = {response.agent: response for response in row.evidence.responses or ()}
    if row.required is None or all(response.complete for response in last.values()):
        return
    if clean and row.compare is not Boundary.MODEL:
        return
    ran = any(one.chain is not None and one.chain.at(Boundary.EXECUTOR) for one in row.found)
    at_model = row.found and row.in_order()[0].divergence.boundary is Boundary.MODEL
    if (clean and not row.found) or (at_model and not ran):
        yield Cause(
            code="response-unfinished",
            detail="the last response was not read to its end; what else it asked for is not known",
        )


def _unreadable(row: Row, clean: bool) -> list[Cause]:
    """Unreadable records count where the verdict needs them.

    It needs the compared boundary, and all up to the first divergence. Where that is not known,
    because there is no plan or nothing to show for a mismatch, it needs all.
    """
    records = row.evidence.completeness.unusable
    last = BOUNDARIES[-1].position
    if row.found:
        last = row.in_order()[0].divergence.boundary.position
    elif clean and row.required is not None:
        last = -1
    needed = any(
        record.boundary is row.compare or record.boundary.position <= last for record in records
    )
    return unusable_records(row.evidence) if needed or (records and row.required is None) else []


def _masked(row: Row, reference_masked: bool) -> Iterator[Cause]:
    masking, masked_by = row.evidence.integrity.masking, row.evidence.integrity.masked_by
    if not row.found or masked_by == "framework" or (masked_by is None and masking is None):
        return
    first = row.in_order()[0].divergence
    if first.kind is Kind.MASKED and not _is_proven(row, first, reference_masked):
        yield Cause(
            code="mask-unstable",
            detail=f"{first.path:.80}: a mask stands there, and nothing says whether the value "
            "behind it is another one",
        )


def _is_proven(row: Row, first: Divergence, reference_masked: bool) -> bool:
    digests, masking = row.evidence.integrity.digests, row.evidence.integrity.masking
    boundary = first.boundary
    pairs = [("value_expected", "value_observed")]
    if boundary is Boundary.EXECUTOR:
        pairs.insert(0, ("adapter", "entry"))
    for one, other in pairs:
        if one in digests and other in digests:
            return digests[one] != digests[other]
    if masking is None or boundary not in masking.boundaries:
        return False
    earlier = [b for b in BOUNDARIES[: boundary.position] if row.evidence.is_observed(b)]
    if earlier:
        alike = earlier[-1] in masking.boundaries
    else:
        # A record may say that references are masked alike, of a case that is not.
        before = None if isinstance(first.before, Missing) else first.before
        alike = reference_masked or (masking.reference and holds_mask(before))
    return alike and masking.method in _KEEP_DIFFERENCES
