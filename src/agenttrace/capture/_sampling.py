"""Which runs are recorded where only a share of them is: each whole, or not at all.

The answer is read off the run's id, so that every process of a run gives the same one. What stands
in a context in place of a run that is left out is an `Unsampled`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from hashlib import sha256
from typing import Final

from agenttrace.capture._guard import count

KEPT: Final = "run-kept"
"""Beginning of the ids of runs that are recorded in every process, whatever their share."""
LEFT_OUT: Final = "run-left"
"""Beginning of the ids of runs that are recorded in none."""
_CAUSE: Final = "unsampled"
_MOST: Final = 10_000
_SPACE: Final = 1 << 64


def is_sampled(name: str, share: float) -> bool:
    """Whether the run of this id, or outside any run the trace of this id, is recorded.

    The first 8 bytes of the SHA-256 of the id, as a number, are below the share of all such
    numbers. What is recorded at one share is recorded at every larger one.
    """
    if name.startswith(f"{KEPT}-"):
        return True
    if name.startswith(f"{LEFT_OUT}-"):
        return False
    number = int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return number < share * _SPACE


class Unsampled:
    """A run of which nothing is recorded."""

    __slots__ = ("__weakref__", "_idle_s", "_last_s", "left")

    def __init__(self, idle_s: float | None = None) -> None:
        """Begin it.

        Args:
            idle_s: Seconds without work after which it is over. None: it lasts where it was
                entered.
        """
        self._idle_s = idle_s
        self._last_s = time.monotonic()
        self.left: object | None = None
        """What was entered for it, where it was left before one that was entered inside it."""

    def holds(self) -> bool:
        """Whether work that is done now belongs to it; then it does."""
        if self._idle_s is None:
            return True
        now = time.monotonic()
        if now - self._last_s > self._idle_s:
            return False
        self._last_s = now
        return True

    def count_lost(self, cause: str) -> None:
        """Of what is not recorded nothing is lost."""


class Sampling:
    """What was left out, and is open. Nothing here takes a lock."""

    def __init__(self, share: float, idle_s: float) -> None:
        self.is_used = share < 1
        """Whether anything may be left out; asked at each call."""
        self._share = share
        self._idle_s = idle_s
        self._open: dict[int, Unsampled] = {}
        self._by_trace: dict[str, Unsampled] = {}

    @property
    def open(self) -> int:
        """Runs that were opened and left out, and have not ended."""
        return len(self._open)

    def first(self) -> Unsampled | None:
        """One of them, if there are any."""
        with suppress(StopIteration, RuntimeError):  # it ended just now, on another thread
            return next(iter(self._open.values()))
        return None

    def begin(self) -> Unsampled:
        """Open a run that is left out."""
        made = Unsampled()
        self.is_used = True
        self._open[id(made)] = made
        count(_CAUSE)
        return made

    def end(self, run: Unsampled) -> None:
        """The run was left."""
        self._open.pop(id(run), None)

    def of_trace(self, trace_id: str) -> Unsampled | None:
        """What stands for the calls of a trace outside any run; None: they are recorded."""
        if is_sampled(trace_id, self._share):
            return None
        known = self._by_trace.get(trace_id)
        if known is None or not known.holds():
            known = self._by_trace[trace_id] = Unsampled(self._idle_s)
            count(_CAUSE)
            if len(self._by_trace) > _MOST:
                with suppress(StopIteration, RuntimeError):  # another thread made room
                    self._by_trace.pop(next(iter(self._by_trace)), None)
        return known

    def of_run(self, run_id: str) -> Unsampled | None:
        """The same where there is no trace: what follows in this context belongs together."""
        if is_sampled(run_id, self._share):
            return None
        count(_CAUSE)
        return Unsampled(self._idle_s)
