"""What kind of change turned one value into another.

The most specific kind wins, in the order of the reference page: a mask, a cut, lost precision,
a scale, a shifted time, a spelling, an order, a nesting, another type, and only then just another
value. Nothing here decides whether a change is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace._dataclass import dataclass
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import MISSING, JsonObject, JsonValue, Kind, Missing
from agenttrace.records import JsonTextError, at_pointer, canonical, escape, parse_json
from agenttrace.scoring._masks import looks_masked
from agenttrace.scoring._normalizers import instant_of
from agenttrace.scoring._numbers import exact, is_number
from agenttrace.scoring._opaque import digest_kind, is_cut_down, same

if TYPE_CHECKING:
    from typing import Any, Final, TypeGuard

_EXACT_INTEGERS: Final = 2**53
_SCALES: Final = frozenset({*(10**power for power in range(1, 10)), 60, 3600})
_LONGEST_TEXT: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One difference between two argument objects."""

    kind: Kind
    path: str
    before: JsonValue | Missing
    after: JsonValue | Missing


def changes(before: JsonObject, after: JsonObject, path: str = "") -> list[Change]:
    """Every difference between two argument objects, under the first one's own keys.

    An equal value under another key is one `renamed`, not a `dropped` and an `added`. Objects are
    compared member by member where both have members; lists and all else as wholes.
    """
    found: list[Change] = []
    work: list[tuple[JsonObject, JsonObject, str]] = [(before, after, path)]
    while work:
        left, right, at = work.pop()
        if is_cut_down(left) or is_cut_down(right):
            if not same(left, right):
                found.append(Change(kind=Kind.VALUE_CHANGED, path=at, before=left, after=right))
            continue
        found += _keys_changed(left, right, at)
        for key, old in left.items():
            if key not in right:
                continue
            new = right[key]
            here = f"{at}/{escape(key)}"
            if old is new or (old.__class__ is str and new.__class__ is str and old == new):
                continue
            if isinstance(old, Mapping) and isinstance(new, Mapping) and old and new:
                # Equal ones are found out member by member: asking at every level costs a square.
                work.append((old, new, here))
            elif not same(old, new):
                found.append(Change(kind=value_kind(old, new), path=here, before=old, after=new))
    return found


def recorded(change: Change, before: JsonObject | None, after: JsonObject | None) -> Change:
    """The change with the values as recorded, wherever the recorded name is the declared one."""
    if change.kind is Kind.RENAMED:
        return change
    return Change(
        kind=change.kind,
        path=change.path,
        before=_as_recorded(change.before, before, change.path),
        after=_as_recorded(change.after, after, change.path),
    )


def _as_recorded(
    declared: JsonValue | Missing, args: JsonObject | None, path: str
) -> JsonValue | Missing:
    if isinstance(declared, Missing) or args is None:
        return declared
    found: JsonValue | Missing = at_pointer(args, path, declared)
    return found


def _keys_changed(left: JsonObject, right: JsonObject, at: str) -> list[Change]:
    gone = [key for key in left if key not in right]
    new = [key for key in right if key not in left]
    found = []
    if gone and new:
        texts: dict[str, list[str]] = {}
        for key in new:
            texts.setdefault(canonical(right[key]), []).append(key)
        for key in list(gone):
            equal = texts.get(canonical(left[key]))
            if equal:
                taken = equal.pop(0)
                old_path, new_path = f"{at}/{escape(key)}", f"{at}/{escape(taken)}"
                found.append(
                    Change(kind=Kind.RENAMED, path=old_path, before=old_path, after=new_path)
                )
                gone.remove(key)
                new.remove(taken)
    for key in gone:
        pointer = f"{at}/{escape(key)}"
        found.append(Change(kind=Kind.DROPPED, path=pointer, before=left[key], after=MISSING))
    for key in new:
        pointer = f"{at}/{escape(key)}"
        found.append(Change(kind=Kind.ADDED, path=pointer, before=MISSING, after=right[key]))
    return found


def value_kind(before: JsonValue, after: JsonValue) -> Kind:
    """The most specific kind of a change; the two values are known to differ."""
    if isinstance(after, str) and looks_masked(after):
        return Kind.MASKED
    digested = digest_kind(before, after)
    if digested is not None:
        return digested
    if _is_beginning(before, after):
        return Kind.TRUNCATED
    if is_number(before) and is_number(after):
        kind = _number_kind(before, after)
        if kind is not None:
            return kind
    if isinstance(before, str) and isinstance(after, str):
        kind = _text_kind(before, after)
        if kind is not None:
            return kind
    if _is_list(before) and _is_list(after) and _same_items(before, after):
        return Kind.REORDERED
    if _is_nesting(before, after) or _is_nesting(after, before):
        return Kind.NESTED
    return Kind.VALUE_CHANGED if _json_type(before) == _json_type(after) else Kind.TYPE_COERCED


def is_text_of(value: JsonValue, text: JsonValue) -> bool:
    """Whether `text` is JSON text of the object or list `value`."""
    if not isinstance(text, str) or not isinstance(value, Mapping | list | tuple):
        return False
    if len(text) > _LONGEST_TEXT or text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        return canonical(parse_json(text).value) == canonical(value)
    except JsonTextError:
        return False


def _is_beginning(before: JsonValue, after: JsonValue) -> bool:
    if isinstance(before, str) and isinstance(after, str):
        return bool(after) and before.startswith(after)
    if _is_list(before) and _is_list(after) and after:
        return len(after) < len(before) and canonical(list(before[: len(after)])) == canonical(
            list(after)
        )
    return False


def _number_kind(before: Any, after: Any) -> Kind | None:
    old, new = exact(before), exact(after)
    if before.__class__ is float and old != new and exact(int(before)) == new:
        return Kind.PRECISION_LOST
    if before.__class__ is int and abs(before) > _EXACT_INTEGERS:
        off = abs(old - new)
        if off and off <= abs(before) >> 50:  # without any loss only the type is another
            return Kind.PRECISION_LOST
    if not old or not new or old == new:
        return None
    return Kind.SCALED if new / old in _SCALES or old / new in _SCALES else None


def _text_kind(before: str, after: str) -> Kind | None:
    if instant_of(before) and instant_of(after):
        return Kind.TIME_SHIFTED
    if max(len(before), len(after)) > _LONGEST_TEXT:
        return None
    # Few rows have texts that differ.
    import unicodedata  # noqa: PLC0415

    if unicodedata.normalize("NFKC", before) == unicodedata.normalize("NFKC", after):
        return Kind.UNICODE_NORMALIZED
    if before.casefold() == after.casefold():
        return Kind.CASE_CHANGED
    if "".join(before.split()) == "".join(after.split()):
        return Kind.WHITESPACE_CHANGED
    return None


def _is_nesting(outer: JsonValue, inner: JsonValue) -> bool:
    """Whether `outer` is an object or a list of one around `inner`, or `inner` its JSON text."""
    if is_text_of(outer, inner):
        return True
    if isinstance(outer, Mapping) and len(outer) == 1:
        return canonical(next(iter(outer.values()))) == canonical(inner)
    if _is_list(outer) and len(outer) == 1:
        return canonical(outer[0]) == canonical(inner)
    return False


def _is_list(value: JsonValue) -> TypeGuard[Sequence[JsonValue]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _same_items(before: Any, after: Any) -> bool:
    if len(before) != len(after):
        return False
    return sorted(map(canonical, before)) == sorted(map(canonical, after))


def _json_type(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return "object"
    if _is_list(value):
        return "list"
    return value.__class__.__name__
