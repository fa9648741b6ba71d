"""One file of evidence, whichever of the known kinds it is: told by its text, not by its name."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agenttrace.artifacts import Header, LineProblem, iter_artifact
from agenttrace.domain import UnusableRecord
from agenttrace.errors import MalformedFileError, UnreadableFileError
from agenttrace.readers._otlp import records_from_otlp_spans
from agenttrace.readers._otlp_values import OtlpShapeError
from agenttrace.records import JsonTextError, Record, parse_json

_HEAD: Final = 4096
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


def read_file(path: Path) -> Iterator[Header | Record | Problem]:
    """The records of one file, what could not be read of it, and the headers of its sections.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        MalformedFileError: It is no evidence of a known kind.
        UnreadableArtifactError: It was written by a newer version.
    """
    if _is_otlp(path):
        yield from _otlp_items(path)
        return
    for item in iter_artifact(path):
        if isinstance(item, LineProblem):
            yield Problem(
                path=item.path,
                line=item.line,
                reason=item.reason,
                code="torn-line" if item.torn else MalformedFileError.code,
                run_id=item.run_id,
                record=item.record,
            )
        else:
            yield item


def _is_otlp(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UnreadableFileError(str(path), error.strerror or type(error).__name__) from error
    head = head.removeprefix(BOM_UTF8).lstrip()
    return head[:1] == b"{" and any(head[1:].lstrip().startswith(key) for key in _OTLP_KEYS)


def _otlp_items(path: Path) -> Iterator[Record | Problem]:
    """Requests one a line, as the collector's file exporter writes them, or one in the file."""
    with path.open("rb") as file:
        first = file.readline()
        if isinstance(_json(first), str):
            whole = first + file.read()
            if not isinstance(_json(whole), str):
                yield from _request(whole, str(path), 1)
                return
            file.seek(len(first))
        yield from _request(first, str(path), 1)
        for number, line in enumerate(file, start=2):
            if line.strip():
                yield from _request(line, str(path), number)


def _request(data: bytes, name: str, line: int) -> Iterator[Record | Problem]:
    value = _json(data)
    if isinstance(value, str):
        yield Problem(path=name, line=line, reason=value, code=MalformedFileError.code)
        return
    try:
        found = records_from_otlp_spans(value[0])
    except OtlpShapeError as error:
        yield Problem(path=name, line=line, reason=f"no OTLP: {error}", code="malformed-file")
        return
    yield from found.records
    for lost in found.unusable:
        yield Problem(
            path=name,
            line=line,
            reason=f"a span cannot be read as a record: {lost.record.reason}",
            code=MalformedFileError.code,
            run_id=lost.run_id,
            record=lost.record,
        )


def _json(data: bytes) -> tuple[Any] | str:
    try:
        return (parse_json(data.decode("utf-8-sig")).value,)
    except UnicodeDecodeError as error:
        return f"the line is no UTF-8 text (byte {error.start + 1})"
    except JsonTextError as error:
        return f"the line is no JSON (column {error.column}: {error.reason})"
