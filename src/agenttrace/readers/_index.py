"""Where the records of each run stand, in a temporary database that its size does not press on.

Reading many runs must not take more memory than reading one. A first pass over the files notes for
each run where its lines are; the run is then read from there when it is asked for. Lines that
cannot be got again (out of a pipe, or made of a span) are kept in the database themselves.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final

from agenttrace.domain import UnusableRecord
from agenttrace.readers._database import (
    open_database,
    sortable,
    storing,
    to_blob,
    to_data,
    to_text,
    to_value,
)
from agenttrace.readers._files import Problem
from agenttrace.readers._stored_lines import records_of_parts
from agenttrace.records import Record, from_plain, to_plain

_MOST_IN_PART: Final = 1 << 20
"""Bytes of lines that are held before they go into the database."""
_ROWS: Final = 256
_TABLES: Final = """
CREATE TABLE file(id INTEGER PRIMARY KEY, path BLOB UNIQUE, place BLOB);
CREATE TABLE run(id INTEGER PRIMARY KEY, name BLOB UNIQUE, began BLOB, first INTEGER,
    case_id BLOB, told BLOB);
CREATE TABLE place(run INTEGER, file INTEGER, PRIMARY KEY(run, file)) WITHOUT ROWID;
CREATE TABLE part(id INTEGER PRIMARY KEY, run INTEGER, file INTEGER, begins INTEGER, size INTEGER,
    sum INTEGER, data BLOB);
