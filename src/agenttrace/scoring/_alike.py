"""Which JSON values JSON Schema calls equal: numbers by their value, all else by type and content.

Every container is looked at once, however often it is asked about, so that a question at each
level of a deep value costs no square.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonValue
from agenttrace.scoring._numbers import exact
from agenttrace.scoring._opaque import is_opaque

if TYPE_CHECKING:
    from typing import Any, Final


class Alike:
    """Gives equal values one key, and says which hold a digest or a mask of ours.

    Values must not change, nor be freed, while it is in use: containers are known by identity.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Hashable, bool]] = {}
        self._numbers: dict[Hashable, int] = {}

    def key(self, value: JsonValue) -> Hashable:
        """Equal for equal values, and for no others."""
        return self._look(value)[0]

    def holds_opaque(self, value: JsonValue) -> bool:
        """Whether a digest or a mask stands anywhere in the value."""
        return self._look(value)[1]

    def _look(self, value: JsonValue) -> tuple[Hashable, bool]:
        if not _is_container(value):
            return _scalar(value)
        waiting: list[Any] = [value]
        while waiting:
            one = waiting[-1]
            if not _is_container(one) or id(one) in self._known:
                waiting.pop()
                continue
            items = one.values() if isinstance(one, Mapping) else one
            inner = [item for item in items if _is_container(item) and id(item) not in self._known]
            if inner:
                waiting += inner
                continue
            waiting.pop()
            self._known[id(one)] = self._container(one)
        return self._known[id(value)]

    def _container(self, value: Any) -> tuple[Hashable, bool]:
        if isinstance(value, Mapping):
            parts = {name: self._of(item) for name, item in value.items()}
            made: Hashable = ("{", *((name, parts[name][0]) for name in sorted(parts)))
            opaque = any(one[1] for one in parts.values()) or any(map(is_opaque, parts))
        else:
            listed = [self._of(item) for item in value]
            made = ("[", *(one[0] for one in listed))
            opaque = any(one[1] for one in listed)
        # A number in place of the content: keys of deep values stay flat.
        return ("#", self._numbers.setdefault(made, len(self._numbers))), opaque

    def _of(self, value: JsonValue) -> tuple[Hashable, bool]:
        return self._known[id(value)] if _is_container(value) else _scalar(value)


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def _is_container(value: object) -> bool:
    return value.__class__ not in _SCALARS and isinstance(value, Mapping | list | tuple)


def _scalar(value: Any) -> tuple[Hashable, bool]:
    if value.__class__ is float:
        number = exact(value)
        whole = number.denominator == 1
        return ("float" if not whole else "int", number.numerator if whole else value), False
    return (value.__class__.__name__, value), is_opaque(value)
