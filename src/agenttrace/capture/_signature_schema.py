"""What a function's signature says of its arguments, as a JSON Schema, without running its code.

Annotations are only looked at where they are types of the language or of `typing`, or the plain
text of one. What is none of these says nothing, and stands as `{}`: a type is never invented.
Defaults are left out: which of them were taken stands in each execution's record.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from inspect import Parameter
from typing import Annotated, Any, Final, Optional, Union

from agenttrace.domain import JsonObject, JsonValue

_NAMES: Final[Mapping[Any, str]] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    list: "array",
    tuple: "array",
    dict: "object",
    type(None): "null",
    None: "null",
}
_BY_TEXT: Final[Mapping[str, Any]] = {
    **{kind.__name__: kind for kind in _NAMES if isinstance(kind, type)},
    "None": None,
}
_UNIONS: Final = (types.UnionType, type(Optional[int]), type(Union[int, str]))  # noqa: UP007, UP045
_GENERIC: Final = types.GenericAlias
_ANNOTATED: Final[Any] = type(Annotated[int, 1])
_MAX_MEMBERS: Final = 16
_REST: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def schema_of_parameters(parameters: Iterable[Parameter], left_out: str | None) -> JsonObject:
    """The schema of what parameters take.

    Args:
        left_out: The parameter that is given the object, which is no argument.
    """
    properties: dict[str, JsonValue] = {}
    required: list[JsonValue] = []
    is_closed = True
    for parameter in parameters:
        if parameter.kind in _REST or parameter.name == "cls":
            is_closed = False  # a class method's own, or an argument of that name
        elif parameter.name != left_out:
            properties[parameter.name] = _schema_of(parameter.annotation)
            if parameter.default is Parameter.empty:
                required.append(parameter.name)
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if is_closed:
        schema["additionalProperties"] = False
    return schema


def _schema_of(annotation: Any) -> dict[str, JsonValue]:
    if type(annotation) is str and len(annotation) < 200:
        members = [_BY_TEXT.get(part.strip(), Parameter) for part in annotation.split("|")]
    else:
        members = _members(annotation)
    found: list[JsonValue] = []
    for member in members[:_MAX_MEMBERS]:
        # By identity: an annotation may be any object, and have an `__eq__` of its own.
        name = next((name for kind, name in _NAMES.items() if kind is member), None)
        if name is None:
            return {}
        if name not in found:
            found.append(name)
    return {"type": found[0] if len(found) == 1 else found} if found else {}


def _members(annotation: Any) -> list[Any]:
    """The types of a union, or the one type; of a generic type what it is made from."""
    shown: Any = annotation.__origin__ if type(annotation) is _ANNOTATED else annotation
    parts = shown.__args__ if any(type(shown) is kind for kind in _UNIONS) else [shown]
    return [part.__origin__ if type(part) is _GENERIC else part for part in parts]
