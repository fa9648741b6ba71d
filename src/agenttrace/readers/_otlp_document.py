"""One OTLP request that is too long to be held, taken apart at its spans.

Spans are cut out by their brackets and handed on a few at a time, each few as a small request.
What stands around them is kept, with `null` in the place of spans, and has to be JSON at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

_CHUNK: Final = 1 << 16
_MARKS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\],]', re.DOTALL)
"""A whole string, in which no bracket counts; a quote that opens an unfinished one; a mark."""
_CLOSING: Final = {b"{": b"}", b"[": b"]"}
_WAY: Final = (
    (b'"resourceSpans"', b'"resource_spans"'),
    (b'"scopeSpans"', b'"scope_spans"'),
    (b'"spans"',),
)
_SCOPE_DEPTH: Final = 5
_SPAN_DEPTH: Final = 7
"""Brackets that are open within a span: three lists, and the objects around and in them."""


class LongRequest:
    """A request that begins in `head` and goes on in a file."""

    def __init__(self, head: bytes, file: BinaryIO, line: int) -> None:
        """Prepare to read it.

        Args:
            line: The line that it begins in.
        """
        self.line = line
        """Where the spans that were handed on last begin; at the end, where reading ended."""
        self.rest = b""
        """What was read of the file behind the request."""
        self.is_broken = False
        """Brackets or strings do not fit; what was handed on before still holds."""
        self.is_at_line = False
        """The rest begins with a line, and not within one."""
        self._data = head
        self._file = file
        self._open: list[bytes] = []
        self._keys = [b""] * (_SPAN_DEPTH + 1)
        self._wants_key = False
        self._wants_comma = False
        self._opened = 0
        self._begin: int | None = None
        self._scope_begin: int | None = None
        self._scope = b"{}"
        self._spans: list[bytes] = []
        self._around: list[bytes] = []
        self._left = 0
        self._counted, self._count = 0, line

    @property
    def around(self) -> bytes:
        """The request, with `null` in place of some of its spans and without the others."""
        return b"".join(self._around)

    def __iter__(self) -> Iterator[bytes]:
        """Small requests with the spans of the long one."""
        at = 0
        while True:
            for mark in _MARKS.finditer(self._data, at):
                at = mark.start()
                if mark.group() == b'"':
                    break
                self._take(mark.group(), at, mark.end())
                if self.is_broken and mark.group() in _WAY[0]:
                    at = self._opened  # the request that follows begins there
                elif not self.is_broken:
                    at = mark.end()
                if self.is_broken or not self._open:
                    yield from self._end(at)
                    return
            else:
                at = len(self._data)
            if sum(map(len, self._spans)) > _CHUNK:
                yield self._request()
            more = self._file.read(max(_CHUNK, len(self._data) - self._left))
            if not more:
                self.is_broken = True
                yield from self._end(len(self._data))
                return
            at = self._forget(at)
            self._data += more

    def _take(self, sign: bytes, begin: int, end: int) -> None:
        depth = len(self._open)
        if sign[:1] == b'"':
            # A line feed has no place in a string: the request was cut, and another one follows.
            self.is_broken = b"\n" in sign
            self._wants_comma = not self._wants_key
            if self._wants_key:
                self._wants_key = False
                self.is_broken = self.is_broken or (depth > 1 and sign in _WAY[0])
                if depth <= _SPAN_DEPTH:
                    self._keys[depth] = sign
        elif sign in _CLOSING:
            self.is_broken = self._wants_key or self._wants_comma
            self._opened = begin
            self._open.append(sign)
            self._wants_key, self._wants_comma = sign == b"{", False
            if depth + 1 == _SPAN_DEPTH and self._is_span():
                self._begin = begin
                if not self._spans:
                    self.line = self._line_of(begin)
            elif depth == _SCOPE_DEPTH and self._keys[depth] == b'"scope"':
                self._scope_begin = begin
        elif sign == b",":
            self._wants_key = bool(self._open) and self._open[-1] == b"{"
            self._wants_comma = False
        elif not self._open or _CLOSING[self._open.pop()] != sign:
            self.is_broken = True
        else:
            self._wants_key, self._wants_comma = False, True
            self._close(depth, end)

    def _is_span(self) -> bool:
        keys = (self._keys[1], self._keys[3], self._keys[5])
        fits = all(key in names for key, names in zip(keys, _WAY, strict=True))
        return fits and self._open == [b"{", b"["] * 3 + [b"{"]

    def _close(self, depth: int, end: int) -> None:
        if depth == _SPAN_DEPTH and self._begin is not None:
            span = self._data[self._begin : end]
            self._spans.append(b'{"scope":%b,"spans":[%b]}' % (self._scope, span))
            gap = self._data[self._left : self._begin]
            if gap.strip() != b"," or self._around[-1:] != [b"null"]:
                self._around += [gap, b"null"]
            self._left, self._begin = end, None
        elif depth == _SCOPE_DEPTH + 1 and self._scope_begin is not None:
            self._scope = self._data[self._scope_begin : end]
            self._scope_begin = None
        elif depth == _SCOPE_DEPTH:
            self._scope = b"{}"

    def _request(self) -> bytes:
        made = b'{"resourceSpans":[{"scopeSpans":[%b]}]}' % b",".join(self._spans)
        self._spans.clear()
        return made

    def _end(self, at: int) -> Iterator[bytes]:
        if self._spans:
            yield self._request()
        begin = self._data.rfind(b"\n", 0, at) + 1
        if self.is_broken and begin and not self._data[begin:at].strip():
            at, self.is_at_line = begin, True
        self._around.append(self._data[self._left : at])
        self.line = self._line_of(at)
        self.rest = self._data[at:]
        self._data = b""

    def _line_of(self, at: int) -> int:
        self._count += self._data.count(b"\n", self._counted, at)
        self._counted = at
        return self._count

    def _forget(self, at: int) -> int:
        """Let go of what was dealt with; where `at` is from then on."""
        cut = self._left
        self._line_of(max(cut, self._counted))
        self._data, self._left = self._data[cut:], 0
        self._counted -= cut
        self._opened -= cut
        self._begin = None if self._begin is None else self._begin - cut
        self._scope_begin = None if self._scope_begin is None else self._scope_begin - cut
        return at - cut
