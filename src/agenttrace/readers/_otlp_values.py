"""Values of OTLP, from protobuf objects and from both of its JSON spellings, as plain Python.

The collector writes ids in hexadecimal and 64-bit integers as text; protobuf's own JSON writes ids
in base64, and some writers keep the field names of the protocol file. All of them are read.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

_MOST_DEPTH: Final = 100
"""Attribute values nest no deeper than this in any span of ours."""


class OtlpShapeError(ValueError):
    """Something is not shaped as OTLP; the message says what."""


def field(message: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """One field of a JSON message, under its JSON name or the protocol file's."""
    if name in message:
        return message[name]
    return message.get(_snake(name), default)


@cache
def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def messages(message: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """A repeated field of a JSON message.

    Raises:
        OtlpShapeError: It is no list of objects.
    """
    value = field(message, name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(_is_object(item) for item in value):
        raise OtlpShapeError(f"{name} is no list of objects")
    return value


def _is_object(value: Any) -> bool:
    # Nearly all are; to ask the abstract class takes ten times as long.
    return value.__class__ is dict or isinstance(value, Mapping)


def json_attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a JSON span or resource.

    Raises:
        OtlpShapeError: An attribute has no key or an unreadable value.
    """
    made = {}
    for one in messages(span, "attributes"):
        key = one.get("key")
        if not isinstance(key, str):
            raise OtlpShapeError("an attribute has no key")
        value = one.get("value")
        text = value.get("stringValue") if isinstance(value, dict) and len(value) == 1 else None
        made[key] = text if text.__class__ is str else _json_value(value, key, 0)
    return made


def _json_value(value: Any, key: str, depth: int) -> Any:
    if value is None or value == {}:
        return None
    if not isinstance(value, Mapping) or len(value) != 1 or depth > _MOST_DEPTH:
        raise OtlpShapeError(f"the attribute {key!r:.60} has an unreadable value")
    ((name, inner),) = value.items()
    try:
        return _json_scalar(name.replace("_v", "V"), inner, key, depth)
    except (TypeError, ValueError, AttributeError) as error:
        raise OtlpShapeError(f"the attribute {key!r:.60} has an unreadable {name!s:.30}") from error


def _json_scalar(name: str, inner: Any, key: str, depth: int) -> Any:
    if name == "stringValue" and isinstance(inner, str):
        return inner
    if name == "boolValue" and isinstance(inner, bool):
        return inner
    if name == "intValue" and isinstance(inner, str | int) and not isinstance(inner, bool):
        return int(inner)
    if name == "doubleValue" and not isinstance(inner, bool):
        return _double(inner)
    if name == "bytesValue":
        return base64.b64decode(inner, validate=True)
    if name == "arrayValue":
        return [_json_value(item, key, depth + 1) for item in inner.get("values", ())]
    if name == "kvlistValue":
        return {
            str(item["key"]): _json_value(item.get("value"), key, depth + 1)
            for item in inner.get("values", ())
        }
    raise ValueError(name)


def _double(inner: Any) -> float:
    words = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    return words[inner] if isinstance(inner, str) and inner in words else float(inner)


def proto_attributes(span: Any) -> dict[str, Any]:
    """The attributes of a protobuf span or resource."""
    return {one.key: _proto_value(one.value) for one in span.attributes}


def _proto_value(value: Any) -> Any:
    name = value.WhichOneof("value")
    if name is None:
        return None
    inner = getattr(value, name)
    if name == "array_value":
        return [_proto_value(item) for item in inner.values]
    if name == "kvlist_value":
        return {item.key: _proto_value(item.value) for item in inner.values}
    return inner


def hex_id(value: Any, size: int) -> str | None:
    """An id of so many bytes as lower-case hexadecimal; None where it is absent or all zeros.

    Raises:
        OtlpShapeError: It is neither hexadecimal nor base64 of that size.
    """
    if not value:
        return None
    data = value if isinstance(value, bytes) else _id_bytes(value, size)
    if len(data) != size:
        raise OtlpShapeError(f"an id has {len(data)} bytes, not {size}")
    return data.hex() if any(data) else None


def _id_bytes(value: Any, size: int) -> bytes:
    if not isinstance(value, str):
        raise OtlpShapeError("an id is no text")
    try:
        if len(value) == 2 * size:
            return bytes.fromhex(value)
        return base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error) as error:
        raise OtlpShapeError(f"the id {value!r:.40} cannot be read") from error


def nanoseconds(value: Any) -> int:
    """A time of OTLP, which JSON writes as text.

    Raises:
        OtlpShapeError: It is no integer.
    """
    if isinstance(value, str | int) and not isinstance(value, bool):
        try:
            return int(value)
        except ValueError:
            pass
    raise OtlpShapeError(f"the time {value!r:.40} is no integer")
