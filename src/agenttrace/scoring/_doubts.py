"""What leaves open a divergence that was found: masks, and records that could not be read.

A mask that a recorder wrote says nothing about the value behind it, unless both sides were masked
by the same equality-keeping method, or digests taken before masking decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.domain import BOUNDARIES, Boundary, Cause, Kind
from agenttrace.scoring._causes import unusable_records
from agenttrace.scoring._row import Row

_KEEP_DIFFERENCES = ("hash", "hmac-sha256", "pattern", "constant")


def doubts(row: Row, *, clean: bool) -> list[Cause]:
    """Why the first divergence, or the absence of one, is not proven.

    Args:
        clean: The figures at the compared boundary are exact and no rule is broken.
    """
    return [*_unreadable(row, clean), *_masked(row)]


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


def _masked(row: Row) -> Iterator[Cause]:
    masking, masked_by = row.evidence.integrity.masking, row.evidence.integrity.masked_by
    if not row.found or masked_by == "framework" or (masked_by is None and masking is None):
        return
    first = row.in_order()[0].divergence
    if first.kind is Kind.MASKED and not _is_proven(row, first.boundary):
        yield Cause(
            code="mask-unstable",
            detail=f"{first.path:.80}: a mask stands there, and nothing says whether the value "
            "behind it is another one",
        )


def _is_proven(row: Row, boundary: Boundary) -> bool:
    digests, masking = row.evidence.integrity.digests, row.evidence.integrity.masking
    pairs = [("value_expected", "value_observed")]
    if boundary is Boundary.EXECUTOR:
        pairs.insert(0, ("adapter", "entry"))
    for one, other in pairs:
        if one in digests and other in digests:
            return digests[one] != digests[other]
    if masking is None or boundary not in masking.boundaries:
        return False
    earlier = [b for b in BOUNDARIES[: boundary.position] if row.evidence.is_observed(b)]
    alike = earlier[-1] in masking.boundaries if earlier else masking.reference
    return alike and masking.method in _KEEP_DIFFERENCES
