"""Which of many JSON Pointers lie inside which, without asking every pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agenttrace.records import split_pointer

_HERE: Final = object()
"""Key under which a place of the tree has the pointer that ends there; parts are texts."""


class PointerTree:
    """Pointers by their parts."""

    def __init__(self, pointers: Iterable[str]) -> None:
        self._root: dict[Any, Any] = {}
        for pointer in pointers:
            place = self._root
            for part in split_pointer(pointer):
                place = place.setdefault(part, {})
            place[_HERE] = pointer

    def around(self, pointer: str) -> list[str]:
        """The pointers that a pointer lies inside of, the outermost first; never itself."""
        found: list[str] = []
        place = self._root
        for part in split_pointer(pointer):
            if _HERE in place:
                found.append(place[_HERE])
            if part not in place:
                break
            place = place[part]
        return found
