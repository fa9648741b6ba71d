"""The plan a row is judged by, its figures at every boundary, and the two compatibility scores."""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace._dataclass import replace
from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    BoundaryFigures,
    Case,
    Contract,
    Evidence,
    Plan,
    RequiredCall,
)
from agenttrace.records import canonical
from agenttrace.scoring._declared import Declared, tool_name
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._match import Due, figures, figures_of, loose_f1_of
from agenttrace.scoring._sight import Entry, Sight


def never_exact(made: BoundaryFigures | None) -> BoundaryFigures | None:
    """Figures of a run that nobody recorded: no calls for a plan of none is no plan met."""
    return None if made is None else replace(made, counts=replace(made.counts, exact=False))


def choose_plan(
    case: Case, evidence: Evidence, at: Boundary
) -> tuple[str | None, tuple[RequiredCall, ...] | None]:
    """The plan the row is judged by: its id, and its calls; (None, None) where there is none.

    `router` takes the plan written for the router's value; `any_of` the one with the highest F1
    at the compared boundary, the first of equals. A plan of no calls is met by a run of none.
    Where that boundary was not observed, the first one before it that was is asked, after the
    declared changes: an agent that kept one plan is not held to another.
    """
    return plan_chosen(case, Sight(evidence), at)


def plan_chosen(
    case: Case, sight: Sight, at: Boundary
) -> tuple[str | None, tuple[RequiredCall, ...] | None]:
    """`choose_plan`, of records that were looked at already."""
    if case.plan_by is None:
        return None, case.required
    if case.plan_by == "router":
        value = canonical(sight.evidence.conduct.router_value)
        for plan in case.plans:
            if canonical(plan.when) == value:
                return plan.plan_id, plan.required
        return None, None
    forms = _forms_at(case, sight, at)

    def closeness(plan: Plan) -> tuple[bool, float]:
        if forms is None:
            return False, 0.0
        counts = figures(plan.required, forms, case.ignore_args).counts
        return counts.exact, counts.f1 or 0.0

    best = max(case.plans, key=closeness, default=None)
    return (None, case.required) if best is None else (best.plan_id, best.required)


def _forms_at(case: Case, sight: Sight, at: Boundary) -> list[CallForm] | None:
    seen = sight.calls(at, case.agents)
    if seen is not None:
        return [one.form for one in seen]
    declared = Declared(case.contract)
    for boundary in BOUNDARIES[: at.position]:
        seen = sight.calls(boundary, case.agents)
        if seen is not None:
            return [declared(one.form) for one in seen]
    return None


def all_figures(
    case: Case, sight: Sight, due: Due | None
) -> dict[Boundary, BoundaryFigures | None]:
    """Figures at each boundary; None where it was not observed, or there is no plan.

    Where one boundary met the whole plan, so did every other with the same calls in the same order.
    """
    made: dict[Boundary, BoundaryFigures | None] = {}
    whole: BoundaryFigures | None = None
    met: list[str | None] = []
    for boundary in BOUNDARIES:
        seen = sight.calls(boundary, case.agents)
        if seen is None or due is None:
            made[boundary] = None
            continue
        forms = [one.form for one in seen]
        keys = due.keys_of(forms)
        if whole is not None and keys == met:
            made[boundary] = whole
            continue
        found = due.match(forms, keys, thorough=sight.thorough)
        made[boundary] = figures_of(due.calls, forms, found)
        if not (found.missing or found.extra or sight.thorough):
            whole, met = made[boundary], keys
    return made


def name_score(
    contract: Contract, required: Sequence[RequiredCall] | None, seen: Sequence[Entry] | None
) -> int | None:
    """1 when the sets of canonical tool names are equal, else 0: Galtea's Tool Correctness."""
    if seen is None or required is None:
        return None
    wanted = {call.name for call in required}
    given = {one.form.name for one in seen}
    if wanted == given:
        return 1
    names = [{tool_name(name, contract) for name in side} for side in (wanted, given)]
    return int(names[0] == names[1])


def ragas_score(
    case: Case,
    due: Due | None,
    seen: Sequence[Entry] | None,
    at_compared: BoundaryFigures | None,
    *,
    thorough: bool = False,
) -> float | None:
    """The Ragas score, where the original could have been asked.

    Calls that are equal as typed JSON are equal to it too, so a plan that is met without rules and
    without arguments left out is met for it.
    """
    if seen is None or due is None or case.plans or due.ruled:
        return None
    is_met = at_compared is not None and at_compared.counts.exact
    if is_met and not case.ignore_args and not thorough:
        return 1.0 if due.calls else 0.0
    return loose_f1_of(due.forms, [one.form for one in seen])
