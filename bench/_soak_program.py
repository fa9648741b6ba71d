"""Records beside an exporter that never returns: `python -m bench._soak_program 2000000`."""

from __future__ import annotations

import gc
import json
import shutil
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import agenttrace
from agenttrace.capture import losses, recorder
from bench._calls import by_hand
from bench.figures import Work

IN_ONE_RUN = 100_000
BARE_CALLS = 100_000


class Stuck(SpanExporter):
    """Takes a batch and never gives an answer."""

    def __init__(self) -> None:
        self.taken = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.taken += len(spans)
        threading.Event().wait()
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """It is stuck."""


@agenttrace.trace
def work(number: int) -> dict[str, int]:
    """Next to nothing."""
    return {"number": number}


def main(calls: int, folder: Path) -> dict[str, Any]:
    """Make the calls, in runs of 100,000, and count what became of each."""
    stuck = Stuck()
    agenttrace.configure(evidence=folder, exporter=stuck)
    bare = _p999(BARE_CALLS, by_hand(TracerProvider().get_tracer("bench")))
    waits, sizes = array("Q", bytes(8 * calls)), []
    made = kept = lost = 0
    while made < calls:
        with agenttrace.run():
            for number in range(made, min(made + IN_ONE_RUN, calls)):
                start_ns = time.perf_counter_ns()
                work(number)
                waits[number] = time.perf_counter_ns() - start_ns
        made = min(made + IN_ONE_RUN, calls)
        in_files, said = _count(folder)
        kept += in_files
        lost += said
        gc.collect()
        sizes.append(_resident_mb())
        for day in folder.iterdir():
            if day.is_dir():
                shutil.rmtree(day)
    ordered = sorted(waits)
    dropped = losses().get("export:queue-full", 0)
    processor = recorder.providers._private._active_span_processor._span_processors[0]
    spans = calls + len(sizes)  # of each run one too
    return {
        "by_hand_p999_ms": bare,
        "spans_unaccounted": abs(spans - dropped - stuck.taken - len(processor._queue)),
        "calls": calls,
        "p999_ms": ordered[int(calls * 0.999)] / 1e6,
        "worst_ms": ordered[-1] / 1e6,
        "kept": kept,
        "lost": lost,
        "unaccounted": abs(calls - kept - lost),
        "spans_dropped": dropped,
        "growth_mb": max(sizes[1:] or sizes) - sizes[0],
    }


def _p999(calls: int, work: Work) -> float:
    """What this machine makes a caller wait without us."""
    waits = array("Q", bytes(8 * calls))
    for number in range(calls):
        start_ns = time.perf_counter_ns()
        work()
        waits[number] = time.perf_counter_ns() - start_ns
    return sorted(waits)[int(calls * 0.999)] / 1e6


def _count(folder: Path) -> tuple[int, int]:
    """Executions in the files, and what their manifests say was lost."""
    kept = lost = 0
    for path in folder.rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                if b'"kind":"execution"' in line:
                    kept += 1
                elif b'"kind":"run"' in line:
                    lost += sum(json.loads(line)["payload"]["manifest"].get("lost", {}).values())
    return kept, lost


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096 / 1e6


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        print(json.dumps(main(int(sys.argv[1]), Path(own))), flush=True)
