"""Dataclasses whose methods cost nothing until they are used.

The standard library compiles up to six functions for each dataclass when its module is imported,
and loads `inspect` for it; for the domain alone that took longer than all the rest of the scorer.
Here what is compiled (the constructor, equality, the hash) is compiled when a class first needs it,
and the other methods are shared.
What is made is a dataclass to everybody else: `dataclasses.fields`, `replace`, `asdict` and
`is_dataclass` take it, and to a type checker it is the standard library's own.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from dataclasses import dataclass, field, replace
    from typing import Any, Final

__all__ = ["dataclass", "field", "field_names", "replace"]

_REQUIRED: Final = object()


class _Factory:
    """The default of a field that is made anew for each object."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _field(*, default_factory: Callable[[], Any]) -> Any:
    return _Factory(default_factory)


def _dataclass(
    kind: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
    eq: bool = True,
) -> Any:
    """Make a class a dataclass; the options are those of `dataclasses.dataclass`."""
    if kind is None:
        return lambda kind: _made(kind, frozen=frozen, kw_only=kw_only, slots=slots, eq=eq)
    return _made(kind, frozen=frozen, kw_only=kw_only, slots=slots, eq=eq)


def _replace(one: Any, /, **changes: Any) -> Any:
    """A copy of an object with other values in some fields."""
    if not _is_ours(one):
        import dataclasses  # noqa: PLC0415 - as in `_standard`

        return dataclasses.replace(one, **changes)
    for name in one.__light_fields__:
        if name not in changes:
            changes[name] = getattr(one, name)
    return one.__class__(**changes)


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Names of a dataclass's fields, in order."""
    return tuple(kind.__light_fields__)


