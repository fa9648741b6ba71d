"""Two million calls beside an exporter that never returns: waits, losses, memory."""

from __future__ import annotations

import os
from collections.abc import Iterator

from bench.figures import Figure, in_own_process

CALLS, QUICK_CALLS = 2_000_000, 200_000


def measure() -> Iterator[Figure]:
    """The caller's wait for one call, calls that are nowhere accounted for, and memory."""
    calls = QUICK_CALLS if os.environ.get("BENCH_QUICK") else CALLS
    found = in_own_process("_soak_program", str(calls))
    against = f"nothing: {calls} calls without a pause, exporter stuck, evidence in files"
    for name, unit, bound in (
        ("p999_ms", "ms", 5.0),
        ("worst_ms", "ms", None),
        ("by_hand_p999_ms", "ms", None),
        ("unaccounted", "count", 0.0),
        ("spans_unaccounted", "count", 0.0),
        ("kept", "count", None),
        ("lost", "count", None),
        ("spans_dropped", "count", None),
        ("growth_mb", "MB", 100.0),
    ):
        yield Figure(
            name=f"soak.{name.removesuffix('_ms')}",
            value=found[name],
            unit=unit,
            bound=bound,
            against=against,
        )
