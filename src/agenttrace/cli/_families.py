"""Tools by family, and the false calls of a row and of all rows by the family of their tool.

A run that only read too much and a run that wrote the wrong thing have the same figures; families
tell them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agenttrace.domain import JsonValue, Status, Verdict
from agenttrace.errors import MalformedFileError, UnreadableFileError
from agenttrace.records import JsonTextError, parse_json

UNLISTED: Final = "unlisted"
"""Family of tools that the file does not name."""


def load_families(path: Path) -> dict[str, str]:
    """Tool to family, out of a JSON file.

    The file maps tools to families, or families to lists of tools, or groups of any name to either
    of these.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        MalformedFileError: It is of another form, or puts one tool into two families.
    """
    try:
        document = parse_json(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UnreadableFileError(str(path), error.strerror or type(error).__name__) from error
    except UnicodeDecodeError as error:
        raise MalformedFileError(str(path), "is no UTF-8 text", then=_THEN) from error
    except JsonTextError as error:
        reason = f"is no JSON (column {error.column}: {error.reason})"
        raise MalformedFileError(str(path), reason, line=error.line, then=_THEN) from error
    families: dict[str, str] = {}
    for tool, family in _pairs(document.value, str(path), ""):
        known = families.setdefault(tool, family)
        if known != family:
            reason = f"puts the tool {tool!r:.60} into two families, {known!r} and {family!r}"
            raise MalformedFileError(str(path), reason, then=_THEN)
    return families


_THEN: Final = (
    "Nothing was scored. Give a JSON object of tools to families, or of families to tools."
)


def _pairs(value: JsonValue, path: str, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping):
        raise MalformedFileError(path, f"holds no object{where}", then=_THEN)
    for name, item in value.items():
        if isinstance(item, str):
            yield name, item
        elif isinstance(item, list) and all(isinstance(tool, str) for tool in item):
            yield from ((str(tool), name) for tool in item)
        else:
            yield from _pairs(item, path, f", text or list of texts under {name!r:.60}")


@dataclass(slots=True)
class _Sum:
    right: int = 0
    fp: int = 0
    fn: int = 0


class FamilyTally:
    """False calls by family, counted row by row at the compared boundary."""

    def __init__(self, families: Mapping[str, str]) -> None:
        self._families = families
        self._sums = {name: _Sum() for name in (*dict.fromkeys(families.values()), UNLISTED)}
        self._rows = 0

    def add(self, verdict: Verdict) -> dict[str, dict[str, int]] | None:
        """Count one row, and give its own figures: family to `fp` and `fn`, where there are any.

        None where the row has no figures. An inconclusive row is right in no family.
        """
        figures = verdict.figures
        if figures is None:
            return None
        self._rows += 1
        extra = Counter(self._family(call) for call in figures.extra)
        missing = Counter(self._family(call) for call in figures.missing)
        is_open = verdict.status is Status.INCONCLUSIVE
        for name, total in self._sums.items():
            total.fp += extra[name]
            total.fn += missing[name]
            total.right += not (extra[name] or missing[name] or is_open)
        return {
            name: {"fp": extra[name], "fn": missing[name]}
            for name in self._sums
            if extra[name] or missing[name]
        }

    def lines(self) -> list[str]:
        """One line a family; tools of no family have theirs only where one of them was wrong."""
        return [
            f"family {name}: right in {total.right} of {self._rows} rows with a plan · "
            f"false positives {total.fp} · false negatives {total.fn}"
            for name, total in self._sums.items()
            if name != UNLISTED or total.fp or total.fn
        ]

    def _family(self, call: Any) -> str:
        return self._families.get(call["name"], UNLISTED)
