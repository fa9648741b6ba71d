"""Chat logs to runs, row by row, with whatever could not be read beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from agenttrace.domain import JsonValue
from agenttrace.errors import InvalidCaseError, MalformedFileError, UnreadableFileError
from agenttrace.readers._database import UniqueNames
from agenttrace.readers._files import Problem
from agenttrace.readers._folders import walk
from agenttrace.readers.transcripts._formats import TranscriptFormat, recognise_row
from agenttrace.readers.transcripts._row import Transcript, read_row
from agenttrace.readers.transcripts._source import STDIN, RowFile, is_odd
from agenttrace.records import ShapeError

SUFFIXES: Final = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
"""Files that are looked at in a folder; a file that is named itself may have any name."""
_MOST_LOOKED_AT: Final = 20


class Transcripts:
    """The rows of chat logs in order, read while they are asked for and then let go."""

    def __init__(self, logs: Mapping[Path, TranscriptFormat]) -> None:
        """Prepare to read files, each in its format."""
        self._logs = dict(logs)
        self._file: RowFile | None = None
        self._done = 0
        self._total = sum(_size(path) for path in self._logs)

    @property
    def share(self) -> float:
        """How much of the files was read, from 0 to 1."""
        here = 0 if self._file is None else self._file.position
        return min(1.0, (self._done + here) / self._total) if self._total else 1.0

    def __iter__(self) -> Iterator[Transcript | Problem]:
        """Each row as a run, or what is wrong with it; one bad row costs nothing but itself.

        Raises:
            TemporaryFileError: There is no space for the ids that were given.
        """
        with UniqueNames() as names:
            yield from self._items(names.make)

    def _items(self, unique: Callable[[str], str]) -> Iterator[Transcript | Problem]:
        self._done = 0
        for path, form in self._logs.items():
            self._file = RowFile(path)
            for item in self._file:
                if isinstance(item, Problem):
                    yield item
                    continue
                line, row = item
                try:
                    yield read_row(row, form, path=str(path), line=line, unique=unique)
                except (ShapeError, InvalidCaseError, RecursionError) as error:
                    yield _problem(error, str(path), line, form)
            self._file = None
            self._done += _size(path)


def read_transcripts(
    *paths: Path | str, form: TranscriptFormat | str | None = None
) -> Iterator[Transcript | Problem]:
    """Read the rows of chat logs, each as a run or as the problem with it.

    A file is JSON lines, a JSON list of rows or one JSON row, as it is or compressed by gzip; which
    of these is told by what it holds. A folder is searched with all its subfolders.

    Args:
        form: How rows hold their conversation. None: told for each file by its first row, which
            cannot be done for standard input (`-`) and for pipes.

    Raises:
        ValueError: There is no such format.

    Example:
        >>> list(read_transcripts("no-such-log.jsonl", form="openai-chat"))[0].code
        'unreadable-file'
    """
    logs: dict[Path, TranscriptFormat] = {}
    for path in log_files(*paths):
        found = _told(path) if form is None else TranscriptFormat(form)
        if found is None:
            yield not_recognised(path)
        else:
            logs[path] = found
    yield from Transcripts(logs)


def log_files(*paths: Path | str) -> Iterator[Path]:
    """The files among these, and those in the folders among these that may be chat logs."""
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        for file in walk(path):
            name = file.name.lower()
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield file


def recognise(path: Path | str) -> TranscriptFormat | None:
    """The format of a chat log by its first row, or None: it is none of a known shape."""
    return recognise_row(_first_row(path))


def _told(path: Path) -> TranscriptFormat | None:
    return None if is_stream(path) else recognise(path)


def holds_rows(path: Path | str) -> bool:
    """Whether a file begins with a JSON object, whatever it holds."""
    item = next(iter(RowFile(Path(path))), None)
    return isinstance(item, tuple) and isinstance(item[1], dict)


def is_stream(path: Path | str) -> bool:
    """Whether a path is standard input (`-`), a pipe or a device: it can be read only once."""
    path = Path(path)
    return path == STDIN or (path.exists() and not path.is_file() and not path.is_dir())


def why_unreadable(path: Path | str) -> Problem | None:
    """What is wrong with a file of which nothing at all can be read; None: something can."""
    found = list(islice(RowFile(Path(path)), 2))
    only = found[0] if len(found) == 1 else None
    return only if isinstance(only, Problem) and only.line is None and is_odd(path) else None


def not_recognised(path: Path | str) -> Problem:
    """What is said of a file whose rows have no known shape, or cannot be looked at beforehand."""
    known = ", ".join(TranscriptFormat)
    if is_stream(path):
        reason = (
            "comes through a pipe, so what it holds cannot be told beforehand. Nothing of it was "
            f"read. Say what a chat log holds with --format: {known}; save evidence as a file first"
        )
        return Problem(path=str(path), line=None, reason=reason, code=UnreadableFileError.code)
    row = _first_row(path)
    held = "no object"
    if isinstance(row, dict):
        fields = ", ".join(f"{name!r:.40}" for name in list(row)[:5])
        held = f"an object with {fields}" if fields else "an object without fields"
    return Problem(
        path=str(path),
        line=None,
        reason=f"is neither evidence nor a chat log of a known shape: its first row is {held}. "
        f"Nothing of it was used. Say what a chat log holds with --format: {known}",
        code=MalformedFileError.code,
    )


def _first_row(path: Path | str) -> JsonValue:
    """The first row of a file that can be read; None where there is none near its beginning."""
    for item in islice(RowFile(Path(path)), _MOST_LOOKED_AT):
        if not isinstance(item, Problem):
            return item[1]
    return None


def _problem(
    error: ShapeError | InvalidCaseError | RecursionError,
    path: str,
    line: int,
    form: TranscriptFormat,
) -> Problem:
    if isinstance(error, InvalidCaseError):
        reason = f"the row's plan does not fit: {error.reason}; the row was not scored"
        return Problem(path=path, line=line, reason=reason, code=error.code)
    found = error if isinstance(error, ShapeError) else "it is nested too deeply"
    reason = f"the row does not fit {form}: {found}; the row was not scored"
    return Problem(path=path, line=line, reason=reason, code=MalformedFileError.code)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
