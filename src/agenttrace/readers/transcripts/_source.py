"""The rows of a file, one by one: JSON lines, a JSON list, or one JSON document; gzip or not.

No more than one row is held at a time. A fault costs the row that it stands in, as far as the next
row can still be told, and it is named with its true line.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from agenttrace.domain import JsonValue
from agenttrace.errors import MalformedFileError, UnreadableFileError
from agenttrace.readers._files import Joined, Problem
from agenttrace.records import JsonTextError, parse_json

_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = re.compile(
    rb"\xff\xfe|\xfe\xff|\x00\x00\xfe\xff|(?:\x00\x00)?\x00[^\x00]|[^\x00]\x00"
)
"""How a text of two or four bytes a character begins: by a mark, or by one that is plain ASCII."""
_BLANK: Final = b" \t\r\n"
STDIN: Final = Path("-")
"""Stands for standard input."""
_UNSCORED: Final = "the row was not scored"
_CHUNK: Final = 1 << 16
MOST_BYTES: Final = 1 << 28
"""Size of a row beyond which it is refused, so that a broken file cannot fill the memory."""

Reader: TypeAlias = "io.BufferedReader[Any]"

_MARKS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\],]', re.DOTALL)
"""A whole string, in which no bracket counts; a quote that opens an unfinished one; a mark."""


@dataclass(frozen=True, kw_only=True)
class RowText:
    """One row as it stands in the file."""

    line: int
    """Where it begins, from 1."""
    data: bytes
    is_cut: bool = False
    """The file ends here without the end of a line."""


class RowFile:
    """A file of rows, and how far it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        """Bytes of the file that were read, before decompression."""

    def __iter__(self) -> Iterator[tuple[int, JsonValue] | Problem]:
        """The line and the value of each row, or what is wrong with it; never raises."""
        for item in self._texts():
            yield item if isinstance(item, Problem) else _value(item, str(self.path))

    def _texts(self) -> Iterator[RowText | Problem]:
        line = 0
        try:
            with _open(self.path) as raw:
                for item in _split(_unpacked(raw), self.path):
                    line = item.line or line
                    yield item
                    if raw.seekable():
                        self.position = raw.tell()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reason = f"the compressed data is broken behind this line ({error!s:.80})"
            reason += "; what follows was not scored"
            yield self._problem(reason, line or None)
        except OSError as error:
            reason = f"cannot be read ({error.strerror or type(error).__name__})"
            yield self._problem(reason, None, code=UnreadableFileError.code)

    def _problem(
        self, reason: str, line: int | None, code: str = MalformedFileError.code
    ) -> Problem:
        return Problem(path=str(self.path), line=line, reason=reason, code=code)


@contextmanager
def _open(path: Path) -> Iterator[Reader]:
    if path == STDIN:
        yield cast("Reader", sys.stdin.buffer)
        return
    with path.open("rb") as raw:
        yield raw


def is_odd(path: Path | str) -> bool:
    """Whether a file is compressed, or text that is no UTF-8 by its first bytes."""
    try:
        with Path(path).open("rb") as raw:
            head = raw.read(4)
    except OSError:
        return False
    return head[: len(_GZIP)] == _GZIP or _WIDE.match(head) is not None


def _unpacked(raw: Reader) -> Reader:
    if raw.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:
        return raw
    return io.BufferedReader(gzip.GzipFile(fileobj=raw))


def _split(file: Reader, path: Path) -> Iterator[RowText | Problem]:
    if file.peek(len(_BOM))[: len(_BOM)] == _BOM:
        file.read(len(_BOM))
    if _WIDE.match(file.peek(4)[:4]):
        reason = (
            "the file is UTF-16 or UTF-32 text, and only UTF-8 is read; nothing of it was scored; "
            "convert it, as by `iconv -f UTF-16 -t UTF-8`"
        )
        yield Problem(path=str(path), line=None, reason=reason, code=MalformedFileError.code)
        return
    line = 1
    while (begin := file.read(1)) and begin in _BLANK:
        line += begin == b"\n"
    name = str(path)
    if not begin:
        reason = "the file is empty; there is nothing to score"
        yield Problem(path=name, line=None, reason=reason, code=MalformedFileError.code)
        return
    if begin == b"[":
        yield from _list_items(file, name, line)
        return
    first = begin + file.readline(MOST_BYTES)
    if path.name.lower().removesuffix(".gz").endswith(".json") and not _is_whole(first):
        yield from _document(file, name, line, first)
    else:
        yield from _lines(file, name, line, first)


def _is_whole(data: bytes) -> bool:
    """Whether a line holds a whole JSON value, so that each line is one."""
    try:
        parse_json(data.decode("utf-8"))
    except ValueError:
        return False
    return True


