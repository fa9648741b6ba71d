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
from agenttrace.scoring._match import figures, loose_f1
from agenttrace.scoring._policy import Seen, observed_calls


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
    if case.plan_by is None:
        return None, case.required
    if case.plan_by == "router":
        value = canonical(evidence.conduct.router_value)
        for plan in case.plans:
            if canonical(plan.when) == value:
                return plan.plan_id, plan.required
        return None, None
    forms = _forms_at(case, evidence, at)

    def closeness(plan: Plan) -> tuple[bool, float]:
        if forms is None:
            return False, 0.0
        counts = figures(plan.required, forms, case.ignore_args).counts
        return counts.exact, counts.f1 or 0.0

    best = max(case.plans, key=closeness, default=None)
    return (None, case.required) if best is None else (best.plan_id, best.required)


def _forms_at(case: Case, evidence: Evidence, at: Boundary) -> list[CallForm] | None:
    seen = observed_calls(evidence, at, case.agents)
    if seen is not None:
        return [one.form for one in seen]
    declared = Declared(case.contract)
    for boundary in BOUNDARIES[: at.position]:
        seen = observed_calls(evidence, boundary, case.agents)
        if seen is not None:
            return [declared(one.form) for one in seen]
    return None


def all_figures(
    case: Case, evidence: Evidence, required: tuple[RequiredCall, ...] | None
) -> dict[Boundary, BoundaryFigures | None]:
    """Figures at each boundary; None where it was not observed, or there is no plan."""
    made: dict[Boundary, BoundaryFigures | None] = {}
    for boundary in BOUNDARIES:
        seen = observed_calls(evidence, boundary, case.agents)
        if seen is None or required is None:
            made[boundary] = None
        else:
            made[boundary] = figures(required, [s.form for s in seen], case.ignore_args)
    return made


def name_score(
    contract: Contract, required: Sequence[RequiredCall] | None, seen: Sequence[Seen] | None
) -> int | None:
    """1 when the sets of canonical tool names are equal, else 0: Galtea's Tool Correctness."""
    if seen is None or required is None:
        return None
    wanted = {tool_name(call.name, contract) for call in required}
    return int(wanted == {tool_name(one.form.name, contract) for one in seen})


def ragas_score(
    case: Case, required: Sequence[RequiredCall] | None, seen: Sequence[Seen] | None
) -> float | None:
    """The Ragas score, where the original could have been asked."""
    if seen is None or required is None or case.plans:
        return None
    return loose_f1(required, [one.form for one in seen])