CREATE TABLE lost(id INTEGER PRIMARY KEY, name BLOB, data BLOB);
CREATE TABLE problem(id INTEGER PRIMARY KEY, data BLOB);
"""
_BY_RUN: Final = """
CREATE INDEX run_in_order ON run(began, first);
CREATE INDEX run_of_case ON run(case_id, began, first);
CREATE INDEX part_of_run ON part(run);
CREATE INDEX lost_of_run ON lost(name);
"""
"""Made when all is there, which is quicker than to keep them in order all along."""


@dataclass(kw_only=True, slots=True)
class _Part:
    """Lines of one run that follow each other, not yet in the database."""

    run_id: str
    begins: int | None
    """Where they begin in the file; None: they are kept."""
    size: int = 0
    sum: int = 0
    lines: list[bytes] = field(default_factory=list)
    began: int
    last: Record
    first: int


class RunIndex:
    """Takes what is read of files, and finds it again run by run."""

    def __init__(self) -> None:
        """Open an empty one.

        Raises:
            TemporaryFileError: There is no place for it.
        """
        self._lock = Lock()
        self._database = open_database(self, _TABLES)
        self._file = 0
        self._path = ""
        self._part: _Part | None = None
        self._headed: str | None = None
        self._taken = 0

    def begin_file(self, path: Path) -> bool:
        """Whether this file is a new one; what follows is then of it."""
        name = str(path)
        with storing():
            known = self._one("SELECT id FROM file WHERE path=?", (to_blob(name),))
            if known is not None:
                return False
            place = to_blob(str(path.absolute()))
            made = self._database.execute(
                "INSERT INTO file(path, place) VALUES(?, ?)", (to_blob(name), place)
            )
        self._file, self._path = int(made.lastrowid or 0), name
        return True

    def end_file(self) -> None:
        """All of the file was taken, or as much as could be."""
        with storing():
            self._close_part()
            self._close_header()

    def add_header(self, run_id: str) -> None:
        """A section of a run begins."""
        with storing():
            self._close_part()
            if self._headed is not None and self._headed != run_id:
                self._close_header()
        self._headed = run_id

    def add_record(self, record: Record, line: bytes, offset: int | None) -> None:
        """A record that stands at this place of the file.

        Args:
            line: Its line. Where it does not stand in the file as such, this is kept.
            offset: Where the line begins. None: it cannot be got again.
        """
        self._taken += 1
        run_id = record.run.run_id
        part = self._part
        if (
            part is None
            or part.run_id != run_id
            or (part.begins is None) != (offset is None)
            or (part.begins is not None and part.begins + part.size != offset)
            or (part.begins is None and part.size > _MOST_IN_PART)
        ):
            with storing():
                self._close_part()
            part = self._part = _Part(
                run_id=run_id, begins=offset, began=record.start_ns, last=record, first=self._taken
            )
        part.size += len(line)
        part.last = record
        part.began = min(part.began, record.start_ns)
        if offset is None:
            part.lines.append(line)
        else:
            part.sum = zlib.crc32(line, part.sum)

    def add_problem(self, problem: Problem) -> None:
        """Something that could not be used."""
        with storing():
            self._add_problem(problem)

    def finish(self) -> None:
        """All files were read: what is asked for from here on is found without a search."""
        with storing():
            # A run of which there is nothing but a header is not scored, and that has to be said.
            names = self._rows("SELECT name FROM run WHERE began IS NULL ORDER BY name")
            for (name,) in names:
                run_id = to_text(name)
                reason = (
                    f"the run {run_id!r:.60} has a header and no readable record; it is not scored"
                )
                path = ", ".join(self._places(run_id))
                self._add_problem(Problem(path=path, line=None, reason=reason, code="blank-run"))
            self._database.execute("COMMIT")
            self._database.executescript(_BY_RUN)

    def _close_part(self) -> None:
        part, self._part = self._part, None
        if part is None:
            return
        if self._headed == part.run_id:
            self._headed = None
        name, began, run = to_blob(part.run_id), sortable(part.began), part.last.run
        case_id = None if run.case_id is None else to_blob(run.case_id)
        told = to_data(to_plain(run))
        known = self._one("SELECT id, began FROM run WHERE name=?", (name,))
        if known is None:
            made = self._database.execute(
                "INSERT INTO run(name, began, first, case_id, told) VALUES(?, ?, ?, ?, ?)",
                (name, began, part.first, case_id, told),
            )
            run_key = made.lastrowid
        else:
            run_key = known[0]
            self._database.execute(
                "UPDATE run SET began=?, first=coalesce(first, ?), case_id=?, told=? WHERE id=?",
                (min(began, known[1] or began), part.first, case_id, told, run_key),
            )
        self._add_place(run_key)
        data = None if part.begins is not None else b"\n".join(part.lines)
        self._database.execute(
            "INSERT INTO part(run, file, begins, size, sum, data) VALUES(?, ?, ?, ?, ?, ?)",
            (run_key, self._file, part.begins, part.size, part.sum, data),
        )

    def _close_header(self) -> None:
        """A header whose section held no record that could be read."""
        run_id, self._headed = self._headed, None
        if run_id is not None:
            self._database.execute("INSERT OR IGNORE INTO run(name) VALUES(?)", (to_blob(run_id),))
            found = self._one("SELECT id FROM run WHERE name=?", (to_blob(run_id),))
            self._add_place(found[0] if found else None)

    def _add_place(self, run_key: int | None) -> None:
        self._database.execute("INSERT OR IGNORE INTO place VALUES(?, ?)", (run_key, self._file))

    def _add_problem(self, problem: Problem) -> None:
        plain = [problem.path, problem.line, problem.reason, problem.code, problem.run_id]
        lost = None if problem.record is None else to_plain(problem.record)
        data = to_data([*plain, lost])
        self._database.execute("INSERT INTO problem(data) VALUES(?)", (data,))
        if lost is not None and problem.run_id is not None:
            self._database.execute(
                "INSERT INTO lost(name, data) VALUES(?, ?)",
                (to_blob(problem.run_id), to_data(lost)),
            )

    def each_problem(self) -> Iterator[Problem]:
        """What could not be used, in the order in which it was met."""
        for (data,) in self._rows("SELECT data FROM problem ORDER BY id"):
            path, line, reason, code, run_id, lost = to_value(data)
            yield Problem(
                path=path,
                line=line,
                reason=reason,
                code=code,
                run_id=run_id,
                record=None if lost is None else from_plain(UnusableRecord, lost),
            )

    def __len__(self) -> int:
        found = self._one("SELECT count(*) FROM run WHERE began IS NOT NULL")
        return int(found[0]) if found else 0

    def run_ids(self) -> Iterator[str]:
        """The runs that have records, in the order in which they began."""
        asked = "SELECT name FROM run WHERE began IS NOT NULL ORDER BY began, first"
        return (to_text(name) for (name,) in self._rows(asked))

    def run_ids_of(self, case_id: str) -> Iterator[str]:
        """The runs of one case, in the order in which they began."""
        asked = "SELECT name FROM run WHERE case_id=? AND began IS NOT NULL ORDER BY began, first"
        return (to_text(name) for (name,) in self._rows(asked, (to_blob(case_id),)))

    def each_run(self) -> Iterator[Any]:
        """What is known of each run, as JSON values, in the order in which they began."""
        asked = "SELECT told FROM run WHERE began IS NOT NULL ORDER BY began, first"
        return (to_value(told) for (told,) in self._rows(asked))

    def with_case(self) -> int:
        """How many runs name a case."""
        asked = "SELECT count(*) FROM run WHERE began IS NOT NULL AND length(case_id) > 0"
        found = self._one(asked)
        return int(found[0]) if found else 0

    def placed_ids(self) -> Iterator[str]:
        """The runs that have a header or a record, in the order in which they were met."""
        return (to_text(name) for (name,) in self._rows("SELECT name FROM run ORDER BY id"))

    def lost_ids(self) -> Iterator[str]:
        """The runs of which something could not be read."""
        asked = "SELECT name FROM lost GROUP BY name ORDER BY min(id)"
        return (to_text(name) for (name,) in self._rows(asked))

    def places(self, run_id: str) -> tuple[str, ...]:
        """The files that hold a run, in the order in which they were read."""
        return tuple(self._places(run_id))

    def _places(self, run_id: str) -> Iterator[str]:
        asked = (
            "SELECT path FROM place JOIN file ON file.id=place.file "
            "WHERE run=(SELECT id FROM run WHERE name=?) ORDER BY file"
        )
        return (to_text(path) for (path,) in self._rows(asked, (to_blob(run_id),)))

    def unusable(self, run_id: str) -> tuple[UnusableRecord, ...]:
        """What came for a run and could not be read."""
        asked = "SELECT data FROM lost WHERE name=? ORDER BY id"
        rows = self._rows(asked, (to_blob(run_id),))
        return tuple(from_plain(UnusableRecord, to_value(data)) for (data,) in rows)

    def has(self, run_id: str) -> bool:
        """Whether the run has a record."""
        asked = "SELECT 1 FROM run WHERE name=? AND began IS NOT NULL"
        return self._one(asked, (to_blob(run_id),)) is not None

    def records(self, run_id: str) -> tuple[Record, ...]:
        """The records of one run, read from where they stand, in the order of their first reading.

        Raises:
            KeyError: There is no such run, or none of its records could be read.
            ChangedFileError: They stand there no longer.
        """
        asked = (
            "SELECT part.file, begins, size, sum, data, place FROM part JOIN file "
            "ON file.id=part.file WHERE run=(SELECT id FROM run WHERE name=?) ORDER BY part.id"
        )
        parts = list(self._rows(asked, (to_blob(run_id),)))
        if not parts:
            raise KeyError(run_id)
        return tuple(records_of_parts(parts, run_id))

    def _one(self, asked: str, values: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        with self._lock, storing():
            found: tuple[Any, ...] | None = self._database.execute(asked, values).fetchone()
        return found

    def _rows(self, asked: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        with self._lock, storing():
            cursor = self._database.execute(asked, values)
            rows = cursor.fetchmany(_ROWS)
        while rows:
            yield from rows
            with self._lock, storing():
                rows = cursor.fetchmany(_ROWS)
