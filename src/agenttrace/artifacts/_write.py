"""Writes evidence files so that a reader sees the whole new file or the old one, never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

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
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
                file.writelines(f"{line}\n" for line in _lines(records))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise UnwritableFileError(str(path), error.strerror or type(error).__name__) from error


def _lines(records: Iterable[Record]) -> Iterator[str]:
    sections: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        sections.setdefault((record.run.run_id, record.recorder_id), []).append(record)
    for (_, recorder), section in sections.items():
        yield header_line(section[-1].run, recorder)
        yield from (record_to_line(record) for record in section)


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
