"""`agenttrace show`: one run with every record side by side, and its verdict."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from agenttrace.cli._configured import configured_folder
from agenttrace.cli._log_rows import LogRows
from agenttrace.cli._output import put, put_json, say, terminal_width, wants_colour
from agenttrace.cli._rows import Rows, ScoredRow
from agenttrace.cli._sources import Sources, find_sources
from agenttrace.contracts import load_cases
from agenttrace.domain import Case, Status
from agenttrace.errors import NoRunError
from agenttrace.readers import EvidenceSet, read_evidence
from agenttrace.readers.transcripts import TranscriptFormat
from agenttrace.records import record_to_plain
from agenttrace.report import replay_command, terminal_verdict, verdict_to_json

_MOST_LISTED: Final = 12


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "path",
        type=Path,
        nargs="?",
        metavar="PATH",
        help="evidence file or folder (default: the configured folder)",
    )
    parser.add_argument(
        "case", metavar="CASE", help="case id or run id; of several runs the latest is shown"
    )
    parser.add_argument(
        "--cases", type=Path, action="append", metavar="PATH", help="file or folder of cases"
    )
    parser.add_argument(
        "--format",
        choices=[form.value for form in TranscriptFormat],
        help="what the rows of a chat log hold (default: told by its first row)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the verdict and the records as one JSON object"
    )


def run(options: argparse.Namespace) -> int:
    """Show the run and return the exit code of its verdict."""
    cases: dict[str, Case] | None = None
    if options.cases:
        cases = {case.case_id: case for case in load_cases(*options.cases)}
    is_named = options.path is not None
    if not is_named:
        options.path = configured_folder()
    sources = find_sources([options.path], options.format)
    sources.report_problems()
    row, has_errors = _row(sources, cases, options)
    if options.json:
        records = [record_to_plain(record) for record in row.records]
        put_json({"verdict": verdict_to_json(row.verdict), "records": records})
    else:
        replay = replay_command(
            row.name,
            source=str(options.path) if is_named else None,
            cases=str(options.cases[0]) if options.cases else None,
        )
        put(
            terminal_verdict(
                row.verdict,
                row.evidence,
                row.shown_case(),
                width=terminal_width(),
                colour=wants_colour(),
                replay=replay if options.format is None else f"{replay} --format {options.format}",
            )
        )
    return 2 if has_errors else int(row.verdict.status is Status.FAIL)


def _row(
    sources: Sources, cases: Mapping[str, Case] | None, options: argparse.Namespace
) -> tuple[ScoredRow, bool]:
    """The row that is asked for, and whether its files could not all be read."""
    if sources.logs:
        found = LogRows(sources.logs, cases).find(options.case)
        if found is not None:
            row, count = found
            if count > 1:
                say(f"note: {count} rows carry {options.case}; the last, {row.name}, is shown")
            # What else of the logs cannot be read does not matter to it.
            return row, False
    if sources.evidence:
        return _row_of_evidence(sources.evidence, cases, options)
    raise NoRunError(
        f"{options.path}: no row is called {options.case!r} and none carries a case of that id. "
        "Nothing was shown. `agenttrace score --json` lists the rows."
    )


def _row_of_evidence(
    paths: Sequence[Path], cases: Mapping[str, Case] | None, options: argparse.Namespace
) -> tuple[ScoredRow, bool]:
    evidence = read_evidence(*paths)
    rows = Rows(evidence, cases)
    latest, count = _run_of(evidence, options.case)
    if latest is None:
        rows.report_problems()
        raise NoRunError(_nothing_found(evidence, options))
    if count > 1:
        say(f"note: {count} runs carry {options.case}; the latest, {latest}, is shown")
    rows.report_problems(latest)
    return rows.judge(latest), rows.has_errors


def _nothing_found(evidence: EvidenceSet, options: argparse.Namespace) -> str:
    known = dict.fromkeys(
        name for run in evidence.each_run() for name in (run.case_id, run.run_id) if name
    )
    listed = ", ".join(islice(known, _MOST_LISTED)) or "none"
    return (
        f"{options.path}: no run is called {options.case!r} and none carries a case of that id. "
        f"Nothing was shown. Cases and runs there: {listed}."
    )


def _run_of(evidence: EvidenceSet, name: str) -> tuple[str | None, int]:
    """The run that the name means, or the latest of that case, and how many there are."""
    if name in evidence.records:
        return name, 1
    latest, count = None, 0
    for run_id in evidence.run_ids_of(name):
        latest, count = run_id, count + 1
    return latest, count
