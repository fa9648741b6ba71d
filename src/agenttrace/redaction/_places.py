"""Places at which every observed value is masked: what is expected there is masked like it.

A scorer may have the recorder's key and not its list of fields, so that only the records say that
a value of the case is a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agenttrace.domain import JsonObject, JsonValue
from agenttrace.redaction._tokens import TOKEN

Token = Callable[[JsonValue, str], str]
"""The token of a value of a group."""
_Path = tuple[str, ...]


class MaskedPlaces:
    """By tool and path, the group of the tokens that stand there.

    A place where one call holds a token and another a plain value is none: there a value was masked
    for what it was, and not for where it stood.
    """

    def __init__(
        self, observed: Iterable[tuple[str, JsonObject]], key_id: str, token: Token
    ) -> None:
        self._token = token
        self._groups: dict[tuple[str, _Path], str | None] = {}
        for tool, arguments in observed:
            for path, value in _scalars(arguments):
                match = TOKEN.fullmatch(value) if isinstance(value, str) else None
                group = match[1] if match is not None and match[2] == key_id else None
                if self._groups.setdefault((tool, path), group) != group:
                    self._groups[tool, path] = None

    def mask(self, tool: str, path: _Path, value: JsonValue) -> JsonValue:
        """Put tokens for masked values into what is expected at a place of a tool's arguments.

        Args:
            value: What masking by field made of it; it is changed.
        """
        whole: dict[str, Any] = {"": value}
        for (name, place), group in self._groups.items():
            if group is None or name != tool or place[: len(path)] != path:
                continue
            holder, key = _found(whole, ("", *place[len(path) :]))
            if holder is None:
                continue
            stated = holder[key]
            if _hides(stated) and not (isinstance(stated, str) and TOKEN.search(stated)):
                holder[key] = self._token(stated, group)
        masked: JsonValue = whole[""]
        return masked


def _found(value: Any, path: _Path) -> tuple[Any, Any]:
    """What holds the value at a path, and its key there; twice None where there is none."""
    holder: Any = None
    key: Any = None
    for part in path:
        if isinstance(value, dict) and part in value:
            holder, key = value, part
        elif isinstance(value, list) and part in map(str, range(len(value))):
            holder, key = value, int(part)
        else:
            return None, None
        value = holder[key]
    return holder, key


def _scalars(value: JsonValue) -> Iterable[tuple[_Path, Any]]:
    waiting: list[tuple[_Path, JsonValue]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += [((*path, key), item) for key, item in one.items()]
        elif isinstance(one, Sequence) and not isinstance(one, str):
            waiting += [((*path, str(n)), item) for n, item in enumerate(one)]
        elif _hides(one):
            yield path, one


def _hides(value: JsonValue) -> bool:
    """Null, true, false and the empty text are never masked."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
