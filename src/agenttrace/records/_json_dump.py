"""JSON text out: one spelling for each value, at any depth and any length of integer.

The standard encoder does the work; what it cannot do (deep values, integers beyond the
interpreter's digit limit, mappings that are no dict) goes through an iterative writer that makes
the same text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonValue
from agenttrace.records._json_lex import MAX_INT_DIGITS, c_stack_is_safe

if TYPE_CHECKING:
    from typing import Final

_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_MAX_INT_BITS: Final = int(MAX_INT_DIGITS * math.log2(10))


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
    return _dump(value, signed_zero=True)


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
    text = _dump(value, signed_zero=True)
    return _write(value, signed_zero=False) if "-0.0" in text else text


def _dump(value: JsonValue, *, signed_zero: bool) -> str:
    if c_stack_is_safe():
        try:
            return _ENCODER.encode(value)
        except (ValueError, TypeError, RecursionError):
            pass  # the writer can do it, or says what is wrong
    return _write(value, signed_zero=signed_zero)


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
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _integer(value: int) -> str:
    if value.bit_length() <= 2_000:  # below the lowest limit that the interpreter can be given
        return int.__repr__(value)
    if value.bit_length() > _MAX_INT_BITS:
        raise ValueError(f"an integer of more than {MAX_INT_DIGITS} digits is not written")
    # Integers of so many digits are rare, and the module is not small.
    from decimal import Decimal  # noqa: PLC0415

    return str(Decimal(value))  # exact, and free of the interpreter's limit
