"""JSON text out: one spelling for each value, at any depth and any length of integer.

The standard encoder does the work; what it cannot do (deep values, integers beyond the
interpreter's digit limit, mappings that are no dict) goes through an iterative writer that makes
the same text.
"""

from __future__ import annotations

import json
import json.encoder
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonValue
from agenttrace.records._json_lex import MAX_INT_DIGITS, c_stack_is_safe

if TYPE_CHECKING:
    from typing import Any, Final, NoReturn

_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_MAX_INT_BITS: Final = int(MAX_INT_DIGITS * math.log2(10))


def _no_json(value: object) -> NoReturn:
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _encoder(inside: dict[int, Any]) -> Callable[[Any, int], Sequence[str]] | None:
    """The C part of the standard encoder; None for an interpreter without it.

    `JSONEncoder.encode` takes longer to set it up than it needs to write a call.

    Args:
        inside: Holds the containers that are being written, so that one in itself is found.
    """
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return None
    text_of = json.encoder.encode_basestring_ascii
    made: Callable[[Any, int], Sequence[str]] = make(
        inside, _no_json, text_of, None, ":", ",", True, False, False
    )
    return made


def _checked_text(value: Any) -> str | None:
    """The value's text by the standard encoder; None for what the writer has to look at."""
    if c_stack_is_safe():
        try:
            encode = _encoder({})
            return _ENCODER.encode(value) if encode is None else "".join(encode(value, 0))
        except (ValueError, TypeError, RecursionError):
            pass  # the writer can do it, or says what is wrong
    return None


def _many_texts() -> Callable[[Any], str | None]:
    """`_checked_text` for many values, by one encoder: for one thread at a time."""
    inside: dict[int, Any] = {}
    encode, join = _encoder(inside), "".join
    if encode is None or not c_stack_is_safe():
        return _checked_text

    def checked_text(value: Any) -> str | None:
        try:
            return join(encode(value, 0))
        except (ValueError, TypeError, RecursionError):
            inside.clear()
            return None

    return checked_text


def dump_json(value: JsonValue) -> str:
    r"""Write a value as ASCII JSON text with sorted keys and no blanks.

    Values are to be made of plain JSON types; subclasses and other sequences and mappings are
    written as the JSON type that they extend. Exact for integers of any length that `parse_json`
    reads; `-0.0` keeps its sign.

    Raises:
        ValueError: NaN, an infinity, an integer of more than 100,000 digits, or a value that
            contains itself.
        TypeError: something that has no JSON form.

    Example:
        >>> dump_json({"b": 10.0, "a": ["é", None]})
        '{"a":["\\u00e9",null],"b":10.0}'
    """
    text = _checked_text(value)
    return _write(value, signed_zero=True) if text is None else text


def canonical(value: JsonValue) -> str:
    """Write the text that is equal for equal JSON values, and for no others.

    Types count: `10`, `10.0`, `"10"` and `true` all differ. `1e3` and `1000.0` are one double and
    equal; so are `-0.0` and `0.0`, which no arithmetic tells apart. Key order has no meaning, list
    order has.

    Raises:
        ValueError: as `dump_json`.
        TypeError: as `dump_json`.

    Example:
        >>> canonical({"b": 1, "a": 1e3}) == canonical({"a": 1000.0, "b": 1})
        True
        >>> canonical(10) == canonical(10.0)
        False
    """
    text = _checked_text(value)
    return _write(value, signed_zero=False) if text is None or "-0.0" in text else text


def canonical_writer() -> Callable[[JsonValue], str]:
    """`canonical` for many values: what each call of it has to set up is set up once.

    The result is for one thread at a time.

    Example:
        >>> write = canonical_writer()
        >>> [write(value) for value in (10, 10.0, {"b": -0.0, "a": []})]
        ['10', '10.0', '{"a":[],"b":0.0}']
    """
    checked_text = _many_texts()

    def write(value: JsonValue) -> str:
        text = checked_text(value)
        return _write(value, signed_zero=False) if text is None or "-0.0" in text else text

    return write


def _write(value: JsonValue, *, signed_zero: bool) -> str:
    out: list[str] = []
    # One iterator for each open container, and its closing bracket; `open_ids` finds cycles.
    stack: list[tuple[Iterator[tuple[str, JsonValue]], str, int]] = []
    open_ids: set[int] = set()
    current = value
    while True:
        children: Iterator[tuple[str, JsonValue]] | None = None
        bracket = "]"
        if isinstance(current, Mapping):
            children, bracket = _fields(current), "}"
        elif isinstance(current, Sequence) and not isinstance(current, str | bytes | bytearray):
            children = _items(current)
        if children is None:
            out.append(_scalar(current, signed_zero=signed_zero))
        else:
            if id(current) in open_ids:
                raise ValueError("the value contains itself")
            open_ids.add(id(current))
            stack.append((children, bracket, id(current)))
            out.append("{" if bracket == "}" else "[")
        while stack:
            children, bracket, identity = stack[-1]
            following = next(children, None)
            if following is not None:
                out.append(following[0])
                current = following[1]
                break
            out.append(bracket)
            open_ids.discard(identity)
            stack.pop()
        if not stack:
            return "".join(out)


def _fields(value: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    comma = ""
    if not all(isinstance(key, str) for key in value):
        raise TypeError("keys of a JSON object are strings")
    for key in sorted(value):
        yield f"{comma}{_ENCODER.encode(key)}:", value[key]
        comma = ","


def _items(value: Sequence[JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    comma = ""
    for item in value:
        yield comma, item
        comma = ","


def _scalar(value: object, *, signed_zero: bool) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("NaN and infinities have no JSON form")
        return "0.0" if value == 0 and not signed_zero else float.__repr__(value)
    if value is None or isinstance(value, str | bool):
        return _ENCODER.encode(value)
    _no_json(value)


def _integer(value: int) -> str:
    if value.bit_length() <= 2_000:  # below the lowest limit that the interpreter can be given
        return int.__repr__(value)
    if value.bit_length() > _MAX_INT_BITS:
        raise ValueError(f"an integer of more than {MAX_INT_DIGITS} digits is not written")
    # Integers of so many digits are rare, and the module is not small.
    from decimal import Decimal  # noqa: PLC0415

    return str(Decimal(value))  # exact, and free of the interpreter's limit
