"""Which shapes of secrets a text may hold, told at a fraction of the cost of looking for them.

A megabyte is searched for some forty literals on every record, so literals with a `-` or `_` are
looked for from that character, and the others only where a rare character of theirs is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agenttrace.redaction._patterns import SecretPattern

_PIVOTS: Final = "-_"
_RARE: Final = re.compile(r"[^a-z ]")
_SHORT: Final = 64


class Triggers:
    """The triggers of all patterns of a redactor."""

    def __init__(self, patterns: Iterable[SecretPattern]) -> None:
        self._patterns = tuple(patterns)
        self._always = any(not pattern.triggers for pattern in self._patterns)
        literals = sorted({trigger for p in self._patterns for trigger in p.triggers})
        self._any = re.compile("|".join(map(re.escape, literals)) or r"(?!)")
        self._pivoted = []
        for pivot in _PIVOTS:
            # Of two pivots the last in the literal counts: each literal stands in one group.
            group = [text for text in literals if _last_pivot(text) == pivot]
            if group:
                self._pivoted.append((pivot, _around(pivot, group), group))
        self._plain = [(_rare(text), text) for text in literals if not _last_pivot(text)]

    def patterns_for(self, text: str) -> list[SecretPattern]:
        """The patterns of which this text holds a trigger."""
        if len(text) <= _SHORT and not self._always and self._any.search(text) is None:
            return []
        found = {literal for rare, literal in self._plain if rare in text and literal in text}
        for pivot, around, group in self._pivoted:
            if pivot in text and around.search(text) is not None:
                found.update(literal for literal in group if literal in text)
        if not found and not self._always:
            return []
        return [p for p in self._patterns if not p.triggers or not found.isdisjoint(p.triggers)]


def _last_pivot(literal: str) -> str:
    return next((char for char in reversed(literal) if char in _PIVOTS), "")


def _rare(literal: str) -> str:
    found = _RARE.search(literal)
    return found[0] if found else literal[0]


def _around(pivot: str, literals: Iterable[str]) -> re.Pattern[str]:
    """A pattern that starts at the pivot and looks back and ahead for the rest of a literal."""
    options = []
    for literal in literals:
        at = literal.rindex(pivot) + 1
        options.append(f"(?<={re.escape(literal[:at])}){re.escape(literal[at:])}")
    return re.compile(f"{re.escape(pivot)}(?:{'|'.join(options)})")
