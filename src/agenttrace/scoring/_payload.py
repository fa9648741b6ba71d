"""Undeclared changes of arguments between two neighbouring records of one chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    Boundary,
    Execution,
    Kind,
    Missing,
    Owner,
)
from agenttrace.records import canonical, escape, split_pointer
from agenttrace.scoring._agree import is_handed_on_equal
from agenttrace.scoring._changes import Change, changes, recorded
from agenttrace.scoring._forms import CallForm, handed_on, is_silent, pick
from agenttrace.scoring._link import Entry, Links
from agenttrace.scoring._opaque import digest_of, is_opaque, is_respelled
from agenttrace.scoring._row import Row
from agenttrace.scoring._undecided import undecided


def unasked_runs(row: Row, chain: Links, most: int) -> list[Entry]:
    """Runs inside the dispatch of a call on a payload that nobody handed on.

    The run that is nearest to what was handed on is the call's own, changed or not, and so is each
    repeat of it.

    Args:
        most: How many runs there are beyond those that were handed on.
    """
    if most <= 0:
        return []
    uppers = [e for e in chain.at(Boundary.ADAPTER) if handed_on(e.call)]
    uppers = uppers or [e for e in chain.at(Boundary.MODEL)[:1] if e.form.args is not None]
    runs = [e for e in chain.at(Boundary.EXECUTOR) if _was_entered(e) and _took_arguments(e)]
    if not uppers or len(runs) < 2:
        return []
    away = {e.call.ref: min(_distance(row, upper, e) for upper in uppers) for e in runs}
    own = min(runs, key=lambda entry: away[entry.call.ref])
    others = [e for e in runs if any(away[e.call.ref]) and e.declared.key != own.declared.key]
    farthest = sorted(others, key=lambda entry: away[entry.call.ref], reverse=True)[:most]
    return [entry for entry in others if entry in farthest]


def _was_entered(entry: Entry) -> bool:
    return isinstance(entry.call, Execution) and entry.call.count > 0


def _distance(row: Row, upper: Entry, lower: Entry) -> tuple[bool, int]:
    """Whether a run is of another tool, and in how many places its arguments differ."""
    is_other = upper.declared.name != lower.declared.name
    return is_other, sum(1 for _ in _between(row, upper, lower))


def compare_payloads(row: Row, chain: Links, unasked: Sequence[Entry] = ()) -> None:
    """Note each undeclared argument change of a chain, once a boundary and path.

    Args:
        unasked: Runs that are none of the call's own.
    """
    said: set[tuple[Boundary, Kind, str]] = set()
    found = list(_all_changes(row, chain, unasked))
    for boundary, owner, change in sorted(found, key=lambda one: (one[0], one[2].kind)):
        if (boundary, change.kind, change.path) in said:
            continue
        said.add((boundary, change.kind, change.path))
        row.note(
            chain,
            boundary,
            change.kind,
            owner,
            path=change.path,
            before=change.before,
            after=change.after,
            detail=respelling(change),
        )


def respelling(change: Change) -> str | None:
    """What two digests still tell of a change whose kind they do not show."""
    if change.kind is Kind.VALUE_CHANGED and is_respelled(change.before, change.after):
        return "the values differ in spelling alone: in case, blanks, Unicode form or zone"
    return None


def _all_changes(
    row: Row, chain: Links, unasked: Sequence[Entry]
) -> Iterator[tuple[Boundary, Owner, Change]]:
    # An adapter whose arguments nobody recorded is passed over; `doubts` asks what it leaves open.
    present = [b for b in BOUNDARIES if not all(is_silent(e.call) for e in chain.at(b))]
    for upper_boundary, lower_boundary in pairwise(present):
        upper = _source(chain, upper_boundary)
        if upper is None or upper.form.args is None:
            continue
        for lower in chain.at(lower_boundary):
            if lower in unasked or not _took_arguments(lower):
                continue
            for change in _between(row, upper, lower):
                yield lower_boundary, _owner(row, lower_boundary, change), change
    if present[:2] == [Boundary.MODEL, Boundary.ADAPTER]:
        for change in _envelope_losses(row, chain):
            yield Boundary.ADAPTER, Owner.ADAPTER, change
        for change in _not_made(row, chain):
            yield Boundary.ADAPTER, Owner.ADAPTER, change


def _source(chain: Links, boundary: Boundary) -> Entry | None:
    here = chain.at(boundary)
    if boundary is Boundary.ADAPTER:
        return next((entry for entry in here if handed_on(entry.call)), None)
    return here[0] if here else None


def _took_arguments(entry: Entry) -> bool:
    """Whether a record shows arguments that were really taken over."""
    call = entry.call
    if call.arguments is None:
        return False
    if call.error is None:
        return True
    return isinstance(call, Execution) and call.count > 0


def _between(row: Row, upper: Entry, lower: Entry) -> Iterator[Change]:
    before, after = upper.declared.args, lower.declared.args
    if before is None or after is None:
        return
    if not row.sight.thorough and is_handed_on_equal(upper, lower):
        return
    if upper.call.digest is not None and upper.call.digest == lower.call.digest:
        # What was masked in one of them alone is none the less the same value in both.
        after = row.declared(CallForm(lower.form.name, upper.form.args), adapted=True).args or {}
    if upper.declared.name != lower.declared.name:
        # Another tool's contract says nothing about the arguments that were meant for this one.
        same_tool = CallForm(upper.declared.name, lower.form.args)
        after = row.declared(same_tool, adapted=True).args or {}
    skip = row.case.ignore_args.get(lower.declared.name, frozenset())
    source, taken = row.declared.opened(upper.form), row.declared.opened(lower.form)
    for change in changes(pick(before, skip), pick(after, skip)):
        if not _was_edited(row, upper, lower, change):
            yield recorded(change, source.args, taken.args)


def _was_edited(row: Row, upper: Entry, lower: Entry, change: Change) -> bool:
    """A person's edit on record is a declared change of that one call, wherever it shows."""
    if isinstance(change.after, Missing):
        return False
    ids = {canonical(upper.call.call_id), canonical(lower.call.call_id)}
    return any(
        edit.path == change.path and canonical(edit.after) == canonical(change.after)
        for call_id in ids
        for edit in row.edits.get(call_id, ())
    )


