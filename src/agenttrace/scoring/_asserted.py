"""What a case's own assertions state of its plan, beside the plan itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace.domain import MISSING, AssertedValue, Case, Cause, JsonValue, Missing, RequiredCall
from agenttrace.records import canonical, dump_json
from agenttrace.scoring._match import value_at
from agenttrace.scoring._rules import accepts


def asserted_otherwise(
    asserted: Sequence[AssertedValue], required: Sequence[RequiredCall] | None
) -> Iterator[Cause]:
    """Assertions that no planned call can meet; none where there is no plan."""
    for one in asserted:
        planned = [call for call in required or () if call.name == one.tool]
        if required is None or any(_states(call, one) for call in planned):
            continue
        stated = value_at(planned[0].arguments, one.path) if planned else MISSING
        yield Cause(
            code="contradiction",
            detail=f"the plan says {_shown(stated)} at {one.tool:.60}{one.path:.60}, "
            f"the case's own assertions say {_shown(one.value)}",
        )


def unmet(case: Case) -> tuple[AssertedValue, ...]:
    """Assertions of a case that some plan of its does not meet.

    Asked before values are masked: a pattern or a range says nothing of a mask.
    """
    plans: list[tuple[RequiredCall, ...] | None] = [plan.required for plan in case.plans]
    plans = plans or [case.required]
    return tuple(
        one
        for one in case.asserted
        if any(next(asserted_otherwise([one], plan), None) is not None for plan in plans)
    )


def _shown(value: JsonValue | Missing) -> str:
    return "nothing" if isinstance(value, Missing) else f"{dump_json(value):.40}"


def _states(call: RequiredCall, one: AssertedValue) -> bool:
    rule = call.rules.get(one.path)
    if rule is not None:
        return accepts(rule, one.value, one.path)
    stated = value_at(call.arguments, one.path)
    return not isinstance(stated, Missing) and canonical(stated) == canonical(one.value)
