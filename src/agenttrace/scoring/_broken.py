"""Which call breaks a rule, where no call is wrong by itself.

Asked only when nothing else differs: the calls may be as planned and still stand in the wrong
order, be too many, be forbidden, or use a key twice. The first boundary at which that shows is
where it was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    Boundary,
    Case,
    Divergence,
    JsonValue,
    Kind,
    Missing,
    Owner,
)
from agenttrace.records import canonical
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._match import value_at
from agenttrace.scoring._policy import Seen, broken_at, is_forbidden, observed_calls, out_of_order
from agenttrace.scoring._row import Found, Row

Culprit: TypeAlias = "tuple[Seen, Kind, JsonValue | Missing, JsonValue | Missing]"
OWNER_OF = {
    Boundary.MODEL: Owner.AGENT,
    Boundary.ADAPTER: Owner.ADAPTER,
    Boundary.EXECUTOR: Owner.EXECUTOR,
}


def rule_fault(row: Row, broken: Sequence[str]) -> Found | None:
    """The earliest call that breaks a rule, at the first boundary where one does.

    Args:
        broken: Rules broken at the compared boundary. Order counts at every boundary; calls that
            are forbidden or too many count only where they got as far as the compared one.
    """
    case, evidence = row.case, row.evidence
    for boundary in BOUNDARIES:
        mine = observed_calls(evidence, boundary, case.agents) or []
        every = observed_calls(evidence, boundary) or []
        found = [*_misplaced(case, mine)]
        if broken:
            found += [*_forbidden(case, every), *_too_many(case, mine), *_repeated(case, mine)]
        if found:
            order = {seen.index: n for n, seen in enumerate(every)}
            return _found(row, boundary, min(found, key=lambda one: order[one[0].index]))
    return None


def _misplaced(case: Case, seen: Sequence[Seen]) -> Iterator[Culprit]:
    forms = [one.form for one in seen]
    names = [form.name for form in forms]
    for _, at in out_of_order(case, names):
        listed = list(case.ordered)
        yield seen[at], Kind.REORDERED, listed, [name for name in names if name in listed]
    for rule in case.sequence:
        index = broken_at(rule, forms)
        if index is not None:
            pair = [rule.before.name, rule.after.name]
            yield seen[index], Kind.REORDERED, pair, [name for name in names if name in pair]


def _forbidden(case: Case, seen: Sequence[Seen]) -> Iterator[Culprit]:
    for one in seen:
        if any(is_forbidden(rule, one.form) for rule in case.forbidden):
            yield one, Kind.ADDED, MISSING, one.form.shown()


def _too_many(case: Case, seen: Sequence[Seen]) -> Iterator[Culprit]:
    for name, most in case.max_calls.items():
        made = [one for one in seen if one.form.name == name]
        if len(made) > most:
            yield made[most], Kind.ADDED, MISSING, made[most].form.shown()


def _repeated(case: Case, seen: Sequence[Seen]) -> Iterator[Culprit]:
    for name, pointer in case.once_per.items():
        used: set[str] = set()
        for one in seen:
            key = _key(one.form, name, pointer)
            if key is not None and key in used:
                yield one, Kind.DUPLICATED, 1, 2
                break
            used |= {key} if key is not None else set()


def _key(form: CallForm, name: str, pointer: str) -> str | None:
    if form.name != name or form.args is None:
        return None
    value = value_at(form.args, pointer)
    return None if isinstance(value, Missing) else canonical(value)


def _found(row: Row, boundary: Boundary, culprit: Culprit) -> Found:
    seen, kind, before, after = culprit
    chain = next(
        chain
        for chain in row.chains
        if any(entry.index == seen.index for entry in chain.at(boundary))
    )
    return Found(
        row.times[id(chain)],
        chain,
        Divergence(
            boundary=boundary,
            kind=kind,
            path="",
            call=chain.key,
            before=before,
            after=after,
            owner=OWNER_OF[boundary],
        ),
    )
