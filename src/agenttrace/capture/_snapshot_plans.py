"""How each type is read: a plan for a type, made once and kept while the type lives.

A plan holds names and functions of built-in types, never the class itself, so that classes made at
run time can go.
"""

from __future__ import annotations

import datetime as dt
import enum
import pathlib
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from agenttrace.capture._foreign import (
    ABSENT,
    class_dict,
    field,
    instance_dict,
    loaded,
    mro_of,
    slot,
    type_name,
)
from agenttrace.domain import JsonValue

Gives = Literal["text", "marked", "bytes", "items", "set", "pairs", "other", "name"]
"""What a plan's function gives.

`text` is plain text that stands for the value; `marked` a mark's name, empty where the text stands
for itself, and the text; `other` another value to be taken in this one's place; `name` nothing: the
value is named and not walked.
"""


class Plan(NamedTuple):
    """One way to read values of a type."""

    gives: Gives
    read: Callable[[Any], Any]
    length: Callable[[Any], int] | None = None
    """Length before anything is copied; None: known to be small."""
    names: tuple[str, ...] | None = None
    """Of fields that the class declares, where instances hold them in their dictionaries."""
    extra: str = ""
    """Slot that holds further fields, or None; empty where there is no such slot."""


class Mark(NamedTuple):
    """A finished mark, where a plan mostly gives another value."""

    fields: dict[str, JsonValue]


MAX_ARRAY_ITEMS: Final = 1_000
"""Items of a numpy array that are written out; a larger one is named with shape and type."""

_MAX_PLANS: Final = 2_048
_plans: Final[dict[int, tuple[weakref.ref[type], Plan]]] = {}


def plan_of(kind: type) -> Plan:
    """The plan for values of exactly this type.

    Types are told apart by identity: a metaclass may define `__eq__` and `__hash__`.
    """
    known = _plans.get(id(kind))
    if known is not None and known[0]() is kind:
        return known[1]
    plan = _make(kind)
    if len(_plans) >= _MAX_PLANS:
        _plans.clear()
    _plans[id(kind)] = (weakref.ref(kind), plan)
    return plan


def _make(kind: type) -> Plan:
    bases = mro_of(kind)
    if any(base is enum.Enum for base in bases):
        return Plan("other", _enum_value)
    for base in bases:
        plan = _BUILT_IN.get(id(base)) or (_EXACT.get(id(base)) if base is kind else None)
        if plan is not None:
            return plan
    return _numpy(kind, bases) or _model(bases) or _fields_of(bases) or NAMED


NAMED: Final = Plan("name", type)


# Values of one text form


def _enum_value(value: enum.Enum) -> Any:
    found = field(value, instance_dict(value), "_value_")
    if found is ABSENT:
        raise ValueError("an enum member without a value")
    return found


def _decimal(value: Decimal) -> tuple[str, str]:
    return "$decimal", Decimal.__str__(value).upper().replace("NAN", "NaN")


def _complex(value: complex) -> tuple[str, str]:
    return "$complex", complex.__repr__(value)


def _range(value: range) -> tuple[str, str]:
    parts = (int.__int__(part) for part in (value.start, value.stop, value.step))
    return "$range", ":".join(map(str, parts))


def _is_known_zone(zone: object) -> bool:
    """Whether asking this time zone for its offset runs code of the standard library alone."""
    kind = type(zone)
    return zone is None or kind is dt.timezone or kind is loaded("zoneinfo", "ZoneInfo")


_DATE_PARTS: Final = tuple(dt.date.__dict__[name].__get__ for name in ("year", "month", "day"))
_MOMENT_PARTS: Final = tuple(
    dt.datetime.__dict__[name].__get__ for name in ("hour", "minute", "second", "microsecond")
)
_TIME_PARTS: Final = tuple(
    dt.time.__dict__[name].__get__ for name in ("hour", "minute", "second", "microsecond")
)
_DELTA_PARTS: Final = tuple(
    dt.timedelta.__dict__[name].__get__ for name in ("days", "seconds", "microseconds")
)
_MOMENT_ZONE: Final = dt.datetime.__dict__["tzinfo"].__get__
_MOMENT_FOLD: Final = dt.datetime.__dict__["fold"].__get__
_TIME_ZONE: Final = dt.time.__dict__["tzinfo"].__get__


