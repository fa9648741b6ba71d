"""Numbers that a tool's schema calls numbers: there `10` and `10.0` are one value.

JSON Schema counts both as the same number, and as an integer (draft 2020-12, 4.2.2 and 6.1.1), and
a validator may hand on either. Everywhere else the two differ, as typed JSON does.
"""

from __future__ import annotations

from collections.abc import Mapping

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.scoring._opaque import digest_of, is_opaque

if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

_NUMBERS: Final = ("number", "integer")
_MAX_DEPTH: Final = 16
_EACH: Final = "*"

Places: TypeAlias = "Mapping[str, Any]"
"""Where numbers stand: property to None for a number, or to the places inside; `*` is each item."""


def number_places(schema: JsonObject | None) -> Places | None:
    """Where a schema states numbers; None where it states none."""
    found = _places(schema, schema, _MAX_DEPTH) if schema is not None else None
    return found or None


def _places(stated: JsonValue, root: JsonObject, depth: int) -> dict[str, Any] | None:
    """The places inside a value; None: the value is a number itself."""
    found: dict[str, Any] = {}
    if not isinstance(stated, Mapping) or depth == 0:
        return found
    types = stated.get("type")
    if types in _NUMBERS or (
        isinstance(types, list | tuple) and any(one in _NUMBERS for one in types)
    ):
        return None
    options = [one for key in ("anyOf", "oneOf", "allOf") for one in _listed(stated.get(key))]
    reference = stated.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        definitions = root.get("$defs")
        if isinstance(definitions, Mapping):
            options.append(definitions.get(reference.removeprefix("#/$defs/")))
    for option in options:
        inside = _places(option, root, depth - 1)
        if inside is None:
            return None
        found.update(inside)
    properties = stated.get("properties")
    parts = dict(properties) if isinstance(properties, Mapping) else {}
    if "items" in stated:
        parts[_EACH] = stated["items"]
    for name, one in parts.items():
        inside = _places(one, root, depth - 1)
        if inside is None or inside:
            found[name] = inside
    return found


def _listed(value: JsonValue) -> list[JsonValue]:
    return list(value) if isinstance(value, list | tuple) else []


def one_form(value: JsonValue, places: Places | None) -> JsonValue:
    """A value with each of those numbers in the one form that equal numbers share."""
    if places is None:
        return _one_number(value)
    if isinstance(value, Mapping) and not is_opaque(value):
        changed = {}
        for name, inside in places.items():
            if name in value and (made := one_form(value[name], inside)) is not value[name]:
                changed[name] = made
        return {**value, **changed} if changed else value
    if isinstance(value, list | tuple) and _EACH in places:
        return [one_form(item, places[_EACH]) for item in value]
    return value


def _one_number(value: JsonValue) -> JsonValue:
    if value.__class__ is float and value.is_integer():
        return int(value)
    if is_opaque(value):
        found = digest_of(value)
        if found is not None and found.type in _NUMBERS:
            return f"[number {found.loose}]"
    return value
