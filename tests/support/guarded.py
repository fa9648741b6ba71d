"""Every place of ours that is guarded, read off the sources, and faults that happen there.

A place is a block `with guard(...)`, or a `try` whose handler takes anything and calls `failed`.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import agenttrace

ROOT = Path(agenttrace.__file__).parent


@dataclass(frozen=True)
class Place:
    """One guarded block, by the line that runs first in it."""

    file: str
    name: str
    line: int
    loses: bool
    """Whether a fault there may cost evidence."""

    def __str__(self) -> str:
        return f"{Path(self.file).relative_to(ROOT)}:{self.name}"


def places() -> tuple[Place, ...]:
    """All of them."""
    return tuple(found for path in sorted(ROOT.rglob("*.py")) for found in _in_file(path))


def _in_file(path: Path) -> Iterator[Place]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.With):
            for item in node.items:
                told = _told(item.context_expr, "guard")
                if told is not None:
                    yield Place(str(path), told[0], node.body[0].lineno, told[1])
        elif isinstance(node, ast.Try):
            calls = (e for h in node.handlers if _takes_anything(h) for e in ast.walk(h))
            told = next((t for call in calls if (t := _told(call, "failed")) is not None), None)
            if told is not None:
                yield Place(str(path), told[0], node.body[0].lineno, told[1])


def _takes_anything(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.type, ast.Name) and handler.type.id.endswith("Exception")


def _told(node: ast.AST, function: str) -> tuple[str, bool] | None:
    """What is said to `guard(...)` or `failed(...)`: the name, and whether evidence is lost."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if not is_call or node.func.id != function:  # type: ignore[attr-defined]
        return None
    given = node.args[0]  # type: ignore[attr-defined]
    name = given.value if isinstance(given, ast.Constant) else ast.unparse(given)
    return name, all(word.arg != "loses" for word in node.keywords)  # type: ignore[attr-defined]


@contextmanager
def reached(places: tuple[Place, ...]) -> Iterator[set[Place]]:
    """Which of these places the block comes by, in this thread and in those that it starts."""
    by_line = {(place.file, place.line): place for place in places}
    found: set[Place] = set()

    def note(frame: FrameType) -> None:
        place = by_line.get((frame.f_code.co_filename, frame.f_lineno))
        if place is not None:
            found.add(place)

    with _tracing({place.file for place in places}, note):
        yield found


@contextmanager
def happening(place: Place, act: Callable[[], object]) -> Iterator[list[int]]:
    """Have something happen at a place, the first time that the block comes by."""
    happened: list[int] = []

    def at(frame: FrameType) -> None:
        if frame.f_lineno == place.line and not happened:
            happened.append(1)
            act()

    with _tracing({place.file}, at):
        yield happened


@contextmanager
def _tracing(files: set[str], at_line: Callable[[FrameType], None]) -> Iterator[None]:
    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            at_line(frame)
        return local

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    before = sys.gettrace()
    threading.settrace(call)
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]
