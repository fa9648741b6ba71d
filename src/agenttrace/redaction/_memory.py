"""Values that were masked in a run, to be found again wherever they stand in its texts.

Few values, or a short text: each is searched for by the interpreter's own linear search. Many
values in a long text: an index over their first four characters is asked at each position. The
work on one text is bounded; a text that would need more is dropped by the caller, never let pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import RLock
from typing import Final

from agenttrace.redaction._tokens import DROPPED, TOKEN

MAX_VALUES: Final = 10_000
"""Values that one run remembers; what is beyond is counted."""

MIN_LENGTH: Final = 4
MIN_DIGITS: Final = 6
_FREE_LENGTH: Final = 8  # letters alone must be so many to be masked inside of a word
_MAX_INDEXED: Final = 256
_MAX_LONG: Final = 256
_LOOKUPS: Final = 8  # allowed at each position of a text, on average


class TooMuchWorkError(Exception):
    """A text was made to be slow to search."""


class Remembered:
    """Texts of masked values with their tokens; safe to use from several threads."""

    def __init__(self) -> None:
        self.forget_threads()
        self._tokens: dict[str, str] = {}
        self._long: list[str] = []
        self._by_head: dict[str, dict[int, set[str]]] = {}
        self.forgotten = 0
        """Values that came when the memory was full."""

    def forget_threads(self) -> None:
        """Go on in a forked child, where nobody is left who could give the lock back."""
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._tokens)

    def add(self, text: str, token: str) -> bool:
        """Remember a value; False for one so short that it would be found everywhere."""
        if len(text) < MIN_LENGTH or (len(text) < MIN_DIGITS and text.isdigit()):
            return False
        if text in self._tokens:
            return True
        with self._lock:
            is_long = len(text) > _MAX_INDEXED
            if len(self._tokens) >= MAX_VALUES or (is_long and len(self._long) >= _MAX_LONG):
                self.forgotten += 1
                return True
            if is_long:
                self._long = [*self._long, text]
            else:
                lengths = self._by_head.get(text[:MIN_LENGTH], {})
                if len(text) in lengths:
                    lengths[len(text)].add(text)
                else:  # a new dictionary: another thread may be going through the old one
                    more = {**lengths, len(text): {text}}
                    self._by_head[text[:MIN_LENGTH]] = dict(sorted(more.items(), reverse=True))
            self._tokens[text] = token  # last: whoever sees the new length finds the value
        return True

    def token_of(self, text: str) -> str | None:
        """The token of a remembered value; None for any other text."""
        return self._tokens.get(text)

    def group_of(self, text: str) -> str | None:
        """The group that a remembered value was masked under; None for any other text."""
        match = TOKEN.fullmatch(self._tokens.get(text, ""))
        return match[1] if match else None

    def find_cut(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where a remembered value begins that the end of the text cuts off."""
        size = len(text)
        for pos in range(max(0, size - _MAX_INDEXED), size - MIN_LENGTH + 1):
            tail = text[pos:]
            for values in self._by_head.get(tail[:MIN_LENGTH], {}).values():
                for value in list(values):
                    if value.startswith(tail):
                        yield pos, size, self._tokens.get(value, DROPPED)
                        return

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and token of remembered values in a text, longest first at each place.

        Raises:
            TooMuchWorkError: The text was not searched to its end.
        """
        tokens = self._tokens
        if not tokens or len(text) < MIN_LENGTH:
            return
        if len(tokens) * (80 + len(text) // 3) <= 100 * len(text):  # nanoseconds, both sides
            for value, token in list(tokens.items()):
                yield from _occurrences(text, value, token)
            return
        for value in self._long:
            yield from _occurrences(text, value, tokens.get(value, DROPPED))
        budget = _LOOKUPS * len(text) + 100_000
        get = self._by_head.get
        for pos in range(len(text) - MIN_LENGTH + 1):
            lengths = get(text[pos : pos + MIN_LENGTH])
            if lengths is not None:
                for length, values in lengths.items():
                    budget -= 1
                    piece = text[pos : pos + length]
                    if piece in values and _stands_alone(text, pos, piece):
                        yield pos, pos + length, tokens.get(piece, DROPPED)
                        break
                if budget < 0:
                    raise TooMuchWorkError


def _occurrences(text: str, value: str, token: str) -> Iterator[tuple[int, int, str]]:
    pos = text.find(value)
    while pos >= 0:
        end = pos + len(value)
        if _stands_alone(text, pos, value):
            yield pos, end, token
        else:
            end = pos + 1
        pos = text.find(value, end)


def _stands_alone(text: str, pos: int, value: str) -> bool:
    """Whether this is the value itself and no part of a longer number or word."""
    before, after = (
        text[pos - 1 : pos] if pos else "",
        text[pos + len(value) : pos + len(value) + 1],
    )
    if value.isdigit():
        return not before.isdigit() and not after.isdigit()
    if len(value) < _FREE_LENGTH and value.isalpha():
        return not before.isalpha() and not after.isalpha()
    return True
