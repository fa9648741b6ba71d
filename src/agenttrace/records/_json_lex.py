"""The positional JSON tokenizer: strict events with the place of each, and the one error.

It never recurses and reads every character a bounded number of times, because its input is whatever
a provider, a tool or a cut-off stream left behind. It quotes no more than one character in errors:
argument text may hold secrets.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator

from agenttrace._late import TYPE_CHECKING, late_pattern
from agenttrace.domain import JsonValue

if TYPE_CHECKING:
    from typing import Final, Literal, NoReturn, TypeAlias

MAX_INT_DIGITS: Final = 100_000
"""Longest integer that is read or written; a longer one costs time by the square."""


class JsonTextError(ValueError):
    """A text is not one JSON value; says where, and whether it only ends too early."""

    def __init__(
        self, reason: str, offset: int = 0, line: int = 1, column: int = 1, truncated: bool = False
    ) -> None:
        super().__init__(reason, offset, line, column, truncated)
        self.reason = reason
        self.offset = offset
        self.line = line
        self.column = column
        self.truncated = truncated

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"


Kind: TypeAlias = "Literal['object', 'array', 'end', 'key', 'scalar']"
Event = tuple[Kind, int, int, "str | int | float | bool | None"]
"""Kind, offset of its first character, offset behind its last, and the decoded key or scalar.

An object or array has two events, one for each bracket.
"""

# Possessive quantifiers, and none around another: matching is linear on any input.
_SPACE = late_pattern(r"[ \t\n\r]*+")
_VALUE = late_pattern(
    r'[ \t\n\r]*+(?:"([^"\\\x00-\x1f]*+)"|([{\[])|([-0-9][-+.0-9eE]*+)|([A-Za-z]++)|(")|)'
)
_KEY = late_pattern(r'[ \t\n\r]*+"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:')
_COLON = late_pattern(r"[ \t\n\r]*+:")
_AFTER = late_pattern(r"[ \t\n\r]*+([,}\]])")
_NUMBER = late_pattern(r"(-?(?:0|[1-9][0-9]*+))(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_NUMBER_START = late_pattern(r"-?(?:(?:0|[1-9][0-9]*+)(?:\.|(?:\.[0-9]++)?[eE][-+]?)?)?")
_STRING_PART = late_pattern(r'[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}')
_ESCAPE_START = late_pattern(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")

_WORDS: Final = {"true": True, "false": False, "null": None}
_CLOSING: Final = {"{": "}", "[": "]"}
# The only part of the standard library that scans one string in C from an offset.
_STRINGS: Final = json.JSONDecoder()
_CHUNK: Final = 600
"""Digits that `int()` always takes: the interpreter's limit cannot be set below 640."""


def error_at(text: str, offset: int, reason: str, *, truncated: bool = False) -> JsonTextError:
    """Make the error for one place of a text; lines end at a line feed."""
    line_start = text.rfind("\n", 0, offset) + 1
    line = text.count("\n", 0, offset) + 1
    return JsonTextError(reason, offset, line, offset - line_start + 1, truncated)


_COUNTS_C_CALLS: Final = sys.version_info >= (3, 12)


def c_stack_is_safe() -> bool:
    """Say whether C code that recurses over a value stops before it overflows the stack.

    Python 3.11 counts C recursion by the recursion limit alone, and a program may raise that.
    """
    return _COUNTS_C_CALLS or sys.getrecursionlimit() <= 10_000


def events(text: str) -> Iterator[Event]:
    """Yield the events of one strict JSON text (RFC 8259) in order.

    Raises:
        JsonTextError: the text is not one JSON value; what was yielded before still holds.
    """
    closers: list[str] = []
    pos = 0
    while True:
        if closers and closers[-1] == "}":
            key, start, end, pos = _key(text, pos)
            yield "key", start, end, key
        match = _VALUE.match(text, pos)
        which = match.lastindex if match else None
        if match is None or which is None:
            _expected(text, pos, "a value")
        start, pos = match.start(which), match.end()
        if which == 1:
            yield "scalar", start - 1, pos, match[1]
        elif which == 2:
            bracket = text[start]
            yield ("object" if bracket == "{" else "array"), start, pos, None
            closers.append(_CLOSING[bracket])
            after = _AFTER.match(text, pos)
            if after is None or after[1] != closers[-1]:
                continue
        else:
            scalar, pos = _scalar(text, which, start, pos, inside=bool(closers))
            yield "scalar", start, pos, scalar
        while closers:
            after = _AFTER.match(text, pos)
            if after is None or after[1] not in (",", closers[-1]):
                _expected(text, pos, f"',' or '{closers[-1]}'")
            pos = after.end()
            if after[1] == ",":
                break
            yield "end", pos - 1, pos, None
            closers.pop()
        if not closers:
            end = _end(_SPACE, text, pos)
            if end < len(text):
                raise error_at(text, end, "unexpected text after the value")
            return


