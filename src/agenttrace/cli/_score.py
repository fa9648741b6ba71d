"""`agenttrace score`: judge evidence or chat logs against their cases, or records alone."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from agenttrace.cli._configured import configured_folder
from agenttrace.cli._families import FamilyTally, load_families
from agenttrace.cli._judged import Judged, add_inputs
from agenttrace.cli._kept import KeptRows, refuse_inputs
from agenttrace.cli._output import put, put_json, say, terminal_width, wants_colour
from agenttrace.cli._rows import ScoredRow
from agenttrace.cli._sources import find_sources
from agenttrace.contracts import load_cases
from agenttrace.domain import Boundary, Status
from agenttrace.report import Tally, replay_command, terminal_verdict, verdict_to_json, visible

_MOST_LISTED = 8


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_inputs(parser)
    parser.add_argument(
        "--families",
        type=Path,
        metavar="FILE",
        help="JSON file of tools by family; false calls are then also counted by family",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a row")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="also write the JSON rows here"
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="also save the records of every judged row as one evidence file",
    )
    parser.add_argument(
        "--strict", action="store_true", help="count an inconclusive row as a failed one"
    )


def run(options: argparse.Namespace) -> int:
    """Judge every run and return the exit code."""
    cases = None
    if options.cases:
        cases = {case.case_id: case for case in load_cases(*options.cases)}
    families = None if options.families is None else FamilyTally(load_families(options.families))
    sources = find_sources(options.paths or [configured_folder()], options.format)
    sources.report_problems()
    judged = Judged(sources, cases, Boundary(options.compare) if options.compare else None)
    given = [*(options.cases or ()), *([options.families] if options.families else ())]
    inside = (file for path in given if path.is_dir() for file in path.rglob("*"))
    refuse_inputs((options.output, options.save), chain(given, inside, sources.files()))
    tally = Tally()
    with KeptRows(options.output, options.save) as kept:
        try:
            for row in judged:
                tally.add(row.verdict)
                plain = _plain(row, families)
                if options.json:
                    put_json(plain)
                else:
                    put(_row_text(row, options))
                kept.add(plain, row.records)
        except KeyboardInterrupt:
            _say_interrupted(tally, families, options)
            raise
    if not tally.rows:
        say("error: no run was judged: there is no readable run in what was given")
        return 2
    for line in [*tally.lines(), *(families.lines() if families is not None else ())]:
        (say if options.json else put)(line)
    _say_unasked(judged.unasked)
    _say_unrun([case_id for case_id in cases or () if not judged.carries(case_id)])
    if judged.has_errors or sources.problems or kept.has_errors:
        return 2
    bad = {Status.FAIL, Status.INCONCLUSIVE} if options.strict else {Status.FAIL}
    return int(any(tally.statuses[status] for status in bad))


def _say_interrupted(
    tally: Tally, families: FamilyTally | None, options: argparse.Namespace
) -> None:
    """What was judged until then, and what was not done."""
    for line in [*tally.lines(), *(families.lines() if families is not None else ())]:
        (say if options.json else put)(line)
    unsaved = "" if options.save is None else f" and {options.save} was not written"
    rows = "1 row was" if tally.rows == 1 else f"{tally.rows} rows were"
    say(f"error: interrupted: {rows} judged, the others were not{unsaved}. Start it again.")


def _plain(row: ScoredRow, families: FamilyTally | None) -> dict[str, Any]:
    plain = verdict_to_json(row.verdict)
    if row.place is not None:
        plain["place"] = row.place
    if families is not None:
        plain["families"] = families.add(row.verdict)
    return plain


def _row_text(row: ScoredRow, options: argparse.Namespace) -> str:
    verdict = row.verdict
    if verdict.status is Status.PASS and not verdict.divergences and not verdict.findings:
        return f"PASS  {visible(verdict.case_id or f'run {verdict.run_id}')}"
    replay = replay_command(
        row.name,
        source=row.source if options.paths else None,
        cases=str(options.cases[0]) if options.cases else None,
    )
    if options.format is not None:
        replay += f" --format {options.format}"
    picture = terminal_verdict(
        verdict,
        row.evidence,
        row.shown_case(),
        width=terminal_width(),
        colour=wants_colour(),
        replay=replay,
    )
    return f"{picture}\n"


def _say_unasked(runs: int) -> None:
    if runs:
        name = "1 run names its case" if runs == 1 else f"{runs} runs name their cases"
        asked = "that case was" if runs == 1 else "those cases were"
        say(
            f"note: {name}, and {asked} not asked: the records of each run were compared with "
            "each other alone. Give the cases with --cases."
        )


def _say_unrun(case_ids: Iterable[str]) -> None:
    ids = list(case_ids)
    if ids:
        listed = ", ".join(ids[:_MOST_LISTED]) + (", …" if len(ids) > _MOST_LISTED else "")
        have = "1 case has" if len(ids) == 1 else f"{len(ids)} cases have"
        say(f"note: {have} no run here, so nothing of it was judged: {listed}")
