"""Which value of a divergence its lineage speaks of.

A change of one value speaks for itself. Of objects and lists it is the first member that differs.
A call that is one too many, or missing, is no value: there it is the argument that tells most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agenttrace._dataclass import dataclass
from agenttrace.domain import MISSING, Divergence, JsonValue, Kind, Missing
from agenttrace.records import escape
from agenttrace.scoring._lineage_needle import is_container, is_too_common

_NO_VALUE: Final = frozenset(
    {
        Kind.RENAMED,
        Kind.REORDERED,
        Kind.NAME_CHANGED,
        Kind.MALFORMED,
        Kind.REPAIRED,
        Kind.REJECTED,
        Kind.NOT_EXECUTED,
        Kind.DUPLICATED,
        Kind.MUTATED,
        Kind.ERROR_HIDDEN,
    }
)
RESULTS: Final = frozenset({Kind.RESULT_CHANGED, Kind.RESULT_SWAPPED})
_CALLS: Final = frozenset({Kind.ADDED, Kind.NOT_REQUESTED, Kind.DROPPED, Kind.TRUNCATED})
MOST_LEAVES: Final = 64
"""Arguments of one call that are looked at for the one that tells most."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What may be asked about: one value, or one of several."""

    path: str
    value: JsonValue | Missing
    expected: JsonValue | Missing


def subjects(divergence: Divergence) -> list[Subject]:
    """The values of a divergence, the likeliest to tell something first; none where it has none."""
    before, after = divergence.before, divergence.after
    if divergence.kind in _NO_VALUE:
        return []
    if not divergence.path and divergence.kind in _CALLS:
        if divergence.kind is Kind.DROPPED:
            leaves = _meaningful(_arguments(before))
            return [Subject(path, MISSING, value) for path, value in leaves]
        leaves = _meaningful(_arguments(after))
        return [Subject(path, value, MISSING) for path, value in leaves]
    if isinstance(before, Missing) and isinstance(after, Missing):
        return []
    return [_narrowed(Subject(divergence.path, after, before))]


def leaves_of(subject: Subject) -> list[Subject]:
    """The members of an object or a list that stand for it where it is nowhere as a whole."""
    is_whole = is_container(subject.value)
    members = _meaningful(subject.value if is_whole else subject.expected)
    return [
        Subject(
            f"{subject.path}{path}",
            value if is_whole else MISSING,
            MISSING if is_whole else value,
        )
        for path, value in members
    ]


def _arguments(call: JsonValue | Missing) -> JsonValue | Missing:
    """The arguments of a call as a verdict holds it."""
    return call.get("args", MISSING) if isinstance(call, Mapping) else MISSING


def _meaningful(value: JsonValue | Missing) -> list[tuple[str, JsonValue]]:
    """The scalars of a value with their paths; those that mean nothing only where all do."""
    found: list[tuple[str, JsonValue]] = []
    common: list[tuple[str, JsonValue]] = []
    for path, leaf in _leaves(value):
        (common if is_too_common(leaf) else found).append((path, leaf))
        if len(found) == MOST_LEAVES:
            break
    return found or common[:1]


def _leaves(value: Any) -> Iterator[tuple[str, JsonValue]]:
    if not is_container(value):
        return
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += (
                (f"{path}/{escape(key)}", one[key]) for key in sorted(one, key=str, reverse=True)
            )
        elif is_container(one):
            waiting += ((f"{path}/{n}", one[n]) for n in range(len(one) - 1, -1, -1))
        else:
            yield path, one


def _narrowed(subject: Subject) -> Subject:
    """The first member at which two objects, or two lists, differ."""
    if not (_is_alike(subject.expected, subject.value)):
        return subject
    waiting: list[tuple[Any, Any, Any]] = [(None, subject.expected, subject.value)]
    while waiting:
        way, old, new = waiting.pop()
        if _is_alike(old, new):
            waiting += reversed([((way, key), *pair) for key, pair in _members(old, new)])
        elif old.__class__ is not new.__class__ or old != new:
            return Subject(subject.path + _pointer(way), new, old)
    return subject


def _members(old: Any, new: Any) -> Iterator[tuple[str | int, tuple[Any, Any]]]:
    if isinstance(old, Mapping):
        for key in sorted({**old, **new}, key=str):
            yield key, (old.get(key, MISSING), new.get(key, MISSING))
        return
    for n in range(max(len(old), len(new))):
        yield (
            n,
            (old[n] if n < len(old) else MISSING, new[n] if n < len(new) else MISSING),
        )


def _is_alike(old: object, new: object) -> bool:
    """Whether both are objects, or both lists."""
    return (
        is_container(old)
        and is_container(new)
        and isinstance(old, Mapping) is isinstance(new, Mapping)
    )


def _pointer(way: Any) -> str:
    parts: list[str] = []
    while way is not None:
        way, part = way
        parts.append(f"/{escape(part) if isinstance(part, str) else part}")
    return "".join(reversed(parts))
