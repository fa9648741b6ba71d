"""What reading and judging rows costs, how it grows with their number, and what memory it takes.

`agenttrace score` itself is run, in a process of its own, over files of rows of one call: evidence
of two recorders in two files, a collector's OTLP file with the spans of many runs mixed, and a chat
log. Cost is the CPU time of that process less that of one with a single row; memory its peak.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure

KINDS = ("evidence", "otlp", "chat")
SIZES = (1_000, 10_000, 100_000)
QUICK = (300, 1_000, 3_000)
CONVERSATIONS, CALLS = 2_000, 6
MEMORY_BOUND = 1.1
GROWTH_BOUND = 1.1


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one process took."""

    cpu_s: float
    peak_mb: float


def measure() -> Iterator[Figure]:
    """Cost of a row, its growth, and peak memory, by the kind of file."""
    is_quick = bool(os.environ.get("BENCH_QUICK"))
    sizes = QUICK if is_quick else SIZES
    for kind in KINDS:
        yield from _of_kind(kind, sizes)
    for kind in KINDS:
        rows = sizes[0] if is_quick else CONVERSATIONS
        start = _of_rows(kind, 1, CALLS)[0].cpu_s
        spent, parsed = _of_rows(kind, rows, CALLS)
        against = f"{rows} conversations of {CALLS} calls, of which 1 in 10 fails"
        name = f"reading.{kind}.conversations"
        yield Figure(name=name, value=spent.cpu_s, unit="s", bound=None, against=against)
        yield Figure(
            name=f"{name}.over_json",
            value=(spent.cpu_s - start) / parsed.cpu_s,
            unit="ratio",
            bound=None,
            against=f"json.loads of every line of the same files; {against}",
        )


def _of_kind(kind: str, sizes: tuple[int, ...]) -> Iterator[Figure]:
    start = _of_rows(kind, 1, 1)[0].cpu_s
    spent = {rows: _of_rows(kind, rows, 1)[0] for rows in sizes}
    small, middle, large = sizes
    each = {rows: (one.cpu_s - start) / rows for rows, one in spent.items()}
    yield Figure(
        name=f"reading.{kind}.row",
        value=each[large] * 1000,
        unit="ms",
        bound=None,
        against=f"CPU for one of {large} rows of one call, start left out",
    )
    yield Figure(
        name=f"reading.{kind}.growth_exponent",
        value=1 + math.log(each[large] / each[small]) / math.log(large / small),
        unit="exponent",
        bound=GROWTH_BOUND,
        against=f"CPU of {small} rows",
    )
    for rows, one in spent.items():
        yield Figure(
            name=f"reading.{kind}.memory_{rows}",
            value=one.peak_mb,
            unit="MB",
            bound=None,
            against="nothing: the most that was resident",
        )
    yield Figure(
        name=f"reading.{kind}.memory_growth",
        value=spent[large].peak_mb / spent[middle].peak_mb,
        unit="ratio",
        bound=MEMORY_BOUND,
        against=f"the peak at {middle} rows, a tenth of {large}",
    )
    if kind != "chat":
        with tempfile.TemporaryDirectory() as folder:
            _write(kind, middle, 1, Path(folder))
            part = [sys.executable, "-m", "bench._reading_part", f"{folder}/files"]
            size = int(subprocess.check_output(part, env=_environ(), text=True))
        yield Figure(
            name=f"reading.{kind}.aside",
            value=size / middle,
            unit="bytes",
            bound=None,
            against="one row in the temporary file, of rows of one call",
        )


def _of_rows(kind: str, rows: int, calls: int) -> tuple[Spent, Spent]:
    """What judging so many rows took, and what parsing their files as JSON takes."""
    with tempfile.TemporaryDirectory() as folder:
        _write(kind, rows, calls, Path(folder))
        cases = [] if kind == "chat" else ["--cases", f"{folder}/cases.json"]
        score = ["-m", "agenttrace", "score", f"{folder}/files", *cases]
        print(f"reading: judging {rows} rows of {kind}", file=sys.stderr)
        spent = _run(score, fine=(0, 1))
        return spent, _run(["-m", "bench._reading_part", "--json", f"{folder}/files"])


def _write(kind: str, rows: int, calls: int, folder: Path) -> None:
    print(f"reading: writing {rows} rows of {kind}", file=sys.stderr)
    _run(["-m", "bench._row_files", kind, str(rows), str(calls), str(folder)])


def _run(arguments: list[str], *, fine: tuple[int, ...] = (0,)) -> Spent:
    """Run Python to its end; a small parent, because a child's peak counts from its parent's.

    Raises:
        RuntimeError: It ended otherwise than it should.
    """
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, *arguments],
            env=_environ(),
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in fine:
            said.seek(0)
            words = said.read().decode(errors="replace").strip()
            raise RuntimeError(words[-2000:] or f"{arguments} ended with {child.returncode}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Spent(cpu_s=usage.ru_utime + usage.ru_stime, peak_mb=usage.ru_maxrss / unit)


def _environ() -> dict[str, str]:
    return {"PYTHONPATH": ".", **os.environ}
