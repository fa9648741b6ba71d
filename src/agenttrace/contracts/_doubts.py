"""What a case asks that no run can do, though each part of it is well formed.

Such a case loads, and its rows come out inconclusive or failed whatever the agent does; so it is
worth a warning before the first run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from agenttrace.contracts._form_faults import FormFault
from agenttrace.contracts._order_doubts import order_doubts
from agenttrace.contracts._place_doubts import call_doubts, order_place_doubts, place_doubts
from agenttrace.contracts._rule_doubts import rule_doubts
from agenttrace.contracts._tool_doubts import tool_doubts
from agenttrace.domain import Case, RequiredCall
from agenttrace.records import Loc, canonical

Forbidden: TypeAlias = dict[str, dict[str | None, list[int]]]
"""Tool, and arguments as canonical text (None: any), to places in `forbidden`."""


def doubts(case: Case, *, strict: bool = False) -> Iterator[FormFault]:
    """Everything about a case that its owner should look at.

    Args:
        strict: Also name required calls that do not say why.
    """
    forbidden = _forbidden(case)
    for loc, required in _plans(case):
        yield from _required_and_forbidden(loc, required, forbidden)
        yield from _more_than_allowed(case, loc, required)
        if strict:
            for index, call in enumerate(required):
                if not call.why:
                    yield FormFault(
                        loc=(*loc, index),
                        found=f"requires a call of {call.name!r:.60} and does not say why",
                        instead="add why, for whoever has to decide when it fails",
                    )
        yield from place_doubts(case, loc, required)
        if case.required is not None and (loc != ("required",) or not case.plans):
            yield from call_doubts(case, loc, required)
    yield from order_place_doubts(case)
    yield from _said_twice(case)
    plans = list(_plans(case))
    yield from tool_doubts(case, plans)
    yield from rule_doubts(case, plans)
    yield from order_doubts(case)


def _plans(case: Case) -> Iterator[tuple[Loc, Sequence[RequiredCall]]]:
    yield ("required",), case.required or ()
    for index, plan in enumerate(case.plans):
        yield ("plans", index, "required"), plan.required


def _required_and_forbidden(
    loc: Loc, required: Sequence[RequiredCall], forbidden: Forbidden
) -> Iterator[FormFault]:
    for place, call in enumerate(required):
        of_tool = forbidden.get(call.name)
        if of_tool is None:
            continue
        found = of_tool.get(None, [])
        if not call.rules:
            found = [*found, *of_tool.get(canonical(call.arguments), [])]
        for index in found:
            yield FormFault(
                loc=(*loc, place),
                found=f"requires a call of {call.name!r:.60} that forbidden[{index}] forbids",
                instead="take out the one that is wrong, or give the forbidden call args",
            )


def _forbidden(case: Case) -> Forbidden:
    found: Forbidden = {}
    for index, rule in enumerate(case.forbidden):
        text = None if rule.arguments is None else canonical(rule.arguments)
        found.setdefault(rule.name, {}).setdefault(text, []).append(index)
    return found


def _said_twice(case: Case) -> Iterator[FormFault]:
    """Entries of `forbidden` and `leak` that an earlier one says already."""
    forbidden = [
        (one.name, None if one.arguments is None else canonical(one.arguments))
        for one in case.forbidden
    ]
    leaks = [(one.tool, one.path) for one in case.leak]
    for field, said in (("forbidden", forbidden), ("leak", leaks)):
        first: dict[tuple[str, str | None], int] = {}
        for index, one in enumerate(said):
            if first.setdefault(one, index) != index:
                yield FormFault(
                    loc=(field, index),
                    found=f"says what {field}[{first[one]}] says already",
                    instead="keep one of them, or correct the one that was meant otherwise",
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
