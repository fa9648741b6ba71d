"""Copies of large values, a level at a time: all values at one depth in one list.

A walk visits every field; here the interpreter's own loops do, and the copy is a few long lists, in
which the garbage collector finds nothing to follow. Texts and numbers cannot change, so they are
held, not copied. The levels are put together again on the thread that needs them.
"""

from __future__ import annotations

from typing import Any, Final

from agenttrace.capture._snapshot_level import Found, Level, NotBulkError, Single
from agenttrace.domain import JsonValue

_MAX_LEVELS: Final = 200


class Bulk:
    """The copy of one large value."""

    __slots__ = ("_levels", "_walk", "weight")

    def __init__(self, value: Any, *, items: int, text: int, single: Single, walk: Single) -> None:
        """Copy a value.

        Args:
            items: Most fields and items.
            text: Most characters of texts that are not short.
            single: The copy of a value whose type is one text, number or mark.
            walk: The copy of JSON values where a limit or a mark may be called for.

        Raises:
            NotBulkError: It holds too much, or sets and foreign containers.
            RuntimeError: Another thread changed it meanwhile.
        """
        self._walk = walk
        self._levels: list[Level] = []
        held = 0
        level: Level | None = Level(Found(lists=[[value]]))
        while level is not None:
            self._levels.append(level)
            found = level.split(single)
            items -= len(level.values)
            held += level.text
            if items < 0 or held > text or len(self._levels) > _MAX_LEVELS:
                raise NotBulkError
            level = Level(found) if found.dicts or found.rows or found.lists else None
        self.weight = held + 32 * sum(len(level.values) for level in self._levels)

    def is_unchanged(self) -> bool:
        """Whether all that was read is there still, by identity; asked once, at the end.

        The value is let go with that. False says only that it may have changed.
        """
        try:
            return all(level.is_unchanged() for level in self._levels)
        except (RuntimeError, AttributeError):  # another thread changes it; a field is gone
            return False
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Hold nothing any more that can change: the program's objects are not ours to keep."""
        for level in self._levels:
            level.let_go()

    def build(self) -> JsonValue:
        """The copy as JSON values."""
        built: list[Any] = []
        below: Level | None = None
        for level in reversed(self._levels):
            built, below = level.build(built, below), level
        ((whole,),) = built
        return self._walk(whole) if any(level.is_odd() for level in self._levels) else whole
