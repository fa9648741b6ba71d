"""Rules at places where no call that fits the plan has a value, and calls that a plan leaves out.

All that stands beside the rules of a required call has to be in its `args`, the containers of the
values that rules are about among it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agenttrace.contracts._form_faults import FormFault
from agenttrace.domain import MISSING, ArgumentRule, Case, JsonValue, RequiredCall, RuleKind
from agenttrace.records import Loc, at_pointer, split_pointer

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_NO_COUNT: Final = 10**18


def place_doubts(case: Case, loc: Loc, required: Sequence[RequiredCall]) -> Iterator[FormFault]:
    """What of one plan no run can meet because of where its rules, or its calls, are."""
    for index, call in enumerate(required):
        ignored = case.ignore_args.get(call.name, ())
        beside = Counter(_container(pointer) for pointer in call.rules)
        for pointer, rule in call.rules.items():
            at = (*loc, index, "rules", pointer)
            if split_pointer(pointer)[0] in ignored:
                yield from _of_ignored(at, call, rule)
            else:
                room = beside[_container(pointer)]
                yield from _without_place(at, call.arguments, pointer, room)


def call_doubts(case: Case, loc: Loc, required: Sequence[RequiredCall]) -> Iterator[FormFault]:
    """Calls that another field of the case asks for, and the plan leaves no place to."""
    due = Counter(call.name for call in required)
    for tool, least in case.min_calls.items():
        if due[tool] < least < _NO_COUNT:
            yield FormFault(
                loc=loc,
                found=f"requires {due[tool]} calls of {tool!r:.60}, and min_calls asks for {least}",
                instead="require the others too, or lower min_calls",
            )

    missing: str | None = None
    for group in case.ordered:
        names = [group] if isinstance(group, str) else group
        late = next((name for name in names if due[name]), None)
        if missing is not None and late is not None:
            yield FormFault(
                loc=loc,
                found=f"requires a call of {late!r:.60} and none of {missing!r:.60}, which ordered "
                "wants before it",
                instead="require the one before it too, or correct ordered",
            )
            return
        missing = missing or next((name for name in names if not due[name]), None)


def order_place_doubts(case: Case) -> Iterator[FormFault]:
    """Names in `ordered` that others wait for, and that may never be called."""
    never = {one.name for one in case.forbidden if one.arguments is None}
    for place, group in enumerate(case.ordered[:-1]):
        names = [group] if isinstance(group, str) else group
        for index, name in enumerate(names):
            if name in never:
                yield FormFault(
                    loc=("ordered", place) if isinstance(group, str) else ("ordered", place, index),
                    found=f"has {name!r:.60}, which forbidden allows no call of, so that no later "
                    "name may ever be called",
                    instead="take it out of the one or the other",
                )


def _of_ignored(at: Loc, call: RequiredCall, rule: ArgumentRule) -> Iterator[FormFault]:
    if rule.optional or rule.kind in (RuleKind.IGNORE, RuleKind.DEFAULT):
        return  # content without a value
    yield FormFault(
        loc=at,
        found=f"asks for a value that ignore_args leaves out of every call of {call.name!r:.60}",
        instead="take the argument out of ignore_args, or the rule out here",
    )


def _container(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def _without_place(
    at: Loc, args: Mapping[str, JsonValue], pointer: str, room: int
) -> Iterator[FormFault]:
    """A rule whose container is not in args, or has no place of that name.

    Args:
        room: How many items rules add to that container.
    """
    outer, last = _container(pointer), split_pointer(pointer)[-1]
    held = at_pointer(args, outer, MISSING) if outer else args
    if isinstance(held, Mapping):
        return
    if isinstance(held, list | tuple):
        if _INDEX.fullmatch(last) and int(last) < len(held) + room:
            return
        found = f"is about an item that a list of {len(held)} in args cannot have there"
        instead = "write the list's other items in args, or the place that the item has"
    elif held is MISSING:
        found = f"is about a value inside {outer:.60}, which args do not have"
        instead = f"add {outer:.60} to args, as an empty object or list where rules say the rest"
    else:
        found = f"is about a value inside {outer:.60}, which is no object and no list in args"
        instead = "correct the pointer, or write the object there"
    yield FormFault(loc=at, found=found, instead=instead)
