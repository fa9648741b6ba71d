"""Live scoring: each run that settles is judged in the background and printed to stderr."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Final

from agenttrace.capture import RunState, guard, recorder
from agenttrace.errors import AgentTraceError
from agenttrace.report import terminal_verdict
from agenttrace.scoring import expected_like
from agenttrace.session._judge import case_of, verdict_of
from agenttrace.session._state import session

_EXIT_S: Final = 2.0


class LiveScoring:
    """One daemon thread that judges what settled."""

    def __init__(self) -> None:
        self._settled: queue.SimpleQueue[RunState | threading.Event] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._owner: int | None = None
        """Process of the thread: a forked child has none yet."""

    def start(self) -> None:
        """Judge every run that settles from now on."""
        if self.add not in recorder.listeners:
            recorder.listeners.append(self.add)
            recorder.enders.append(self.finish)

    def stop(self) -> None:
        """Judge no further run."""
        if self.add in recorder.listeners:
            recorder.listeners.remove(self.add)
            recorder.enders.remove(self.finish)

    def add(self, state: RunState) -> None:
        """Take a run that settled; the caller does not wait."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner = os.getpid()
                self._settled = queue.SimpleQueue()
                threading.Thread(target=self._work, daemon=True, name="agenttrace-live").start()
        self._settled.put(state)

    def finish(self, timeout_s: float = _EXIT_S) -> None:
        """Wait until what settled so far is judged, but no longer than this."""
        if self._owner == os.getpid():
            done = threading.Event()
            self._settled.put(done)
            done.wait(timeout_s)

    def _work(self) -> None:
        settled = self._settled
        while True:
            item = settled.get()
            if isinstance(item, threading.Event):
                item.set()
                continue
            with guard("judging a settled run", loses=False):
                print(_picture(item), file=sys.stderr, flush=True)


def _picture(state: RunState) -> str:
    try:
        verdict, evidence = verdict_of(state, session.cases)
        case = case_of(state, session.cases)
        if case is not None:
            case = expected_like(case, evidence, state.redactor, is_shown=True)
    except AgentTraceError as error:
        return f"agenttrace: run {state.run.run_id} was not judged: {error}"
    return terminal_verdict(verdict, evidence, case, colour=sys.stderr.isatty())


live_scoring: Final = LiveScoring()
