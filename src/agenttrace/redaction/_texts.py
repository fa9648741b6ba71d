"""Secrets inside one text: by shape, behind a field's name, and as remembered values.

All are found in the text as it is and replaced in one go, so that no replacement is searched again
and tokens that stand there already stay whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agenttrace.redaction._assignments import find_assignments
from agenttrace.redaction._memory import Remembered
from agenttrace.redaction._tokens import TOKEN

if TYPE_CHECKING:
    from agenttrace.redaction._redactor import Redactor

_SHAPE: Final = 0
_ASSIGNED: Final = 1
_REMEMBERED: Final = 2
_Span = tuple[int, int, int, str]
"""Start, end negated, rank, and the group or the finished token."""


class TextMask:
    """Finds and replaces secrets in texts."""

    def __init__(self, redactor: Redactor, memory: Remembered) -> None:
        self._redactor = redactor
        self._memory = memory

    def mask(self, text: str, *, assignments: bool = True, is_cut: bool = False) -> str:
        """The text with every secret in it replaced.

        Args:
            assignments: Whether values behind the name of a secret field count; they do in prose.
            is_cut: The end may be missing, and with it the end of a secret.

        Raises:
            TooMuchWorkError: The text was made to be slow to search.
        """
        if "[masked:" not in text:
            return self._piece(text, assignments, is_cut)
        parts = []
        done = 0
        for token in TOKEN.finditer(text):
            parts += [self._piece(text[done : token.start()], assignments, False), token[0]]
            done = token.end()
        parts.append(self._piece(text[done:], assignments, is_cut))
        return "".join(parts)

    def _piece(self, text: str, assignments: bool, is_cut: bool) -> str:
        spans = self._spans(text, assignments)
        if is_cut and len(self._memory):
            found = self._memory.find_cut(text)
            spans += [(start, -end, _REMEMBERED, token) for start, end, token in found]
        if not spans:
            return text
        spans.sort()
        parts = []
        done = 0
        for start, negated_end, rank, name in spans:
            end = -negated_end
            if end <= done:
                continue
            begin = max(start, done)
            is_whole = begin == start
            token = name if rank == _REMEMBERED and is_whole else None
            if token is None:
                group = "text" if rank == _REMEMBERED else name
                token = self._redactor.token(text[begin:end], group)
                if rank == _SHAPE or (rank == _ASSIGNED and _is_no_word(text[begin:end])):
                    self._memory.add(text[begin:end], token)
            parts += [text[done:begin], token]
            done = end
        parts.append(text[done:])
        return "".join(parts)

    def _spans(self, text: str, assignments: bool) -> list[_Span]:
        spans: list[_Span] = []
        for shape in self._redactor.triggers.patterns_for(text):
            spans += [(start, -end, _SHAPE, shape.group) for start, end in shape.spans(text)]
        if assignments:
            found = find_assignments(text, self._redactor.group_of, self._redactor.endings)
            spans += [(start, -end, _ASSIGNED, group) for start, end, group in found]
        if len(self._memory):
            for start, end, token in self._memory.find(text):
                spans.append((start, -end, _REMEMBERED, token))
        return spans


def _is_no_word(text: str) -> bool:
    """Whether a value that stood behind a name in prose may be looked for elsewhere too."""
    return not text.isalpha() and text.split() == [text]
