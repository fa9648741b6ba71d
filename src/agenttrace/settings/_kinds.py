"""What a setting may be: read from an argument, from the text of a variable, or from a file.

What it may not be raises, as `int` does; whoever reads it says what is taken instead.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from agenttrace.domain import Case
from agenttrace.records import split_pointer

Content: TypeAlias = Literal["values", "messages", "digest"]
"""What of values is kept, and what of texts is exported."""

_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"0", "false", "no", "off"})
_BYTES: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
_POWERS: Final = {"k": 1, "m": 2, "g": 3, "t": 4}
_BLANK_IN_NAMES: Final = "_-.[] \t\n"
_LONGEST_NAME: Final = 128
"""What masking overlooks in names, and the longest key that it takes for one."""
_LONGEST_S: Final = 365 * 86_400
"""What a system can be asked to wait."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of value."""

    words: str
    """What it takes, for messages and the documentation."""
    read: Callable[[Any], Any]
    """The value as it is used; raises `ValueError`, `TypeError` or `OverflowError`."""
    read_text: Callable[[str], Any]
    """The value that a variable's text stands for, which `read` then reads."""
    read_each: Callable[[Any], Any] | None = None
    """Of a list: reads one entry, so that a bad one does not take the good ones with it."""
    instead: Any = None
    """What is taken for a text that cannot be used; None: the next place counts."""
    is_path: bool = False
    """Relative text is below the folder of what it was read from."""


def _same(value: Any) -> Any:
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _flag_text(text: str) -> bool:
    if text.lower() in _YES:
        return True
    if text.lower() in _NO:
        return False
    raise ValueError


def _flag_or_text(text: str) -> Any:
    try:
        return _flag_text(text)
    except ValueError:
        return text


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    number = float(value)  # an integer that is too long raises an OverflowError
    if not math.isfinite(number):
        raise ValueError
    return number


def _within(low: float, high: float, *, above_low: bool = False) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = _number(value)
        if not low <= number <= high or (above_low and number == low):
            raise ValueError
        return number

    return read


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


def _bytes(value: Any) -> int:
    if not isinstance(value, str):
        return _count(value)
    found = _BYTES.fullmatch(value.strip())
    if found is None:
        raise ValueError
    base = 1024 if found[3] else 1000
    return _count(int(float(found[1]) * base ** _POWERS.get((found[2] or "").lower(), 0)))


def _or_no_limit(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is False else read(value)


def _number_text(text: str) -> Any:
    # What is no number is no limit, or it is refused by what reads it.
    try:
        return float(text)
    except ValueError:
        return False if text.lower() in _NO else text


def _bytes_text(text: str) -> Any:
    return False if text.lower() in _NO - {"0"} else text


def _path(value: Any) -> Path:
    if not isinstance(value, str | os.PathLike) or value == "":
        raise ValueError
    return Path(value)  # a path of bytes raises a TypeError


def _folder(value: Any) -> Path | bool:
    return value if isinstance(value, bool) else _path(value)


def _cases(value: Any) -> Any:
    if isinstance(value, str | os.PathLike):
        return _path(value)
    if isinstance(value, Sequence) and all(isinstance(each, Case) for each in value):
        return value
    raise ValueError


def _content(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip().lower()
    if value not in get_args(Content):
        raise ValueError
    return value


def _secret(value: Any) -> Any:
    if not isinstance(value, bytes | str):
        raise ValueError
    return value


def _each(read: Callable[[Any], str]) -> Callable[[Any], tuple[str, ...]]:
    def read_all(value: Any) -> tuple[str, ...]:
        if isinstance(value, str | bytes | Mapping):
            raise ValueError
        return tuple(read(each) for each in value)

    return read_all


def _field_name(value: Any) -> str:
    # A name that masks nothing would be trusted to mask something.
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        raise ValueError
    if not value.strip(_BLANK_IN_NAMES).strip():
        raise ValueError
    return value


def _texts_text(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _pointer(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    parts = split_pointer(value)
    if not parts or "**" in parts:  # `**` is no wildcard here, and nobody's key
        raise ValueError
    return value


def _function(value: Any) -> Any:
    if not callable(value) or isinstance(value, type):
        raise ValueError
    return value


def _exporter(value: Any) -> Any:
    # By what it does: whoever only judges runs has no tracer loaded.
    named = [name for name in ("export", "shutdown") if callable(getattr(value, name, None))]
    if isinstance(value, type) or len(named) < 2:
        raise ValueError
    return value


def _only_one(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError
    return text == "1"


FLAG: Final = Kind(words="true or false", read=_flag, read_text=_flag_text)
ONE: Final = Kind(words="1", read=_flag, read_text=_only_one)
SHARE: Final = Kind(words="number from 0 to 1", read=_within(0, 1), read_text=_number_text)
SECONDS: Final = Kind(words="seconds, from 0", read=_within(0, _LONGEST_S), read_text=_number_text)
PAUSE: Final = Kind(
    words="seconds, more than 0",
    read=_within(0, _LONGEST_S, above_low=True),
    read_text=_number_text,
)
DAYS: Final = Kind(
    words="days, more than 0, or false",
    read=_or_no_limit(_within(0, 36_500, above_low=True)),
    read_text=_number_text,
)
COUNT: Final = Kind(words="whole number, from 1", read=_count, read_text=int)
BYTES: Final = Kind(words="bytes, as 1000000 or `64 MiB`", read=_bytes, read_text=_same)
BYTES_OR_NO_LIMIT: Final = Kind(
    words="bytes, as 1000000 or `2 GiB`, or false",
    read=_or_no_limit(_bytes),
    read_text=_bytes_text,
)
FOLDER: Final = Kind(words="folder, or false", read=_folder, read_text=_flag_or_text, is_path=True)
CASES: Final = Kind(
    words="file or folder, or a sequence of `Case`", read=_cases, read_text=_same, is_path=True
)
CONTENT: Final = Kind(
    words="`values`, `messages` or `digest`",
    read=_content,
    read_text=_same,
    # The one setting that exposes every value when it is passed over.
    instead="digest",
)
SECRET: Final = Kind(words="text or bytes", read=_secret, read_text=_same)
EXPORTER: Final = Kind(words="`SpanExporter`", read=_exporter, read_text=_same)
NAMES: Final = Kind(
    words="list of names", read=_each(_field_name), read_text=_texts_text, read_each=_field_name
)
POINTERS: Final = Kind(
    words="list of JSON pointers, as `/profile/answer`",
    read=_each(_pointer),
    read_text=_texts_text,
    read_each=_pointer,
)
FUNCTION: Final = Kind(words="function of a text", read=_function, read_text=_same)
