"""Reading foreign objects without running their code.

Ordinary attribute access may call a property, `__getattribute__`, `__getattr__` or a metaclass.
These functions go through the descriptors of `type` itself and accept only what the interpreter put
into a class: the real instance dictionary and real slots.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

ABSENT: Final = object()
"""Nothing stands there, which is not the same as None."""

_MAX_NAME: Final = 200

mro_of: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
"""The classes of a type, in order; no metaclass is asked."""

class_dict: Final[Callable[[type], Mapping[str, Any]]] = type.__dict__["__dict__"].__get__
"""What one class itself defines."""

_module: Final[Callable[[type], object]] = type.__dict__["__module__"].__get__
_qualname: Final[Callable[[type], object]] = type.__dict__["__qualname__"].__get__


def is_scalar(value: object) -> bool:
    """Whether the value is a scalar of the language, none of whose code is foreign.

    Asked by identity: a metaclass may define `__eq__` and `__hash__`.
    """
    kind = type(value)
    return (
        kind is str
        or kind is int
        or kind is float
        or kind is bool
        or kind is bytes
        or value is None
    )


def type_name(kind: type) -> str:
    """`module.Qualname` of a type; a part that is no plain text is `?`."""
    parts = []
    for read in (_module, _qualname):
        try:
            part = read(kind)
        except AttributeError:
            part = None
        parts.append(part[:_MAX_NAME] if type(part) is str else "?")
    return ".".join(parts)


def defines(value: object, name: str) -> bool:
    """Whether a class of the value defines this name; nothing is asked of the value itself."""
    return any(name in class_dict(base) for base in mro_of(type(value)))


def instance_dict(value: object) -> dict[str, Any] | None:
    """The dictionary that the interpreter keeps for an instance; None when it has none.

    A `__dict__` that a class defines as a property is passed over for the real one below it.
    """
    for base in mro_of(type(value)):
        found = class_dict(base).get("__dict__", ABSENT)
        kind = type(found)
        if kind is GetSetDescriptorType or kind is MemberDescriptorType:
            if found.__objclass__ is not base:
                continue
            fields = found.__get__(value)
            return fields if type(fields) is dict else None
    return None


def dict_getter(kind: type) -> Callable[[Any], Any] | None:
    """What gives an instance's dictionary, as `instance_dict` does, for many of one class."""
    for base in mro_of(kind):
        found = class_dict(base).get("__dict__", ABSENT)
        of = type(found)
        if (of is GetSetDescriptorType or of is MemberDescriptorType) and (
            found.__objclass__ is base
        ):
            getter: Callable[[Any], Any] = found.__get__
            return getter
    return None


def slot_getter(kind: type, name: str) -> Callable[[Any], Any] | None:
    """What gives the value of a real slot, or raises AttributeError, for many of one class."""
    for base in mro_of(kind):
        found = class_dict(base).get(name, ABSENT)
        if found is not ABSENT:
            if type(found) is MemberDescriptorType and found.__objclass__ is base:
                getter: Callable[[Any], Any] = found.__get__
                return getter
            return None
    return None


def slot(value: object, name: str) -> Any:
    """What a real slot of an instance holds, or `ABSENT`."""
    for base in mro_of(type(value)):
        found = class_dict(base).get(name, ABSENT)
        if found is ABSENT:
            continue
        if type(found) is MemberDescriptorType and found.__objclass__ is base:
            try:
                return found.__get__(value)
            except AttributeError:
                return ABSENT
        return ABSENT
    return ABSENT


def field(value: object, fields: dict[str, Any] | None, name: str) -> Any:
    """An attribute from the instance dictionary or a slot, or `ABSENT`."""
    if fields is not None:
        found = fields.get(name, ABSENT)
        if found is not ABSENT:
            return found
    return slot(value, name)


def loaded(module: str, name: str) -> object:
    """A name of a module that the program has already imported, or `ABSENT`; imports nothing."""
    found = sys.modules.get(module)
    if found is None or not any(base is ModuleType for base in mro_of(type(found))):
        return ABSENT
    names = instance_dict(found)
    return ABSENT if names is None else names.get(name, ABSENT)
