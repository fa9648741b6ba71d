"""What a value is and how it is spelled: containers, JSON text, numbers, bytes in base64."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeGuard
from urllib.parse import quote

from agenttrace.domain import JsonValue

BYTES_MARK: Final = "$bytes"
BYTES_KEY: Final = "$bytes:"
"""What the recorder marks bytes with, as a value and as a key; base64 text follows."""

_STRING: Final = re.compile(r'("(?:[^"\\]|\\.)*+")(\s*:)?')
_MIN_NUMBER: Final = 100_000
_MAX_BITS: Final = 256


def is_long_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number of as many digits as are looked for in texts."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return abs(value) >= _MIN_NUMBER and value.bit_length() <= _MAX_BITS
    return abs(value) >= _MIN_NUMBER or not value.is_integer()


def is_known(
    value: dict[str, JsonValue], names: set[str], clean: set[str], *, has_secrets: bool
) -> bool:
    """Whether an object holds only names and scalars that are known to hide nothing."""
    for key, item in value.items():
        if key not in names:
            return False
        kind = type(item)
        if kind is str:
            if item not in clean:
                return False
        elif kind is int or kind is float:
            if has_secrets and is_long_number(item):
                return False
        elif item is not None and kind is not bool:
            return False
    return True


def is_base64_at(source: object, key: object) -> bool:
    """Whether a field holds bytes in base64: bytes as marked, or the head of cut ones."""
    if key == BYTES_MARK:
        return True
    return key == "head" and isinstance(source, Mapping) and source.get("type") == "bytes"


def text_of_base64(text: str) -> str | None:
    """The text that bytes in base64 are; None for what is no base64.

    Bytes that are no UTF-8 are kept apart, so that what stands between them can be searched.
    """
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        return None


def is_container(value: object) -> TypeGuard[Sequence[JsonValue] | Mapping[str, JsonValue]]:
    kind = type(value)
    if kind is str or kind is int or value is None or kind is bool or kind is float:
        return False
    return kind is dict or kind is list or isinstance(value, tuple | Mapping | list)


def empty_like(value: object) -> dict[str, JsonValue] | list[JsonValue]:
    return {} if type(value) is dict or isinstance(value, Mapping) else []


def may_be_json(text: str) -> bool:
    """Whether a text begins like a JSON object or array."""
    if text[:1] in _BRACKETS:
        return True
    return text[:1] in _BLANKS and text.lstrip()[:1] in _BRACKETS


_BRACKETS: Final = frozenset("{[")
_BLANKS: Final = frozenset(" \t\r\n")


def quoted(text: str, source: str) -> str:
    """A JSON string in place of a value's source; left open where the source was cut off."""
    string = json.dumps(text)
    is_open = source[:1] == '"' and (len(source) < 2 or source[-1] != '"')
    return string[:-1] if is_open else string


def with_keys(text: str, shown: Callable[[str], str]) -> str:
    """A JSON text with each key as it is to be shown; what stays is the same object."""

    def put(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0]
        key = json.loads(match[1])
        name = shown(key)
        return match[0] if name is key else json.dumps(name) + match[2]

    return _STRING.sub(put, text)


def spellings(value: str) -> set[str]:
    """How a text may be spelled inside other texts."""
    if value.isalnum() and value.isascii():
        return set()
    try:
        in_url = quote(value, safe="")
    except UnicodeEncodeError:
        in_url = value
    spelled = {
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
        in_url,
    }
    return spelled - {value}
