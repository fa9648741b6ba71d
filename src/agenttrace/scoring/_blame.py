"""From what was found to one verdict: what comes first, whose it is, and whether the row fails."""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace._dataclass import dataclass, replace
from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Cause,
    Divergence,
    First,
    Owner,
    Status,
)
from agenttrace.scoring._broken import OWNER_OF, rule_fault
from agenttrace.scoring._causes import cannot_be_placed
from agenttrace.scoring._due import due_forms
from agenttrace.scoring._link import Links
from agenttrace.scoring._policy import rules_broken
from agenttrace.scoring._row import Found, Row

_BOUNDARY_FIRST = {
    Boundary.MODEL: First.MODEL,
    Boundary.ADAPTER: First.ADAPTER,
    Boundary.EXECUTOR: First.EXECUTOR,
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


def blame(row: Row, broken: Sequence[str], *, met: bool) -> Blame:
    """Name the first divergence and its owner.

    A row fails by a mismatch at the compared boundary, a broken rule, or an executed call that
    changed, and by nothing else: a wrong call that never ran, beside figures that match, passes
    with its boundary named.
    """
    found = row.in_order()
    clean = met and not broken
    lead = row.evidence.first_observed
    if lead is Boundary.ADAPTER and found and _leaves_plan(row, lead):
        return _unplaced(lead)
    if not found:
        fault = None if _is_about_the_end(broken) else rule_fault(row, broken)
        if fault is None:
            return _without_divergence(row, clean, broken)
        if fault.divergence.boundary is lead is not Boundary.MODEL:
            return _unplaced(fault.divergence.boundary)
        found = [fault]
    guesses = [one for one in found if one.divergence.owner is Owner.NONE]
    if clean and guesses:
        # Where no figure shows a fault, what rests on more than a tool's name comes first.
        found = [one for one in found if one.divergence.owner is not Owner.NONE] + guesses
    first = found[0].divergence
    ran = any(
        one.chain is not None and one.chain.runs and one.divergence.owner is not Owner.NONE
        for one in found
    )
    divergences = tuple(one.divergence for one in found)
    if clean and len(guesses) == len(found):
        if row.required is not None and row.evidence.is_observed(row.compare):
            # The plan is met: what is only guessed to have changed is shown, and decides nothing.
            return replace(NOTHING_WRONG, divergences=divergences)
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
        owner = OWNER_OF[first.boundary]
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
    kinds = {rule.partition(":")[0] for rule in broken}
    if "outcome" in kinds:
        # Every call is right and the state is not: the tool itself did it.
        return _failed(Boundary.EXECUTOR, Owner.TOOL_OWNER)
    if "leak" in kinds:
        # The last message is the model's own, whatever else was recorded.
        return _failed(Boundary.MODEL, Owner.AGENT)
    lead = row.evidence.first_observed
    for boundary in BOUNDARIES:
        if row.evidence.is_observed(boundary) and set(
            rules_broken(row.case, row.sight, boundary)
        ) & set(broken):
            if boundary is lead and boundary is not Boundary.MODEL:
                return _unplaced(boundary)
            return _failed(boundary, OWNER_OF[boundary])
    if row.evidence.conduct.human_edits and lead is Boundary.MODEL:
        return _edited_off_plan()
    return _unplaced(lead or row.compare)


def _is_about_the_end(broken: Sequence[str]) -> bool:
    """Whether every broken rule is one about state or last message: no call broke it."""
    return bool(broken) and all(rule.startswith(("outcome:", "leak:")) for rule in broken)


def _leaves_plan(row: Row, lead: Boundary) -> bool:
    """Whether the calls of the first recorded boundary are not the plan's, as far as declared."""
    if row.required is None:
        return False
    seen = row.sight.calls(lead, row.case.agents) or []
    forms = [row.declared(one.form, adapted=True) for one in seen]
    found = due_forms(row, row.declared, adapted=True).match(forms)
    return bool(found.missing or found.extra)


def _edited_off_plan() -> Blame:
    return Blame(
        status=Status.INCONCLUSIVE,
        first=First.LABEL,
        owner=Owner.LABEL_OWNER,
        causes=(
            Cause(
                code="edited-off-plan",
                detail="the model kept the plan and a person's recorded edit left it; the "
                "reference does not know of the edit",
            ),
        ),
    )


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
