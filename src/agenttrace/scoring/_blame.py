"""From what was found to one verdict: what comes first, whose it is, and whether the row fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    Boundary,
    BoundaryFigures,
    Cause,
    Divergence,
    First,
    Kind,
    Owner,
    Status,
)
from agenttrace.scoring._causes import cannot_be_placed
from agenttrace.scoring._link import Links
from agenttrace.scoring._policy import (
    broken_at,
    broken_rules,
    first_out_of_order,
    observed_calls,
)
from agenttrace.scoring._row import Found, Row

_BOUNDARY_FIRST = {
    Boundary.MODEL: First.MODEL,
    Boundary.ADAPTER: First.ADAPTER,
    Boundary.EXECUTOR: First.EXECUTOR,
}
_BOUNDARY_OWNER = {
    Boundary.MODEL: Owner.AGENT,
    Boundary.ADAPTER: Owner.ADAPTER,
    Boundary.EXECUTOR: Owner.EXECUTOR,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Blame:
    """Status, first divergence and owner of a row, with what they rest on."""

    status: Status
    first: First
    owner: Owner
    divergences: tuple[Divergence, ...] = ()
    also: tuple[Boundary, ...] = ()
    recovered: bool = False
    causes: tuple[Cause, ...] = ()


NOTHING_WRONG = Blame(status=Status.PASS, first=First.NONE, owner=Owner.NONE)


def blame(row: Row, figures: BoundaryFigures | None, broken: Sequence[str]) -> Blame:
    """Name the first divergence and its owner.

    A row fails by a mismatch at the compared boundary, a broken rule, or an executed call that
    changed, and by nothing else: a wrong call that never ran, beside figures that match, passes
    with its boundary named.
    """
    found = row.in_order()
    clean = (figures is None or figures.counts.exact) and not broken
    if not found and row.required is not None:
        found = _out_of_order(row)
    if not found:
        return _without_divergence(row, clean, broken)
    first = found[0].divergence
    ran = any(
        one.chain is not None and one.chain.runs and one.divergence.owner is not Owner.NONE
        for one in found
    )
    guesses = all(one.divergence.owner is Owner.NONE for one in found)
    divergences = tuple(one.divergence for one in found)
    if guesses and (row.required is None or figures is None) and not broken:
        cause = Cause(
            code="linked-by-name-only",
            detail="the records that differ are linked by nothing but the tool's name",
        )
        return Blame(
            status=Status.INCONCLUSIVE,
            first=First.INSTRUMENTATION,
            owner=Owner.INSTRUMENTATION,
            divergences=divergences,
            causes=(cause,),
        )
    failed = not clean or ran
    owner = first.owner
    if owner is Owner.NONE and failed:
        # The plan itself shows the fault here: met at the boundary before, missed at this one.
        owner = _BOUNDARY_OWNER[first.boundary]
    return Blame(
        status=Status.FAIL if failed else Status.PASS,
        first=_BOUNDARY_FIRST[first.boundary],
        owner=owner,
        divergences=divergences,
        also=_also(found),
        recovered=not failed and _recovered(row, found),
    )


def _without_divergence(row: Row, clean: bool, broken: Sequence[str]) -> Blame:
    if clean:
        return NOTHING_WRONG
    for rule in broken:
        kind = rule.partition(":")[0]
        if kind == "outcome":
            # Every call is right and the state is not: the tool itself did it.
            return _failed(Boundary.EXECUTOR, Owner.TOOL_OWNER)
        if kind in ("leak", "min_calls"):
            return _failed(Boundary.MODEL, Owner.AGENT)
    lead = row.evidence.first_observed
    if broken:
        for boundary in BOUNDARIES:
            if row.evidence.is_observed(boundary) and set(
                broken_rules(row.case, row.evidence, boundary)
            ) & set(broken):
                if boundary is lead and boundary is not Boundary.MODEL:
                    return _unplaced(boundary)
                return _failed(boundary, _BOUNDARY_OWNER[boundary])
    return _unplaced(lead or row.compare)


def _failed(boundary: Boundary, owner: Owner) -> Blame:
    return Blame(status=Status.FAIL, first=_BOUNDARY_FIRST[boundary], owner=owner)


def _unplaced(boundary: Boundary) -> Blame:
    return Blame(
        status=Status.INCONCLUSIVE,
        first=First.INSTRUMENTATION,
        owner=Owner.INSTRUMENTATION,
        causes=(cannot_be_placed(boundary),),
    )


def _also(found: Sequence[Found]) -> tuple[Boundary, ...]:
    first = found[0].divergence
    later = {
        one.divergence.boundary
        for one in found
        if one.divergence.call == first.call
        and one.divergence.boundary.position > first.boundary.position
    }
    return tuple(boundary for boundary in BOUNDARIES if boundary in later)


def _recovered(row: Row, found: Sequence[Found]) -> bool:
    """Whether a refused call was followed by a run of the same tool."""
    for one in found:
        chain = one.chain
        if chain is None or not _refused_before_entry(chain):
            continue
        own = row.times[id(chain)]
        name = chain.lead.declared.name
        if any(
            other.runs and other.lead.declared.name == name and row.times[id(other)] > own
            for other in row.chains
        ):
            return True
    return False


def _refused_before_entry(chain: Links) -> bool:
    refused = any(entry.call.error is not None for entry in chain.at(Boundary.ADAPTER))
    stopped = any(entry.call.error is not None for entry in chain.at(Boundary.EXECUTOR))
    return not chain.runs and (refused or stopped)


def _out_of_order(row: Row) -> list[Found]:
    """Equal calls in an order that a rule forbids, at the first boundary where they stand so."""
    case, evidence = row.case, row.evidence
    for boundary in BOUNDARIES:
        seen = observed_calls(evidence, boundary, case.agents)
        if not seen:
            continue
        forms = [one.form for one in seen]
        names = [form.name for form in forms]
        pair = first_out_of_order(case, names)
        if pair is not None:
            return [_reordered(row, boundary, seen[names.index(pair[1])].index, list(pair), names)]
        for rule in case.sequence:
            at = broken_at(rule, forms)
            if at is not None:
                wanted = [rule.before.name, rule.after.name]
                return [_reordered(row, boundary, seen[at].index, wanted, names)]
    return []


def _reordered(
    row: Row, boundary: Boundary, index: int, wanted: list[str], names: list[str]
) -> Found:
    chain = next(
        chain for chain in row.chains if any(entry.index == index for entry in chain.at(boundary))
    )
    listed = row.case.ordered if wanted[0] in row.case.ordered else wanted
    return Found(
        row.times[id(chain)],
        chain,
        Divergence(
            boundary=boundary,
            kind=Kind.REORDERED,
            path="",
            call=chain.key,
            before=list(listed) or MISSING,
            after=[name for name in names if name in listed],
            owner=_BOUNDARY_OWNER[boundary],
        ),
    )
