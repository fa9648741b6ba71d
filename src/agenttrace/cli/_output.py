"""Where a command's words go: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from agenttrace.errors import AgentTraceError, UnwritableFileError
from agenttrace.records import dump_json
from agenttrace.report import visible

_WIDTH_OF_FILES: Final = 100
_STEP: Final = 100


def put(text: str) -> None:
    """Print a result."""
    print(text)


def put_json(value: Any) -> None:
    """Print a result as one line of JSON, integers exact and keys in order."""
    print(dump_json(value))


def say(text: str) -> None:
    """Print something that is no result, on one line and without escape sequences."""
    print(visible(text), file=sys.stderr)


def say_error(error: AgentTraceError) -> None:
    """Print an error with its stable code."""
    say(f"error [{error.code}]: {error}")


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


def write_lines(path: Path, values: list[dict[str, Any]]) -> None:
    """Write one line of JSON a value.

    Raises:
        UnwritableFileError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{dump_json(value)}\n" for value in values), "ascii")
    except OSError as error:
        raise UnwritableFileError(str(path), error.strerror or type(error).__name__) from error


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
