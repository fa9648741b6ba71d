"""JSON text with positions: values in, values out, raw slices, duplicate keys, masking.

Text is first given to the standard library's C scanner. The positional tokenizer reads it again
when the scanner refuses it, when a key repeats, or when it is too deep or an integer too long for
the scanner, so normal text costs little more than `json.loads`.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping

from agenttrace._dataclass import dataclass
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonValue
from agenttrace.records._json_lex import (
    MAX_INT_DIGITS,
    JsonTextError,
    c_stack_is_safe,
    error_at,
    events,
)
from agenttrace.records._json_pointer import join_pointer

if TYPE_CHECKING:
    from typing import Final, Literal, NoReturn

MAX_DUPLICATES: Final = 100
"""Repeated keys that are listed one by one; `duplicate_count` has them all."""
_MAX_LISTED_PARTS: Final = 100_000  # of all listed pointers: deep ones would grow by the square
_SAFE_DEPTH: Final = 5_000  # levels that the C scanner may nest on the stack of any thread


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """One key that its object already had."""

    pointer: str
    """JSON pointer of the repeated key."""

    offset: int
    """Offset of the repetition in the text."""

    line: int
    """Its line, from 1."""

    column: int
    """Its column, from 1."""


@dataclass(frozen=True, kw_only=True)
class JsonDocument:
    """One JSON text, read."""

    value: JsonValue
    """The value; of a repeated key the last value counts."""

    duplicates: tuple[Duplicate, ...] = ()
    """The first repeated keys, in the order of the text."""

    duplicate_count: int = 0
    """How many keys were repeated, listed or not."""


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The argument text of one tool call, read."""

    value: dict[str, JsonValue] | None
    """The arguments; None when the text is no object whose keys are unique."""

    state: Literal["object", "empty", "truncated", "malformed", "not_object", "duplicate_keys"]
    """What the text is: `empty` is absent or blank, and means no arguments."""

    error: str | None = None
    """Why there is no value, with line and column."""


class _NeedsPositionsError(Exception):
    """The C scanner has met what only the positional tokenizer can tell about."""


def parse_json(text: str) -> JsonDocument:
    """Read one strict JSON text (RFC 8259) of any depth; integers are exact.

    Duplicate keys are accepted and reported. Refused are NaN and infinities, also by overflow;
    trailing commas or text; control characters and invalid escapes in strings; integers of more
    than 100,000 digits. Lone surrogates are kept. A deep value can be read and dumped here, while
    `==`, `repr` and `copy.deepcopy` of it may recurse too far.

    Raises:
        JsonTextError: the text is not one JSON value.

    Example:
        >>> document = parse_json('{"id": 1, "id": 2}')
        >>> (document.value, document.duplicates[0].pointer, document.duplicates[0].column)
        ({'id': 2}, '/id', 11)
    """
    limit = sys.get_int_max_str_digits()
    if (0 < limit <= MAX_INT_DIGITS) and (
        c_stack_is_safe() or text.count("[") + text.count("{") <= _SAFE_DEPTH
    ):
        try:
            return JsonDocument(value=_SCANNER.decode(text))
        except (ValueError, RecursionError, _NeedsPositionsError):
            pass
    return _build(text)


def parse_arguments(raw: str | None) -> Arguments:
    """Read the argument text of a tool call; never raises.

    Absent, blank and `{}` text all are the object `{}`. Text that starts as an object and ends too
    early is `truncated`. A repeated key at any depth leaves no value: which one was meant is not
    ours to choose, and the caller keeps the raw text.

    Example:
        >>> parse_arguments('{"amount": 98').state
        'truncated'
        >>> parse_arguments("").value
        {}
    """
    if raw is None or not raw or raw.isspace():
        return Arguments(value={}, state="empty")
    try:
        document = parse_json(raw)
    except JsonTextError as error:
        is_cut = error.truncated and raw.lstrip(" \t\n\r").startswith("{")
        return Arguments(value=None, state="truncated" if is_cut else "malformed", error=str(error))
    if not isinstance(document.value, dict):
        kind = _KIND_NAMES.get(type(document.value), "a number")
        return Arguments(value=None, state="not_object", error=f"the text is {kind}, no object")
    if document.duplicates:
        first = document.duplicates[0]
        pointer = first.pointer if len(first.pointer) <= 20 else f"{first.pointer[:19]}…"
        where = f"line {first.line}, column {first.column}"
        return Arguments(
            value=None, state="duplicate_keys", error=f"{where}: the key {pointer} is repeated"
        )
    return Arguments(value=document.value, state="object")


_KIND_NAMES: Final[Mapping[type, str]] = {
    list: "an array",
    str: "a string",
    bool: "true or false",
    type(None): "null",
}


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _NeedsPositionsError
    return fields


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _NeedsPositionsError
    return value


def _refuse(_: str) -> NoReturn:
    raise _NeedsPositionsError


_SCANNER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse
)


def _build(text: str) -> JsonDocument:
    root: list[JsonValue] = []
    containers: list[list[JsonValue] | dict[str, JsonValue]] = [root]
    keys: list[str] = [""]  # the current key of each container; unused in an array
    repeated: list[Duplicate] = []
    count = listed_parts = 0
    for kind, start, _, scalar in events(text):
        top = containers[-1]
        if kind == "end":
            containers.pop()
            keys.pop()
            continue
        if kind == "key":
            keys[-1] = str(scalar)
            if keys[-1] in top:
                count += 1
                listed_parts += len(keys)
                if len(repeated) < MAX_DUPLICATES and (
                    listed_parts <= _MAX_LISTED_PARTS or not repeated
                ):
                    repeated.append(_duplicate(text, start, containers, keys))
            continue
        value: JsonValue = scalar
        if kind != "scalar":
            value = {} if kind == "object" else []
        if isinstance(top, dict):
            top[keys[-1]] = value
        else:
            top.append(value)
        if isinstance(value, dict | list):
            containers.append(value)
            keys.append("")
    return JsonDocument(value=root[0], duplicates=tuple(repeated), duplicate_count=count)


def _duplicate(
    text: str,
    offset: int,
    containers: list[list[JsonValue] | dict[str, JsonValue]],
    keys: list[str],
) -> Duplicate:
    parts = [
        key if isinstance(container, dict) else len(container) - 1
        for container, key in zip(containers[1:], keys[1:], strict=True)
    ]
    place = error_at(text, offset, "")
    return Duplicate(
        pointer=join_pointer(parts), offset=offset, line=place.line, column=place.column
    )
