"""One part of the overhead benchmark: `python -m bench._overhead_part off`.

Each prints one JSON object of figures, by name; each needs a process of its own.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from pydantic import BaseModel

import agenttrace
from agenttrace.capture import losses
from agenttrace.records import RunEnd
from bench._calls import (
    Drop,
    by_hand,
    by_hand_async,
    called,
    driven,
    fetch_order,
    get_order,
)
from bench.figures import Turn, Work, over, turns

ROUNDS, REPEATS = 80, 100
BIG_CALLS = 15
SUSTAINED_CALLS = 30_000
GROWTH_WARM_UP, GROWTH_CALLS = 30_000, 100_000


@contextmanager
def recorded(**options: Any) -> Iterator[None]:
    """Inside a run whose evidence goes to a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        agenttrace.configure(evidence=folder, **options)
        with agenttrace.run(name="bench") as run:
            yield
        if options.get("sample") != 0:
            check(run)


def check(run: Any) -> None:
    """Refuse the figures of calls that were not recorded.

    Raises:
        RuntimeError: Something was lost.
    """
    end = run.records()[-1].payload
    lost = dict(losses()) or (end.manifest.lost if isinstance(end, RunEnd) else "the run's end")
    if lost:
        raise RuntimeError(f"what was measured is no recording: {lost}")


def ratios(rounds: int, *, tracer: otel.Tracer | None = None) -> dict[str, float]:
    """A decorated call's share of the caller's CPU and of everybody's, over the span by hand."""
    if tracer is None:
        tracer = TracerProvider().get_tracer("bench")
    works: dict[str, Work] = {
        "by hand": by_hand(tracer),
        "sync": called(agenttrace.trace(get_order)),
        "by hand, async": by_hand_async(tracer),
        "async": driven(agenttrace.trace(fetch_order), "A-104", limit=3),
    }
    taken = turns(works, rounds=rounds, repeats=REPEATS, finish=agenttrace.flush)

    def moved(turn: Turn) -> float:
        return turn.moved_ns

    return {
        "sync": over(taken, "sync", "by hand"),
        "async": over(taken, "async", "by hand, async"),
        "async_over_sync": over(taken, "async", "by hand"),
        "sync.moved": over(taken, "sync", "by hand", moved),
        "async.moved": over(taken, "async", "by hand, async", moved),
    }


def private(rounds: int) -> dict[str, float]:
    """As it is by default: no provider of the program's, evidence in a folder."""
    with recorded():
        return ratios(rounds)


def exporting(rounds: int) -> dict[str, float]:
    """The same, with an exporter."""
    with recorded(exporter=Drop()):
        return ratios(rounds)


def users(rounds: int) -> dict[str, float]:
    """Through the program's own provider, which makes the spans by hand too."""
    provider = TracerProvider()
    otel.set_tracer_provider(provider)
    with recorded():
        return ratios(rounds, tracer=provider.get_tracer("bench"))


def unsampled(rounds: int) -> dict[str, float]:
    """In a run that is left out by `sample`."""
    with recorded(sample=0.0):
        return ratios(rounds)


def unsampled_span(rounds: int) -> dict[str, float]:
    """Through a provider of the program's that samples nothing; local evidence is kept in full."""
    otel.set_tracer_provider(TracerProvider(sampler=ALWAYS_OFF))
    with recorded():
        return ratios(rounds)


def off(rounds: int) -> dict[str, float]:
    """Decorated, and never configured."""
    return ratios(rounds)


def switched_off(rounds: int) -> dict[str, float]:
    """Configured in a process whose environment switches it off."""
    if os.environ.get("AGENTTRACE_ENABLED") != "0":
        raise RuntimeError("run this part with AGENTTRACE_ENABLED=0")
    agenttrace.configure()
    with agenttrace.run(name="bench"):
        return ratios(rounds)


