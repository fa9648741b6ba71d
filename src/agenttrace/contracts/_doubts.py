"""What a case asks that no run can do, though each part of it is well formed.

Such a case loads, and its rows come out inconclusive or failed whatever the agent does; so it is
worth a warning before the first run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agenttrace.contracts._form_faults import FormFault
from agenttrace.domain import ArgumentRule, Boundary, Case, RequiredCall, SequenceRule
from agenttrace.records import Loc, canonical, split_pointer, to_plain


@dataclass(frozen=True, kw_only=True)
class _Order:
    """A call that fits `after` needs an earlier one that fits `before`."""

    loc: Loc
    before: str
    after: str
    before_where: Mapping[str, str]
    after_where: Mapping[str, str]


def doubts(case: Case, *, strict: bool = False) -> Iterator[FormFault]:
    """Everything about a case that its owner should look at.

    Args:
        strict: Also name required calls that do not say why.
    """
    for loc, required in _plans(case):
        yield from _required_and_forbidden(case, loc, required)
        yield from _more_than_allowed(case, loc, required)
        yield from _not_among_parameters(case, loc, required)
        if strict:
            for index, call in enumerate(required):
                if not call.why:
                    yield FormFault(
                        loc=(*loc, index),
                        found=f"requires a call of {call.name!r:.60} and does not say why",
                        instead="add why, for whoever has to decide when it fails",
                    )
    yield from _circles(case)


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


def _not_among_parameters(
    case: Case, loc: Loc, required: Sequence[RequiredCall]
) -> Iterator[FormFault]:
    """Arguments that the tool does not have, by the list of all its parameters."""
    if case.compare is Boundary.MODEL:
        return  # there the model's own names count
    for index, call in enumerate(required):
        parameters = case.contract.tool(call.name).drop_unknown
        if not parameters:
            continue
        given: list[tuple[Loc, str]] = [(("args", name), name) for name in call.arguments]
        given += [(("rules", at), split_pointer(at)[0]) for at in call.rules]
        for inner, name in given:
            if name not in parameters:
                yield FormFault(
                    loc=(*loc, index, *inner),
                    found=f"is about {name!r:.60}, which is none of the parameters of "
                    f"{call.name!r:.60} that drop_unknown lists",
                    instead=f"write one of {', '.join(parameters):.200}, or list it there",
                    is_about_key=True,
                )


def _circles(case: Case) -> Iterator[FormFault]:
    """Order rules that wait for each other, so that no call of theirs may ever be made."""
    orders = [
        _Order(loc=("ordered", place), before=one, after=other, before_where={}, after_where={})
        for place, (one, other) in enumerate(pairwise(case.ordered), start=1)
    ]
    orders += [_order(place, rule) for place, rule in enumerate(case.sequence)]
    orders = list({_key(one): one for one in reversed(orders)}.values())[::-1]
    by_after: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(orders):
        by_after[one.after].append(number)
    waits = [
        [
            n
            for n in by_after[one.before]
            if orders[n].after_where.items() <= one.before_where.items()
        ]
        for one in orders
    ]
    for circle in _circles_of(waits):
        words = [f"{orders[n].after} after {orders[n].before}" for n in circle]
        yield FormFault(
            loc=orders[circle[-1]].loc,
            found=f"closes a circle of order rules ({', '.join(words):.200}), so that none of "
            "these calls may ever be made",
            instead="take one of them out, or tell the calls apart with where",
        )


def _key(one: _Order) -> str:
    return canonical([one.before, dict(one.before_where), one.after, dict(one.after_where)])


def _order(place: int, rule: SequenceRule) -> _Order:
    return _Order(
        loc=("sequence", place),
        before=rule.before.name,
        after=rule.after.name,
        before_where=_texts(rule.before.where),
        after_where=_texts(rule.after.where),
    )


def _texts(where: Mapping[str, ArgumentRule]) -> dict[str, str]:
    return {at: canonical(to_plain(rule)) for at, rule in where.items()}


def _circles_of(waits: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Sets of rules that all wait for each other, one that waits for itself included."""
    waited: list[list[int]] = [[] for _ in waits]
    for number, others in enumerate(waits):
        for other in others:
            waited[other].append(number)
    left = _left_in_circles(waits, waited)
    while left:
        start = min(left)
        circle = _reached(waits, start, left) & _reached(waited, start, left)
        left -= {start, *circle}
        if circle:
            yield sorted(circle)


def _left_in_circles(waits: Sequence[Sequence[int]], waited: Sequence[Sequence[int]]) -> set[int]:
    """What is left when rules that wait for nothing are taken out, again and again."""
    open_ends = [len(others) for others in waits]
    todo = [number for number, count in enumerate(open_ends) if not count]
    left = set(range(len(waits)))
    while todo:
        number = todo.pop()
        left.discard(number)
        for other in waited[number]:
            open_ends[other] -= 1
            if not open_ends[other]:
                todo.append(other)
    return left


def _reached(edges: Sequence[Sequence[int]], start: int, among: set[int]) -> set[int]:
    found: set[int] = set()
    todo = list(edges[start])
    while todo:
        node = todo.pop()
        if node in among and node not in found:
            found.add(node)
            todo.extend(edges[node])
    return found
