"""What is left to do once a call has gone on: masking, digests, JSON and the file, in order.

A caller only leaves the work here. One daemon thread does it a moment later; whoever needs it done
now (a run's end, a flush, the end of the process) does it on the spot, because a thread of ours may
not get its turn, or not be there. Where work comes faster than the thread gets on, callers do a
little of it themselves; beyond `MOST` it is refused and counted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from agenttrace.capture._guard import LossCounter, failed, lost
from agenttrace.capture._waiting import take

MOST: Final = 20_000
"""Pieces of work that wait; a further one is refused."""
MOST_WEIGHT: Final = 256 << 20
"""Bytes, about, that waiting work holds; work that would hold more is refused."""
HELP_FROM: Final = 2_000
"""Pieces that wait when callers begin to do two for each that they add."""
HELP_FROM_WEIGHT: Final = 64 << 20
_HELP_WAIT_S: Final = 0.002
"""Longest that a caller waits for its turn to help."""
_FULL_WAIT_S: Final = 0.05
"""The same where half of what may wait does."""
_FULL_VAIN_S: Final = 1.0
"""How long nothing may get done before nobody waits any more."""
_SLICE_S: Final = 0.0003
"""Longest that the thread works before others have their turn."""
_PAUSE_S: Final = 0.005
_IDLE_PAUSES: Final = 20
"""Pauses without work after which the thread sleeps until it is woken."""
_PATIENCE_S: Final = 2.0


class Left(Protocol):
    """One piece of work that was left."""

    @property
    def run(self) -> LossCounter:
        """Where it counts as lost if it is refused or fails."""

    @property
    def weight(self) -> int:
        """Bytes that it holds, about; 0 for little. Never changed once it was left."""

    def work(self) -> None:
        """Do it."""


class _Piece:
    __slots__ = ("run", "weight", "work")

    def __init__(self, work: Callable[[], None], run: LossCounter, weight: int) -> None:
        self.work = work
        self.run = run
        self.weight = weight


class Outbox:
    """Work of ours that no caller waits for."""

    def __init__(self) -> None:
        self.is_inline = False
        """Work is done at once: the process ends, and no thread will have its turn any more."""
        self.renew()

    def renew(self) -> None:
        """Begin anew in a forked child; what waits is the parent's to do."""
        self._items: deque[Left] = deque()
        self._turn = threading.Lock()
        self._holder = 0
        """Thread that does work right now."""
        self._done = 0
        self._hangs_at = (-1, 0.0)
        """What was done when a caller first waited in vain, and when that was."""
        self._weighing = threading.Lock()
        self._weight = 0
        self._wake = threading.Event()
        self._is_awake = False
        self._paused: list[bool] = []
        self._thread: threading.Thread | None = None

    @property
    def is_mine(self) -> bool:
        """Whether this thread is doing work from here right now."""
        return self._holder == threading.get_ident()

    def put(self, work: Callable[[], None], run: LossCounter, weight: int = 0) -> None:
        """Leave work to be done after all that was left before.

        Args:
            run: Where it counts as lost if it is refused.
            weight: Bytes that it holds, about; 0 for little.
        """
        self.leave(_Piece(work, run, weight))

    def leave(self, piece: Left, *, is_needed: bool = True) -> None:
        """Leave a piece of work, as `put` does; each object that is made for it costs the caller.

        Args:
            is_needed: Whether anything is lost where it is refused; else it is done later, as part
                of another piece.
        """
        items = self._items
        waiting = len(items)
        if waiting >= MOST or self._weight > MOST_WEIGHT:
            if is_needed:
                lost("outbox", piece.run)
            return
        weight = piece.weight
        if weight:
            with self._weighing:
                self._weight += weight
        items.append(piece)
        if not self._is_awake or self.is_inline:
            self._rouse()
        elif waiting > HELP_FROM or self._weight > HELP_FROM_WEIGHT:
            self._help()

    def drain(self, timeout_s: float = _PATIENCE_S) -> bool:
        """Do everything that was left until now; false if it is not all done.

        In the middle of work of ours (a finaliser, a handler of a signal) nothing can be done
        first, and where the disk hangs nobody waits for longer than the time.
        """
        if not self._items and self._holder == 0:
            return True
        if self.is_mine:
            return False
        turn, taken = self._turn, list[bool]()
        try:
            if not take(turn, taken, timeout_s):
                return False
            self._holder = threading.get_ident()
            for _ in range(len(self._items)):
                self._one()
        finally:
            if True in taken:
                self._holder = 0
                turn.release()
        return True

    # Around a fork nothing is half done: the child would go on with half of it.

    def pause(self) -> None:
        """Wait until no work is being done, and let none begin."""
        self._paused = []
        if not self.is_mine:
            take(self._turn, self._paused, _PATIENCE_S)

    def resume(self) -> None:
        """Let work begin again."""
        if True in self._paused:
            self._paused = []
            self._turn.release()

    # One after the other

    def _one(self) -> None:
        try:
            piece = self._items.popleft()
        except IndexError:
            return
        try:
            self._done += 1
            weight = piece.weight
            if weight:
                with self._weighing:
                    self._weight -= weight
            piece.work()
        except BaseException as error:  # noqa: BLE001 - nothing of ours may leave
            failed("writing a record", error, piece.run)

    def _help(self) -> None:
        """Do a little, or wait a moment for the thread, which needs one from us to get on.

        Where the thread hangs, nobody waits a second time.
        """
        if self.is_mine:
            return
        # Many threads that each waited for a moment alone would fill it all the same, and whoever
        # has the turn may have to wait for all of them before it is its turn to run.
        is_filling = len(self._items) >= MOST // 2
        wait_s, vain_s = (_FULL_WAIT_S, _FULL_VAIN_S) if is_filling else (_HELP_WAIT_S, 0.0)
        turn, taken = self._turn, list[bool]()
        try:
            if not take(turn, taken, 0):
                done, since_s = self._hangs_at
                if done == self._done and time.monotonic() - since_s >= vain_s:
                    return
                if not take(turn, taken, wait_s):
                    if self._done != done:
                        self._hangs_at = (self._done, time.monotonic())
                    return
            self._holder = threading.get_ident()
            self._one()
            self._one()
        finally:
            if True in taken:
                self._holder = 0
                turn.release()

    def _rouse(self) -> None:
        if self.is_inline:
            self.drain()
            return
        self._is_awake = True
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, daemon=True, name="agenttrace-write")
            try:
                self._thread.start()
            except RuntimeError:  # the interpreter is ending, or has no threads
                self._is_awake = False
                self.drain()
                return
        self._wake.set()

    def _work(self) -> None:
        try:
            while True:
                self._wake.wait()
                self._wake.clear()
                self._work_until_idle()
        finally:
            self._is_awake = False

    def _work_until_idle(self) -> None:
        pauses = 0
        while pauses < _IDLE_PAUSES:
            time.sleep(_PAUSE_S)
            if self._items:
                pauses = 0
                self._slice()
            else:
                pauses += 1
        self._is_awake = False
        if self._items:  # left just before it could be seen that nobody is awake
            self._is_awake = True
            self._wake.set()

    def _slice(self) -> None:
        """Work for a moment, and again after giving others their turn, until nothing waits."""
        while self._items:
            until = time.perf_counter() + _SLICE_S
            with self._turn:
                self._holder = threading.get_ident()
                try:
                    while self._items and time.perf_counter() < until:
                        self._one()
                finally:
                    self._holder = 0
            time.sleep(0)


outbox: Final = Outbox()
"""The outbox of this process."""
