"""What the demo prints: one picture or one JSON object a verdict, then a summary."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from agenttrace.demo._record import Recorded
from agenttrace.demo._scenarios import Expected
from agenttrace.domain import Verdict
from agenttrace.records import dump_json
from agenttrace.report import replay_command, summary, terminal_verdict, verdict_to_json, visible

_WIDTH_OF_FILES = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """One judgement of one run, beside what it should say."""

    run: Recorded
    has_plan: bool
    shows: str
    expected: Expected | None
    """None: a live model may do anything."""

    @property
    def verdict(self) -> Verdict:
        """The judgement."""
        return self.run.with_plan if self.has_plan else self.run.without_plan

    @property
    def is_as_expected(self) -> bool:
        """Whether the demo shows what it says it shows."""
        return self.expected is None or self.expected == said(self.verdict)


def said(verdict: Verdict) -> Expected:
    """What a verdict says, of all that a scenario has an expectation of."""
    first = verdict.divergences[0] if verdict.divergences else None
    return Expected(
        status=verdict.status,
        first=verdict.first,
        owner=verdict.owner,
        kind=first.kind if first else None,
        path=first.path if first else None,
        also=verdict.also,
        recovered=verdict.recovered,
    )


def print_rows(rows: Sequence[Judged]) -> None:
    """Print one JSON object a row."""
    for row in rows:
        found: dict[str, Any] = {
            "scenario": row.run.scenario,
            "shows": row.shows,
            "sdk": row.run.way.sdk.name,
            "api": row.run.way.api,
            "mode": row.run.way.mode,
            "streamed": row.run.way.is_streamed,
            "with_plan": row.has_plan,
            "as_expected": row.is_as_expected,
            **verdict_to_json(row.verdict),
        }
        print(dump_json(found))


def print_pictures(rows: Sequence[Judged], *, evidence: Path, cases: Path) -> None:
    """Print each scenario's first run with its records side by side, and the summary of all.

    The scenario's other runs, which ask in other ways, get a line each.
    """
    for number, (scenario, of_scenario) in enumerate(_by(rows, lambda row: row.run.scenario), 1):
        (_, pictured), *others = _by(of_scenario, lambda row: id(row.run))
        head = f"{number}. {scenario} ({pictured[0].run.way})"
        print(f"{head} {'-' * (_width() - len(head) - 1)}\n{pictured[0].shows}\n")
        print(_picture(pictured[0], _name_of(pictured[0], rows), evidence=evidence, cases=cases))
        for row in pictured[1:]:
            print(f"without the plan: {one_line(row.verdict)}")
        for _, group in others:
            for row in group:
                print(f"{f'{row.run.way}, {_plan(row)}:':<46} {one_line(row.verdict)}")
        print()
    print(summary([row.verdict for row in rows]))
    print(f"evidence: {visible(str(evidence))}")
    again = shlex.join(["agenttrace", "score", str(evidence), "--cases", str(cases)])
    print(f"score again: {visible(again)}")


def _picture(row: Judged, name: str, *, evidence: Path, cases: Path) -> str:
    return terminal_verdict(
        row.verdict,
        row.run.evidence,
        row.run.case if row.has_plan else None,
        width=_width(),
        colour=_wants_colour(),
        replay=replay_command(
            name, source=str(evidence), cases=str(cases) if row.has_plan else None
        ),
    )


def one_line(verdict: Verdict) -> str:
    """A verdict in few words."""
    seen = said(verdict)
    parts = [verdict.status.value.upper(), f"first divergence: {verdict.first}"]
    if seen.kind is not None:
        parts.append(f"{seen.kind} {visible(seen.path or '')}".rstrip())
    if verdict.owner != "none":
        parts.append(f"owner: {verdict.owner}")
    return " · ".join(parts)


def print_surprises(rows: Sequence[Judged]) -> None:
    """Say on stderr which judgements are not what the demo promises."""
    for row in rows:
        if not row.is_as_expected:
            where = f"{row.run.scenario} ({row.run.way}, {_plan(row)})"
            print(
                f"error: {where} should say {row.expected}, and says {said(row.verdict)}. This is "
                f"a fault of agenttrace or of this {row.run.way.sdk.name} version; `agenttrace "
                "doctor` may tell.",
                file=sys.stderr,
            )


def _plan(row: Judged) -> str:
    return "with the plan" if row.has_plan else "without the plan"


def _name_of(row: Judged, rows: Sequence[Judged]) -> str:
    """The case's id, or the run's where other runs carry the same case."""
    runs = {id(other.run) for other in rows if other.run.scenario == row.run.scenario}
    return row.run.scenario if len(runs) == 1 else row.verdict.run_id


def _by(rows: Iterable[Judged], key: Callable[[Judged], Any]) -> list[tuple[Any, list[Judged]]]:
    return [(value, list(group)) for value, group in groupby(rows, key=key)]


def _width() -> int:
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return _WIDTH_OF_FILES
    return shutil.get_terminal_size((_WIDTH_OF_FILES, 24)).columns


def _wants_colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