def decode_string(source: str) -> str:
    """Return what a JSON string says, from its source with the quotes.

    Raises:
        JsonTextError: the source is not exactly one JSON string.
    """
    if not source.startswith('"'):
        _expected(source, 0, "a string")
    value, end = _string(source, 0)
    if end != len(source):
        raise error_at(source, end, "unexpected text after the string")
    return value


def decode_scalar(source: str) -> JsonValue:
    """Return the value of the source of a string, number, true, false or null.

    Raises:
        JsonTextError: the source is no scalar, or has anything around it.
    """
    match = _VALUE.match(source)
    which = match.lastindex if match else None
    if match is None or which in (None, 2) or source[:1] in " \t\n\r":
        _expected(source, 0, "a scalar")
    if which == 1:
        value, end = match[1], match.end()
    else:
        value, end = _scalar(source, which or 0, match.start(which or 0), match.end(), inside=False)
    if end != len(source):
        raise error_at(source, end, "unexpected text after the value")
    return value


def read_int(digits: str) -> int:
    """Return the integer of a JSON number's text, whatever limit the interpreter has.

    Chunks are joined in pairs, so the cost is that of a few long multiplications.
    """
    if len(digits) <= _CHUNK:
        return int(digits)
    sign = -1 if digits.startswith("-") else 1
    digits = digits.removeprefix("-")
    parts = [int(digits[max(0, end - _CHUNK) : end]) for end in range(len(digits), 0, -_CHUNK)]
    base = 10**_CHUNK
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(0)
        parts = [low + high * base for low, high in zip(parts[::2], parts[1::2], strict=True)]
        base *= base
    return sign * parts[0]


def _key(text: str, pos: int) -> tuple[str, int, int, int]:
    """Read a key and its colon: the key, its place, and where its value may start."""
    match = _KEY.match(text, pos)
    if match is not None:
        return match[1], match.start(1) - 1, match.end(1) + 1, match.end()
    start = _end(_SPACE, text, pos)
    if not text.startswith('"', start):
        _expected(text, pos, "a key in double quotes")
    key, end = _string(text, start)
    colon = _COLON.match(text, end)
    if colon is None:
        _expected(text, end, "':' after a key")
    return key, start, end, colon.end()


def _scalar(
    text: str, which: int, start: int, end: int, *, inside: bool
) -> tuple[str | int | float | bool | None, int]:
    """Decode what `_VALUE` found in its group `which`; `inside` a container more text must come."""
    if which == 5:
        return _string(text, start)
    token = text[start:end]
    at_end = end == len(text)
    if which == 3:
        return _number(text, token, start, inside=inside), end
    if token not in _WORDS:
        if at_end and any(word.startswith(token) for word in _WORDS):
            raise error_at(text, end, "the text ends inside a value", truncated=True)
        raise error_at(text, start, "unknown word where a value should stand")
    return _WORDS[token], end


def _number(text: str, token: str, start: int, *, inside: bool) -> int | float:
    match = _NUMBER.fullmatch(token)
    end = start + len(token)
    at_end = end == len(text)
    if match is None:
        if at_end and _NUMBER_START.fullmatch(token):
            raise error_at(text, end, "the text ends inside a number", truncated=True)
        raise error_at(text, start, "malformed number")
    if match[2] is None and match[3] is None:
        if len(token.removeprefix("-")) <= MAX_INT_DIGITS:
            return read_int(token)
        reason = f"integer of more than {MAX_INT_DIGITS} digits"
        cut = at_end and inside
    else:
        value = float(token)
        if math.isfinite(value):
            return value
        reason = "number out of the range of a double"
        # Digits that may still come make an exponent larger, never smaller, unless it is negative.
        cut = at_end and inside and (match[3] is None or "-" in match[3])
    raise error_at(text, end if cut else start, reason, truncated=cut)


def _string(text: str, start: int) -> tuple[str, int]:
    """Decode the string whose opening quote is at `start`; returns it and the offset behind it."""
    try:
        value, end = _STRINGS.raw_decode(text, start)
    except ValueError:
        pass
    else:
        return str(value), end
    pos = start + 1
    while (match := _STRING_PART.match(text, pos)) is not None:
        pos = match.end()
    if pos == len(text) or _ESCAPE_START.match(text, pos):
        raise error_at(text, len(text), "the text ends inside a string", truncated=True)
    if text[pos] == "\\":
        raise error_at(text, pos, "invalid escape in a string")
    raise error_at(text, pos, f"control character {text[pos]!r} in a string")


def _expected(text: str, pos: int, what: str) -> NoReturn:
    """Raise for the next thing that stands in the text, or for its end."""
    pos = _end(_SPACE, text, pos)
    if pos == len(text):
        raise error_at(text, pos, f"the text ends where {what} should stand", truncated=True)
    raise error_at(text, pos, f"expected {what}, found {text[pos]!r}")


def _end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    match = pattern.match(text, pos)
    return pos if match is None else match.end()
