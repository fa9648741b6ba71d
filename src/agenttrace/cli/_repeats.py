"""`agenttrace repeats`: how often each case passes over several runs, and what differs."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from agenttrace.cli._configured import configured_folder
from agenttrace.cli._judged import Judged, add_inputs
from agenttrace.cli._kept import KeptRows, refuse_inputs
from agenttrace.cli._output import put, put_json, say, terminal_width
from agenttrace.cli._rows import ScoredRow
from agenttrace.cli._sources import find_sources
from agenttrace.contracts import content_revision, load_cases
from agenttrace.domain import Boundary
from agenttrace.repeats import VERSIONS, CaseRepeats, Repeats
from agenttrace.report import repeats_lines, repeats_summary, repeats_to_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_inputs(parser)
    parser.add_argument(
        "--by",
        choices=VERSIONS,
        action="append",
        default=[],
        help="count runs apart that differ in this, may be given again",
    )
    parser.add_argument(
        "-t",
        "--trial",
        type=_pattern,
        metavar="PATTERN",
        help="regular expression for the part of a case id that numbers the try, such as "
        "'/trial-[0-9]+$'; ids that are equal without it are one case",
    )
    parser.add_argument(
        "--confidence",
        type=_confidence,
        default=0.95,
        metavar="SHARE",
        help="of the interval around a pass rate (default: 0.95)",
    )
    parser.add_argument(
        "-u",
        "--unstable",
        action="store_true",
        help="show only cases that sometimes pass and sometimes fail",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a case")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="also write the JSON rows here"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 where a shown case is unstable"
    )


def run(options: argparse.Namespace) -> int:
    """Judge every run, bring runs of one case together, and return the exit code."""
    cases = None
    if options.cases:
        cases = {case.case_id: case for case in load_cases(*options.cases)}
    sources = find_sources(options.paths or [configured_folder()], options.format)
    sources.report_problems()
    judged = Judged(sources, cases, Boundary(options.compare) if options.compare else None)
    inside = (f for path in options.cases or () if path.is_dir() for f in path.rglob("*"))
    refuse_inputs((options.output,), [*(options.cases or ()), *inside, *sources.files()])
    repeats = Repeats(options.by)
    with KeptRows(options.output, None) as kept:
        try:
            for row in judged:
                _take(row, repeats, options.trial)
        except KeyboardInterrupt:
            say("error: interrupted: what was judged until then follows, the other runs were not")
            _show(repeats.cases(confidence=options.confidence), options, kept)
            raise
        found = repeats.cases(confidence=options.confidence)
        shown = _show(found, options, kept)
    if not found:
        _say_nothing(repeats.caseless)
        return 2
    if repeats.caseless:
        say(f"note: {_caseless(repeats.caseless)} of nothing known")
    if judged.has_errors or sources.problems or kept.has_errors:
        return 2
    return int(options.strict and any(case.is_unstable for case in shown))


def _take(row: ScoredRow, repeats: Repeats, trial: re.Pattern[str] | None) -> None:
    """Count one row, under its case's id without the part that numbers the try."""
    case, case_id, revision = row.case, row.verdict.case_id, None
    if row.evidence.run.case_id is None:
        # A row's own plan has the name of its run where the row names no case.
        repeats.caseless += 1
        return
    if trial is not None and case_id is not None:
        case_id = trial.sub("", case_id) or case_id
        if case is not None and case.revision == content_revision(case):
            # A revision made of the content has the id in it: without the try they may be equal.
            revision = content_revision(replace(case, case_id=case_id))
    repeats.add(row.verdict, row.evidence, case_id=case_id, case_revision=revision)


def _show(
    found: list[CaseRepeats], options: argparse.Namespace, kept: KeptRows
) -> list[CaseRepeats]:
    """Print the cases that were asked for, those that differ first, and say them."""
    shown = [case for case in found if case.is_unstable or not options.unstable]
    for case in shown:
        plain = repeats_to_json(case)
        kept.add(plain, ())
        if options.json:
            put_json(plain)
        else:
            put("\n".join([*repeats_lines(case, width=terminal_width()), ""]))
    for line in repeats_summary(found) if found else ():
        (say if options.json else put)(line)
    return shown


def _say_nothing(caseless: int) -> None:
    if caseless:
        say(
            f"error: none of the runs names its case ({caseless} judged), so nothing says which "
            "are repeats of each other. Record with `agenttrace.run(case=...)`."
        )
    else:
        say("error: no run was judged: there is no readable run in what was given")


def _caseless(count: int) -> str:
    if count == 1:
        return "1 run names no case, so it is a repeat"
    return f"{count} runs name no case, so they are repeats"


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error


def _confidence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share between 0 and 1, such as 0.95")
    return value
