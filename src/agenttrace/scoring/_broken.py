"""Which call breaks a rule, where no call is wrong by itself.

Asked only when nothing else differs: the calls may be as planned and still stand in the wrong
order, be too many, be forbidden, or use a key twice. The first boundary at which that shows is
where it was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace._dataclass import dataclass
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
from agenttrace.scoring._link import Links
from agenttrace.scoring._match import value_at
from agenttrace.scoring._policy import has_call_rules, is_forbidden
from agenttrace.scoring._row import Found, Row
from agenttrace.scoring._sight import Entry


@dataclass(frozen=True, slots=True)
class Culprit:
    """The call that breaks a rule, and what is said of it."""

    seen: Entry
    kind: Kind
    before: JsonValue | Missing
    after: JsonValue | Missing
    detail: str | None = None


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
    case = row.case
    if not has_call_rules(case):
        return None
    for boundary in BOUNDARIES:
        mine = row.sight.calls(boundary, case.agents) or []
        every = row.sight.calls(boundary) or []
        found = [*_misplaced(case, mine), *_strays(row, boundary, mine, broken)]
        if broken:
            found += [*_forbidden(case, every), *_too_many(case, mine), *_repeated(case, mine)]
        if found:
            order = {seen.index: n for n, seen in enumerate(every)}
            return _found(row, boundary, min(found, key=lambda one: order[one.seen.index]))
    return None


def _misplaced(case: Case, seen: Sequence[Entry]) -> Iterator[Culprit]:
    if not (case.ordered or case.sequence or case.states):
        return
    # Most cases ask for no order, and what judges one is a good part of the scorer.
    from agenttrace.scoring._order import broken_at, out_of_order  # noqa: PLC0415
    from agenttrace.scoring._unordered import broken_orders  # noqa: PLC0415

    forms = [one.form for one in seen]
    names = [form.name for form in forms]
    broken = broken_orders(case, [(one.index, one.call, one.form) for one in seen])
    for name, at in out_of_order(case, names):
        if name not in broken:
            continue
        listed = [one if isinstance(one, str) else list(one) for one in case.ordered]
        mine = {name for one in case.ordered for name in ([one] if isinstance(one, str) else one)}
        after = [name for name in names if name in mine]
        yield Culprit(seen[at], Kind.REORDERED, listed, after)
    for rule in case.sequence:
        index = broken_at(rule, forms)
        if index is not None and f"sequence:{rule.rule_id}" in broken:
            pair = [rule.before.name, rule.after.name]
            after = [name for name in names if name in pair]
            yield Culprit(seen[index], Kind.REORDERED, pair, after)


def _strays(
    row: Row, boundary: Boundary, mine: Sequence[Entry], broken: Sequence[str]
) -> Iterator[Culprit]:
    """Calls that a state machine does not allow, where it is broken at the compared boundary.

    Only calls that got that far count: one that was refused and made again would stray the second
    time, though it moved the machine no further than it should.
    """
    machines = [one for one in row.case.states if f"states:{one.rule_id}" in broken]
    if not machines:
        return
    from agenttrace.scoring._states import first_stray, may_follow  # noqa: PLC0415 - as above

    made = [one for one in mine if _got_there(row, boundary, one)]
    forms = [one.form for one in made]
    for machine in machines:
        stray = first_stray(machine, forms)
        if stray is not None:
            names = list(dict.fromkeys(step.on.name for step in machine.steps))
            allowed = ", ".join(may_follow(machine, stray.state)) or "nothing"
            yield Culprit(
                made[stray.index],
                Kind.REORDERED,
                names,
                [form.name for form in forms if form.name in names],
                f"in the state {stray.state!r:.60} of {machine.rule_id!r:.60} may follow: "
                f"{allowed:.200}",
            )


def _got_there(row: Row, boundary: Boundary, seen: Entry) -> bool:
    """Whether a call is on record at the compared boundary too, where that was observed."""
    compare = row.compare
    if boundary.position >= compare.position or not row.evidence.is_observed(compare):
        return True
    chain = _chain_of(row, boundary, seen)
    return bool(chain.runs if compare is Boundary.EXECUTOR else chain.at(compare))


def _forbidden(case: Case, seen: Sequence[Entry]) -> Iterator[Culprit]:
    for one in seen:
        if any(is_forbidden(rule, one.form) for rule in case.forbidden):
            yield Culprit(one, Kind.ADDED, MISSING, one.form.shown())


def _too_many(case: Case, seen: Sequence[Entry]) -> Iterator[Culprit]:
    for name, most in case.max_calls.items():
        made = [one for one in seen if one.form.name == name]
        if len(made) > most:
            yield Culprit(made[most], Kind.ADDED, MISSING, made[most].form.shown())


def _repeated(case: Case, seen: Sequence[Entry]) -> Iterator[Culprit]:
    for name, pointer in case.once_per.items():
        used: set[str] = set()
        for one in seen:
            key = _key(one.form, name, pointer)
            if key is not None and key in used:
                yield Culprit(one, Kind.DUPLICATED, 1, 2)
                break
            used |= {key} if key is not None else set()


def _key(form: CallForm, name: str, pointer: str) -> str | None:
    if form.name != name or form.args is None:
        return None
    value = value_at(form.args, pointer)
    return None if isinstance(value, Missing) else canonical(value)


def _found(row: Row, boundary: Boundary, culprit: Culprit) -> Found:
    seen, kind, detail = culprit.seen, culprit.kind, culprit.detail
    before, after = culprit.before, culprit.after
    chain = _chain_of(row, boundary, seen)
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
            detail=detail,
        ),
    )


def _chain_of(row: Row, boundary: Boundary, seen: Entry) -> Links:
    return next(
        chain
        for chain in row.chains
        if any(entry.index == seen.index for entry in chain.at(boundary))
    )
