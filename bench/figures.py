"""How a benchmark says a figure, and how two things are measured in one round.

Machines are noisy, so a figure is a ratio against a named baseline that ran in the same rounds,
and the median of the rounds is what is said.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

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
