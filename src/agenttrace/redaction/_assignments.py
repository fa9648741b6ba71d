"""Secrets that stand in prose behind their field's name: `password=…`, `"api_key": "…"`.

Error messages quote arguments in many notations and cut them off, so a name counts in any quotes.
The search goes from one `:` or `=` to the next and looks at the two letters before it first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

_NAME: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_BETWEEN: Final = " \t\"'\\]"
_MAX_BETWEEN: Final = 12
_MAX_NAME: Final = 64
_VALUE: Final = re.compile(
    r"""[=>]{0,2}[ \t]{0,3}(?:(?i:bearer|basic|token|digest)[ \t]{1,3})?"""
    r"""(?:\\{1,7}["'](?P<nested>[^"'\\\r\n]+)"""
    r"""|"(?P<double>(?:[^"\\\r\n]|\\.)++)"""
    r"""|'(?P<single>(?:[^'\\\r\n]|\\.)++)"""
    r"""|(?P<plain>[^\s"'\\,;&(){}\[\]<>$*]+))"""
)
_MIN_VALUE: Final = 4
_NO_STARTS: Final = ("[masked", "[dropped", "$", "{", "<")
_NO_VALUES: Final = frozenset(
    {"none", "null", "true", "false", "undefined", "nil", "missing", "invalid", "expired"}
    | {"required", "optional", "must", "bearer", "basic", "token", "digest", "string", "number"}
    | {"error", "field", "value", "empty"}
)


def find_assignments(
    text: str, group_of: Callable[[str], str | None], endings: frozenset[str]
) -> Iterator[tuple[int, int, str]]:
    """Start, end and group of each value behind the name of a secret field.

    Left alone are values of less than 4 characters, words that say that there is no value, and what
    only refers to one, such as `$(cat key)` or `{secret}`.

    Args:
        endings: The last two letters of all names of secret fields, in lower case.
    """
    find = text.find
    for separator in ":=":
        pos = find(separator)
        while pos > 0:
            following = pos + 1
            last = text[pos - 2 : pos] if pos > 1 else text[:pos]
            if last.lower() in endings or last[-1] in _BETWEEN:
                group = _group_before(text, pos, group_of, endings)
                match = None if group is None else _VALUE.match(text, following)
                if group is not None and match is not None:
                    part = match.lastgroup or ""
                    value = match[part]
                    following = match.end()
                    if not _is_none(value, part):
                        yield *match.span(part), group
            pos = find(separator, following)


def _group_before(
    text: str, pos: int, group_of: Callable[[str], str | None], endings: frozenset[str]
) -> str | None:
    """The group of the name that ends before a separator."""
    near = text[max(0, pos - _MAX_BETWEEN) : pos]
    end = pos - len(near) + len(near.rstrip(_BETWEEN))
    if text[max(0, end - 2) : end].lower() not in endings:
        return None
    ahead = text[max(0, end - _MAX_NAME) : end]
    name = ahead[len(ahead.rstrip(_NAME)) :]
    group = group_of(name)
    if group is None and name.lower() == "key":  # the two words `api key`
        words = ahead.rsplit(maxsplit=2)
        group = group_of("_".join(words[-2:]))
    return group


def _is_none(value: str, part: str) -> bool:
    if len(value) < _MIN_VALUE or value.startswith(_NO_STARTS):
        return True
    return part == "plain" and value.rstrip(".!?").lower() in _NO_VALUES
