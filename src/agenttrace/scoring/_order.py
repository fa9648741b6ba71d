"""Order rules over the calls of one boundary: `ordered`, and `sequence` with its guards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from agenttrace.domain import Case, Missing, SequenceRule, SequenceSide
from agenttrace.records import canonical
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._match import value_at
from agenttrace.scoring._rules import accepts


def order_pairs(case: Case) -> Iterator[tuple[str, str]]:
    """Every pair of names that `ordered` puts one after the other.

    Names of one group have no order among each other; each waits for all of the group before.
    """
    groups = [(one,) if isinstance(one, str) else one for one in case.ordered]
    for earlier, later in pairwise(groups):
        for before in earlier:
            for after in later:
                yield before, after


def out_of_order(case: Case, names: Sequence[str]) -> list[tuple[str, int]]:
    """Broken pairs of `ordered`: the rule's stable name, and the index of the call made early."""
    place: dict[str, int] = {}
    for index, name in enumerate(names):
        place.setdefault(name, index)
    return [
        (f"ordered:{before}>{after}", place[after])
        for before, after in order_pairs(case)
        if after in place and (before not in place or place[after] < place[before])
    ]


def broken_at(rule: SequenceRule, forms: Sequence[CallForm]) -> int | None:
    """Index of the first call that fits `after` with no earlier one that fits `before`."""
    earlier: set[str] = set()
    for index, form in enumerate(forms):
        # A call may be both; it is no earlier call than itself.
        if fits_side(form, rule.after) and key_at(form, rule.same) not in earlier:
            return index
        if fits_side(form, rule.before):
            earlier.add(key_at(form, rule.same))
    return None


def fits_side(form: CallForm, side: SequenceSide) -> bool:
    """Whether a call has a side's name and is content with its guard."""
    if form.name != side.name or form.args is None:
        return False
    return all(accepts(rule, value_at(form.args, at), at) for at, rule in side.where.items())


def key_at(form: CallForm, pointers: Sequence[str]) -> str:
    """Canonical text of a call's values at pointers; one that is missing equals none that is."""
    values = [value_at(form.args or {}, pointer) for pointer in pointers]
    return canonical([[] if isinstance(value, Missing) else [value] for value in values])