def _owner(row: Row, boundary: Boundary, change: Change) -> Owner:
    if boundary is Boundary.ADAPTER:
        return Owner.ADAPTER
    if change.kind is Kind.MASKED and row.evidence.integrity.masked_by == "recorder":
        # A recorder that wrote its mask back into the live call changed what ran.
        return Owner.INSTRUMENTATION
    return Owner.EXECUTOR


def _envelope_losses(row: Row, chain: Links) -> Iterator[Change]:
    """Keys beside an envelope are no part of the call in it; losing them is a change."""
    first = chain.at(Boundary.MODEL)[0]
    strays = row.declared.envelope_strays(first.form)
    taken = chain.at(Boundary.ADAPTER)[0].call.arguments or {}
    for name, value in strays.items():
        if name not in taken:
            yield Change(kind=Kind.DROPPED, path=f"/{escape(name)}", before=value, after=MISSING)


def _not_made(row: Row, chain: Links) -> Iterator[Change]:
    """Changes that are declared and due and were not made: the tool got the model's form."""
    executed = chain.first(Boundary.EXECUTOR)
    handed = _source(chain, Boundary.ADAPTER)
    if executed is None or handed is None or executed.form.args is None:
        return
    if handed.form.args is None or canonical(handed.form.args) != canonical(executed.form.args):
        return
    if row.left_to_do.is_plain:
        return
    due = row.left_to_do(executed.form, adapted=True)
    if due.args is None or canonical(due.args) == canonical(executed.form.args):
        return
    for change in changes(due.args, executed.form.args):
        if is_opaque(change.after):
            found = digest_of(change.after)
            if found is not None and found.type != "string":
                continue  # it has the declared type
            if undecided(f"the type of {change.path}"):
                continue
            change = recorded(change, executed.form.args, executed.form.args)  # noqa: PLW2901
        if split_pointer(change.path):
            yield change
