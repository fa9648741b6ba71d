"""Masking of a tool's JSON Schema, in which a field's name stands over types and not over values.

The name of a secret field says that its defaults, examples and choices are secret; its type and
description are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agenttrace.domain import JsonValue

BY_NAME: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
STATED: Final = frozenset({"default", "const", "enum", "example", "examples"})
"""Keywords over values of the field, and those over schemas by name."""
LISTED: Final = frozenset({"enum", "examples"})
ITEMS: Final = frozenset({"items", "prefixItems"})
Place = tuple[str, ...]
"""Names on the way from the arguments to a field."""

MaskValue = Callable[[JsonValue, str | None], JsonValue]


def mask_schema(
    schema: JsonValue, group_of: Callable[[str], str | None], mask: MaskValue
) -> JsonValue:
    """A schema with every secret in it replaced.

    Args:
        mask: Masks a value; with a group, all of it; else what is secret in it by name or place.
    """

    def walk(node: JsonValue, group: str | None, place: Place) -> JsonValue:
        if isinstance(node, Mapping):
            return {key: member(key, item, group, place) for key, item in node.items()}
        if isinstance(node, list | tuple):
            return [walk(item, group, place) for item in node]
        return mask(node, None)

    def member(key: str, item: JsonValue, group: str | None, place: Place) -> JsonValue:
        if key in BY_NAME and isinstance(item, Mapping):
            is_field = key == "properties"
            return {
                name: walk(one, group_of(name) or group, (*place, name) if is_field else ())
                for name, one in item.items()
            }
        if key in LISTED and isinstance(item, list | tuple):
            return [stated(one, group, place) for one in item]
        if key in STATED or (key == "pattern" and group is not None):
            return stated(item, group, place)
        return walk(item, group, (*place, "0") if key in ITEMS and place else place)

    def stated(value: JsonValue, group: str | None, place: Place) -> JsonValue:
        if group is not None:
            return mask(value, group)
        # As an argument at that place, so that what is secret by its path is found.
        around = value
        for name in reversed(place):
            around = {name: around}
        found = mask(around, None)
        for name in place:
            if not isinstance(found, Mapping) or name not in found:
                break
            found = found[name]
        return found

    return walk(schema, None, ())
