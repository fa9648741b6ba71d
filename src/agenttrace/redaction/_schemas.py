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

MaskValue = Callable[[JsonValue, str | None], JsonValue]


def mask_schema(
    schema: JsonValue, group_of: Callable[[str], str | None], mask: MaskValue
) -> JsonValue:
    """A schema with every secret in it replaced.

    Args:
        mask: Masks a value; with a group, all of it.
    """

    def walk(node: JsonValue, group: str | None) -> JsonValue:
        if isinstance(node, Mapping):
            return {key: member(key, item, group) for key, item in node.items()}
        if isinstance(node, list | tuple):
            return [walk(item, group) for item in node]
        return mask(node, None)

    def member(key: str, item: JsonValue, group: str | None) -> JsonValue:
        if key in BY_NAME and isinstance(item, Mapping):
            return {name: walk(one, group_of(name) or group) for name, one in item.items()}
        return mask(item, group) if key in STATED else walk(item, group)

    return walk(schema, None)
