"""What a case asks that no run can do, though each part of it is well formed.

Such a case loads, and its rows come out inconclusive or failed whatever the agent does; so it is
worth a warning before the first run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agenttrace.contracts._form_faults import FormFault
from agenttrace.contracts._order_doubts import order_doubts
from agenttrace.contracts._rule_doubts import rule_doubts
from agenttrace.contracts._tool_doubts import tool_doubts
from agenttrace.domain import Case, RequiredCall
from agenttrace.records import Loc, canonical


def doubts(case: Case, *, strict: bool = False) -> Iterator[FormFault]:
    """Everything about a case that its owner should look at.

    Args:
        strict: Also name required calls that do not say why.
    """
    for loc, required in _plans(case):
        yield from _required_and_forbidden(case, loc, required)
        yield from _more_than_allowed(case, loc, required)
        if strict:
            for index, call in enumerate(required):
                if not call.why:
                    yield FormFault(
                        loc=(*loc, index),
                        found=f"requires a call of {call.name!r:.60} and does not say why",
                        instead="add why, for whoever has to decide when it fails",
                    )
    plans = list(_plans(case))
    yield from tool_doubts(case, plans)
    yield from rule_doubts(case, plans)
    yield from order_doubts(case)


def _plans(case: Case) -> Iterator[tuple[Loc, Sequence[RequiredCall]]]:
    yield ("required",), case.required or ()
    for index, plan in enumerate(case.plans):
        yield ("plans", index, "required"), plan.required


def _required_and_forbidden(
    case: Case, loc: Loc, required: Sequence[RequiredCall]
) -> Iterator[FormFault]:
    for index, rule in enumerate(case.forbidden):
        for place, call in enumerate(required):
            if call.name == rule.name and (
                rule.arguments is None
                or (not call.rules and canonical(call.arguments) == canonical(rule.arguments))
            ):
                way = f"forbidden[{index}]"
                yield FormFault(
                    loc=(*loc, place),
                    found=f"requires a call of {call.name!r:.60} that {way} forbids",
                    instead="take out the one that is wrong, or give the forbidden call args",
                )


def _more_than_allowed(
    case: Case, loc: Loc, required: Sequence[RequiredCall]
) -> Iterator[FormFault]:
    due = Counter(call.name for call in required)
    for name, most in case.max_calls.items():
        if due[name] > most:
            yield FormFault(
                loc=loc,
                found=f"requires {due[name]} calls of {name!r:.60}, and max_calls allows {most}",
                instead="lower the one or raise the other",
            )
