"""Masking inside JSON text that may be cut off or broken; what is not masked stays byte for byte.

The walk never gives up: where the text stops making sense, it goes on from the next thing that
looks like a key, so that a secret behind a syntax error is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal

from agenttrace._late import late_pattern
from agenttrace.records._json_loose import LooseText, decode_loose

# What valid text consists of nearly always; the rest goes the slow ways.
_KEY = late_pattern(r'\s*+"([^"\\]*+)"\s*+:')
_VALUE = late_pattern(r'\s*+(?:([{\[])|(?:("[^"\\]*+")|([-+.\w]++))(?=\s*+[,}\]]))')
_AFTER = late_pattern(r"\s*+([,}\]{\[])")
_SKIP = late_pattern(r"[\s:=>]*+")
_SPACE = late_pattern(r"\s*+")


_State = Literal["value", "key", "after", "done"]


class Found:
    """One value inside a text, shown to a masker; valid during that call only.

    `path`, `source` and `value` are made when they are asked for. Ask for `key` first: on deep or
    broken text the others cost as much as they are long.
    """

    __slots__ = ("_end", "_start", "_walk", "is_container")

    def __init__(self, walk: _Walk, start: int, end: int | None) -> None:
        self._walk = walk
        self._start = start
        self._end = end
        self.is_container = end is None
        """It is an object or array; when it is not masked, its content is shown next."""

    @property
    def key(self) -> str | int:
        """The key, or the index in an array, under which the value stands."""
        return self._walk.keys[-1]

    @property
    def depth(self) -> int:
        """How many parts the path has."""
        return len(self._walk.keys)

    @property
    def path(self) -> tuple[str | int, ...]:
        """Keys and indexes down to the value; behind a syntax error, as well as they are known."""
        return tuple(self._walk.keys)

    @property
    def end(self) -> int:
        """Offset behind the value."""
        if self._end is None:
            self._end = self._walk.loose.container_end(self._start)
        return self._end

    @property
    def source(self) -> str:
        """The value's text; an unterminated string or container goes to the end of the text."""
        return self._walk.text[self._start : self.end]

    @property
    def value(self) -> object | None:
        """The decoded scalar; None for null, a container, or what cannot be decoded.

        Of an unterminated string, its beginning.
        """
        return None if self.is_container else decode_loose(self.source)


Masker = Callable[[Found], str | None]


def mask_text(text: str, masker: Masker) -> str:
    """Replace values inside a JSON text, be it valid, cut off or broken.

    The masker sees every value that stands under a key or in an array, in the order of the text. It
    answers with the text to put there instead (for valid text: with its quotes), or with None to
    leave it. The content of a masked container is not shown; that of an unmasked one is.

    In broken text also single, escaped and missing quotes are understood, as are `=` and `=>` for
    a colon. There a value may be shown twice, once as part of a string that did not end where it
    should, and things may be shown that are no values; every replacement is made once.

    Never raises on its own account, whatever the text; what the masker raises passes through.

    Example:
        >>> def hide(found):
        ...     return '"***"' if found.key == "api_key" else None
        >>> print(mask_text('{"api_key": "sk-1", "n": 1.0', hide))
        {"api_key": "***", "n": 1.0
        >>> print(mask_text("{'n': tru 'api_key': 'sk-1", hide))
        {'n': tru 'api_key': "***"
    """
    return _Walk(text, masker).run()


