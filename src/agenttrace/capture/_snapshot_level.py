"""One level of a large value: all containers at one depth, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, compress, islice, repeat
from operator import attrgetter, is_
from typing import Any, Final

from agenttrace.capture._foreign import class_dict, defines, dict_getter, mro_of, slot_getter
from agenttrace.capture._snapshot_plain import BIG, SHORT
from agenttrace.capture._snapshot_plans import plan_of
from agenttrace.domain import JsonValue

_MAX_WIDTH: Final = 32
"""Fields of records whose values are looked at one field after the other."""
_MAX_KINDS: Final = 50
"""Types of containers and marked values in one level; each costs a pass over it."""

Single = Callable[[Any], JsonValue]


class NotBulkError(Exception):
    """A value is not made of what is copied in bulk; the walk does it."""


@dataclass(slots=True)
class Found:
    """The containers of one level as they were found: dictionaries, then objects, then lists."""

    dicts: list[dict[str, Any]] = field(default_factory=list)
    """Objects' own dictionaries among them."""
    rows: list[_Rows] = field(default_factory=list)
    lists: list[Any] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)
    keys: list[str] | None = None
    """Of all dictionaries, where they are known."""


@dataclass(slots=True)
class _Group:
    """Objects of one class, read from their own dictionaries."""

    owners: list[Any]
    fields_of: Callable[[Any], Any]
    extra_of: Callable[[Any], Any] | None
    fields: list[dict[str, Any]]
    keys: list[str] | None


@dataclass(slots=True)
class _Rows:
    """Objects of one class whose attributes are read with no code of theirs.

    To ask for an object's dictionary would make one, and thirty thousand new dictionaries have the
    garbage collector look through the whole program.
    """

    owners: list[Any]
    names: tuple[str, ...]

    def values(self) -> Iterator[Any]:
        """One object after the other."""
        columns = [map(attrgetter(name), self.owners) for name in self.names]
        return chain.from_iterable(zip(*columns, strict=True))


@dataclass(slots=True, eq=False)
class _Hole:
    """Stands for the containers of one type in the list of the level above theirs."""

    part: int
    """0 dictionaries, 1 objects, 2 lists."""
    start: int


