"""Exact source text of parts of a JSON text: what the provider sent, never a re-dump of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress

from agenttrace._dataclass import dataclass, field
from agenttrace.records._json_lex import Event, JsonTextError, events
from agenttrace.records._json_pointer import split_pointer


@dataclass(eq=False, kw_only=True)
class _Wanted:
    """One step of the wanted pointers; those with a common beginning share their steps."""

    pointer: str | None = None
    below: dict[str, _Wanted] = field(default_factory=dict)


def slice_at(text: str, pointer: str) -> str | None:
    """Return the source of the value at a JSON pointer, or None where nothing stands there.

    A string comes with its quotes. Cases as in `slices`.

    Raises:
        ValueError: `pointer` is not a JSON pointer.

    Example:
        >>> slice_at('{"input": {"amount": 1.50}}', "/input")
        '{"amount": 1.50}'
    """
    return slices(text, [pointer]).get(pointer)


def slices(text: str, pointers: Collection[str]) -> dict[str, str]:
    """Return the sources of the values at several JSON pointers, in one pass over the text.

    Pointers where nothing stands are left out. Of a repeated key the last value counts, as in
    `parse_json`. Of a text that is cut off or malformed, the values that ended before the fault are
    returned; this never raises for the text.

    Raises:
        ValueError: one of `pointers` is not a JSON pointer.
    """
    root = _Wanted()
    for pointer in pointers:
        step = root
        for part in split_pointer(pointer):
            step = step.below.setdefault(part, _Wanted())
        step.pointer = pointer
    found: dict[str, str] = {}
    with suppress(JsonTextError):
        _collect(text, events(text), root, found)
    return found


def _collect(text: str, stream: Iterator[Event], root: _Wanted, found: dict[str, str]) -> None:
    # For each open container: its step if one is wanted, the index of its next item or -1 in an
    # object, and where it starts.
    stack: list[tuple[_Wanted | None, int, int]] = []
    step: _Wanted | None = root
    for kind, start, end, value in stream:
        if kind == "key":
            parent = stack[-1][0]
            step = parent.below.get(str(value)) if parent is not None else None
            if step is not None:
                _forget(step, found)  # what an earlier value of a repeated key left
            continue
        if kind == "end":
            closed, _, opened_at = stack.pop()
            if closed is not None and closed.pointer is not None:
                found[closed.pointer] = text[opened_at:end]
            continue
        if stack and stack[-1][1] >= 0:
            parent, index, opened_at = stack[-1]
            stack[-1] = (parent, index + 1, opened_at)
            step = parent.below.get(str(index)) if parent is not None and parent.below else None
        if kind != "scalar":
            stack.append((step, 0 if kind == "array" else -1, start))
        elif step is not None and step.pointer is not None:
            found[step.pointer] = text[start:end]


def _forget(step: _Wanted, found: dict[str, str]) -> None:
    if not found:
        return
    todo = [step]
    while todo:
        each = todo.pop()
        if each.pointer is not None:
            found.pop(each.pointer, None)
        todo.extend(each.below.values())
