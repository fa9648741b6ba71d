"""Ids that count and a clock that ticks, so that spans and lines can stand in a snapshot."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from agenttrace.capture import Source, use_source


class FixedSource(Source):
    """Ids from 1 by prefix; a clock that moves on by a step each time it is read."""

    def __init__(self, *, start_ns: int = 1_800_000_000_000_000_000, step_ns: int = 1_000) -> None:
        self._lock = threading.Lock()
        self._now_ns = start_ns
        self._step_ns = step_ns
        self._ids: Counter[str] = Counter()
        self._spans = itertools.count(1)
        self._traces = itertools.count(1)

    def now_ns(self) -> int:
        """Nanoseconds since 1970, one step later each time."""
        with self._lock:
            self._now_ns += self._step_ns
            return self._now_ns

    def new_id(self, prefix: str) -> str:
        """`PREFIX-1`, `PREFIX-2`, and so on."""
        with self._lock:
            self._ids[prefix] += 1
            return f"{prefix}-{self._ids[prefix]}"

    def generate_span_id(self) -> int:
        """1, 2, and so on."""
        return next(self._spans)

    def generate_trace_id(self) -> int:
        """1, 2, and so on."""
        return next(self._traces)


@contextmanager
def fixed_ids_and_clock() -> Iterator[FixedSource]:
    """Fix ids and clock for a while; spans of our own provider get fixed ids too."""
    fixed = FixedSource()
    before = use_source(fixed)
    try:
        yield fixed
    finally:
        use_source(before)
