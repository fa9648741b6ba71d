"""Whether the plan is met although the figures, which compare values as written, say it is not.

A contract declares two things. Some parts say that values are equal: case that does not count, a
normalizer, a schema that calls `10` and `10.0` one number. A plan that is met under these is met.
Others say what happens to a call on its way: a rename, a type. A plan that is met at the executor
only under those is written in the model's form, and has to be written in the tool's.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.domain import Boundary, BoundaryFigures, Cause
from agenttrace.scoring._declared import Declared
from agenttrace.scoring._due import due_forms
from agenttrace.scoring._row import Row


def is_met(row: Row, figures: BoundaryFigures | None) -> bool:
    """Whether the calls at the compared boundary are the plan's, or there is nothing to ask."""
    return figures is None or figures.counts.exact or is_met_as_declared(row)


def met_findings(row: Row, figures: BoundaryFigures | None) -> Iterator[Cause]:
    """What a reader needs who sees figures below 1 beside a plan that is met."""
    if figures is not None and not figures.counts.exact and is_met_as_declared(row):
        yield Cause(
            code="equal-as-declared",
            detail=f"the calls at the {row.compare} are the plan's by what the contract and the "
            "tools' types call equal; the figures compare values as they are written",
        )


def is_met_as_declared(row: Row) -> bool:
    """Whether they are once what the contract calls equal is equal."""
    alike = row.declared.alike()
    return _fits(row, row.compare, seen_by=alike, due_by=alike)


def is_of_earlier_boundary(row: Row) -> bool:
    """Whether the plan states the model's form of calls that were seen after the adapter.

    Units are left out: a number shows no sign of the unit it is in.
    """
    if row.compare is Boundary.MODEL:
        return False
    on_the_way = row.declared.without("unit")
    return _fits(row, row.compare, seen_by=row.declared.alike(), due_by=on_the_way)


def model_keeps_plan(row: Row) -> bool:
    """Whether the model's calls are the plan's, as far as the contract lets them be others."""
    at_model = row.compare is Boundary.MODEL
    seen_by = row.declared.alike() if at_model else row.declared
    return _fits(row, Boundary.MODEL, seen_by=seen_by, due_by=seen_by, is_adapted=not at_model)


def _fits(
    row: Row, at: Boundary, *, seen_by: Declared, due_by: Declared, is_adapted: bool = False
) -> bool:
    """Whether the calls of a boundary are the plan's, each side after what is declared of it.

    Args:
        is_adapted: The plan states the form that calls have after the adapter.
    """
    if seen_by.is_plain and due_by.is_plain and not row.sight.thorough:
        figures = row.figures.get(at)  # they compare the same calls as they are written
        return figures is not None and figures.counts.exact
    seen = row.sight.calls(at, row.case.agents)
    if row.required is None or seen is None or len(seen) != len(row.required):
        return False
    forms = [seen_by(one.form, adapted=at is not Boundary.MODEL) for one in seen]
    found = due_forms(row, due_by, adapted=is_adapted).match(forms, thorough=row.sight.thorough)
    return not found.missing and not found.extra
