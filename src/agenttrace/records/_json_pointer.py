"""JSON pointers (RFC 6901): how a place inside a value is written everywhere in this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agenttrace._late import TYPE_CHECKING, late_pattern
from agenttrace.domain import JsonValue

if TYPE_CHECKING:
    from typing import Final, TypeVar

    T = TypeVar("T")

_BAD_ESCAPE = late_pattern(r"~(?![01])")
_INDEX = late_pattern(r"0|[1-9][0-9]{0,17}")
_ABSENT: Final = object()


def escape(part: str) -> str:
    """Write one key so that it may stand between the slashes of a pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def join_pointer(parts: Iterable[str | int]) -> str:
    """Write keys and indexes as one pointer; no parts are the whole value, `""`.

    Example:
        >>> join_pointer(["choices", 0, "a/b"])
        '/choices/0/a~1b'
    """
    return "".join(f"/{escape(part) if isinstance(part, str) else part}" for part in parts)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """Return the parts of a pointer; an index stays text, since only the value tells it from a key.

    Raises:
        ValueError: not a pointer: it is not empty and does not start with `/`, or has a `~` that
            is neither `~0` nor `~1`.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/") or _BAD_ESCAPE.search(pointer):
        raise ValueError(f"not a JSON pointer: {pointer[:20]!r}")
    return tuple(
        part.replace("~1", "/").replace("~0", "~") for part in pointer.removeprefix("/").split("/")
    )


def at_pointer(value: JsonValue, pointer: str, default: T) -> JsonValue | T:
    """Return what a pointer points to, or the default where nothing stands there.

    An index with a leading zero, and `-`, point to nothing.

    Raises:
        ValueError: `pointer` is not a JSON pointer.
    """
    for part in split_pointer(pointer):
        found = _step(value, part)
        if found is _ABSENT:
            return default
        value = found  # type: ignore[assignment]
    return value


def without(value: JsonValue, pointer: str) -> JsonValue:
    """Return a copy without what a pointer points to; later items of an array move up.

    Only the containers on the way are copied. Where nothing stands there, the value itself is
    returned.

    Raises:
        ValueError: not a JSON pointer, or the empty one: nothing would be left.
    """
    parts = split_pointer(pointer)
    if not parts:
        raise ValueError("the empty pointer is the whole value, which cannot be left out of itself")
    passed: list[JsonValue] = [value]
    for part in parts:
        found = _step(passed[-1], part)
        if found is _ABSENT:
            return value
        passed.append(found)  # type: ignore[arg-type]
    result: JsonValue = None
    for depth in range(len(parts) - 1, -1, -1):
        part, container = parts[depth], passed[depth]
        is_last = depth == len(parts) - 1
        if isinstance(container, Mapping):
            fields = dict(container)
            if is_last:
                del fields[part]
            else:
                fields[part] = result
            result = fields
        elif isinstance(container, Sequence):
            items = list(container)
            items[int(part) : int(part) + 1] = [] if is_last else [result]
            result = items
    return result


def _step(value: JsonValue, part: str) -> object:
    if isinstance(value, Mapping):
        return value.get(part, _ABSENT)
    if isinstance(value, Sequence) and not isinstance(value, str) and _INDEX.fullmatch(part):
        return value[int(part)] if int(part) < len(value) else _ABSENT
    return _ABSENT
