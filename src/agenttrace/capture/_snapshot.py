"""A copy of any Python value as JSON values, taken without running a line of foreign code.

Types are looked up by identity of `type(value)`, values are read with the built-in types' own
methods, and attributes only from real instance dictionaries and slots: no `__repr__`, `__eq__`,
`__iter__`, `__getattr__`, property or metaclass of the user's is ever called, and nothing is
consumed. The walk is iterative, so that depth costs no stack.

What has one plain text form is that text: dates, times and durations (ISO 8601), UUIDs, paths; an
enum member is its value; dataclasses, attrs classes and pydantic models are objects of their
fields; tuples and deques are lists. What JSON cannot hold is marked by an object that has one of
the keys in `MARKS`. A key that is no string becomes text that keeps types apart: `$int:1`, `$null`,
`$tuple:["a",1]`; where that text is taken, `#2` and so on follows.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from agenttrace.capture._foreign import type_name
from agenttrace.capture._guard import failed
from agenttrace.capture._passing import let_pass
from agenttrace.capture._snapshot_bulk import Bulk
from agenttrace.capture._snapshot_level import NotBulkError
from agenttrace.capture._snapshot_plain import (
    BIG,
    FLAT_ITEMS,
    SHORT,
    flat_copy,
    free_key,
    is_flat_value,
    order_of,
    plain_copy,
)
from agenttrace.capture._snapshot_plans import Mark, Plan, plan_of
from agenttrace.domain import JsonValue
from agenttrace.records import dump_json

MARKS: Final[Mapping[str, str]] = {
    "$type": "type of a value that is not walked: generator, file, lock, function, other object",
    "$cut": "a text, bytes or container over a limit: `type`, `length`, `head`; for texts `digest`",
    "$cycle": "the container that stands so many levels up; 1 is the one that holds it",
    "$unread": "type of a value that changed or failed while it was read",
    "$float": "`nan`, `inf` or `-inf`",
    "$int": "hexadecimal text of an integer of more than 98,000 digits",
    "$decimal": "a decimal's exact text",
    "$complex": "a complex number's text",
    "$bytes": "base64 text of bytes",
    "$set": "a set's items in a stable order",
    "$range": "`start:stop:step`",
    "$datetime": "local time, and the type of a time zone that is foreign code",
    "$time": "as `$datetime`",
}
"""Marks of what JSON cannot hold. JSON values are never changed, also when they look like one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much of one value is kept; what is beyond is marked `$cut`, never left out silently."""

    text: int = 1 << 20
    """Characters of one text, or bytes of one bytes value."""
    all_text: int = 1 << 25
    """Characters of all texts of more than 256 characters, together."""
    items: int = 200_000
    """Fields and items of all containers together."""
    depth: int = 10_000
    """Containers inside each other."""
    head: int = 256
    """Characters kept of a text that is cut; of bytes as many, of a container 100 items at most."""


DEFAULT_LIMITS: Final = Limits()
Digest = Callable[[str | bytes], str]

_HEAD_ITEMS: Final = 100
_KEY_LIMITS: Final = Limits(text=SHORT, all_text=4_096, items=100, depth=8, head=64)
_MAX_OTHERS: Final = 64
_ITEM_BYTES: Final = 128
"""What one item of a copy takes, about."""


def snapshot(
    value: object, *, limits: Limits = DEFAULT_LIMITS, digest: Digest | None = None
) -> JsonValue:
    """Copy a value as it is now; what happens to it later does not show in the copy.

    A JSON value gives an equal one. The copy shares nothing mutable with the value. Never raises
    an `Exception`.

    Args:
        digest: Keyed digest for texts and bytes that are cut, so that two of them can be compared.

    Example:
        >>> import threading
        >>> snapshot({"ids": (1, 2), "rate": float("nan"), "lock": threading.Lock()})
        {'ids': [1, 2], 'rate': {'$float': 'nan'}, 'lock': {'$type': '_thread.lock'}}
    """
    kind = type(value)
    if limits is DEFAULT_LIMITS and (kind is dict or kind is list):
        plain = plain_copy(value)
        if plain is not None:
            return plain
    try:
        return _Walk(limits, digest).run(value)
    except Exception as error:  # noqa: BLE001 - whatever a value does, the program goes on
        let_pass(error)
        return {"$unread": type_name(type(value))}


def copied(value: object, digest: Digest) -> tuple[JsonValue | Bulk, int]:
    """As `weighed`, but a large value may be copied in bulk, to be made a snapshot of later."""
    try:
        return weighed(value, digest, most=BULK_ITEMS)
    except _LargeError:
        return _bulk(value, digest)


def _bulk(value: object, digest: Digest) -> tuple[JsonValue | Bulk, int]:
    try:
        bulk = Bulk(
            value,
            items=DEFAULT_LIMITS.items,
            text=DEFAULT_LIMITS.all_text,
            single=lambda item: _Walk(DEFAULT_LIMITS, digest).run(item),
            walk=lambda plain: snapshot(plain, digest=digest),
        )
    except (NotBulkError, RuntimeError, AttributeError) as error:  # a kind of value it is not for
        let_pass(error)
    except BaseException as error:  # noqa: BLE001 - a fault of ours; the walk does it
        failed("copying in bulk", error, loses=False)
    else:
        return bulk, bulk.weight
    return weighed(value, digest)


def weighed(value: object, digest: Digest, *, most: int | None = None) -> tuple[JsonValue, int]:
    """A snapshot with the default limits, and about how many bytes it holds; 0 for few.

    Raises:
        _LargeError: It has more than `most` fields and items.
    """
    kind = type(value)
    if is_flat_value(value):
        return value, 0  # type: ignore[return-value]
    if kind is dict or kind is list:
        plain = plain_copy(value)
        if plain is not None:
            return plain, 0 if len(plain) <= FLAT_ITEMS else _ITEM_BYTES * FLAT_ITEMS  # type: ignore[arg-type]
    walk = _Walk(DEFAULT_LIMITS, digest, most=most)
    try:
        return walk.run(value), walk.weight
    except _LargeError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a value does, the program goes on
        let_pass(error)
        return {"$unread": type_name(kind)}, 0


_Frame = tuple[int, Iterable[Any], "dict[str, JsonValue] | list[JsonValue]", object]


BULK_ITEMS: Final = 500
"""Fields and items that the walk of a large value visits before it is copied in bulk."""


class _LargeError(Exception):
    """A value is large enough to be copied in bulk."""


class _Walk:
    """One snapshot: what is left of the limits, and the containers that are open."""

    def __init__(self, limits: Limits, digest: Digest | None, *, most: int | None = None) -> None:
        self._limits = limits
        self._floor = -limits.items if most is None else limits.items - most
        """Items left at which the walk is given up; never by default."""
        self._digest = digest
        self._items_left = limits.items
        self._flat_items = 0
        """Largest object that is tried as a flat one."""
        self._text_left = limits.all_text
        self._path: dict[int, int] = {}
        """Identity of each open container to its depth."""
        self._found: list[_Frame] = []
        """Containers met in the one that is being filled."""
        self._sets: list[list[JsonValue]] = []
        self._cuts: dict[tuple[bool, int], JsonValue] = {}
        if limits.text >= SHORT:
            self._use(0)

    def _use(self, items: int) -> None:
        self._items_left -= items
        if self._items_left < self._floor:
            raise _LargeError
        self._flat_items = min(FLAT_ITEMS, self._items_left)

    @property
    def weight(self) -> int:
        """Bytes that the copy holds, about."""
        limits = self._limits
        texts = limits.all_text - self._text_left
        return texts + _ITEM_BYTES * (limits.items - self._items_left)

    def run(self, value: object) -> JsonValue:
        result = self._copy(value)
        stack: list[_Frame | int] = [*self._found]
        while stack:
            frame = stack.pop()
            if isinstance(frame, int):
                del self._path[frame]
                continue
            identity, source, out, _ = frame
            self._path[identity] = len(self._path)
            self._found = []
            if isinstance(out, dict):
                self._fill_object(source, out)
            else:
                self._fill_list(source, out)
            if self._found:
                stack.append(identity)
                stack.extend(reversed(self._found))
            else:
                del self._path[identity]
        for items in reversed(self._sets):  # inner ones first
            items.sort(key=order_of)
        return result

    def _fill_object(self, source: Iterable[tuple[Any, Any]], out: dict[str, JsonValue]) -> None:
        taken: set[str] | None = None
        for key, item in source:
            if type(key) is not str or len(key) > SHORT:
                if taken is None:
                    taken = {k for k, _ in source if type(k) is str and len(k) <= SHORT}
                key = free_key(self._key(key), taken)  # noqa: PLW2901
            kind = type(item)
            if (
                (kind is str and len(item) <= SHORT)
                or (kind is int and -BIG < item < BIG)
                or item is None
                or kind is bool
            ):
                out[key] = item
            else:
                out[key] = self._copy(item)

    def _fill_list(self, source: Iterable[Any], out: list[JsonValue]) -> None:
        for item in source:
            kind = type(item)
            if (
                (kind is str and len(item) <= SHORT)
                or (kind is int and -BIG < item < BIG)
                or item is None
                or kind is bool
            ):
                out.append(item)
            else:
                out.append(self._copy(item))

    def _copy(self, item: Any) -> JsonValue:
        """The copy of one value; a container's is still empty and is noted as found."""
        kind = type(item)
        if kind is str:
            return self._text(item)
        if kind is int:
            return item if -BIG < item < BIG else {"$int": self._text(hex(item))}
        if kind is float:
            return item if item - item == 0.0 else {"$float": float.__repr__(item)}
        if item is None or kind is bool:
            return item  # type: ignore[no-any-return]
        is_list = kind is list or kind is tuple
        if self._items_left <= 0 and (kind is dict or is_list) and id(item) not in self._path:
            return self._empty_cut(is_list=is_list, size=len(item))
        if kind is dict and len(item) <= self._flat_items:
            flat = flat_copy(item.items())
            if flat is not None and len(self._path) < self._limits.depth:
                self._use(len(flat))
                return flat
        try:
            return self._planned(item)
        except _LargeError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a value does, the program goes on
            let_pass(error)
            return {"$unread": type_name(kind)}

    def _planned(self, item: Any) -> JsonValue:
        for _ in range(_MAX_OTHERS):
            plan = plan_of(type(item))
            gives = plan.gives
            if gives != "other":
                break
            item = plan.read(item)
            if type(item) is Mark:
                return item.fields
            kind = type(item)
            if kind is str or kind is int or kind is float or kind is bool or item is None:
                return self._copy(item)
        else:
            return {"$unread": type_name(type(item))}
        if gives == "name":
            return {"$type": type_name(type(item))}
        if gives == "text":
            return self._text(plan.read(item))
        if gives == "marked":
            mark, text = plan.read(item)
            return {mark: self._text(text)} if mark else self._text(text)
        if gives == "bytes":
            return self._bytes(plan.read(item))
        return self._container(item, plan)

    def _container(self, item: Any, plan: Plan) -> JsonValue:
        identity = id(item)
        if identity in self._path:
            return {"$cycle": len(self._path) - self._path[identity]}
        size = plan.length(item) if plan.length is not None else None
        room = self._items_left
        if len(self._path) >= self._limits.depth:
            room = 0
        is_cut = size is not None and size > room
        source: list[Any] = _read(item, plan, min(room, _HEAD_ITEMS) if is_cut else None)
        if size is None and room and len(source) <= self._flat_items:
            flat = flat_copy(source)
            if flat is not None:
                self._use(len(flat))
                return flat
        self._use(len(source))
        out: dict[str, JsonValue] | list[JsonValue] = {} if plan.gives == "pairs" else []
        if source:
            self._found.append((identity, source, out, item))
        result: JsonValue = out
        if is_cut:
            name = {"pairs": "dict", "set": "set"}.get(plan.gives, "list")
            result = {"$cut": {"type": name, "length": size, "head": out}}
        elif plan.gives == "set" and isinstance(out, list):
            self._sets.append(out)
            result = {"$set": out}
        return result

    def _empty_cut(self, *, is_list: bool, size: int) -> JsonValue:
        """As `_container` gives where there is no room left; one for all, of which may be many."""
        cut = self._cuts.get((is_list, size))
        if cut is None:
            head: JsonValue = [] if is_list else {}
            facts = {"type": "list" if is_list else "dict", "length": size, "head": head}
            cut = self._cuts[is_list, size] = {"$cut": facts} if size else head
        return cut

    def _text(self, text: str) -> JsonValue:
        if type(text) is not str:
            text = str.__str__(text)
        size = len(text)
        if size <= SHORT and size <= self._limits.text:
            return text
        if size <= self._limits.text and size <= self._text_left:
            self._text_left -= size
            return text
        return self._cut("str", text, text[: self._limits.head])

    def _bytes(self, data: bytes) -> JsonValue:
        if len(data) <= self._limits.text and len(data) * 4 // 3 <= self._text_left:
            self._text_left -= len(data) * 4 // 3
            return {"$bytes": base64.b64encode(data).decode("ascii")}
        return self._cut("bytes", data, base64.b64encode(data[: self._limits.head]).decode("ascii"))

    def _cut(self, name: str, whole: str | bytes, head: str) -> JsonValue:
        facts: dict[str, JsonValue] = {"type": name, "length": len(whole), "head": head}
        if self._digest is not None:
            facts["digest"] = self._digest(whole)
        return {"$cut": facts}

    def _key(self, key: Any) -> str:
        """Text of a key that is no short string."""
        copy = self._text(key) if type(key) is str else _Walk(_KEY_LIMITS, self._digest).run(key)
        if isinstance(copy, str):
            return copy
        if copy is None:
            return "$null"
        name, body = _KEY_NAMES.get(type(copy), "$object"), copy
        if isinstance(copy, dict) and len(copy) == 1 and not MARKS.keys().isdisjoint(copy):
            ((name, body),) = copy.items()
        return f"{name}:{body if isinstance(body, str) else dump_json(body)}"


_KEY_NAMES: Final = {bool: "$bool", int: "$int", float: "$float", list: "$tuple"}


def _read(item: Any, plan: Plan, most: int | None) -> list[Any]:
    """What a container holds now, or its first items; tried again when a thread changes it."""
    for _ in range(3):
        try:
            return list(plan.read(item) if most is None else islice(plan.read(item), most))
        except RuntimeError:
            continue
    return list(islice(plan.read(item), most))