def _document(file: Reader, name: str, line: int, first: bytes) -> Iterator[RowText | Problem]:
    """One row over several lines, unless the second line shows that only the first is broken."""
    second = file.readline(MOST_BYTES)
    if _is_whole(second):
        yield RowText(line=line, data=first)
        yield from _lines(file, name, line + 1, second)
        return
    data = first + second
    data += file.read(max(0, MOST_BYTES + 1 - len(data)))
    yield _too_long(name, line) if len(data) > MOST_BYTES else RowText(line=line, data=data)


def _lines(file: Reader, name: str, number: int, data: bytes) -> Iterator[RowText | Problem]:
    while data:
        if len(data) > MOST_BYTES:
            yield _too_long(name, number)
            while data and not data.endswith(b"\n"):
                data = file.readline(_CHUNK)
        elif data.strip(_BLANK):
            yield RowText(line=number, data=data, is_cut=not data.endswith(b"\n"))
        number += 1
        data = file.readline(MOST_BYTES + 1)


def _list_items(file: Reader, name: str, line: int) -> Iterator[RowText | Problem]:
    """Members of the list that was just opened, each as its own text, told apart by brackets."""
    data, first_line = b"", line
    begin, at, depth, last_mark = 0, 0, 1, b"["
    while True:
        for mark in _MARKS.finditer(data, at):
            at = mark.end()
            sign = mark.group()
            if sign == b'"':
                at = mark.start()
                break
            if sign in b"{[":
                depth += 1
            elif sign in b"}]":
                depth -= 1
            if depth == 0 or (depth == 1 and sign == b","):
                text = data[begin : mark.start()]
                if text.strip(_BLANK):
                    yield _item(text, line)
                elif sign == b"," or last_mark == b",":
                    here = line + data.count(b"\n", begin, mark.start())
                    yield _broken(name, here, "the list has a comma with no row beside it")
                line += data.count(b"\n", begin, mark.end())
                begin, last_mark = mark.end(), sign
            if depth == 0:
                yield from _behind(file, name, line, data[begin:], is_line=line == first_line)
                return
        else:
            at = len(data)
        more = file.read(max(_CHUNK, len(data) - begin))
        if not more:
            line += data.count(b"\n", begin)
            yield _broken(name, line, "the file ends in the middle of the list")
            return
        data, at, begin = data[begin:] + more, at - begin, 0
        if len(data) > MOST_BYTES:
            yield _too_long(name, line)
            return


def _item(text: bytes, line: int) -> RowText:
    blank = len(text) - len(text.lstrip(_BLANK))
    return RowText(line=line + text.count(b"\n", 0, blank), data=text[blank:])


def _behind(
    file: Reader, name: str, line: int, rest: bytes, *, is_line: bool
) -> Iterator[RowText | Problem]:
    """What stands behind the list: nothing, or further lines where the list was one itself."""
    seen_end = False
    while True:
        blank = len(rest) - len(rest.lstrip(_BLANK))
        line += rest.count(b"\n", 0, blank)
        seen_end = seen_end or b"\n" in rest[:blank]
        if blank < len(rest):
            break
        rest = file.read(_CHUNK)
        if not rest:
            return
    lines = io.BufferedReader(Joined(rest[blank:], file))
    first = lines.readline(MOST_BYTES + 1) if is_line and seen_end else b""
    if _is_whole(first):
        yield from _lines(lines, name, line, first)
    else:
        yield _broken(name, line, "there is more text behind the list; it was not used")


def _value(row: RowText, name: str) -> tuple[int, JsonValue] | Problem:
    try:
        text = row.data.rstrip(_BLANK).decode("utf-8")  # a cut row ends on its own line
    except UnicodeDecodeError as error:
        line = row.line + row.data.count(b"\n", 0, error.start)
        return _broken(name, line, f"the line is no UTF-8 text; {_UNSCORED}")
    try:
        document = parse_json(text)
    except JsonTextError as error:
        line = row.line + error.line - 1
        if error.truncated and row.is_cut:
            reason = f"the line ends in the middle, after {len(row.data)} bytes; {_UNSCORED}"
            return Problem(path=name, line=line, reason=reason, code="torn-line")
        found = f"the line is no JSON (column {error.column}: {error.reason})"
        return _broken(name, line, f"{found}; {_UNSCORED}")
    if document.duplicates:
        twice = document.duplicates[0]
        line = row.line + twice.line - 1
        reason = f"the row has the key {twice.pointer!r:.60} twice; {_UNSCORED}"
        return _broken(name, line, reason)
    return row.line, document.value


def _broken(name: str, line: int, reason: str) -> Problem:
    return Problem(path=name, line=line, reason=reason, code=MalformedFileError.code)


def _too_long(name: str, line: int) -> Problem:
    return _broken(name, line, f"the row is longer than {MOST_BYTES} bytes; it was not read")
