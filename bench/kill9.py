"""What is left of a process that is killed in the middle of recording, over hundreds of rounds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

from bench.figures import Figure, in_own_process


def measure() -> Iterator[Figure]:
    """Records that were acknowledged and cannot be read, torn lines, and whether they are told."""
    rounds = 40 if os.environ.get("BENCH_QUICK") else 300
    with tempfile.TemporaryDirectory() as folder:
        found = in_own_process("_kill_rounds", str(rounds), folder)
    if found["wrong"]:
        raise RuntimeError(f"the reader found more than torn lines: {found['wrong'][:5]}")
    against = (
        f"{found['acknowledged']} records that flush() had acknowledged in {rounds} processes "
        "killed at a random moment, three threads recording in each"
    )
    for name, bound in (("missing", 0.0), ("most_torn", 1.0), ("unreported", 0.0), ("torn", None)):
        yield Figure(
            name=f"kill9.{name}", value=found[name], unit="count", bound=bound, against=against
        )
