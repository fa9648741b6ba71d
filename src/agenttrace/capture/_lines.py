"""Local evidence: one file of JSON lines a run and recorder, in the run's own folder.

Each line goes to the operating system in one write, so a killed process tears at most the line it
was writing. The first line says which run and recorder the rest is of.
"""

from __future__ import annotations

import errno
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from agenttrace.capture._guard import failed, warn_once
from agenttrace.domain import JsonValue, Run
from agenttrace.errors import UnreadableFileError
from agenttrace.records import JsonTextError, dump_json, parse_json, to_plain

LINES_VERSION: Final = 1
MAX_OPEN_FILES: Final = 64
"""Further files are opened for each line: a server may have thousands of runs open."""
_MAX_NAME: Final = 120
_PROBE: Final = bytes(4_096)


class _OpenFiles:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.count = 0

    def claim(self) -> bool:
        with self.lock:
            if self.count >= MAX_OPEN_FILES:
                return False
            self.count += 1
            return True

    def release(self) -> None:
        with self.lock:
            self.count -= 1


_open_files: Final = _OpenFiles()


def folder_of(root: Path, run: Run, started_ns: int) -> Path:
    """The run's folder: by day, in UTC, then by run id."""
    day = datetime.fromtimestamp(started_ns / 1e9, tz=UTC).strftime("%Y-%m-%d")
    return root / day / file_name(run.run_id)


def file_name(name: str) -> str:
    """The name as one part of a path, whatever it holds; no two names give the same part."""
    data = name.encode("utf-8", "surrogatepass")
    quoted = quote(data, safe=" ")
    kept = quoted[:_MAX_NAME].strip()
    part = kept if kept.strip(".") else f"run-{kept.replace('.', '%2E')}"
    return part if kept == quoted else f"{part}-{sha256(data).hexdigest()[:16]}"


class LineWriter:
    """Appends the lines of one run and recorder; made with the run, opened with its first line."""

    def __init__(self, folder: Path, run: Run, recorder_id: str) -> None:
        self.folder = folder
        self.path = folder / f"{file_name(recorder_id)}.jsonl"
        self._header: Mapping[str, JsonValue] = {
            "agenttrace": {
                "version": LINES_VERSION,
                "run": to_plain(run),
                "recorder": recorder_id,
            }
        }
        self._file: int | None = None
        self._is_counted = False
        self._is_begun = False
        self._has_links = False
        """Whether this file system says how many names a file has."""
        self.is_broken = False
        self.is_gone = False
        """It is broken because somebody removed it."""

    def write(self, text: str) -> bool:
        """Append one line; false when it could not be written, which is logged once.

        The first failure ends the file: a hole in the middle would look like a lost record.
        """
        if self.is_broken:
            return False
        try:
            if self._file is None:
                self._open()
            elif self._has_links and os.fstat(self._file).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "it was removed")
            self._write_all(text)
        except (OSError, ValueError) as error:  # ValueError: a path that no system can have
            self.is_broken = True
            self.is_gone = self._is_begun and isinstance(error, FileNotFoundError)
            self.close()
            self._take_back()
            _say_unwritable(self.path, error)
            return False
        if not self._is_counted:
            self.close()
        return True

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        if self._file is not None:
            with suppress(OSError):  # what a distant disk says so late is of no use to anybody
                os.close(self._file)
            self._file = None
            if self._is_counted:
                self._is_counted = False
                _open_files.release()

    def _open(self) -> None:
        """Open the file; one that was begun before must be there still, with all it held."""
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        if not self._is_begun:
            flags |= os.O_CREAT
            self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._file = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            if self._is_begun:
                raise
            # The empty folder was cleared away in between.
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, flags, 0o600)
        self._is_counted = _open_files.claim()
        status = os.fstat(self._file)
        self._has_links = status.st_nlink > 0
        if status.st_size == 0:
            if self._is_begun:
                raise FileNotFoundError(errno.ENOENT, "it was emptied")
            self._write_all(dump_json(self._header))
        self._is_begun = True

    def _take_back(self) -> None:
        """Remove a file that not even its header fits into, and the folder made for it."""
        with suppress(OSError, ValueError):
            if not self._is_begun and self.path.stat().st_size == 0:
                self.path.unlink()
                self.folder.rmdir()

    def _write_all(self, text: str) -> None:
        """Write a line whole, or leave the file as it was before."""
        file = self._file
        if file is None:
            return
        data = memoryview(text.encode("ascii") + b"\n")
        done = 0
        try:
            while done < len(data):
                done += os.write(file, data[done:])
        except OSError:
            if done:  # the disk became full within the line
                with suppress(OSError):
                    os.ftruncate(file, os.fstat(file).st_size - done)
            raise


def read_back(writer: LineWriter, *, own: bool) -> Iterator[Mapping[str, Any]]:
    """The records that other recorders wrote into the run's folder, after our own if asked for.

    Raises:
        UnreadableFileError: A file is gone, or may not be read.
    """
    if own:
        yield from _read_lines(writer.path)
    try:
        paths = sorted(writer.folder.glob("*.jsonl"))
    except (OSError, ValueError):  # no folder that could be: nobody has written there
        return
    for path in paths:
        if path != writer.path and not path.is_dir():
            yield from _read_lines(path)


def _read_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """The records of one file in plain form, without its header and without a torn last line."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise UnreadableFileError(str(path), error.strerror or str(error)) from error
    with file:
        for number, line in enumerate(file):
            if not line.endswith(b"\n"):
                return
            try:
                value = parse_json(line.decode("ascii")).value
            except (JsonTextError, UnicodeDecodeError) as error:
                failed("reading a line of local evidence", error)
                continue
            if number > 0 and isinstance(value, dict):
                yield value


def check_folder(root: Path) -> bool:
    """Whether evidence can be written here; makes the folder, and logs one warning if it cannot."""
    reason = folder_problem(root)
    if reason is not None:
        _say_unwritable(root, reason)
    return reason is None


def folder_problem(root: Path) -> str | None:
    """Why evidence cannot be written here; None: it can. Makes the folder, and writes a little."""
    probe = root / f".probe-{secrets.token_hex(8)}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        file = os.open(probe, flags, 0o600)
        try:
            os.write(file, _PROBE)
        finally:
            os.close(file)
            probe.unlink()
    except (OSError, ValueError) as error:
        return _reason(error)
    return None


def _say_unwritable(path: Path, why: Exception | str) -> None:
    reason = why if isinstance(why, str) else _reason(why)
    warn_once(
        "evidence-folder",
        f"agenttrace cannot write {path!s:.200} ({reason}). Evidence is kept in memory and what "
        "does not fit is counted as lost. Pass another folder with configure(evidence=...), or "
        "evidence=False.",
    )


def _reason(error: Exception) -> str:
    return f"{getattr(error, 'strerror', None) or error!s:.200}"


def forget_files() -> None:
    """Start counting open files anew, in a forked child."""
    _open_files.lock = threading.RLock()
    _open_files.count = 0
