"""Reads evidence files line by line: what can be read is, and every line that cannot is named.

A program that was killed leaves a torn last line, and a full disk may leave worse. Neither may cost
the records around it, and neither may pass for a complete file.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agenttrace.artifacts._format import VERSION, Header, read_header
from agenttrace.domain import Boundary, JsonValue, UnusableRecord
from agenttrace.errors import MalformedFileError, UnreadableArtifactError, UnreadableFileError
from agenttrace.records import (
    BOUNDARY_OF,
    JsonTextError,
    Record,
    RecordKind,
    ShapeError,
    parse_json,
    record_from_plain,
    slices,
)


@dataclass(frozen=True, kw_only=True)
class LineProblem:
    """A line that could not be used."""

    path: str
    line: int
    """From 1."""
    reason: str
    run_id: str | None = None
    """Run of the section that the line stands in."""
    torn: bool = False
    """It is the last line and has no end: whoever wrote it was stopped."""
    record: UnusableRecord | None = None
    """What was lost, as far as the line tells."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class ArtifactContent:
    """One evidence file, read."""

    path: str
    headers: tuple[Header, ...]
    records: tuple[Record, ...]
    """In the order of the file; a record that stands there twice is here twice."""
    problems: tuple[LineProblem, ...]


def read_artifact(path: Path | str) -> ArtifactContent:
    """Read a whole evidence file.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        MalformedFileError: It does not start with a header of ours.
        UnreadableArtifactError: Its version is newer than this agenttrace reads.
    """
    items = list(iter_artifact(path))
    return ArtifactContent(
        path=str(path),
        headers=tuple(item for item in items if isinstance(item, Header)),
        records=tuple(item for item in items if isinstance(item, Record)),
        problems=tuple(item for item in items if isinstance(item, LineProblem)),
    )


def iter_artifact(path: Path | str) -> Iterator[Header | Record | LineProblem]:
    """Read an evidence file line by line, each as a header, a record, or the problem with it.

    The first line is looked at before anything else is; a section further down whose version is
    newer is one problem, and the sections around it are still read.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        MalformedFileError: It does not start with a header of ours.
        UnreadableArtifactError: Its version is newer than this agenttrace reads.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            yield from artifact_items(file, name)
    except OSError as error:
        raise UnreadableFileError(name, error.strerror or type(error).__name__) from error


def artifact_items(lines: Iterable[bytes], name: str) -> Iterator[Header | Record | LineProblem]:
    """As `iter_artifact`, of lines with their ends, wherever they come from.

    One line is taken when the last one has been dealt with, so that who gives the lines knows which
    of them an item stood in.

    Args:
        name: What the file is called where something is wrong with it.

    Raises:
        MalformedFileError: They do not start with a header of ours.
        UnreadableArtifactError: Their version is newer than this agenttrace reads.
    """
    header: Header | None = None
    is_skipped = False
    for number, data in enumerate(lines, start=1):
        if number == 1:
            data = data.removeprefix(BOM_UTF8)  # noqa: PLW2901 - an editor may have put it there
        if not data.strip():
            continue
        if header is None or data.startswith(b'{"agenttrace"'):
            found = _header(data, name, number, is_first=header is None and not is_skipped)
            is_skipped = isinstance(found, LineProblem)
            if isinstance(found, Header):
                header = found
            yield found
        elif not is_skipped:
            yield _record(data, name, number, header.run_id)
    if header is None:
        raise MalformedFileError(name, "the file is empty", then="There is nothing to score.")


def _header(data: bytes, name: str, number: int, *, is_first: bool) -> Header | LineProblem:
    value = _value(data)
    found = value if isinstance(value, str) else read_header(value[0])
    if isinstance(found, Header):
        return found
    if is_first:
        if isinstance(found, int):
            raise UnreadableArtifactError(name, found=found, newest=VERSION)
        reason = f"the first line {found}"
        raise MalformedFileError(name, reason, line=number, then="Nothing of this file was used.")
    reason = (
        f"version {found} of this section is newer than {VERSION}, the newest that is read"
        if isinstance(found, int)
        else f"the header of a section {found}"
    )
    return LineProblem(path=name, line=number, reason=f"{reason}; the section was left out")


def _record(data: bytes, name: str, number: int, run_id: str) -> Record | LineProblem:
    value = _value(data)
    if isinstance(value, str):
        reason = value
    elif not isinstance(value[0], dict):
        reason = "is no JSON object, so no record"
    else:
        try:
            return record_from_plain(value[0])
        except ShapeError as error:
            reason = f"is no record: {error}"
    return LineProblem(
        path=name,
        line=number,
        reason=f"the line {reason}",
        run_id=run_id,
        torn=not data.endswith(b"\n"),
        record=_lost(data, number, reason),
    )


def _value(data: bytes) -> tuple[JsonValue] | str:
    """The JSON value of a line, in a tuple because it may be text; or why there is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end == len(data) and not data.endswith(b"\n"):
            return _torn(data)
        return f"is no UTF-8 text (byte {error.start + 1})"
    try:
        document = parse_json(text)
    except JsonTextError as error:
        if error.truncated and not data.endswith(b"\n"):
            return _torn(data)
        return f"is no JSON (column {error.column}: {error.reason})"
    if document.duplicates:
        return f"has the key {document.duplicates[0].pointer!r:.60} twice"
    return (document.value,)


def _torn(data: bytes) -> str:
    return f"ends in the middle, after {len(data)} bytes: whoever wrote it was stopped"


def _lost(data: bytes, number: int, reason: str) -> UnusableRecord:
    """What can still be said of a record: its beginning often holds its kind and call id."""
    parts = slices(data.decode("utf-8", "replace"), ["/kind", "/payload/call_id"])
    boundary = Boundary.MODEL
    kind = parts.get("/kind", "").strip('"')
    if kind in set(RecordKind):
        boundary = BOUNDARY_OF.get(RecordKind(kind), Boundary.MODEL)
    call_id = None
    if "/payload/call_id" in parts:
        value = parse_json(parts["/payload/call_id"]).value
        call_id = value if isinstance(value, str | int) else None
    return UnusableRecord(boundary=boundary, reason=f"line {number} {reason}", call_id=call_id)
