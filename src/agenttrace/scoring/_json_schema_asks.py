"""What a JSON Schema asks of a value without asking another schema: type, bounds, equality.

An answer of None says that a digest or a mask stands where the value itself would be needed; what
types, lengths and equal digests decide is decided all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.redaction import read_digest
from agenttrace.scoring._alike import Alike
from agenttrace.scoring._numbers import at_most, exact, is_number
from agenttrace.scoring._opaque import digest_of, is_cut_down, is_opaque
from agenttrace.scoring._pattern import fits_part

if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

Truth: TypeAlias = "bool | None"


def is_type(value: JsonValue, kind: str) -> Truth:
    """Whether a value has a JSON type; None where a mask, or a digest of a number, hides it."""
    if is_opaque(value) or is_cut_down(value):
        found = digest_of(value)
        if found is None:
            return None
        if kind == "integer" and found.type == "number":
            return None  # it may be a whole one
        return found.type == kind or (kind == "number" and found.type == "integer")
    if kind == "integer":
        return value.__class__ is int or (
            value.__class__ is float and exact(value).denominator == 1
        )
    if kind == "number":
        return is_number(value)
    if kind == "array":
        return isinstance(value, list | tuple)
    if kind == "object":
        return isinstance(value, Mapping)
    return {"string": str, "boolean": bool, "null": type(None)}.get(kind) is value.__class__


def applies_to(value: JsonValue, kind: str) -> Truth:
    """False: the value is plainly not of this type. None: it may be, and is hidden. True: it is."""
    if is_opaque(value) or is_cut_down(value):
        return False if is_type(value, kind) is False else None
    return is_type(value, kind)


def _type(operand: Any, value: JsonValue, alike: Alike) -> Truth:
    answers = [
        is_type(value, kind) for kind in ([operand] if isinstance(operand, str) else operand)
    ]
    return True if True in answers else None if None in answers else False


def _enum(operand: Any, value: JsonValue, alike: Alike) -> Truth:
    if alike.holds_opaque(value):
        return False if all(_is_other(one, value) for one in operand) else None
    wanted = alike.key(value)
    return any(alike.key(one) == wanted for one in operand)


def _is_other(stated: JsonValue, value: JsonValue) -> bool:
    """Whether a value of which digests are known is certainly none that is stated."""
    found = digest_of(value)
    kinds = ("string", "integer", "number", "boolean", "array", "object", "null")
    if found is None:
        return is_opaque(value) is False and not any(
            is_type(value, kind) and is_type(stated, kind) for kind in kinds
        )
    if found.type in ("integer", "number"):
        return not is_number(stated)
    return not is_type(stated, found.type) or (
        isinstance(stated, str | list | tuple)
        and found.length is not None
        and found.length != len(stated)
    )


def _number(
    asks: Callable[[Any, Any], bool],
) -> Callable[[Any, JsonValue, Alike], Truth]:
    def ask(operand: Any, value: JsonValue, alike: Alike) -> Truth:
        applies = applies_to(value, "number")
        return asks(operand, value) if applies else (True if applies is False else None)

    return ask


def _size(kind: str, asks: Callable[[int, int], bool]) -> Callable[[Any, JsonValue, Alike], Truth]:
    def ask(operand: Any, value: Any, alike: Alike) -> Truth:
        applies = applies_to(value, kind)
        if applies is False:
            return True
        if applies is None:
            found = digest_of(value)
            return None if found is None or found.length is None else asks(operand, found.length)
        return asks(operand, len(value))

    return ask


def _multiple(operand: Any, value: Any) -> bool:
    if operand.__class__ is int and value.__class__ is int:
        return bool(value % operand == 0)
    return (exact(value) / exact(operand)).denominator == 1


def _pattern(operand: Any, value: Any, alike: Alike) -> Truth:
    applies = applies_to(value, "string")
    return fits_part(operand, value) if applies else (True if applies is False else None)


def _unique(operand: Any, value: Any, alike: Alike) -> Truth:
    applies = applies_to(value, "array") if operand else False
    if not applies:
        return True if applies is False else None
    keys = {alike.key(item) for item in value}
    if len(keys) < len(value):
        return False
    return None if alike.holds_opaque(value) else True


def _required(operand: Any, value: Any, alike: Alike) -> Truth:
    applies = applies_to(value, "object")
    if not applies:
        return True if applies is False else None
    if all(name in value for name in operand):
        return True
    return None if hides_names(value) else False


def hides_names(value: JsonObject) -> bool:
    return any(read_digest(name) is not None or is_opaque(name) for name in value)


ASSERTIONS: Final[Mapping[str, Callable[[Any, Any, Alike], Truth]]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda operand, value, alike: _enum([operand], value, alike),
    "minimum": _number(at_most),
    "maximum": _number(lambda operand, value: at_most(value, operand)),
    "exclusiveMinimum": _number(lambda operand, value: not at_most(value, operand)),
    "exclusiveMaximum": _number(lambda operand, value: not at_most(operand, value)),
    "multipleOf": _number(_multiple),
    "minLength": _size("string", lambda operand, size: operand <= size),
    "maxLength": _size("string", lambda operand, size: size <= operand),
    "minItems": _size("array", lambda operand, size: operand <= size),
    "maxItems": _size("array", lambda operand, size: size <= operand),
    "minProperties": _size("object", lambda operand, size: operand <= size),
    "maxProperties": _size("object", lambda operand, size: size <= operand),
    "pattern": _pattern,
    "uniqueItems": _unique,
    "required": _required,
}
