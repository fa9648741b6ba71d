"""Plain JSON shapes of frozen dataclasses, both ways, driven by their own annotations.

A field that has its default is left out, so that a line holds only what was seen, and an older
line reads as the same record after a field was added.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from agenttrace.domain import JsonValue

T = TypeVar("T")
Convert = Callable[[Any], Any]
FieldsReader = Callable[[Any, "dict[str, JsonValue] | None", "Mapping[str, Any]"], "dict[str, Any]"]


class ShapeError(ValueError):
    """A plain value does not have the shape of the type it should become."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where or 'value'} {reason}")
        self.where = where
        self.reason = reason

    def under(self, outer: str) -> ShapeError:
        """The same error of a value that stands inside another, at this place of it.

        A place is put together on the way out of an error: most records have none, and places
        that nobody reads took a good part of the time of reading them.
        """
        join = "." if outer and self.where and self.where[0] != "[" else ""
        return ShapeError(f"{outer}{join}{self.where}", self.reason)


def to_plain(value: Any) -> Any:
    """Turn a domain object into JSON values; the result shares nothing that is mutable."""
    if value is None or value.__class__ in _SCALARS:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain = {}
        for name, default in _defaults(type(value)):
            item = getattr(value, name)
            if item is not default and not _same(item, default):
                plain[name] = to_plain(item)
        return plain
    if isinstance(value, StrEnum):
        return value.value
    if type(value) is dict or type(value) is list:
        return _copied(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(to_plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [to_plain(item) for item in value]
    return value


def _copied(value: Any) -> Any:
    """The copy of an object or list, whose depth costs no stack: JSON may be of any."""
    result: Any = {} if type(value) is dict else []
    found = [(value, result)]
    while found:
        source, out = found.pop()
        for key, item in source.items() if type(source) is dict else enumerate(source):
            copy: Any = {} if type(item) is dict else [] if type(item) is list else None
            if copy is None:
                copy = to_plain(item)
            else:
                found.append((item, copy))
            if type(out) is dict:
                out[str(key)] = copy
            else:
                out.append(copy)
    return result


def from_plain(kind: type[T], plain: Mapping[str, JsonValue], where: str = "") -> T:
    """Turn JSON values into a domain object.

    Raises:
        ShapeError: A field is unknown, missing, or of the wrong type; it says which.
    """
    made: T = kind(**fields_from_plain(kind, plain, where))
    return made


def fields_from_plain(
    kind: type[Any],
    plain: Any,
    where: str = "",
    *,
    unknown: dict[str, JsonValue] | None = None,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The fields of a domain object that JSON values hold, each of its own type.

    Args:
        unknown: Takes what the type has no field for, for readers that keep what they do not know.
            None: there may be no such thing.
        given: Fields that are known otherwise, whatever the JSON values say of them.

    Raises:
        ShapeError: As `from_plain`.
    """
    try:
        return _fields_reader(cast("Hashable", kind))(plain, unknown, given)
    except ShapeError as error:
        raise error.under(where) from None


# JSON values are taken as they are; the recursive alias need not be resolved for that.
_JSON_NAMES = {"JsonValue": Any, "JsonObject": Mapping[str, Any]}
_SCALARS = frozenset({str, int, float, bool})


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    pairs = []
    for field in dataclasses.fields(kind):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        pairs.append((field.name, default))
    return tuple(pairs)


def _same(item: Any, default: Any) -> bool:
    # Typed equality: a result of 0, 0.0 or False is not the default None or 1.
    return item.__class__ is default.__class__ and not _scalar_differs(item, default)


def _scalar_differs(item: Any, default: Any) -> bool:
    try:
        return bool(item != default)
    except Exception:  # noqa: BLE001 - a foreign __eq__ may raise; then it is not the default
        return True


@cache
def _converter(hint: Any) -> Convert:
    if dataclasses.is_dataclass(hint):
        return _dataclass_converter(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _union_converter(args)
    if origin is tuple:
        return _tuple_converter(_converter(args[0]))
    if origin is frozenset:
        return _frozenset_converter(_converter(args[0]))
    if origin in (Mapping, dict) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return _mapping_converter(args[0], _converter(args[1]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum_converter(hint)
    if hint in _SCALARS:
        return _scalar_converter(hint)
    return _anything


def _anything(value: Any) -> Any:
    return value


def _as_they_are(hint: Any) -> frozenset[type]:
    """Types whose values need no conversion for a hint, so that no function is called for them."""
    if get_origin(hint) in (Union, types.UnionType):
        taken: set[type] = set()
        for one in get_args(hint):
            if one is type(None) or (one in _SCALARS and not (one is int and float in taken)):
                taken.add(one)
        return frozenset(taken)
    return frozenset({hint}) if hint in _SCALARS else frozenset()


def _scalar_converter(kind: type[Any]) -> Convert:
    def convert(value: Any) -> Any:
        if value.__class__ is kind:
            return value
        if kind is float and value.__class__ is int:
            return float(value)
        raise ShapeError("", f"is {_name(value)}, not {kind.__name__}")

    return convert


def _enum_converter(kind: type[StrEnum]) -> Convert:
    members = {member.value: member for member in kind}

    def convert(value: Any) -> Any:
        found = members.get(value) if isinstance(value, str) else None
        if found is None:
            raise ShapeError("", f"is {value!r:.40}, not one of {', '.join(kind)}")
        return found

    return convert


def _tuple_converter(item: Convert) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ShapeError("", f"is {_name(value)}, not a list")
        made = []
        try:
            for one in value:
                made.append(item(one))  # noqa: PERF401 - its length is the place of an error
        except ShapeError as error:
            raise error.under(f"[{len(made)}]") from None
        return tuple(made)

    return convert


def _frozenset_converter(item: Convert) -> Convert:
    many = _tuple_converter(item)
    return lambda value: frozenset(many(value))


def _mapping_converter(key: Any, item: Convert) -> Convert:
    to_key = _converter(key)

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ShapeError("", f"is {_name(value)}, not an object")
        made = {}
        for name, one in value.items():
            known = to_key(name)
            try:
                made[known] = item(one)
            except ShapeError as error:
                raise error.under(str(name)) from None
        return made

    return convert


def _union_converter(args: tuple[Any, ...]) -> Convert:
    others = [a for a in args if a is not type(None)]
    nullable = len(others) < len(args)
    converters = [_converter(a) for a in others]
    if _anything in converters:
        return _anything

    def convert(value: Any) -> Any:
        if value is None and nullable:
            return None
        failure: ShapeError | None = None
        for one in converters:
            try:
                return one(value)
            except ShapeError as error:
                failure = failure or error
        raise failure or ShapeError("", "is null")

    return convert


def _dataclass_converter(kind: Any) -> Convert:
    def convert(value: Any) -> Any:
        return kind(**_fields_reader(kind)(value, None, {}))

    return convert


@cache
def _fields_reader(kind: Any) -> FieldsReader:
    """Reads a plain object to the fields of a dataclass; made when one is first read."""
    hints = get_type_hints(kind, localns=_JSON_NAMES)
    fields = dataclasses.fields(kind)
    needed = {
        f.name
        for f in fields
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    readers = {f.name: (_as_they_are(hints[f.name]), _converter(hints[f.name])) for f in fields}

    def read(
        value: Any, unknown: dict[str, JsonValue] | None, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        if value.__class__ is not dict and not isinstance(value, Mapping):
            raise ShapeError("", f"is {_name(value)}, not an object")
        made = {}
        for name, item in value.items():
            reader = readers.get(name)
            if reader is None:
                if unknown is None:
                    raise ShapeError("", f"has an unknown field {name!r:.40}")
                unknown[name] = item
            elif item.__class__ in reader[0]:
                made[name] = item
            elif name not in given:
                try:
                    made[name] = reader[1](item)
                except ShapeError as error:
                    raise error.under(name) from None
        made.update(given)
        absent = needed - made.keys()
        if absent:
            raise ShapeError("", f"lacks {', '.join(sorted(absent))}")
        return made

    return read


def _name(value: Any) -> str:
    return {dict: "an object", list: "a list", type(None): "null"}.get(
        type(value), type(value).__name__
    )
