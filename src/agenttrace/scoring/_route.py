"""Whether the router's value, which picks the plan of a case, is known at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace.domain import Case, Cause, Evidence, RequiredCall
from agenttrace.scoring._opaque import opaque_keys


def route_causes(
    case: Case, evidence: Evidence, required: Sequence[RequiredCall] | None
) -> Iterator[Cause]:
    """Why no plan could be picked, where that is the evidence's fault and not the case's."""
    if case.plan_by != "router" or required is not None:
        return
    value = evidence.conduct.router_value
    if value is None:
        yield Cause(
            code="route-not-recorded",
            detail="the case picks its plan by the router's value, and none was recorded",
        )
    elif any(opaque_keys(plan.when) != opaque_keys(value) for plan in case.plans):
        yield Cause(
            code="other-key",
            detail="the router's value is masked or a digest, and the values of the plans are not, "
            "or with another key; which plan it picks is not known",
        )
