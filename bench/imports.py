"""What it costs to import the scorer: time over bare Python, each in a fresh process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.figures import Figure

ROUNDS = 15


def measure() -> Iterator[Figure]:
    """Milliseconds of `import agenttrace.scoring` over an empty program."""
    extra = []
    for _ in range(ROUNDS):
        bare = _took("pass")
        extra.append(_took("import agenttrace.scoring") - bare)
    yield Figure(
        name="imports.scoring",
        value=statistics.median(extra) * 1000,
        unit="ms",
        bound=None,
        against="bare Python in the same round",
    )


def _took(program: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start