def sustained(rounds: int) -> dict[str, float]:
    """Calls without a pause, by hand and decorated in turn; nobody waits for what is left to do."""
    tracer = TracerProvider().get_tracer("bench")
    with recorded():
        works = {"by hand": by_hand(tracer), "sync": called(agenttrace.trace(get_order))}
        taken: dict[str, list[Turn]] = {name: [] for name in works}
        walls: dict[str, list[float]] = {name: [] for name in works}
        for number in range(rounds):
            for name in sorted(works, reverse=bool(number % 2)):
                work = works[name]
                wall_s, start_ns = time.perf_counter(), time.thread_time_ns()
                for _ in range(SUSTAINED_CALLS):
                    work()
                own_ns = time.thread_time_ns() - start_ns
                walls[name].append(time.perf_counter() - wall_s)
                taken[name].append(Turn(own_ns=own_ns / SUSTAINED_CALLS, moved_ns=0))
                agenttrace.flush(60)
    pairs = zip(walls["sync"], walls["by hand"], strict=True)
    return {
        "sync": over(taken, "sync", "by hand"),
        "sync.wall": statistics.median(own / base for own, base in pairs),
    }


# Large arguments


@dataclass
class Line:
    """One line of an order."""

    sku: str
    amount: int


class LineModel(BaseModel):
    """The same as a pydantic model."""

    sku: str
    amount: int


OBJECTS = 30_000
LARGE: dict[str, Callable[[], Any]] = {
    "string_1mb": lambda: "x" * 1_000_000,
    "objects.dicts": lambda: [{"sku": f"s-{n}", "amount": n} for n in range(OBJECTS)],
    "objects.lists": lambda: [[n, f"s-{n}"] for n in range(OBJECTS)],
    "objects.nested": lambda: [
        {"id": n, "lines": [{"sku": f"s-{n}", "amount": n}, {"sku": "b", "tags": ["x", "y"]}]}
        for n in range(OBJECTS // 5)
    ],
    "objects.dataclasses": lambda: [Line(f"s-{n}", n) for n in range(OBJECTS)],
    "objects.pydantic": lambda: [LineModel(sku=f"s-{n}", amount=n) for n in range(OBJECTS)],
    "objects.mixed": lambda: [
        {"id": n, "line": Line(f"s-{n}", n), "model": LineModel(sku="b", amount=n), "tags": ["x"]}
        for n in range(OBJECTS // 4)
    ],
}
"""A large argument by name, made anew for each call."""


def large(_: int) -> dict[str, float]:
    """Milliseconds of the caller's CPU for one call with a large argument."""

    @agenttrace.trace
    def take(value: Any) -> None:
        """Do nothing."""

    found: dict[str, float] = {"json_dumps": _of_json_dumps()}
    with recorded():
        for name, make in LARGE.items():
            times: list[float] = []
            for _ in range(BIG_CALLS):
                value = make()
                start_ns = time.thread_time_ns()
                take(value)
                times.append((time.thread_time_ns() - start_ns) / 1e6)
                agenttrace.flush(60)
            found[name] = min(times)  # no baseline here that noise would hit alike
    return found


def _of_json_dumps() -> float:
    """How fast this machine is right now: the standard library over the same 30,000 dicts."""
    value, times = LARGE["objects.dicts"](), []
    for _ in range(BIG_CALLS):
        start_ns = time.thread_time_ns()
        json.dumps(value)
        times.append((time.thread_time_ns() - start_ns) / 1e6)
    return min(times)


# Memory


def growth(_: int) -> dict[str, float]:
    """Megabytes that the process is larger after 100,000 calls, once it has warmed up.

    Of resident memory, which is what a machine runs out of: it counts what tracemalloc cannot see
    (fragments, and what C code holds), and costs nothing while the calls are made.
    """
    traced = called(agenttrace.trace(get_order))
    with recorded():

        def make(calls: int) -> float:
            for _ in range(calls):
                traced()
            agenttrace.flush(60)
            gc.collect()
            return _resident_mb()

        before = make(GROWTH_WARM_UP)
        return {"mb": make(GROWTH_CALLS) - before}


def _resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096 / 1e6


PARTS: dict[str, Callable[[int], dict[str, float]]] = {
    part.__name__: part
    for part in (
        private,
        exporting,
        users,
        unsampled,
        unsampled_span,
        off,
        switched_off,
        sustained,
        large,
        growth,
    )
}

if __name__ == "__main__":
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    print(json.dumps(PARTS[sys.argv[1]](rounds)))
