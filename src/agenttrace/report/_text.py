"""Recorded values as text for a terminal: never an escape sequence, never a silent cut.

Names, values and messages come from models and tools. A control character among them could clear
the screen or fake a verdict, so every character that does not print is shown by its number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from agenttrace.domain import JsonValue, Missing
from agenttrace.records import dump_json

NOTHING: Final = "-"
"""Stands where there is no value; a value that is this text has quotes."""
_ELLIPSIS: Final = "…"
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DIGEST: Final = re.compile(
    r'"?\[digest:([a-z_]{1,24}):([0-9]{1,12}|-):[0-9a-f]{8}:([0-9a-f]{8})[0-9a-f]{24}:[0-9a-f]{32}\]"?'
)
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|.)"
)


def visible(text: str) -> str:
    """The text with every character that does not print shown by its number."""
    if "[digest:" in text:
        text = _DIGEST.sub(_digest_shown, text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def value_text(value: JsonValue | Missing, *, ascii_only: bool = False) -> str:
    """A value as JSON text on one line; what prints is shown as itself.

    Args:
        ascii_only: Show everything beyond ASCII by its number, for values that look alike.
    """
    if isinstance(value, Missing):
        return NOTHING
    try:
        text = dump_json(value)
    except (TypeError, ValueError) as error:
        return visible(f"<no JSON: {error}>")
    text = _DIGEST.sub(_digest_shown, text)
    return text if ascii_only else _ESCAPE.sub(_shown, text)


def call_text(call: JsonValue | Missing) -> str:
    """A whole call as its name and arguments; any other value as JSON."""
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        return value_text(call)
    parts = [visible(str(call["name"]))]
    if "args" in call:
        parts.append(value_text(call["args"]))
    if isinstance(call.get("args_raw"), str):
        parts.append(f"text {visible(str(call['args_raw']))}")
    rest = {key: item for key, item in call.items() if key not in ("name", "args", "args_raw")}
    return " ".join([*parts, value_text(rest)] if rest else parts)


def pair_texts(
    before: JsonValue | Missing, after: JsonValue | Missing, width: int
) -> tuple[str, str]:
    """Both values so that their first difference can be seen within the width."""
    left, right = call_text(before), call_text(after)
    if looks_like(left, right):
        left, right = value_text(before, ascii_only=True), value_text(after, ascii_only=True)
    if cells(left) <= width and cells(right) <= width:
        return left, right
    shared = 0
    while shared < min(len(left), len(right)) and left[shared] == right[shared]:
        shared += 1
    start = max(0, shared - width // 3)
    return _from(left, start, width), _from(right, start, width)


def looks_like(left: str, right: str) -> bool:
    """Whether two different texts look the same on most screens."""
    return left != right and _folded(left) == _folded(right)


def cells(text: str) -> int:
    """Columns that a visible text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def elided(text: str, width: int) -> str:
    """The text in at most so many columns, its middle left out."""
    if cells(text) <= width:
        return text
    if width <= 1:
        return _ELLIPSIS[:width]
    tail = (width - 1) // 3
    return _head(text, width - 1 - tail) + _ELLIPSIS + _head(text[::-1], tail)[::-1]


def padded(text: str, width: int) -> str:
    """The text filled up to so many columns."""
    return text + " " * max(0, width - cells(text))


def _digest_shown(match: re.Match[str]) -> str:
    """A digest for people: what was there, how long, and enough of the hash to compare it by."""
    kind, size, exact = match.groups()
    if kind in ("object", "array"):
        return f"<{kind} of {size} #{exact}>"
    if kind.startswith("text_"):
        kind = f"text, {kind.removeprefix('text_').replace('_', ' ')},"
    length = "" if size == "-" else f" of {size}"
    return f"<{kind}{length} #{exact}>"


def _escaped(char: str) -> str:
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _shown(match: re.Match[str]) -> str:
    high, low, single = match.groups()
    if high is not None:
        char = chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    elif single is not None:
        char = chr(int(single, 16))
    else:
        return match.group()
    return char if char.isprintable() else match.group()


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _cell(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _head(text: str, width: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _cell(char)
        if used > width:
            return text[:index]
    return text


def _from(text: str, start: int, width: int) -> str:
    if start == 0:
        return elided(text, width) if cells(text) > width else text
    rest = _ELLIPSIS + text[start:]
    return rest if cells(rest) <= width else _head(rest, width - 1) + _ELLIPSIS