class Level:
    """All containers at one depth, and what is in them, one after the other."""

    __slots__ = (
        "_count",
        "_dicts",
        "_groups",
        "_held",
        "_keys",
        "_lists",
        "_rows",
        "_sizes",
        "starts",
        "text",
        "values",
    )

    def __init__(self, found: Found) -> None:
        dicts, lists = self._dicts, self._lists = found.dicts, found.lists
        self._groups, self._rows = found.groups, found.rows
        self._sizes = [*map(len, dicts)]
        keys = [*chain.from_iterable(dicts)] if found.keys is None else found.keys
        are_known = keys is found.keys or _are_all(str, keys)
        if sum(self._sizes) != len(keys) or not are_known:
            raise NotBulkError
        self._keys: list[Any] = keys
        for rows in self._rows:
            self._sizes += [len(rows.names)] * len(rows.owners)
            self._keys = [*self._keys, *list(rows.names) * len(rows.owners)]
        self._count = len(self._sizes)
        self.starts = (0, len(dicts), self._count)
        """Where each part begins."""
        self._sizes += map(len, lists)
        self.values: list[Any] = [*self._contents()]
        self._held = self.values
        self.text = 0
        """Characters of texts that are not short."""
        if sum(self._sizes) != len(self.values):
            raise NotBulkError

    def _contents(self) -> Iterator[Any]:
        values = chain.from_iterable(map(dict.values, self._dicts))
        rows = chain.from_iterable(rows.values() for rows in self._rows)
        return chain(values, rows, chain.from_iterable(self._lists))

    def split(self, single: Single) -> Found:
        """The containers in this level's, which are the next level.

        Where all containers have as many values, the first ones of all are looked at together, then
        the second ones: in records of one kind they are mostly of one type.
        """
        found, values = Found(), self.values
        width = self._sizes[0] if self._sizes else 1
        if not 1 < width <= _MAX_WIDTH or self._sizes.count(width) < len(self._sizes):
            width = 1
        for number in range(width):
            column = values if width == 1 else values[number::width]
            held = self._column(column, found, single)
            if held is not column:
                if self._held is values:
                    self._held = values.copy()
                self._held[number::width] = held
        if len(found.groups) == 1 and len(found.groups[0].fields) == len(found.dicts):
            found.keys = found.groups[0].keys
        return found

    def _column(self, values: list[Any], found: Found, single: Single) -> list[Any]:
        """What is held of these values; what is in their containers is added to what was found."""
        one = _one_kind(values)
        if one is int or one is float or (one is str and max(map(len, values)) <= SHORT):
            return values
        if one is not None and one is not str:
            return list(islice(self._take(one, values, found, single), len(values)))
        others = [
            v
            for v in values
            if not (
                ((kind := type(v)) is str and len(v) <= SHORT)
                or kind is int
                or kind is float
                or kind is bool
                or v is None
            )
        ]
        if not others:
            return values
        types = list(map(type, others))
        kinds = dict(zip(map(id, types), types, strict=True))
        if len(kinds) > _MAX_KINDS:
            raise NotBulkError
        pieces: dict[int, Iterator[Any]] = {}
        for identity, kind in kinds.items():
            same = list(compress(others, map(is_, types, repeat(kind))))
            pieces[identity] = self._take(kind, same, found, single)
        return [
            v
            if ((kind := type(v)) is str and len(v) <= SHORT)
            or kind is int
            or kind is float
            or kind is bool
            or v is None
            else next(pieces[id(kind)])
            for v in values
        ]

    def _take(self, kind: type, same: list[Any], found: Found, single: Single) -> Iterator[Any]:
        """What is held in place of all values of one type."""
        if kind is str:
            self.text += sum(map(len, same))
            return iter(same)
        if kind is dict:
            hole = _Hole(0, len(found.dicts))
            found.dicts += same
            return repeat(hole)
        if kind is list or kind is tuple:
            hole = _Hole(2, len(found.lists))
            found.lists += same
            return repeat(hole)
        names = plan_of(kind).names
        if names is not None:
            if _are_plain(kind, names):
                hole = _Hole(1, sum(len(rows.owners) for rows in found.rows))
                found.rows.append(_Rows(same, names))
                return repeat(hole)
            group = _group(kind, same)
            hole = _Hole(0, len(found.dicts))
            found.groups.append(group)
            found.dicts += group.fields
            return repeat(hole)
        pieces = [_piece(one, single) for one in same]
        self.text += sum(len(text) for piece in pieces for text in _texts(piece))
        return iter(pieces)

    def is_unchanged(self) -> bool:
        """Whether the same containers hold the same objects still."""
        for group in self._groups:
            if not all(map(is_, map(group.fields_of, group.owners), group.fields)):
                return False
            if group.extra_of is not None and not _have_no_more(map(group.extra_of, group.owners)):
                return False
        return (
            [*map(len, self._dicts)] == self._sizes[: len(self._dicts)]
            and [*map(len, self._lists)] == self._sizes[self._count :]
            and all(map(is_, chain.from_iterable(self._dicts), self._keys))
            and all(map(is_, self._contents(), self.values))
        )

    def let_go(self) -> None:
        """Hold nothing any more that can change."""
        self.values = self._held
        self._dicts, self._rows, self._lists, self._groups = [], [], [], []

    def is_odd(self) -> bool:
        """Whether a value here has a mark in a snapshot, or may be over a limit."""
        return max(map(len, self._keys), default=0) > SHORT or any(
            (kind is float and v - v != 0.0)
            or (kind is int and not -BIG < v < BIG)
            or (kind is str and len(v) > SHORT)
            for v, kind in zip(self._held, map(type, self._held), strict=True)
        )

    def build(self, inner: list[Any], below: Level | None) -> list[Any]:
        """The containers, with what the next level built in their places."""
        filled = self._held if below is None else self._filled(inner, below.starts)
        values, keys, sizes = iter(filled), iter(self._keys), iter(self._sizes)
        objects = islice(sizes, self._count)
        built: list[Any] = [dict(zip(islice(keys, n), values, strict=False)) for n in objects]
        built += [list(islice(values, n)) for n in sizes]
        return built

    def _filled(self, inner: list[Any], starts: tuple[int, int, int]) -> list[Any]:
        rest: dict[int, Iterator[Any]] = {}
        out: list[Any] = []
        for v in self._held:
            if type(v) is _Hole:
                if id(v) not in rest:
                    rest[id(v)] = islice(inner, starts[v.part] + v.start, None)
                out.append(next(rest[id(v)]))
            else:
                out.append(v)
        return out


