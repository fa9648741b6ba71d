"""One file of evidence, whichever of the known kinds it is: told by its text, not by its name.

A file is opened once and read from its beginning to its end, so that a pipe is as good as a file.
"""

from __future__ import annotations

import io
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from agenttrace.artifacts import Header, LineProblem, artifact_items
from agenttrace.domain import UnusableRecord
from agenttrace.errors import MalformedFileError, UnreadableFileError
from agenttrace.readers._otlp import FoundRecord, check_around, read_spans
from agenttrace.readers._otlp_document import LongRequest
from agenttrace.readers._otlp_values import OtlpShapeError
from agenttrace.records import JsonTextError, Record, dump_json, parse_json

_HEAD: Final = 4096
_MOST_AT_ONCE: Final = 1 << 20
"""Bytes of a request that are read as a whole; a longer one is taken apart."""
_OTLP_KEYS: Final = (b'"resourceSpans"', b'"resource_spans"')


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something in a file that could not be used."""

    path: str
    line: int | None
    """From 1; None: the whole file."""
    reason: str
    code: str
    """As that of the error it would have been."""
    run_id: str | None = None
    record: UnusableRecord | None = None
    """What was lost of that run."""

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.reason}"


class Located(NamedTuple):
    """What was found, and the line of JSON that it can be read from again."""

    item: Header | Record | Problem
    line: bytes = b""
    """Of a record: its line, of the file or made of its span."""
    offset: int | None = None
    """Where the line begins in the file; None: it does not stand there, or cannot be got again."""


def read_file(path: Path) -> Iterator[Header | Record | Problem]:
    """The records of one file, what could not be read of it, and the headers of its sections.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        MalformedFileError: It is no evidence of a known kind.
        UnreadableArtifactError: It was written by a newer version.
    """
    return (found.item for found in locate(path))


def locate(path: Path) -> Iterator[Located]:
    """As `read_file`, with the line of each record."""
    name = str(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            is_kept = file.seekable()
            whole: BinaryIO = file
            if is_kept:
                file.seek(0)
            else:
                whole = io.BufferedReader(Joined(head, file))
            if _is_otlp(head):
                yield from _otlp_items(whole, name)
            else:
                yield from _artifact_items(whole, name, is_kept=is_kept)
    except OSError as error:
        raise UnreadableFileError(name, error.strerror or type(error).__name__) from error


def _is_otlp(head: bytes) -> bool:
    head = head.removeprefix(BOM_UTF8).lstrip()
    return head[:1] == b"{" and any(head[1:].lstrip().startswith(key) for key in _OTLP_KEYS)


class Joined(io.RawIOBase):
    """Bytes that were read already, and the file behind them."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        super().__init__()
        self._head = head
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._file.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


class _Lines:
    """The lines of a file, and where the last one that was taken stands."""

    def __init__(self, file: Iterable[bytes]) -> None:
        self._file = file
        self.last = b""
        self.offset = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._file:
            self.offset += len(self.last)
            self.last = line
            yield line


def _artifact_items(file: BinaryIO, name: str, *, is_kept: bool) -> Iterator[Located]:
    lines = _Lines(file)
    for item in artifact_items(lines, name):
        if isinstance(item, Record):
            yield Located(item, lines.last, lines.offset if is_kept else None)
        elif isinstance(item, LineProblem):
            yield Located(
                Problem(
                    path=item.path,
                    line=item.line,
                    reason=item.reason,
                    code="torn-line" if item.torn else MalformedFileError.code,
                    run_id=item.run_id,
                    record=item.record,
                )
            )
        else:
            yield Located(item)


def _otlp_items(file: BinaryIO, name: str) -> Iterator[Located]:
    """Requests one a line, as the collector's file exporter writes them, or one in the file."""
    number = 1
    line = file.readline(_MOST_AT_ONCE)
    while line:
        following = file.readline(_MOST_AT_ONCE) if line.endswith(b"\n") else b""
        is_long = len(line) == _MOST_AT_ONCE and not line.endswith(b"\n")
        if is_long or (number == 1 and _goes_on(line, following)):
            long = LongRequest(line + following, file, number)
            yield from _long_request(long, name)
            file = io.BufferedReader(Joined(long.rest, file))
            if not long.is_at_line:
                yield from _behind(file, name, long)
            number = long.line + (not long.is_at_line)
            line = file.readline(_MOST_AT_ONCE)
            continue
        if line.strip():
            yield from _request(line, name, number)
        line, number = following, number + 1


def _goes_on(first: bytes, second: bytes) -> bool:
    """Whether the second line is part of the request that the first begins."""
    return not _is_otlp(second) and isinstance(_json(first), str) and isinstance(_json(second), str)


def _long_request(long: LongRequest, name: str) -> Iterator[Located]:
    begin = long.line
    for small in long:
        yield from _request(small, name, long.line)
    reason = ""
    if long.is_broken:
        begin = long.line - long.is_at_line
        reason = "the request breaks off, or its brackets do not fit; the spans before were used"
    elif isinstance(found := _json(long.around), str):
        reason = f"what stands around the spans of the request is no JSON: {found}"
    else:
        try:
            check_around(found[0])
        except OtlpShapeError as error:
            reason = f"no OTLP: {error}"
    if reason:
        yield Located(Problem(path=name, line=begin, reason=reason, code=MalformedFileError.code))


def _behind(file: BinaryIO, name: str, long: LongRequest) -> Iterator[Located]:
    """The rest of the line in which a long request ends."""
    is_blank = True
    while rest := file.readline(_MOST_AT_ONCE):
        is_blank = is_blank and not rest.strip()
        if rest.endswith(b"\n"):
            break
    if not is_blank and not long.is_broken:
        reason = "there is more text behind the request; it was not used"
        code = MalformedFileError.code
        yield Located(Problem(path=name, line=long.line, reason=reason, code=code))


def _request(data: bytes, name: str, line: int) -> Iterator[Located]:
    value = _json(data)
    if isinstance(value, str):
        yield Located(Problem(path=name, line=line, reason=value, code=MalformedFileError.code))
        return
    try:
        found = [one for one in read_spans(value[0]) if one is not None]
    except OtlpShapeError as error:
        reason = f"no OTLP: {error}"
        yield Located(Problem(path=name, line=line, reason=reason, code=MalformedFileError.code))
        return
    for one in found:
        if isinstance(one, FoundRecord):
            yield Located(one.record, dump_json(one.plain).encode("ascii"))
            continue
        yield Located(
            Problem(
                path=name,
                line=line,
                reason=f"a span cannot be read as a record: {one.record.reason}",
                code=MalformedFileError.code,
                run_id=one.run_id,
                record=one.record,
            )
        )


def _json(data: bytes) -> tuple[Any] | str:
    try:
        return (parse_json(data.decode("utf-8-sig")).value,)
    except UnicodeDecodeError as error:
        return f"the line is no UTF-8 text (byte {error.start + 1})"
    except JsonTextError as error:
        return f"the line is no JSON (column {error.column}: {error.reason})"
