"""A temporary database for what grows with the files that are read.

SQLite holds a database without a name in memory while it is small, and beyond that in a file that
is removed as soon as it is opened: nothing is left of it, however the program ends.

Texts go into it as bytes: what comes out of JSON may hold half a surrogate pair, which SQLite does
not take for a text.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from types import TracebackType
from typing import Any, Final, Self

from agenttrace.errors import TemporaryFileError
from agenttrace.records import dump_json, parse_json

_CACHE_KIB: Final = 2048
"""As much of a database is held in memory."""
_SETTINGS: Final = (f"cache_size=-{_CACHE_KIB}", "journal_mode=OFF", "synchronous=OFF")


@contextmanager
def storing() -> Iterator[None]:
    """Turn a fault of the database, such as a full disk, into an error of ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise TemporaryFileError(str(error)) from error


def open_database(owner: object, tables: str) -> sqlite3.Connection:
    """An empty database, in one transaction that is never taken back; it goes with its owner.

    Raises:
        TemporaryFileError: There is no place for it.
    """
    with storing():
        database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(owner, database.close)
        for setting in _SETTINGS:
            database.execute(f"PRAGMA {setting}")
        database.executescript(tables)
        database.execute("BEGIN")
    return database


def to_blob(text: str) -> bytes:
    """A text for the database; in the order of bytes it sorts as in that of characters."""
    return text.encode("utf-8", "surrogatepass")


def to_text(blob: bytes) -> str:
    """The text that was stored."""
    return blob.decode("utf-8", "surrogatepass")


def to_data(value: Any) -> bytes:
    """JSON values for the database."""
    return dump_json(value).encode("ascii")


def to_value(data: bytes) -> Any:
    """The JSON values that were stored."""
    return parse_json(data.decode("ascii")).value


def sortable(number: int) -> bytes:
    """An integer of any size as bytes that sort as the integers do."""
    size = (abs(number).bit_length() + 7) // 8
    data = size.to_bytes(4) + abs(number).to_bytes(size)
    return b"\1" + data if number >= 0 else b"\0" + bytes(255 - byte for byte in data)


class UniqueNames:
    """Gives each name once, however many there are and however long they be."""

    def __init__(self) -> None:
        """Begin with none.

        Raises:
            TemporaryFileError: There is no place for them.
        """
        table = "CREATE TABLE name(key BLOB PRIMARY KEY, times INTEGER) WITHOUT ROWID"
        self._database = open_database(self, table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    def make(self, name: str) -> str:
        """The name, or where it was given before, the name with a number behind it.

        Raises:
            TemporaryFileError: The disk is full, say.
        """
        key = (blake2b(to_blob(name), digest_size=16).digest(),)
        with storing():
            made = self._database.execute("INSERT OR IGNORE INTO name VALUES(?, 1)", key)
            if made.rowcount:
                return name
            self._database.execute("UPDATE name SET times=times+1 WHERE key=?", key)
            with closing(
                self._database.execute("SELECT times FROM name WHERE key=?", key)
            ) as found:
                times = found.fetchone()[0]
        return self.make(f"{name}-{times}")
