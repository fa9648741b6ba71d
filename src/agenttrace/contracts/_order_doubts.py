"""Order rules that no run can meet: circles among them, and states that nothing leads to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agenttrace.contracts._form_faults import FormFault
from agenttrace.domain import ArgumentRule, Case, SequenceRule, StateMachine
from agenttrace.records import Loc, canonical, to_plain

_MOST_LOOKED_AT: Final = 200_000


@dataclass(frozen=True, kw_only=True)
class _Order:
    """A call that fits `after` needs an earlier one that fits `before`."""

    loc: Loc
    before: str
    after: str
    before_where: Mapping[str, str]
    after_where: Mapping[str, str]


def order_doubts(case: Case) -> Iterator[FormFault]:
    """Everything about a case's order rules that its owner should look at."""
    for place, machine in enumerate(case.states):
        yield from _of_states(("states", place), machine)
    yield from _circles(case)


def _of_states(loc: Loc, machine: StateMachine) -> Iterator[FormFault]:
    reached = _states_from(machine, without=None)
    open_names: set[tuple[str, str]] = set()
    for index, step in enumerate(machine.steps):
        at = (*loc, "steps", index)
        if step.source not in reached:
            yield FormFault(
                loc=at,
                found=f"leaves the state {step.source!r:.60}, which the start never leads to",
                instead="add a step that leads there, or take this one out",
            )
        elif (step.source, step.on.name) in open_names:
            yield FormFault(
                loc=at,
                found=f"never counts: an earlier step takes every call of {step.on.name!r:.60} in "
                f"the state {step.source!r:.60}",
                instead="put the step without where last",
            )
        if not step.on.where:
            open_names.add((step.source, step.on.name))


def _states_from(machine: StateMachine, *, without: str | None) -> set[str]:
    """States that calls can lead to from the start; without those of one name."""
    targets: dict[str, list[str]] = defaultdict(list)
    for step in machine.steps:
        if step.on.name != without:
            targets[step.source].append(step.target)
    found = {machine.start}
    todo = [machine.start]
    while todo:
        for state in targets[todo.pop()]:
            if state not in found:
                found.add(state)
                todo.append(state)
    return found


def _orders_of_states(place: int, machine: StateMachine) -> Iterator[_Order]:
    """Which calls need an earlier one of another name, whatever way the machine goes."""
    names = list(dict.fromkeys(step.on.name for step in machine.steps))
    if len(names) * len(machine.steps) > _MOST_LOOKED_AT:
        return
    reached = _states_from(machine, without=None)
    sources: dict[str, set[str]] = defaultdict(set)
    free = {step.on.name for step in machine.steps if not step.on.where}
    for step in machine.steps:
        if step.source in reached:
            sources[step.on.name].add(step.source)
    for before in names:
        left = _states_from(machine, without=before)
        for after in names:
            waits = bool(sources[after]) and sources[after].isdisjoint(left)
            if waits and after != before and after in free:
                yield _Order(
                    loc=("states", place),
                    before=before,
                    after=after,
                    before_where={},
                    after_where={},
                )


def _orders_of_names(case: Case) -> Iterator[_Order]:
    groups = [[one] if isinstance(one, str) else list(one) for one in case.ordered]
    for place, (earlier, later) in enumerate(pairwise(groups), start=1):
        for before in earlier:
            for index, after in enumerate(later):
                inner = () if isinstance(case.ordered[place], str) else (index,)
                yield _Order(
                    loc=("ordered", place, *inner),
                    before=before,
                    after=after,
                    before_where={},
                    after_where={},
                )


def _circles(case: Case) -> Iterator[FormFault]:
    """Order rules that wait for each other, so that no call of theirs may ever be made."""
    orders = list(_orders_of_names(case))
    orders += [_order(place, rule) for place, rule in enumerate(case.sequence)]
    for place, machine in enumerate(case.states):
        orders += _orders_of_states(place, machine)
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
