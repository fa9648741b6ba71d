"""Lines of parts of a JSON text, in one pass, however deep it is."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from agenttrace._dataclass import dataclass, field
from agenttrace.records._json_lex import JsonTextError, events

Loc = tuple[str | int, ...]
"""Keys and indexes from the root."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a value stands."""

    line: int
    """Line on which the value begins, from 1."""
    key_line: int
    """Line of its key; the value's own where it has none."""


@dataclass(eq=False, kw_only=True)
class _Wanted:
    """One step of the wanted ways; those with a common beginning share their steps."""

    loc: Loc
    below: dict[str, _Wanted] = field(default_factory=dict)


def places(text: str, wanted: Collection[Loc]) -> dict[Loc, Place]:
    r"""Find the lines of values and of all that stand around them.

    What is not there is left out. Of a repeated key the last value counts, as in `parse_json`.

    Example:
        >>> places('{"a":\n  [1,\n 2]}', [("a", 1)])[("a", 1)].line
        3
    """
    root = _Wanted(loc=())
    for loc in wanted:
        step = root
        for size, part in enumerate(loc, start=1):
            step = step.below.setdefault(str(part), _Wanted(loc=loc[:size]))
    found: dict[Loc, Place] = {}
    with suppress(JsonTextError):
        _collect(text, root, found)
    return found


def _collect(text: str, root: _Wanted, found: dict[Loc, Place]) -> None:
    # For each open container: its step if one is wanted, and the index of its next item or -1 in
    # an object.
    stack: list[tuple[_Wanted | None, int]] = []
    step: _Wanted | None = root
    line, counted, key_line = 1, 0, None
    for kind, start, _, value in events(text):
        if kind == "end":
            stack.pop()
            continue
        if kind != "key" and stack and stack[-1][1] >= 0:
            parent, index = stack[-1]
            stack[-1] = (parent, index + 1)
            step = parent.below.get(str(index)) if parent is not None else None
            key_line = None
        elif kind == "key":
            parent = stack[-1][0]
            step = parent.below.get(str(value)) if parent is not None else None
        if step is not None:
            line, counted = line + text.count("\n", counted, start), start
        if kind == "key":
            key_line = line
            continue
        if step is not None:
            found[step.loc] = Place(line=line, key_line=line if key_line is None else key_line)
        key_line = None
        if kind != "scalar":
            stack.append((step, 0 if kind == "array" else -1))
