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
from agenttrace.scoring._match import match
from agenttrace.scoring._plan import due_form
from agenttrace.scoring._policy import observed_calls
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
    return _fits(row, row.declared.alike())


def is_of_earlier_boundary(row: Row) -> bool:
    """Whether the plan states the model's form of calls that were seen after the adapter.

    Units are left out: a number shows no sign of the unit it is in.
    """
    if row.compare is Boundary.MODEL:
        return False
    return _fits(row, row.declared.without("unit"))


def _fits(row: Row, declared: Declared) -> bool:
    seen = observed_calls(row.evidence, row.compare, row.case.agents)
    if row.required is None or seen is None or len(seen) != len(row.required):
        return False
    forms = [declared(one.form, adapted=True) for one in seen]
    due = [due_form(call, declared, adapted=False) for call in row.required]
    found = match(due, forms, row.case.ignore_args)
    return not found.missing and not found.extra
