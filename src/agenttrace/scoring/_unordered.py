"""Order rules where the order of some calls is not proven.

Two recorders may give one sequence number each, and then nothing says which call came first. Where
a rule is broken in one of the orders and kept in another, whether it is broken is an open question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, permutations, product

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import Boundary, Case, ToolCall
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._order import broken_at, order_pairs, out_of_order
from agenttrace.scoring._states import is_broken
from agenttrace.scoring._undecided import undecided

if TYPE_CHECKING:
    from typing import Final

MOST_ORDERS: Final = 24
Made = tuple[int, ToolCall, CallForm]
"""Place of the record at its boundary, the record, and what is compared of it."""
Numbered = tuple[int, Made]


def broken_orders(case: Case, made: Sequence[Made]) -> set[str]:
    """Stable names of the order rules that calls break; open ones are asked as questions."""
    if not (case.ordered or case.sequence or case.states):
        return set()
    groups = [list(group) for _, group in groupby(enumerate(made), key=_place)]
    found = [set(_broken(case, order)) for order in islice(_orders(groups), MOST_ORDERS + 1)]
    possible = set().union(*found)
    sure = found[0].intersection(*found[1:])
    if len(found) > MOST_ORDERS:
        # Not all orders were looked at, so whatever hangs on one is open.
        possible |= set(_hanging(case, groups))
        sure -= set(_hanging(case, groups))
    open_names = sorted(possible - sure)
    return sure | {name for name in open_names if not undecided(f"which call came first, {name}")}


def _hanging(case: Case, groups: Sequence[Sequence[Numbered]]) -> Iterator[str]:
    """Order rules that speak of two calls of which nothing says which came first."""
    tied = [Counter(form.name for _, (_, _, form) in group) for group in groups if len(group) > 1]

    def hangs(*names: str) -> bool:
        wanted = set(names)
        return any(sum(group[name] for name in wanted) > 1 for group in tied)

    yield from (f"ordered:{one}>{other}" for one, other in order_pairs(case) if hangs(one, other))
    for rule in case.sequence:
        if hangs(rule.before.name, rule.after.name):
            yield f"sequence:{rule.rule_id}"
    for machine in case.states:
        if hangs(*(step.on.name for step in machine.steps)):
            yield f"states:{machine.rule_id}"


def _broken(case: Case, forms: Sequence[CallForm]) -> Iterator[str]:
    yield from (rule for rule, _ in out_of_order(case, [form.name for form in forms]))
    for rule in case.sequence:
        if broken_at(rule, forms) is not None:
            yield f"sequence:{rule.rule_id}"
    for machine in case.states:
        if is_broken(machine, forms):
            yield f"states:{machine.rule_id}"


def _orders(groups: Sequence[Sequence[Numbered]]) -> Iterator[list[CallForm]]:
    """Every order in which the calls may have been made, the recorded one first."""
    # Drawn group by group: a product would make all ways of a large group before the first order.
    first = [_of_one_record(group) for group in groups]
    ways = [islice(permutations(group), MOST_ORDERS + 1) for group in first]
    for order in product(*ways):
        yield [form for records in order for one in records for _, _, form in one]


def _place(numbered: Numbered) -> tuple[int, int, int]:
    """Equal for calls of which nothing says which came first."""
    number, (_, call, _) = numbered
    if call.seq is None:
        return number, 0, 0
    return -1, (call.turn or 0) if call.boundary is Boundary.MODEL else 0, call.seq


def _of_one_record(group: Sequence[Numbered]) -> list[list[Made]]:
    """The repeats of one record together: they are one call each, in an order that is known."""
    return [
        [one for _, one in repeats] for _, repeats in groupby(group, key=lambda pair: pair[1][0])
    ]
