"""`agenttrace clean`: remove runs from a folder of local evidence.

It says what it would remove, and asks. Only files that agenttrace wrote are removed, links are not
followed, and a run that may be open is left.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from agenttrace.capture import (
    UNENDED_S,
    YOUNG_S,
    RunFacts,
    StoredRun,
    facts_of,
    has_ended,
    open_evidence,
    remove_run,
    stored_runs,
)
from agenttrace.cli._output import put, put_json, say
from agenttrace.errors import UnreadableFileError
from agenttrace.report import visible
from agenttrace.settings import resolve

_BAD_INPUT: Final = 2
_DAY_S: Final = 86_400
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": _DAY_S, "w": 7 * _DAY_S}
_AGE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([smhdw])")
_MOST_LISTED: Final = 20
_OPEN: Final = "it has no end and was written to within the hour, so it may be open"


@dataclass(kw_only=True)
class _Row:
    """A run that was chosen, and what becomes of it."""

    run: StoredRun
    facts: RunFacts
    left: str | None = None
    """Why it stays."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.facts.ours)

    @property
    def written(self) -> str:
        moment = datetime.fromtimestamp(self.run.written_ns / 1e9, tz=UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def to_json(self) -> dict[str, Any]:
        row = {
            "run_id": self.facts.run_id,
            "case_ids": list(self.facts.case_ids),
            "folder": self.run.place,
            "files": len(self.facts.ours),
            "bytes": self.size,
            "written": self.written,
        }
        return row if self.left is None else {**row, "left": self.left}

    def to_text(self) -> str:
        case = "".join(f"  case {visible(case_id)}" for case_id in self.facts.case_ids)
        return f"{visible(self.facts.run_id)}{case}  {self.written}  {_size(self.size)}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="FOLDER",
        help="folder of local evidence (default: the configured one)",
    )
    parser.add_argument(
        "--older-than", type=_age, metavar="AGE", help="runs last written to before 7d, 12h, 30m"
    )
    parser.add_argument(
        "--case", action="append", metavar="ID", help="runs of this case; may be given again"
    )
    parser.add_argument(
        "--run", action="append", metavar="ID", help="the run of this id; may be given again"
    )
    parser.add_argument("--all", action="store_true", help="every run")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="say what would be removed, and remove nothing"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="remove without asking")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Remove what was chosen; 1 when some of it was left in place."""
    if options.all and (options.case or options.run or options.older_than is not None):
        say("error: --all takes every run; leave it out, or the options that choose some")
        return _BAD_INPUT
    root, is_there = _root(options)
    rows: list[_Row] = []
    if is_there:
        try:
            with open_evidence(root) as folder:
                rows = list(_chosen(folder, options))
                answer = _ask(rows, root, options)
                if answer is not None:
                    return answer
                if not options.dry_run:
                    _remove(folder, rows)
        except OSError as error:
            raise UnreadableFileError(str(root), error.strerror or str(error)) from error
    _report(rows, root, options)
    return int(any(row.left is not None for row in rows))


def _root(options: argparse.Namespace) -> tuple[Path, bool]:
    """The folder, and whether it is there; one that was named has to be."""
    if options.folder is not None:
        return options.folder, True
    configured = resolve()["evidence"]
    if not isinstance(configured, Path):
        return Path(), False
    return configured, configured.is_dir()


# What is chosen


def _chosen(folder: Any, options: argparse.Namespace) -> Iterator[_Row]:
    now_ns = time.time_ns()
    runs = sorted(stored_runs(folder), key=lambda run: run.written_ns)
    by_rule = not (options.all or options.case or options.run or options.older_than is not None)
    resolved = resolve()
    days, most = resolved["keep_days"], resolved["keep_bytes"]
    total = sum(run.size for run in runs)
    for run in runs:
        age_s = (now_ns - run.written_ns) / 1e9
        if by_rule:
            is_beyond = days is not None and age_s > days * _DAY_S
            if age_s < YOUNG_S or not (is_beyond or (most is not None and total > most)):
                continue
        if options.older_than is not None and age_s <= options.older_than:
            continue
        facts = facts_of(folder, run)
        if facts is None or not _is_meant(facts, options):
            continue
        row = _Row(run=run, facts=facts)
        is_short = age_s < (UNENDED_S if by_rule else YOUNG_S)
        if is_short and not has_ended(folder, run, facts):
            if by_rule:
                continue
            row.left = _OPEN
        total -= row.size
        yield row


def _is_meant(facts: RunFacts, options: argparse.Namespace) -> bool:
    return (not options.case or not set(options.case).isdisjoint(facts.case_ids)) and (
        not options.run or facts.run_id in options.run
    )


# What is done


def _ask(rows: list[_Row], root: Path, options: argparse.Namespace) -> int | None:
    """Ask a person; the exit code where nothing is to be done, None to go on."""
    going = [row for row in rows if row.left is None]
    if options.dry_run or options.yes or not going:
        return None
    for row in going[:_MOST_LISTED]:
        print(row.to_text(), file=sys.stderr)
    if len(going) > _MOST_LISTED:
        print(f"and {len(going) - _MOST_LISTED} more; --dry-run lists all", file=sys.stderr)
    size = _size(sum(row.size for row in going))
    question = f"Remove {_runs(len(going))}, {size}, from {visible(str(root))}? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer:
        print(file=sys.stderr)
        say("error: nobody answered, so nothing was removed; pass --yes to remove without asking")
        return _BAD_INPUT
    if answer.strip().lower() not in ("y", "yes"):
        say("nothing was removed")
        return 1
    return None


def _remove(folder: Any, rows: list[_Row]) -> None:
    for row in rows:
        if row.left is None:
            _, row.left = remove_run(folder, row.run, row.facts)


def _report(rows: list[_Row], root: Path, options: argparse.Namespace) -> None:
    gone = [row for row in rows if row.left is None]
    left = [row for row in rows if row.left is not None]
    size = sum(row.size for row in gone)
    if options.json:
        put_json(
            {
                "folder": str(root),
                "dry_run": options.dry_run,
                "removed": [row.to_json() for row in gone],
                "left": [row.to_json() for row in left],
                "bytes": size,
            }
        )
        return
    if options.dry_run or options.yes:
        for row in gone:
            put(row.to_text())
    for row in left:
        say(f"left: {row.to_text()}: {row.left}")
    verb = "would remove" if options.dry_run else "removed"
    put(f"{verb} {_runs(len(gone))}, {_size(size)}, from {visible(str(root))}")


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _age(text: str) -> float:
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age; write 7d, 12h, 30m, 2w or 90s")
    return float(found[1]) * _UNITS[found[2]]
