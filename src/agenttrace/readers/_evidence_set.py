"""Evidence of every run in files and folders, a run's recorders put together from several files.

One bad file or line costs nothing but itself: it is a problem beside the runs, and the run that it
belongs to is assembled with what was lost on record, so that its verdict cannot pass for whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agenttrace.artifacts import Header
from agenttrace.domain import Evidence, Run, UnusableRecord
from agenttrace.errors import AgentTraceError, MalformedFileError, UnreadableFileError
from agenttrace.readers._files import Problem, read_file
from agenttrace.records import Record, ShapeError, assemble, runs_of

SUFFIXES: Final = (".jsonl", ".json", ".otlp")
"""Files that are looked at in a folder; a file that is named itself may have any name."""


@dataclass(frozen=True, kw_only=True)
class EvidenceSet:
    """The runs found, and what could not be read."""

    records: dict[str, tuple[Record, ...]]
    """Run id to its records, runs in the order in which they began."""
    unusable: dict[str, tuple[UnusableRecord, ...]]
    """Run id to what came for it and could not be read."""
    problems: tuple[Problem, ...]
    places: dict[str, tuple[str, ...]]
    """Run id to the files that hold it."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, each once."""
        return tuple(runs_of(records)[-1] for records in self.records.values())

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Evidence]:
        """The evidence of each run, assembled when it is reached.

        Raises:
            MalformedFileError: The records of a run do not fit together.
        """
        return (self.evidence(run_id) for run_id in self.records)

    def evidence(self, run_id: str) -> Evidence:
        """The evidence of one run.

        Raises:
            KeyError: There is no such run.
            MalformedFileError: Its records do not fit together.
        """
        records = self.records[run_id]
        try:
            return assemble(records, self.unusable.get(run_id, ()))
        except (ShapeError, ValueError) as error:
            raise MalformedFileError(
                ", ".join(self.places[run_id]),
                f"the records of run {run_id!r:.60} do not fit together ({error})",
                then="The run was not scored.",
            ) from error


def read_evidence(*paths: Path | str) -> EvidenceSet:
    """Read the evidence of files and folders; what cannot be read is a problem, never an error.

    A folder is searched with all its subfolders for `.jsonl`, `.json` and `.otlp` files. Whether a
    file holds local evidence or OTLP is told by its beginning.
    """
    reading = _Reading()
    for path in dict.fromkeys(_files(paths, reading.problems)):
        try:
            for item in read_file(path):
                reading.take(item, str(path))
        except AgentTraceError as error:
            reading.problems.append(_whole_file(path, error))
    return reading.result()


class _Reading:
    """What was found so far."""

    def __init__(self) -> None:
        self.records: dict[str, list[Record]] = defaultdict(list)
        self.unusable: dict[str, list[UnusableRecord]] = defaultdict(list)
        self.places: dict[str, dict[str, None]] = defaultdict(dict)
        self.problems: list[Problem] = []

    def take(self, item: Header | Record | Problem, path: str) -> None:
        if isinstance(item, Header):
            self.places[item.run_id][path] = None
        elif isinstance(item, Record):
            self.records[item.run.run_id].append(item)
            self.places[item.run.run_id][path] = None
        else:
            self.problems.append(item)
            if item.run_id is not None and item.record is not None:
                self.unusable[item.run_id].append(item.record)

    def result(self) -> EvidenceSet:
        for run_id in sorted(self.places.keys() - self.records.keys()):
            reason = f"the run {run_id!r:.60} has a header and no readable record; it is not scored"
            path = ", ".join(self.places[run_id])
            self.problems.append(Problem(path=path, line=None, reason=reason, code="blank-run"))
        began = {
            run_id: min(record.start_ns for record in records)
            for run_id, records in self.records.items()
        }
        order = began.__getitem__
        return EvidenceSet(
            records={run_id: tuple(self.records[run_id]) for run_id in sorted(began, key=order)},
            unusable={run_id: tuple(lost) for run_id, lost in self.unusable.items()},
            problems=tuple(self.problems),
            places={run_id: tuple(files) for run_id, files in self.places.items()},
        )


def _files(paths: Iterable[Path | str], problems: list[Problem]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        count = 0
        for file in sorted(path.rglob("*")):
            if file.suffix in SUFFIXES and not file.name.startswith(".") and file.is_file():
                count += 1
                yield file
        if not count:
            reason = f"there is no evidence in this folder; looked for {', '.join(SUFFIXES)}"
            code = UnreadableFileError.code
            problems.append(Problem(path=str(path), line=None, reason=reason, code=code))


def _whole_file(path: Path, error: AgentTraceError) -> Problem:
    line = error.line if isinstance(error, MalformedFileError) else None
    place = str(path) if line is None else f"{path}:{line}"
    reason = str(error).removeprefix(f"{place}: ")
    return Problem(path=str(path), line=line, reason=reason, code=error.code)
