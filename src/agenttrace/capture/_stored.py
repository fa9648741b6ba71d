"""The runs in a folder of local evidence: which files are ours, whose they are, and their removal.

A file is ours if it stands where we write, `DAY/RUN/RECORDER.jsonl`, has a recorder's name, and
opens with our header.
Nothing else is ever touched, and a folder goes only once it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agenttrace.capture._folder import Folder
from agenttrace.records import JsonTextError, parse_json

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_HEADER: Final = b'{"agenttrace":{'
_OWN_NAME: Final = re.compile(r"rec-[0-9a-f.]+\.jsonl")
_HEADER_BYTES: Final = 64 << 10
_MAX_HEADER: Final = 16 << 20
_MAX_END: Final = 256 << 10
_END: Final = re.compile(rb'\{"end_ns":\d+,"kind":"run",')


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """One file of a run."""

    name: str
    size: int
    written_ns: int


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """One run's folder, by what the system says of it."""

    day: str
    name: str
    files: tuple[StoredFile, ...]
    """Files that stand where ours do; whether they are is told by their beginnings."""

    @property
    def place(self) -> str:
        """Its folder, below the folder of evidence."""
        return f"{self.day}/{self.name}"

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(file.size for file in self.files)

    @property
    def written_ns(self) -> int:
        """When it was last written to."""
        return max(file.written_ns for file in self.files)


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What the files of a run say of it."""

    run_id: str
    case_ids: tuple[str, ...]
    """Each recorder of a run may name another case."""
    ours: tuple[StoredFile, ...]


def stored_runs(root: Folder) -> Iterator[StoredRun]:
    """Every run of a folder, the oldest day first; what cannot be read is passed over."""
    for day in root.entries():
        if not day.is_folder or _DAY.fullmatch(day.name) is None:
            continue
        with suppress(OSError), root.enter(day.name) as folder:
            for run in folder.entries():
                if run.is_folder:
                    with suppress(OSError), folder.enter(run.name) as opened:
                        files = tuple(_files(opened))
                        if files:
                            yield StoredRun(day=day.name, name=run.name, files=files)


def facts_of(root: Folder, run: StoredRun) -> RunFacts | None:
    """What the run's files say; None: none of them is ours, or all are gone."""
    ours: list[StoredFile] = []
    run_id: str | None = None
    case_ids: dict[str, None] = {}
    with suppress(OSError), root.enter(run.day) as day, day.enter(run.name) as folder:
        for file in run.files:
            try:
                is_ours, header = _header(folder, file)
                if not is_ours:
                    continue
            except OSError:
                continue
            ours.append(file)
            run_id = run_id or header.get("run_id")
            if isinstance(header.get("case_id"), str):
                case_ids[header["case_id"]] = None
    if not ours:
        return None
    return RunFacts(run_id=run_id or run.name, case_ids=tuple(case_ids), ours=tuple(ours))


def has_ended(root: Folder, run: StoredRun, facts: RunFacts) -> bool:
    """Whether every recorder of the run wrote its end; if that cannot be told, it is not known."""
    with suppress(OSError), root.enter(run.day) as day, day.enter(run.name) as folder:
        return all(_has_end(folder, file) for file in facts.ours)
    return False


def remove_run(root: Folder, run: StoredRun, facts: RunFacts) -> tuple[int, str | None]:
    """Remove a run's files, and its folder and day if they are then empty.

    Nothing is removed of a run that was written to since it was looked at.

    Returns:
        Bytes that were freed, and why not all of it was removed; None: it was.
    """
    freed = 0
    try:
        with root.enter(run.day) as day:
            with day.enter(run.name) as folder:
                if any(_is_changed(folder, file) for file in facts.ours):
                    return 0, "it was written to just now"
                for file in facts.ours:
                    with suppress(FileNotFoundError):  # another process was faster
                        folder.remove(file.name)
                        freed += file.size
            day.remove_empty(run.name)
        root.remove_empty(run.day)
    except FileNotFoundError:
        return freed, None
    except OSError as error:
        return freed, error.strerror or type(error).__name__
    return freed, None


def open_evidence(path: Path) -> Folder:
    """A folder of evidence, to look into and to remove from.

    Raises:
        OSError: It is not there, or no folder.
    """
    return Folder.at(path)


def _files(folder: Folder) -> Iterator[StoredFile]:
    for entry in folder.entries():
        if entry.is_file and _OWN_NAME.fullmatch(entry.name) is not None:
            with suppress(OSError):
                status = folder.status(entry.name)
                yield StoredFile(
                    name=entry.name, size=status.st_size, written_ns=status.st_mtime_ns
                )


def _header(folder: Folder, file: StoredFile) -> tuple[bool, dict[str, Any]]:
    """Whether a file is ours, and the run that its header names.

    One that was torn within its header is ours by its beginning, an empty one by its name.
    """
    text = folder.read(file.name, _HEADER_BYTES)
    if len(text) == _HEADER_BYTES and b"\n" not in text:
        text = folder.read(file.name, _MAX_HEADER)
    line, end, _ = text.partition(b"\n")
    if not text:
        return True, {}
    if not text.startswith(_HEADER):
        return False, {}
    if not end:
        return True, {}
    try:
        header: Any = parse_json(line.decode("ascii")).value
        run = header["agenttrace"]["run"]
        return ("version" in header["agenttrace"] and isinstance(run["run_id"], str)), dict(run)
    except (JsonTextError, UnicodeDecodeError, LookupError, TypeError):
        return False, {}


def _has_end(folder: Folder, file: StoredFile) -> bool:
    """Whether the last line of a file is the run's end, with its manifest."""
    tail = folder.read(file.name, _MAX_END, from_end=True)
    if not tail.endswith(b"\n"):
        return False
    line = tail[:-1].rpartition(b"\n")[2]
    return _END.match(line) is not None


def _is_changed(folder: Folder, file: StoredFile) -> bool:
    try:
        status = folder.status(file.name)
    except FileNotFoundError:
        return False
    return (status.st_mtime_ns, status.st_size) != (file.written_ns, file.size)
