"""Closes what nobody closes: implicit runs that went idle, and runs to which something came late.

One daemon thread for the process, started when there is something to wait for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from agenttrace.capture._guard import guard
from agenttrace.capture._run_state import RunState

LATE_S = 0.2
"""How long a run waits for more, after something came late."""


class Settler:
    """Runs that wait to be settled."""

    def __init__(self, settle: Callable[[RunState], None]) -> None:
        self._settle = settle
        self._wait_s: dict[RunState, float] = {}
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None

    def wait_for(self, run: RunState, idle_s: float) -> None:
        """Settle the run once it had no record for this long and nothing of it is open."""
        new: threading.Thread | None = None
        with self._condition:
            self._wait_s[run] = idle_s
            if self._thread is None:
                new = self._thread = threading.Thread(
                    target=self._work, daemon=True, name="agenttrace-settle"
                )
            self._condition.notify()
        if new is not None:
            self._start(new)

    def _start(self, new: threading.Thread) -> None:
        # Holding no lock: where threads are greenlets, others run until this one has begun.
        try:
            new.start()
        except BaseException:
            self._thread = None
            raise

    def take_all(self) -> list[RunState]:
        """The runs that are waiting, which then wait no longer."""
        with self._condition:
            waiting = list(self._wait_s)
            self._wait_s.clear()
            return waiting

    def _work(self) -> None:
        while True:
            with self._condition:
                ripe, pause_s = self._ripe()
                for run in ripe:
                    del self._wait_s[run]
                if not ripe:
                    self._condition.wait(pause_s)
            for run in ripe:
                with guard("settling a run", run):
                    self._settle(run)

    def _ripe(self) -> tuple[list[RunState], float | None]:
        now = time.monotonic()
        ripe: list[RunState] = []
        pause_s: float | None = None
        for run, idle_s in self._wait_s.items():
            rest_s = run.last_activity_s + idle_s - now
            if rest_s <= 0 and not run.open_executions:
                ripe.append(run)
            else:
                rest_s = max(rest_s, 0.05)
                pause_s = rest_s if pause_s is None else min(pause_s, rest_s)
        return ripe, pause_s
