"""The rows of chat logs, judged one by one by the plan that each carries, or by a given case.

A chat log shows the model boundary alone, so plans are compared there unless something else is
asked for. One row is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from agenttrace.cli._output import ShareProgress, say, say_error
from agenttrace.cli._rows import ScoredRow
from agenttrace.domain import Boundary, Case
from agenttrace.errors import AgentTraceError, UnknownCaseError
from agenttrace.readers import Problem
from agenttrace.readers.transcripts import Transcript, TranscriptFormat, Transcripts
from agenttrace.scoring import CaseValues, score


class LogRows:
    """The judged rows of chat logs, and whether anything could not be judged."""

    def __init__(
        self,
        logs: Mapping[Path, TranscriptFormat],
        cases: Mapping[str, Case] | None,
        *,
        compare: Boundary | None = None,
    ) -> None:
        """Prepare the rows; each is read and judged when it is reached.

        Args:
            cases: Cases by id, in place of the rows' own plans. None: none were given.
        """
        self.has_errors = False
        self._carried: set[str] = set()
        self._logs = logs
        self._cases = cases
        self._others = None if cases is None else CaseValues(cases.values())
        self._compare = compare or Boundary.MODEL

    def __iter__(self) -> Iterator[ScoredRow]:
        """Judge row after row; what cannot be judged is said on stderr."""
        progress = ShareProgress("judged")
        for count, (item, share) in enumerate(self._items(), start=1):
            try:
                yield self._judge(item)
            except AgentTraceError as error:
                self.has_errors = True
                say_error(error, of=f"{item.path}:{item.line}")
            progress.at(count, share)
        progress.end()

    def carries(self, case_id: str) -> bool:
        """Whether a row that was judged carries this one of the given cases."""
        return case_id in self._carried

    def find(self, name: str) -> tuple[ScoredRow, int] | None:
        """The row of this run id, or the last one of this case with how many there are.

        Raises:
            AgentTraceError: That row cannot be judged.
        """
        found: list[Transcript] = []
        count = 0
        for item, _ in self._items():
            if item.run.run_id == name:
                return self._judge(item), 1
            if item.run.case_id == name:
                found, count = [item], count + 1
        return (self._judge(found[0]), count) if found else None

    def _items(self) -> Iterator[tuple[Transcript, float]]:
        """The rows that can be read, and the share of the files that was."""
        reading = Transcripts(self._logs)
        for item in reading:
            if isinstance(item, Problem):
                self.has_errors = True
                say(f"error [{item.code}]: {item}")
            else:
                yield item, reading.share

    def _judge(self, row: Transcript) -> ScoredRow:
        case = self._case_of(row)
        evidence = row.evidence()
        verdict = score(case, evidence, compare=self._compare, others=self._others)
        return ScoredRow(
            verdict=verdict,
            evidence=evidence,
            case=case,
            records=row.records,
            name=row.run.run_id,
            source=row.path,
            place=f"{row.path}:{row.line}",
        )

    def _case_of(self, row: Transcript) -> Case | None:
        case_id = row.run.case_id
        if self._cases is None or case_id is None:
            return row.case
        if case_id not in self._cases:
            raise UnknownCaseError(case_id, tuple(self._cases))
        self._carried.add(case_id)
        return self._cases[case_id]