def _one_kind(values: list[Any]) -> type | None:
    """The type of all the values, which is told faster than that of each; None: they have several.

    Of true, false and null, which are no containers either, it says nothing.
    """
    kind = type(values[0]) if values else int
    if kind is bool or kind is type(None) or not _are_all(kind, values):
        return None
    return kind


def _piece(one: Any, single: Single) -> JsonValue:
    """The copy of a value that is no container."""
    if plan_of(type(one)).gives in ("items", "pairs", "set"):
        raise NotBulkError
    piece = single(one)
    if type(piece) is list or (type(piece) is dict and not next(iter(piece), "").startswith("$")):
        raise NotBulkError  # an enum member or a root model may stand for a container
    return piece


def _are_plain(kind: type, names: tuple[str, ...]) -> bool:
    """Whether reading these attributes runs no code but the interpreter's own."""
    for base in mro_of(kind)[:-1]:  # the last is `object`
        own = class_dict(base)
        if "__getattribute__" in own or "__getattr__" in own:
            return False
        for name in names:
            if name in own and (defines(own[name], "__get__") or defines(own[name], "__set__")):
                return False
    return bool(names) and dict_getter(kind) is not None


def _group(kind: type, owners: list[Any]) -> _Group:
    """Objects of one class, each of which has just the fields that its class declares."""
    plan = plan_of(kind)
    names, fields_of = plan.names, dict_getter(kind)
    if not names or fields_of is None:
        raise NotBulkError
    fields: list[Any] = list(map(fields_of, owners))
    if not _are_all(dict, fields) or set(map(len, fields)) != {len(names)}:
        raise NotBulkError
    first = list(fields[0])
    if not _are_all(str, first) or tuple(first) != names:
        raise NotBulkError
    keys: list[str] | None = first * len(fields)
    if not all(map(is_, chain.from_iterable(fields), keys or ())):
        # Equal names may be other objects; no key's own `__eq__` may be asked.
        keys = None
        if not _are_all(str, chain.from_iterable(fields)):
            raise NotBulkError
        if not all(map(names.__eq__, map(tuple, fields))):
            raise NotBulkError
    extra_of = slot_getter(kind, plan.extra) if plan.extra else None
    try:
        if plan.extra and (extra_of is None or not _have_no_more(map(extra_of, owners))):
            raise NotBulkError
    except AttributeError as error:
        raise NotBulkError from error
    return _Group(owners, fields_of, extra_of, fields, keys)


def _are_all(kind: type, values: Iterable[Any]) -> bool:
    """Whether all are of exactly this type."""
    return all(map(is_, map(type, values), repeat(kind)))


def _have_no_more(extras: Iterable[Any]) -> bool:
    """Whether no object has further fields."""
    extras = list(extras)
    return {*map(id, map(type, extras))} <= _NO_MORE and not any(extras)


_NO_MORE: Final = {id(dict), id(type(None))}


def _texts(piece: JsonValue) -> Iterator[str]:
    if isinstance(piece, str):
        yield piece
    elif isinstance(piece, dict):
        for part in piece.values():
            yield from _texts(part)
