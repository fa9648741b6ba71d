"""Secrets that stand in prose behind their field's name: `password=…`, `"api_key": "…"`.

Error messages quote arguments in many notations and cut them off, so a name counts in any quotes.
The search goes from one `:` or `=` to the next and looks at the two letters before it first.
Options of commands, `--password …`, and elements, `<password>…</password>`, are looked for by
themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

_NAME: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_BETWEEN: Final = " \t\"'\\]"
_DIGITS: Final = "0123456789"
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
_OPTION: Final = re.compile(
    r"""--(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,63})[ \t]{1,8}"""
    r"""(?:"(?P<double>(?:[^"\\\r\n]|\\.)++)|'(?P<single>(?:[^'\\\r\n]|\\.)++)"""
    r"""|(?P<plain>[^\s"'\\,;&(){}\[\]<>$*-][^\s"'\\,;&(){}\[\]<>$*]*+))"""
)
_ELEMENT: Final = re.compile(
    r"<(?:[A-Za-z][\w.-]{0,31}:)?(?P<name>[A-Za-z][\w.-]{1,63})(?:[ \t][^<>]{0,200})?>"
    r"(?P<text>[^<>]++)</(?:[A-Za-z][\w.-]{0,31}:)?(?P=name)[ \t]{0,8}>"
)
_NO_STARTS: Final = ("[masked", "[dropped", "$", "{", "<")
_NO_VALUES: Final = frozenset(
    {"none", "null", "true", "false", "undefined", "nil", "missing", "invalid", "expired"}
    | {"required", "optional", "must", "bearer", "basic", "token", "digest", "string", "number"}
    | {"error", "field", "value", "empty"}
)
_NO_OPERANDS: Final = _NO_VALUES | frozenset(
    {
        "option",
        "options",
        "flag",
        "flags",
        "argument",
        "parameter",
        "switch",
        "from",
        "with",
        "when",
    }
    | {"instead", "that", "this", "which", "needs", "takes", "cannot", "should", "will", "given"}
)
"""Words behind an option that is spoken of and not given."""
_COLON_NEEDS_QUOTES: Final = frozenset({"pass"})
"""Names that are ordinary words before a colon: what tests and checks print."""


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
            if last.lower() in endings or last[-1] in _BETWEEN or last[-1] in _DIGITS:
                group = _group_before(text, pos, group_of, endings)
                match = None if group is None else _VALUE.match(text, following)
                if group is not None and match is not None:
                    part = match.lastgroup or ""
                    value = match[part]
                    following = match.end()
                    if not _is_none(value, part):
                        yield *match.span(part), group
            pos = find(separator, following)
    if "--" in text:
        yield from _named(text, "--", _OPTION, group_of, _NO_OPERANDS)
    if "</" in text:
        yield from _named(text, "<", _ELEMENT, group_of, _NO_VALUES)


def _named(
    text: str,
    mark: str,
    form: re.Pattern[str],
    group_of: Callable[[str], str | None],
    no_values: frozenset[str],
) -> Iterator[tuple[int, int, str]]:
    """Values behind names that a mark stands before."""
    pos = text.find(mark)
    while pos >= 0:
        match = form.match(text, pos)
        following = pos + len(mark)
        group = None if match is None else group_of(match["name"])
        if match is not None and group is not None:
            part = match.lastgroup or ""
            start, end = match.span(part)
            bare = match[part].strip()
            if not _is_none(bare, part) and bare.rstrip(".!?").lower() not in no_values:
                start += match[part].index(bare)
                yield start, start + len(bare), group
            following = max(following, end)
        pos = text.find(mark, following)


def _group_before(
    text: str, pos: int, group_of: Callable[[str], str | None], endings: frozenset[str]
) -> str | None:
    """The group of the name that ends before a separator."""
    near = text[max(0, pos - _MAX_BETWEEN) : pos]
    end = pos - len(near) + len(near.rstrip(_BETWEEN))
    ahead = text[max(0, end - _MAX_NAME) : end]
    if ahead[-2:].lower() not in endings and not ahead[-1:].isdigit():
        return None
    name = ahead[len(ahead.rstrip(_NAME)) :]
    if text[pos] == ":" and end == pos and name.lower() in _COLON_NEEDS_QUOTES:
        return None
    group = group_of(name)
    if group is None and name.lower() == "key":  # the two words `api key`
        words = ahead.rsplit(maxsplit=2)
        group = group_of("_".join(words[-2:]))
    return group


def _is_none(value: str, part: str) -> bool:
    if len(value) < _MIN_VALUE or value.startswith(_NO_STARTS):
        return True
    return part == "plain" and value.rstrip(".!?").lower() in _NO_VALUES
