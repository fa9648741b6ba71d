"""What a command judges: the runs of the evidence it was given, and the rows of the chat logs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from agenttrace.cli._log_rows import LogRows
from agenttrace.cli._rows import Rows, ScoredRow
from agenttrace.cli._sources import Sources
from agenttrace.domain import BOUNDARIES, Boundary, Case
from agenttrace.readers import read_evidence
from agenttrace.readers.transcripts import TranscriptFormat


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Declare what is judged, and by what."""
    parser.add_argument(
        "paths",
        type=Path,
        nargs="*",
        metavar="PATH",
        help="evidence files, OTLP files or chat logs, or folders of them (default: the configured "
        "folder of evidence)",
    )
    parser.add_argument(
        "-c",
        "--cases",
        type=Path,
        action="append",
        metavar="PATH",
        help="file or folder of cases, may be given again; without it a row of a chat log is "
        "judged by its own plan, and the records of a run are compared with each other",
    )
    parser.add_argument(
        "--format",
        choices=[form.value for form in TranscriptFormat],
        help="what the rows of chat logs hold (default: told for each file by its first row)",
    )
    parser.add_argument(
        "--compare",
        choices=[boundary.value for boundary in BOUNDARIES],
        help="boundary whose figures decide where the case names none (default: executor; of "
        "chat logs model)",
    )


class Judged:
    """The rows of recorded evidence, and then those of chat logs."""

    def __init__(
        self, sources: Sources, cases: Mapping[str, Case] | None, compare: Boundary | None
    ) -> None:
        self._parts: list[Rows | LogRows] = []
        if sources.evidence:
            rows = Rows(read_evidence(*sources.evidence), cases, compare=compare)
            rows.report_problems()
            self._parts.append(rows)
        if sources.logs:
            self._parts.append(LogRows(sources.logs, cases, compare=compare))

    def __iter__(self) -> Iterator[ScoredRow]:
        return chain.from_iterable(self._parts)

    @property
    def has_errors(self) -> bool:
        return any(part.has_errors for part in self._parts)

    def carries(self, case_id: str) -> bool:
        """Whether a row carries this one of the given cases."""
        return any(part.carries(case_id) for part in self._parts)

    @property
    def unasked(self) -> int:
        """Recorded runs that name a case, where no case was given."""
        return sum(part.unasked for part in self._parts if isinstance(part, Rows))