class _Walk:
    def __init__(self, text: str, masker: Masker) -> None:
        self.text = text
        self.loose = LooseText(text)
        self.keys: list[str | int] = []
        """For each open container the current key or index."""
        self._masker = masker
        self._open: list[str] = []
        self._open_count: Final = {"{": 0, "[": 0}
        self._out: list[str] = []
        self._written = 0
        """Offset up to which the text has been copied or replaced."""
        self._retry: int | None = None
        """Where to look for keys if what follows the last value makes no sense."""

    def run(self) -> str:
        pos: int = 0
        state: _State = "value"
        while state != "done":
            if state == "value":
                match = _VALUE.match(self.text, pos)
                if match is None:
                    pos, state = self._odd_value(pos)
                elif match[1]:
                    pos, state = self._container(match.start(1), match[1])
                else:
                    self._retry = None
                    start, pos = match.span(match.lastindex or 0)
                    self._offer(start, pos)
                    state = "after"
            elif state == "key":
                match = _KEY.match(self.text, pos)
                if match is None:
                    pos, state = self._odd_key(pos)
                else:
                    self.keys[-1] = match[1]
                    pos, state = match.end(), "value"
            else:
                pos, state = self._after(pos)
        self._out.append(self.text[self._written :])
        return "".join(self._out)

    def _offer(self, start: int, end: int | None) -> int | None:
        """Show a value to the masker; returns the offset behind it if it was replaced."""
        if not self.keys:
            return None
        found = Found(self, start, end)
        answer = self._masker(found)
        if answer is None:
            return None
        self._out.append(self.text[self._written : start])
        self._out.append(answer)
        self._written = found.end
        return self._written

    def _container(self, start: int, bracket: str) -> tuple[int, _State]:
        self._retry = None
        masked = self._offer(start, None)
        if masked is not None:
            return masked, "after"
        self._push(bracket)
        return start + 1, "key" if bracket == "{" else "value"

    def _odd_value(self, pos: int) -> tuple[int, _State]:
        """Read a value that is no plain one: escapes, other quotes, no quotes, or none at all."""
        pos = _end(_SKIP, self.text, pos)
        following = self.text[pos : pos + 1]
        if following in ",}]" or following in "{[":  # none at all, also at the end of the text
            return pos, "value" if following and following in "{[" else "after"
        if not self._open or self._open[-1] == "[":
            key = self.loose.key_at(pos)
            if key is not None:
                return self._take(key)
        string = self.loose.string_at(pos)
        if string is not None:
            masked = self._offer(pos, string.end)
            if masked is not None:
                self._retry = None
                return masked, "after"
            self._retry = pos + 1
            return (string.end, "after") if string.is_sound else self._resume(pos + 1)
        bare = self.loose.bare_at(pos) if self._open else None
        if bare is None:
            return self._resume(pos)
        masked = self._offer(pos, bare[0])
        self._retry = bare[1] if masked is None else None
        return bare[0], "after"

    def _odd_key(self, pos: int) -> tuple[int, _State]:
        pos = _end(_SPACE, self.text, pos)
        key = self.loose.key_at(pos)
        return (pos, "after") if key is None else self._take(key)

    def _after(self, pos: int) -> tuple[int, _State]:
        match = _AFTER.match(self.text, pos)
        if match is None:
            if _end(_SPACE, self.text, pos) == len(self.text):
                return pos, "done"
            return self._resume(pos if self._retry is None else self._retry)
        self._retry = None
        found = match[1]
        if found == ",":
            return match.end(), self._next_item()
        if found in "}]":
            self._pop("{" if found == "}" else "[")
            return match.end(), "after"
        # An opening bracket: a comma is missing, or another text follows.
        if self._open and self._open[-1] == "[":
            self._next_item()
        return match.start(1), "value"

    def _resume(self, pos: int) -> tuple[int, _State]:
        """Go on from the next thing that looks like a key."""
        self._retry = None
        key = self.loose.key_after(max(pos, self._written))
        return (len(self.text), "done") if key is None else self._take(key)

    def _take(self, key: tuple[str, int]) -> tuple[int, _State]:
        if not self._open or self._open[-1] == "[":
            self._push("{")  # a key stands in an object, even when its bracket is missing
        self.keys[-1] = key[0]
        return key[1], "value"

    def _next_item(self) -> _State:
        if not self._open:
            return "value"
        last = self.keys[-1]
        if isinstance(last, int):
            self.keys[-1] = last + 1
            return "value"
        return "key"

    def _push(self, bracket: str) -> None:
        self._open.append(bracket)
        self._open_count[bracket] += 1
        self.keys.append("" if bracket == "{" else 0)

    def _pop(self, bracket: str) -> None:
        """Close the innermost container of this kind, and those in it that were left open."""
        if not self._open_count[bracket]:
            return
        closed = ""
        while closed != bracket:
            closed = self._open.pop()
            self._open_count[closed] -= 1
            self.keys.pop()


def _end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    match = pattern.match(text, pos)
    return pos if match is None else match.end()
