"""JSON pointers of values to mask, where `*` stands for any one key or index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agenttrace.records import split_pointer
from agenttrace.redaction._fields import group_name


class PathRules:
    """Which places inside arguments are masked, whatever their fields are called."""

    def __init__(self, pointers: Iterable[str]) -> None:
        self._rules: list[tuple[tuple[str, ...], str]] = []
        for pointer in pointers:
            parts = split_pointer(pointer)
            if not parts:
                raise ValueError("the empty path is the whole value; name the fields to mask")
            named = [part for part in parts if part != "*" and not part.isdigit()]
            self._rules.append((parts, group_name(named[-1] if named else "path")))
        self.depth: Final = max((len(parts) for parts, _ in self._rules), default=0)
        """Parts of the longest path; a place that is deeper fits none."""

    def lead_below(self, path: Sequence[str | int]) -> bool:
        """Whether some path goes on below a place."""
        return any(
            len(parts) > len(path)
            and all(part in ("*", str(key)) for part, key in zip(parts, path, strict=False))
            for parts, _ in self._rules
        )

    def group_at(self, path: Sequence[str | int]) -> str | None:
        """The group of the value at a place; None when no path fits it."""
        for parts, group in self._rules:
            if len(parts) == len(path) and all(
                part in ("*", str(key)) for part, key in zip(parts, path, strict=True)
            ):
                return group
        return None
