"""Where a command's words go: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self, TextIO

from agenttrace.errors import AgentTraceError, UnwritableFileError
from agenttrace.records import dump_json
from agenttrace.report import visible

_WIDTH_OF_FILES: Final = 100
_STEP: Final = 100
_ROWS_LEFT: Final = (
    "Rows from here on are not in it. Check the folder, its permissions and the space on the disk."
)


def put(text: str) -> None:
    """Print a result."""
    print(text)


def put_json(value: Any) -> None:
    """Print a result as one line of JSON, integers exact and keys in order."""
    put(dump_json(value))


def drop_output() -> None:
    """Let go of results that nobody takes: Python would complain once more at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Print something that is no result, on one line and without escape sequences."""
    with suppress(OSError):  # who closed stderr wants no words; the exit code stays
        print(visible(text), file=sys.stderr)


def say_error(error: AgentTraceError, *, of: str = "") -> None:
    """Print an error with its stable code.

    Args:
        of: The row that it is about.
    """
    say(f"error [{error.code}]: {f'{of}: ' if of else ''}{error}")


def terminal_width() -> int:
    """Columns of the terminal that shows the results; a fixed width where there is none."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return _WIDTH_OF_FILES
    return shutil.get_terminal_size((_WIDTH_OF_FILES, 24)).columns


def wants_colour() -> bool:
    """Whether results go to a terminal that may show colour."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


class RowsFile:
    """A file of JSON rows, written while they come; without a row it is left as it was."""

    def __init__(self, path: Path | None) -> None:
        """Name the file. None: rows are kept nowhere."""
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._path is not None and self._file is not None:
            with _writing(self._path):
                self._file.close()

    def write(self, value: dict[str, Any]) -> None:
        """Write one row.

        Raises:
            UnwritableFileError: The file cannot be written.
        """
        if self._path is None:
            return
        line = f"{dump_json(value)}\n"
        with _writing(self._path):
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("w", encoding="ascii")
            self._file.write(line)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnwritableFileError(str(path), reason, then=_ROWS_LEFT) from error


class Progress:
    """A count on stderr while something takes long, and only where a person looks at it."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._is_shown = total > _STEP and sys.stderr.isatty()

    def at(self, count: int) -> None:
        """So many are done."""
        if self._is_shown and (count % _STEP == 0 or count == self._total):
            end = "\n" if count == self._total else ""
            print(f"\r{self._what} {count} of {self._total}", end=end, file=sys.stderr, flush=True)


class ShareProgress:
    """As `Progress`, where only the share that was read of the files is known beforehand."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_shown = sys.stderr.isatty()
        self._count = 0

    def at(self, count: int, share: float) -> None:
        """So many are done, and this much of the files, from 0 to 1, was read."""
        self._count = count
        if self._is_shown and count % _STEP == 0:
            text = f"\r{self._what} {count} rows, {share:.0%} of the files"
            print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """All are done."""
        if self._is_shown and self._count >= _STEP:
            print(f"\r{self._what} {self._count} rows, all of the files", file=sys.stderr)
