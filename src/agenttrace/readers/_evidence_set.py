"""Evidence of every run in files and folders, a run's recorders put together from several files.

One bad file or line costs nothing but itself: it is a problem beside the runs, and the run that it
belongs to is assembled with what was lost on record, so that its verdict cannot pass for whole.

Of the files no more is held than one run. Where each run stands is noted when they are read, and
it is read from there when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from agenttrace.artifacts import Header
from agenttrace.domain import Evidence, Run, UnusableRecord
from agenttrace.errors import (
    AgentTraceError,
    MalformedFileError,
    UnreadableArtifactError,
    UnreadableFileError,
)
from agenttrace.readers._files import Problem, locate
from agenttrace.readers._folders import walk
from agenttrace.readers._index import RunIndex
from agenttrace.records import Record, ShapeError, assemble, from_plain

T = TypeVar("T")
SUFFIXES: Final = (".jsonl", ".json", ".otlp")
"""Files that are looked at in a folder; a file that is named itself may have any name."""


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """One run as the files hold it."""

    run_id: str
    records: tuple[Record, ...]
    """In the order in which they were read."""
    unusable: tuple[UnusableRecord, ...]
    """What came for it and could not be read."""
    places: tuple[str, ...]
    """The files that hold it."""

    def evidence(self) -> Evidence:
        """The evidence of the run.

        Raises:
            MalformedFileError: Its records do not fit together.
        """
        try:
            return assemble(self.records, self.unusable)
        except (ShapeError, ValueError) as error:
            raise MalformedFileError(
                ", ".join(self.places),
                f"the records of run {self.run_id!r:.60} do not fit together ({error})",
                then="The run was not scored.",
            ) from error


class EvidenceSet:
    """The runs found, and what could not be read.

    Runs are read from their files when they are asked for. Lines that are no longer there give
    `ChangedFileError`; a file that only grew is as good as before.
    """

    def __init__(self, index: RunIndex) -> None:
        """Show what an index holds; `read_evidence` makes one."""
        self._index = index

    @property
    def records(self) -> Mapping[str, tuple[Record, ...]]:
        """Run id to its records, runs in the order in which they began."""
        return _ByRun(self._index.run_ids, self._index.has, lambda one: self.stored(one).records)

    @property
    def unusable(self) -> Mapping[str, tuple[UnusableRecord, ...]]:
        """Run id to what came for it and could not be read."""
        index = self._index
        return _ByRun(index.lost_ids, lambda one: bool(index.unusable(one)), index.unusable)

    @property
    def places(self) -> Mapping[str, tuple[str, ...]]:
        """Run id to the files that hold it."""
        index = self._index
        return _ByRun(index.placed_ids, lambda one: bool(index.places(one)), index.places)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, all of it at once; `each_problem` gives one after the other."""
        return tuple(self.each_problem())

    def each_problem(self) -> Iterator[Problem]:
        """What could not be read, in the order in which it was met."""
        return self._index.each_problem()

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, each once, all at once."""
        return tuple(self.each_run())

    def each_run(self) -> Iterator[Run]:
        """The runs, one after the other, in the order in which they began."""
        return (from_plain(Run, plain) for plain in self._index.each_run())

    def run_ids_of(self, case_id: str) -> Iterator[str]:
        """The runs that name this case, in the order in which they began."""
        return self._index.run_ids_of(case_id)

    @property
    def with_case(self) -> int:
        """How many runs name a case."""
        return self._index.with_case()

    def __len__(self) -> int:
        return len(self._index)

    def __iter__(self) -> Iterator[Evidence]:
        """The evidence of each run, read and assembled when it is reached.

        Raises:
            MalformedFileError: The records of a run do not fit together.
            ChangedFileError: A file does not hold a run any more.
        """
        return (self.evidence(run_id) for run_id in self._index.run_ids())

    def evidence(self, run_id: str) -> Evidence:
        """The evidence of one run.

        Raises:
            KeyError: There is no such run.
            MalformedFileError: Its records do not fit together.
            ChangedFileError: A file does not hold it any more.
        """
        return self.stored(run_id).evidence()

    def stored(self, run_id: str) -> StoredRun:
        """One run as the files hold it, read once.

        Raises:
            KeyError: There is no such run.
            ChangedFileError: A file does not hold it any more.
        """
        return StoredRun(
            run_id=run_id,
            records=self._index.records(run_id),
            unusable=self._index.unusable(run_id),
            places=self._index.places(run_id),
        )


class _ByRun(Mapping[str, T], Generic[T]):
    """Something of each run, got when it is asked for."""

    def __init__(
        self,
        run_ids: Callable[[], Iterator[str]],
        has: Callable[[str], bool],
        get: Callable[[str], T],
    ) -> None:
        self._run_ids = run_ids
        self._has = has
        self._get = get

    def __getitem__(self, run_id: str) -> T:
        if run_id not in self:
            raise KeyError(run_id)
        return self._get(run_id)

    def __contains__(self, run_id: object) -> bool:
        return isinstance(run_id, str) and self._has(run_id)

    def __iter__(self) -> Iterator[str]:
        return self._run_ids()

    def __len__(self) -> int:
        return sum(1 for _ in self._run_ids())


def read_evidence(*paths: Path | str) -> EvidenceSet:
    """Read the evidence of files and folders; what cannot be read is a problem, never an error.

    A folder is searched with all its subfolders for `.jsonl`, `.json` and `.otlp` files. Whether a
    file holds local evidence or OTLP is told by its beginning. What is held in memory does not grow
    with the files; where it would, it goes into a temporary file without a name.

    Raises:
        TemporaryFileError: There is no space for that file.
    """
    index = RunIndex()
    for path in _files(paths, index):
        if index.begin_file(path):
            try:
                for item, line, offset in locate(path):
                    if isinstance(item, Record):
                        index.add_record(item, line, offset)
                    elif isinstance(item, Header):
                        index.add_header(item.run_id)
                    else:
                        index.add_problem(item)
            except (UnreadableFileError, MalformedFileError, UnreadableArtifactError) as error:
                index.add_problem(_whole_file(path, error))
            index.end_file()
    index.finish()
    return EvidenceSet(index)


def _files(paths: Iterable[Path | str], index: RunIndex) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        count = 0
        for file in walk(path):
            if file.suffix in SUFFIXES and not file.name.startswith("."):
                count += 1
                yield file
        if not count:
            reason = f"there is no evidence in this folder; looked for {', '.join(SUFFIXES)}"
            code = UnreadableFileError.code
            index.add_problem(Problem(path=str(path), line=None, reason=reason, code=code))


def _whole_file(path: Path, error: AgentTraceError) -> Problem:
    line = error.line if isinstance(error, MalformedFileError) else None
    place = str(path) if line is None else f"{path}:{line}"
    reason = str(error).removeprefix(f"{place}: ")
    return Problem(path=str(path), line=line, reason=reason, code=error.code)
