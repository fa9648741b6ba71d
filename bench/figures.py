"""How a benchmark says a figure, and how two things are measured in one round.

Machines are noisy, so a figure is a ratio against a named baseline that ran in the same rounds,
and the median of the rounds is what is said.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

Work = Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured figure with the bound it is held to; None: reported, not judged."""

    name: str
    value: float
    unit: str
    bound: float | None
    against: str

    @property
    def ok(self) -> bool:
        """Whether the figure keeps its bound."""
        return self.bound is None or self.value <= self.bound

    def to_line(self) -> str:
        """The figure as one line of JSON."""
        fields = asdict(self)
        fields["value"] = round(self.value, 4)
        return json.dumps({**fields, "ok": self.ok})


def ratios(
    works: Mapping[str, Work], baseline: str, *, rounds: int, repeats: int
) -> dict[str, float]:
    """CPU time of each work over the baseline's, median over interleaved rounds.

    Args:
        works: What to measure, by name; each is called once before it counts.
        baseline: The name that the others are divided by.
        rounds: How often all works take their turn.
        repeats: Calls of one work in one turn.
    """
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.thread_time_ns()
            for _ in range(repeats):
                work()
            taken[name].append((time.thread_time_ns() - start) / repeats)
    return {
        name: statistics.median(
            own / base for own, base in zip(times, taken[baseline], strict=True)
        )
        for name, times in taken.items()
        if name != baseline
    }


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn of one work, a call."""

    own_ns: float
    """CPU time of the thread that called."""
    moved_ns: float
    """CPU time of everything else that the calls caused, until all of it was done."""


def turns(
    works: Mapping[str, Work],
    *,
    rounds: int,
    repeats: int,
    finish: Callable[[], object] = lambda: None,
) -> dict[str, list[Turn]]:
    """Many short turns, taken one after the other in each round, so that noise hits all alike.

    Args:
        finish: Does what the calls left to be done; it is not on the callers' account.
    """
    for work in works.values():
        for _ in range(repeats):
            work()
        finish()
    taken: dict[str, list[Turn]] = {name: [] for name in works}
    names = list(works)
    for number in range(rounds):
        for name in names if number % 2 else reversed(names):
            work = works[name]
            all_ns, start_ns = time.process_time_ns(), time.thread_time_ns()
            for _ in range(repeats):
                work()
            own_ns = time.thread_time_ns() - start_ns
            finish()
            moved_ns = time.process_time_ns() - all_ns - own_ns
            taken[name].append(Turn(own_ns=own_ns / repeats, moved_ns=moved_ns / repeats))
    return taken


def over(
    taken: Mapping[str, list[Turn]],
    name: str,
    baseline: str,
    of: Callable[[Turn], float] = lambda turn: turn.own_ns,
) -> float:
    """Median over the rounds of one work's share (its own CPU) over the baseline's own CPU."""
    pairs = zip(taken[name], taken[baseline], strict=True)
    return statistics.median(of(turn) / base.own_ns for turn, base in pairs)


def in_own_process(module: str, *arguments: str, **environ: str) -> dict[str, Any]:
    """What a module of this folder prints as one JSON object when it is run by itself.

    What is set up once a process (a provider, a recorder, another tracer) is so set up afresh.

    Raises:
        RuntimeError: It ended with an error, whose text is the message.
    """
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{module}", *arguments],
        env={**os.environ, "PYTHONPATH": ".", **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"{module} {arguments} ended with an error")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