class _OnFirstUse:
    """An attribute that a class of ours makes when it is first asked for.

    Each class has its own: where another thread has just made it, what stands in the class says no
    more whose it was.
    """

    def __init__(self, make: Callable[[type[Any]], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._owner = owner
        self._name = name

    def __get__(self, one: object | None, kind: type[Any]) -> Any:
        made = self._make(self._owner)
        setattr(self._owner, self._name, made)
        bind = getattr(made, "__get__", None)
        return made if bind is None else bind(one, kind)


class _Constructor(_OnFirstUse):
    """Fills the first objects of a class by itself: most classes never have many."""

    _FEW = 2
    _count = 0

    def __get__(self, one: object | None, kind: type[Any]) -> Any:
        count = self._count
        # From 3.13 on `inspect` binds the methods of a class to the class itself.
        if one is None or count == self._FEW or isinstance(one, type):
            return super().__get__(one, kind)
        self._count = count + 1
        return lambda *args, **values: self._fill(one, args, values)

    def _fill(self, one: Any, args: tuple[Any, ...], values: dict[str, Any]) -> None:
        fields = self._owner.__light_fields__
        if args or not values.keys() <= fields.keys():
            super().__get__(one, one.__class__)(*args, **values)
            return
        for name, default in fields.items():
            value = values.get(name, default)
            if value is _REQUIRED:  # the compiled one says what is wrong
                super().__get__(one, one.__class__)(**values)
            elif default.__class__ is _Factory and value is default:
                value = default.make()
            object.__setattr__(one, name, value)


def _made(kind: type[Any], *, frozen: bool, kw_only: bool, slots: bool, eq: bool) -> type[Any]:
    body = dict(kind.__dict__)
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    fields: dict[str, Any] = {}
    for base in kind.__mro__[-2:0:-1]:
        fields.update(base.__dict__.get("__light_fields__", ()))
    own = kind.__annotations__
    for name in own:
        default = fields[name] = body.get(name, _REQUIRED)
        if default.__class__ in (list, dict, set):
            raise ValueError(f"{kind.__qualname__}.{name} has a mutable default")
        if slots or default.__class__ is _Factory:
            body.pop(name, None)
    if slots:
        body["__slots__"] = tuple(own)
    body["__light_fields__"] = fields
    body["__light_options__"] = (frozen, kw_only, slots, eq)
    body["__match_args__"] = () if kw_only else tuple(fields)
    # A method that the class defines itself stays.
    late = {name: _OnFirstUse(make) for name, make in (_LATE_EQUAL if eq else _LATE).items()}
    late["__init__"] = _Constructor(_constructor)
    unhashed = {"__hash__": None} if eq and not frozen else {}
    body = {**_METHODS, **late, **unhashed, **(_FROZEN if frozen else {}), **body}
    body["__qualname__"] = kind.__qualname__
    made: type[Any] = type(kind).__new__(type(kind), kind.__name__, kind.__bases__, body)
    return made


def _constructor(kind: type[Any]) -> Any:
    fields = kind.__light_fields__
    frozen, kw_only, slots, _ = kind.__light_options__
    known: dict[str, Any] = {"_new": _REQUIRED}
    takes = ["self", "*"] if kw_only and fields else ["self"]
    does = []
    for name, default in fields.items():
        value = name
        if default is _REQUIRED:
            takes.append(name)
        elif default.__class__ is _Factory:
            known[f"_make_{name}"] = default.make
            takes.append(f"{name}=_new")
            value = f"_make_{name}() if {name} is _new else {name}"
        else:
            known[f"_default_{name}"] = default
            takes.append(f"{name}=_default_{name}")
        if not frozen:
            does.append(f"self.{name} = {value}")
        elif slots:
            # Past `__setattr__`, and the quickest way there.
            known[f"_set_{name}"] = getattr(kind, name).__set__
            does.append(f"_set_{name}(self, {value})")
        else:
            known["_set"] = object.__setattr__
            does.append(f"_set(self, {name!r}, {value})")
    made = _compiled(kind, "__init__", ", ".join(takes), does or ["pass"], known)
    made.__annotations__ = {**_annotations(kind), "return": None}
    return made


def _compiled(
    kind: type[Any], name: str, takes: str, does: list[str], known: dict[str, Any]
) -> Any:
    exec(f"def {name}({takes}):\n " + "\n ".join(does), known)
    made = known[name]
    made.__qualname__ = f"{kind.__qualname__}.{name}"
    made.__module__ = kind.__module__
    return made


def _annotations(kind: type[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in kind.__mro__[:0:-1]:
        if "__light_fields__" in base.__dict__:
            found.update(base.__annotations__)
    return {**found, **kind.__annotations__}


def _standard(kind: type[Any]) -> Any:
    """The standard library's dataclass of the same fields."""
    import dataclasses  # noqa: PLC0415 - it loads `inspect`, and only who asks for fields needs it

    body: dict[str, Any] = {"__annotations__": _annotations(kind), "__module__": kind.__module__}
    for name, default in kind.__light_fields__.items():
        if default.__class__ is _Factory:
            body[name] = dataclasses.field(default_factory=default.make)
        elif default is not _REQUIRED:
            body[name] = default
    frozen, kw_only, _, eq = kind.__light_options__
    like = type(kind.__name__, (), body)
    return dataclasses.dataclass(frozen=frozen, kw_only=kw_only, eq=eq)(like)


def _standard_fields(kind: type[Any]) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = _standard(kind).__dataclass_fields__
    return fields


def _standard_params(kind: type[Any]) -> Any:
    return _standard(kind).__dataclass_params__


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__light_fields__)
    return f"{self.__class__.__qualname__}({shown})"


def _equality(kind: type[Any]) -> Any:
    does = [
        "if other.__class__ is self.__class__:",
        f"  return {_tuple(kind, 'self')} == {_tuple(kind, 'other')}",
        "return NotImplemented",
    ]
    return _compiled(kind, "__eq__", "self, other", does, {})


def _hashing(kind: type[Any]) -> Any:
    return _compiled(kind, "__hash__", "self", [f"return hash({_tuple(kind, 'self')})"], {})


def _tuple(kind: type[Any], one: str) -> str:
    return f"({''.join(f'{one}.{name}, ' for name in kind.__light_fields__)})"


def _setattr(self: Any, name: str, value: object) -> None:
    if _is_frozen(self, name):
        raise _frozen(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delattr(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise _frozen(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(one: Any, name: str) -> bool:
    # What a further class added to its objects is not, as in the standard library.
    return name in one.__light_fields__ or _is_ours(one)


def _is_ours(one: Any) -> bool:
    """Whether its class was made here, and is no further class of somebody else's."""
    return "__light_fields__" in one.__class__.__dict__


def _field_names(one: Any) -> Iterable[str]:
    """As `field_names`, with the fields that a further dataclass added."""
    if _is_ours(one):
        names: Iterable[str] = one.__light_fields__
        return names
    import dataclasses  # noqa: PLC0415 - as in `_standard`

    return [each.name for each in dataclasses.fields(one)]


def _frozen(message: str) -> AttributeError:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - as above

    return FrozenInstanceError(message)


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in _field_names(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(_field_names(self), state, strict=True):
        object.__setattr__(self, name, value)


_METHODS: Final[Mapping[str, Any]] = {"__repr__": _repr, "__replace__": _replace}
_LATE: Final[Mapping[str, Callable[[type[Any]], Any]]] = {
    "__dataclass_fields__": _standard_fields,
    "__dataclass_params__": _standard_params,
}
_LATE_EQUAL: Final[Mapping[str, Callable[[type[Any]], Any]]] = {
    **_LATE,
    "__eq__": _equality,
    "__hash__": _hashing,
}
_FROZEN: Final[Mapping[str, Any]] = {
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}

if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
