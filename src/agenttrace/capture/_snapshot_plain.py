"""Copies of small JSON values, which most arguments are: at about the cost of copying them.

The first thing that is not plain ends the attempt, and the walk of `_snapshot` does it all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agenttrace.domain import JsonValue
from agenttrace.records import dump_json

SHORT: Final = 256
"""Characters of a text that counts against no limit."""

BIG: Final = 1 << 328_800
"""An integer from here on has more digits than JSON text is written with."""

FLAT_ITEMS: Final = 64
"""Fields of an object that is tried as a flat one."""

_PLAIN_DEPTH: Final = 8
_PLAIN_ITEMS: Final = 2_000
_PLAIN_TEXT: Final = 4_096


def is_flat(values: dict[str, Any]) -> bool:
    """Whether an object by parameter names holds short scalars alone, which is its own copy."""
    for value in values.values():
        kind = type(value)
        if kind is str:
            if len(value) > SHORT:
                return False
        elif kind is int:
            if not -BIG < value < BIG:
                return False
        elif kind is float:
            if value - value != 0.0:
                return False
        elif kind is not bool and value is not None:
            return False
    return True


def is_flat_value(value: Any) -> bool:
    """Whether a value is a short scalar, which is its own copy."""
    kind = type(value)
    return (
        value is None
        or kind is bool
        or (kind is str and len(value) <= SHORT)
        or (kind is int and -BIG < value < BIG)
        or (kind is float and value - value == 0.0)
    )


def plain_copy(value: Any) -> JsonValue:
    """The copy of a small JSON object or list; None when it is more than that."""
    try:
        return _plain(value, _PLAIN_DEPTH, [_PLAIN_ITEMS])
    except (_NotPlainError, RuntimeError):  # RuntimeError: a thread changed it meanwhile
        return None


def flat_copy(pairs: Iterable[tuple[Any, Any]]) -> dict[str, JsonValue] | None:
    """The copy of an object of short scalars; None when it is more than that."""
    copy: dict[str, JsonValue] = {}
    try:
        for key, item in pairs:
            if type(key) is not str or len(key) > SHORT:
                return None
            kind = type(item)
            if kind is str:
                if len(item) > SHORT:
                    return None
            elif kind is int:
                if not -BIG < item < BIG:
                    return None
            elif kind is float:
                if item - item != 0.0:
                    return None
            elif kind is not bool and item is not None:
                return None
            copy[key] = item
    except RuntimeError:  # another thread changed it; the walk tries again
        return None
    return copy


class _NotPlainError(Exception):
    """A value is more than a small JSON value."""


def _plain(value: Any, depth: int, left: list[int]) -> dict[str, JsonValue] | list[JsonValue]:
    """The copy of a small JSON object or list, which is what most arguments are.

    Args:
        left: Fields and items that may still be met; counted down.
    """
    left[0] -= len(value)
    if left[0] < 0 or not depth:
        raise _NotPlainError
    if type(value) is list:
        return [_plain_item(item, depth, left) for item in value]
    copy: dict[str, JsonValue] = {}
    for key, item in value.items():
        if type(key) is not str or len(key) > SHORT:
            raise _NotPlainError
        kind = type(item)
        if (kind is str and len(item) <= _PLAIN_TEXT) or item is None or kind is bool:
            copy[key] = item
        else:
            copy[key] = _plain_item(item, depth, left)
    return copy


def _plain_item(item: Any, depth: int, left: list[int]) -> JsonValue:
    kind = type(item)
    if kind is str:
        is_plain = len(item) <= _PLAIN_TEXT
    elif kind is int:
        is_plain = -BIG < item < BIG
    elif kind is float:
        is_plain = item - item == 0.0
    elif kind is dict or kind is list:
        return _plain(item, depth - 1, left)
    else:
        is_plain = item is None or kind is bool
    if not is_plain:
        raise _NotPlainError
    return item  # type: ignore[no-any-return]


# Keys, and items of sets


def free_key(key: str, taken: set[str]) -> str:
    """The key, with a number where another key of the object already has its text."""
    free, number = key, 1
    while free in taken:
        number += 1
        free = f"{key}#{number}"
    taken.add(free)
    return free


def order_of(item: JsonValue) -> tuple[int, str]:
    """Where an item of a set stands: by type, then by its text."""
    try:
        return _RANKS.get(type(item), 9), item if isinstance(item, str) else dump_json(item)
    except (ValueError, TypeError):
        return 10, ""


_RANKS: Final = {type(None): 0, bool: 1, int: 2, float: 3, str: 4, list: 5, dict: 6}
