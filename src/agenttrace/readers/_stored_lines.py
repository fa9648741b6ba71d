"""Lines of records got again from where they stand, and held against what they were."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

from agenttrace.errors import ChangedFileError
from agenttrace.readers._database import to_text
from agenttrace.records import Record, parse_json, record_from_plain

PartRow = tuple[int, int | None, int, int, bytes | None, bytes]
"""File, begin, size, check sum, the lines themselves where they are kept, and the file's path."""
_MOST_OPEN: Final = 64


def records_of_parts(parts: Iterable[PartRow], run_id: str) -> Iterator[Record]:
    """The records of one run, part after part.

    Raises:
        ChangedFileError: A file does not hold these lines any more.
    """
    with ExitStack() as stack:
        opened: dict[int, BinaryIO] = {}
        for file, begins, size, check, data, place in parts:
            if data is None:
                if file not in opened:
                    if len(opened) == _MOST_OPEN:
                        stack.close()
                        opened.clear()
                    opened[file] = stack.enter_context(_open(place, run_id))
                data = _lines_at(opened[file], begins or 0, size, check, run_id)  # noqa: PLW2901
            for line in data.split(b"\n"):
                if line:
                    yield _record(line)


def _open(place: bytes, run_id: str) -> BinaryIO:
    path = Path(to_text(place))
    try:
        return path.open("rb")
    except OSError as error:
        reason = f"it can no longer be opened ({error.strerror or type(error).__name__})"
        raise ChangedFileError(str(path), run_id, reason) from error


def _lines_at(file: BinaryIO, begins: int, size: int, check: int, run_id: str) -> bytes:
    try:
        file.seek(begins)
        data = file.read(size)
    except OSError as error:
        reason = f"it can no longer be read ({error.strerror or type(error).__name__})"
        raise ChangedFileError(file.name, run_id, reason) from error
    if len(data) != size or zlib.crc32(data) != check:
        reason = f"bytes {begins + 1} to {begins + size} are not what they were"
        raise ChangedFileError(file.name, run_id, reason)
    return data


def _record(line: bytes) -> Record:
    value = parse_json(line.decode("utf-8")).value
    assert isinstance(value, dict), "only lines that held a record are stored"
    return record_from_plain(value)
