"""Writes evidence files so that a reader sees the whole new file or the old one, never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from agenttrace.artifacts._format import header_line
from agenttrace.errors import UnwritableFileError
from agenttrace.records import Record, record_to_line


def write_artifact(path: Path | str, records: Iterable[Record]) -> None:
    """Save records of one run or of many as one evidence file.

    Each recorder's part of each run becomes a section, in the order in which it first appears;
    within it the records keep their order. A file that is there is replaced at once, after the new
    one has reached the disk; no record gives an empty file, which no reader takes for evidence.

    Raises:
        UnwritableFileError: The file or its folder cannot be written; what was there still is.
    """
    with WholeFile(path) as file:
        file.write(artifact_lines(records))


def artifact_lines(records: Iterable[Record]) -> Iterator[str]:
    """The lines of records in an evidence file, without the lines' ends.

    Files that are put together run by run hold the lines of one run after those of another.
    """
    sections: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        sections.setdefault((record.run.run_id, record.recorder_id), []).append(record)
    for (_, recorder), section in sections.items():
        yield header_line(section[-1].run, recorder)
        yield from (record_to_line(record) for record in section)


class WholeFile:
    """A text file of ASCII lines that is there whole or not at all.

    It gets its name when the `with` block ends, after it has reached the disk. A block that ends
    by an exception, or after `discard`, leaves what was there before.
    """

    def __init__(self, path: Path | str) -> None:
        """Open a new file beside the one that it is to replace.

        Raises:
            UnwritableFileError: The folder cannot be written, or the name is that of a folder, a
                device or a pipe.
        """
        self._target = Path(path)
        self._is_kept = True
        if self._target.exists() and not self._target.is_file():
            # Its name would go to the new file: a device or a pipe must not vanish by that.
            raise UnwritableFileError(str(self._target), "it is no regular file")
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(
                prefix=f".{self._target.name}.", dir=self._target.parent
            )
        except OSError as error:
            raise self._unwritable(error) from error
        self._name = Path(name)
        self._file = os.fdopen(handle, "w", encoding="ascii", newline="\n")

    def write(self, lines: Iterable[str]) -> None:
        """Write lines, each without its end.

        Raises:
            UnwritableFileError: The disk is full, say.
        """
        for line in lines:
            try:
                self._file.write(f"{line}\n")
            except OSError as error:
                raise self._unwritable(error) from error

    def discard(self) -> None:
        """Leave what was there before."""
        self._is_kept = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None and self._is_kept:
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                self._name.replace(self._target)
                _sync_folder(self._target.parent)
        except OSError as failure:
            raise self._unwritable(failure) from failure
        finally:
            self._clean_up()

    def _clean_up(self) -> None:
        # A full disk refuses the last buffer once more; the file is not kept anyway.
        with suppress(OSError):
            self._file.close()
        self._name.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> UnwritableFileError:
        return UnwritableFileError(str(self._target), error.strerror or type(error).__name__)


def _sync_folder(folder: Path) -> None:
    """Make the new name last; not every system lets a folder be opened for that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
