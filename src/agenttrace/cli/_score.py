"""`agenttrace score`: judge saved evidence against its cases, or its records against each other."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from agenttrace.cli._output import put, put_json, say, terminal_width, wants_colour, write_lines
from agenttrace.cli._rows import Rows, ScoredRow
from agenttrace.contracts import load_cases
from agenttrace.domain import BOUNDARIES, Boundary, Status, Verdict
from agenttrace.readers import read_evidence
from agenttrace.report import replay_command, summary, terminal_verdict, verdict_to_json, visible

_MOST_LISTED = 8


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="evidence or OTLP files, or folders"
    )
    parser.add_argument(
        "--cases",
        type=Path,
        action="append",
        metavar="PATH",
        help="file or folder of cases, may be given again; without it the records of each run are "
        "compared with each other",
    )
    parser.add_argument(
        "--compare",
        choices=[boundary.value for boundary in BOUNDARIES],
        help="boundary whose figures decide where the case names none (default: executor)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a row")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="also write the JSON rows here"
    )
    parser.add_argument(
        "--strict", action="store_true", help="count an inconclusive row as a failed one"
    )


def run(options: argparse.Namespace) -> int:
    """Judge every run and return the exit code."""
    cases = None
    if options.cases:
        cases = {case.case_id: case for case in load_cases(*options.cases)}
    evidence = read_evidence(*options.paths)
    rows = Rows(evidence, cases, compare=Boundary(options.compare) if options.compare else None)
    rows.report_problems()
    verdicts: list[Verdict] = []
    for row in rows:
        verdicts.append(row.verdict)
        if options.json:
            put_json(verdict_to_json(row.verdict))
        else:
            source = _source(evidence.places[row.verdict.run_id])
            put(_row_text(row, rows.name_of(row.verdict), source, options.cases))
    if not verdicts:
        say("error: no run was judged: there is no readable run in what was given")
        return 2
    if options.output is not None:
        write_lines(options.output, [verdict_to_json(verdict) for verdict in verdicts])
    for line in summary(verdicts).splitlines():
        (say if options.json else put)(line)
    _say_unrun(rows.cases_without_run())
    if rows.has_errors:
        return 2
    bad = {Status.FAIL, Status.INCONCLUSIVE} if options.strict else {Status.FAIL}
    return int(any(verdict.status in bad for verdict in verdicts))


def _row_text(row: ScoredRow, name: str, source: str, cases: list[Path] | None) -> str:
    verdict = row.verdict
    if verdict.status is Status.PASS and not verdict.divergences and not verdict.findings:
        return f"PASS  {visible(verdict.case_id or f'run {verdict.run_id}')}"
    picture = terminal_verdict(
        verdict,
        row.evidence,
        row.case,
        width=terminal_width(),
        colour=wants_colour(),
        replay=replay_command(name, source=source, cases=str(cases[0]) if cases else None),
    )
    return f"{picture}\n"


def _source(places: tuple[str, ...]) -> str:
    """The file of a run, or the folder of its files."""
    return places[0] if len(places) == 1 else os.path.commonpath(places) or "."


def _say_unrun(case_ids: tuple[str, ...]) -> None:
    if case_ids:
        listed = ", ".join(case_ids[:_MOST_LISTED]) + (
            ", …" if len(case_ids) > _MOST_LISTED else ""
        )
        have = "1 case has" if len(case_ids) == 1 else f"{len(case_ids)} cases have"
        say(f"note: {have} no run here, so nothing of it was judged: {listed}")