def _date(value: dt.date) -> str:
    return dt.date.isoformat(dt.date(*(part(value) for part in _DATE_PARTS)))


def _moment(value: dt.datetime) -> tuple[str, str]:
    zone = _MOMENT_ZONE(value)
    year, month, day = (part(value) for part in _DATE_PARTS)
    hour, minute, second, micro = (part(value) for part in _MOMENT_PARTS)
    fold = _MOMENT_FOLD(value)
    local = dt.datetime(year, month, day, hour, minute, second, micro, fold=fold)  # noqa: DTZ001
    if _is_known_zone(zone):
        return "", local.replace(tzinfo=zone).isoformat()
    return "$datetime", f"{local.isoformat()} {type_name(type(zone))}"


def _time(value: dt.time) -> tuple[str, str]:
    zone = _TIME_ZONE(value)
    hour, minute, second, micro = (part(value) for part in _TIME_PARTS)
    local = dt.time(hour, minute, second, micro)
    if _is_known_zone(zone):
        return "", local.replace(tzinfo=zone).isoformat()
    return "$time", f"{local.isoformat()} {type_name(type(zone))}"


def _duration(value: dt.timedelta) -> str:
    days, seconds, micros = (part(value) for part in _DELTA_PARTS)
    total = (days * 86_400 + seconds) * 1_000_000 + micros
    sign = "-" if total < 0 else ""
    days, rest = divmod(abs(total), 86_400_000_000)
    hours, rest = divmod(rest, 3_600_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    seconds, micros = divmod(rest, 1_000_000)
    fraction = f".{micros:06d}".rstrip("0") if micros else ""
    clock = "".join(
        (
            f"{hours}H" if hours else "",
            f"{minutes}M" if minutes else "",
            f"{seconds}{fraction}S" if seconds or micros else "",
        )
    )
    day = f"{days}D" if days else ""
    return f"{sign}P{day}{'T' + clock if clock else ''}" if day or clock else "PT0S"


def _uuid(value: uuid.UUID) -> str:
    digits = f"{int.__int__(slot(value, 'int')):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


# Bytes and containers, read with the base type's own methods


def _bytes(value: bytes) -> bytes:
    return bytes.__getitem__(value, slice(None))


def _bytearray(value: bytearray) -> bytes:
    return bytes(bytearray.__getitem__(value, slice(None)))


_BUILT_IN: Final[Mapping[int, Plan]] = {
    id(kind): plan
    for kind, plan in (
        (bool, Plan("other", lambda value: value)),
        (str, Plan("text", str.__str__)),
        (int, Plan("other", int.__int__)),
        (float, Plan("other", float.__float__)),
        (complex, Plan("marked", _complex)),
        (bytes, Plan("bytes", _bytes, bytes.__len__)),
        (bytearray, Plan("bytes", _bytearray, bytearray.__len__)),
        (dict, Plan("pairs", dict.items, dict.__len__)),
        (list, Plan("items", list.__iter__, list.__len__)),
        (tuple, Plan("items", tuple.__iter__, tuple.__len__)),
        (deque, Plan("items", deque.__iter__, deque.__len__)),
        (set, Plan("set", set.__iter__, set.__len__)),
        (frozenset, Plan("set", frozenset.__iter__, frozenset.__len__)),
        (range, Plan("marked", _range)),
        (Decimal, Plan("marked", _decimal)),
        (dt.datetime, Plan("marked", _moment)),
        (dt.date, Plan("text", _date)),
        (dt.time, Plan("marked", _time)),
        (dt.timedelta, Plan("text", _duration)),
        (uuid.UUID, Plan("text", _uuid)),
    )
}
"""Plans that hold for subclasses too."""

_EXACT: Final[Mapping[int, Plan]] = {
    id(kind): Plan("text", str)
    for kind in (
        pathlib.PurePosixPath,
        pathlib.PureWindowsPath,
        pathlib.PosixPath,
        pathlib.WindowsPath,
    )
}
"""Plans for one type alone: a subclass may override what its text is made of."""


# numpy, only where the program has it


def _array(value: Any) -> Any:
    if value.size <= MAX_ARRAY_ITEMS and value.dtype.kind in "biuf":
        return value.tolist()
    return Mark({"$type": "numpy.ndarray", "shape": list(value.shape), "dtype": value.dtype.str})


def _number(value: Any) -> Any:
    plain = value.item()
    if type(plain) in (bool, int, float, complex):
        return plain
    named: dict[str, JsonValue] = {"$type": type_name(type(value))}
    if value.dtype.kind in "Mmfc":  # times and long floats; others may hold foreign objects
        named["text"] = str(value)
    return Mark(named)


def _numpy(kind: type, bases: Iterable[type]) -> Plan | None:
    generic, array = loaded("numpy", "generic"), loaded("numpy", "ndarray")
    if kind is array:
        return Plan("other", _array)
    is_own = class_dict(kind).get("__module__", "numpy") == "numpy" and any(
        base is generic for base in bases
    )
    return Plan("other", _number) if is_own else None


# Objects that are the fields they declare


def _model(bases: tuple[type, ...]) -> Plan | None:
    """Pydantic, of either generation: the instance dictionary holds the fields."""
    root = loaded("pydantic.root_model", "RootModel")
    new, old = loaded("pydantic.main", "BaseModel"), loaded("pydantic.v1.main", "BaseModel")
    for base in bases:
        if base is root:
            return Plan("other", lambda value: (instance_dict(value) or {})["root"])
        if base is new or base is old:
            own = ("__pydantic_fields__", "model_fields") if base is new else ("__fields__",)
            declared = _first(bases, *own)
            names = tuple(declared) if type(declared) is dict else None
            extra = "__pydantic_extra__" if base is new else ""
            return Plan("pairs", partial(_model_fields, names), names=names, extra=extra)
    return None


def _model_fields(names: tuple[str, ...] | None, value: object) -> list[tuple[str, Any]]:
    fields = instance_dict(value) or {}
    extra = slot(value, "__pydantic_extra__")
    pairs = (
        list(fields.items())
        if names is None
        else [(name, fields[name]) for name in names if name in fields]
    )
    return [*pairs, *extra.items()] if type(extra) is dict else pairs


def _fields_of(bases: tuple[type, ...]) -> Plan | None:
    """Dataclasses and attrs classes: the fields that the class declares and the instance has."""
    declared = _first(bases, "__dataclass_fields__")
    names: tuple[Any, ...] = ()
    if type(declared) is dict:
        names = tuple(declared)
    else:
        attributes = _first(bases, "__attrs_attrs__")
        if not any(base is tuple for base in mro_of(type(attributes))):
            return None
        names = tuple(slot(one, "name") for one in tuple.__iter__(attributes))
    if not all(type(name) is str for name in names):
        return None
    return Plan("pairs", partial(_declared, names), names=names)


def _declared(names: tuple[str, ...], value: object) -> list[tuple[str, Any]]:
    fields = instance_dict(value)
    if fields:
        pairs = [(name, fields[name]) for name in names if name in fields]
        if len(pairs) == len(names):
            return pairs
    pairs = [(name, field(value, fields, name)) for name in names]
    return [pair for pair in pairs if pair[1] is not ABSENT]


def _first(bases: Iterable[type], *names: str) -> Any:
    for base in bases:
        for name in names:
            found = class_dict(base).get(name, ABSENT)
            if found is not ABSENT:
                return found
    return ABSENT
