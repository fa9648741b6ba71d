"""A table of text that fits a width: side by side where it can, stacked where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agenttrace.report._text import NOTHING, cells, elided, padded

MARK: Final = "> "
_GAP: Final = "  "
_NARROWEST: Final = 10
"""Columns below which a value says too little to stand beside others."""
_LONGEST_LABEL: Final = 24


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: a label and a cell for each column."""

    label: str
    cells: Sequence[str]
    """Empty where the column has nothing to say."""
    marked: frozenset[int] = frozenset()
    """Columns in which the value changed."""


def table(head: Sequence[str], rows: Sequence[Row], width: int) -> list[str]:
    """The lines of the table; a marked cell and its row begin with `>`."""
    if not rows:
        return []
    label_width = min(_LONGEST_LABEL, max(cells(row.label) for row in rows))
    room = width - len(MARK) - label_width
    widths = _widths(head, rows, room)
    if widths is None:
        return _stacked(head, rows, width)
    lines = [_line("", [(name, False) for name in head], label_width, widths, False)]
    for row in rows:
        shown = [(text, index in row.marked) for index, text in enumerate(row.cells)]
        lines.append(_line(row.label, shown, label_width, widths, bool(row.marked)))
    return lines


def _widths(head: Sequence[str], rows: Sequence[Row], room: int) -> list[int] | None:
    """The width of each column: what it needs, or a fair share of the room; None: too little."""
    extra = len(_GAP) + len(MARK)
    needed = [
        max(cells(name), *(cells(row.cells[index]) for row in rows))
        for index, name in enumerate(head)
    ]
    left = room - extra * len(head)
    if left < _NARROWEST * len(head):
        return None if sum(needed) > left else needed
    given = [0] * len(head)
    for rank, index in enumerate(sorted(range(len(head)), key=needed.__getitem__)):
        given[index] = min(needed[index], left // (len(head) - rank))
        left -= given[index]
    return given


def _line(
    label: str,
    shown: Sequence[tuple[str, bool]],
    label_width: int,
    widths: Sequence[int],
    marked: bool,
) -> str:
    parts = [MARK if marked else " " * len(MARK), padded(elided(label, label_width), label_width)]
    for (text, is_marked), width in zip(shown, widths, strict=True):
        parts.append(_GAP + (MARK if is_marked else " " * len(MARK)))
        parts.append(padded(elided(text, width), width))
    return "".join(parts).rstrip()


def _stacked(head: Sequence[str], rows: Sequence[Row], width: int) -> list[str]:
    name_width = max(cells(name) for name in head)
    room = max(4, width - name_width - 8)
    lines = []
    for row in rows:
        lines.append((MARK if row.marked else " " * len(MARK)) + elided(row.label, width - 2))
        for index, (name, text) in enumerate(zip(head, row.cells, strict=True)):
            if text and text != NOTHING:
                mark = MARK if index in row.marked else " " * len(MARK)
                lines.append(f"    {mark}{padded(name, name_width)}  {elided(text, room)}")
    return lines
