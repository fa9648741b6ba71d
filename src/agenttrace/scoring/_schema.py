"""What a tool's JSON Schema says about a call: its types and its parameters, no more.

This is a stated subset: `type`, `properties`, `additionalProperties: false`, and for references
`required`. It tells a call that breaks its tool's own schema from one that merely leaves the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.records import split_pointer
from agenttrace.scoring._opaque import digest_of, is_opaque

if TYPE_CHECKING:
    from typing import Any, Final

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: (
        value.__class__ is int or (value.__class__ is float and value.is_integer())
    ),
    "number": lambda value: value.__class__ in (int, float),
    "boolean": lambda value: value.__class__ is bool,
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}


_SAMPLES: Final[Mapping[str, JsonValue]] = {
    "string": "",
    "integer": 0,
    "number": 0.5,
    "boolean": True,
    "object": {},
    "array": [],
}
"""A value of each type that a digest states."""


def breaks_schema(args: JsonObject, schema: JsonObject | None) -> bool:
    """Whether an argument has a type that the schema does not state, or no place in it."""
    if schema is None:
        return False
    properties = schema.get("properties")
    known: Mapping[str, JsonValue] = properties if isinstance(properties, Mapping) else {}
    if schema.get("additionalProperties") is False and any(name not in known for name in args):
        return True
    return any(name in known and not _has_type(value, known[name]) for name, value in args.items())


def lacks_required(
    args: JsonObject, schema: JsonObject | None, elsewhere: Collection[str] = ()
) -> bool:
    """Whether a parameter is left out that the schema requires and states no default for.

    Args:
        elsewhere: Pointers to arguments that are given in another way.
    """
    required = schema.get("required") if schema is not None else None
    properties = schema.get("properties") if schema is not None else None
    if not isinstance(required, list | tuple) or not isinstance(properties, Mapping):
        return False
    given = {split_pointer(pointer)[:1] for pointer in elsewhere}
    for name in required:
        stated = properties.get(name) if isinstance(name, str) else None
        if not isinstance(stated, Mapping) or "default" in stated:
            continue
        if name not in args and (name,) not in given:
            return True
    return False


def _has_type(value: JsonValue, stated: JsonValue) -> bool:
    if not isinstance(stated, Mapping):
        return True
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)).startswith("$"):
        return True  # a mark of what JSON cannot hold, or what was too long to keep
    if is_opaque(value):
        found = digest_of(value)
        if found is None or found.type not in _SAMPLES:
            return True  # a mask does not say what type is behind it
        value = _SAMPLES[found.type]
    types = stated.get("type")
    names = [types] if isinstance(types, str) else types
    if not isinstance(names, list | tuple):
        return True
    checks = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    return not checks or any(check(value) for check in checks)
