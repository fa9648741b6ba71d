"""The one guard around everything of ours that runs inside a user's program.

A fault of the recorder is counted, logged once a kind, and stands in the manifest of the runs it
may concern; the program goes on as if nothing had been there. `AGENTTRACE_STRICT=1` raises instead,
for our own tests and for users' CI.
"""

from __future__ import annotations

import logging
import os
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol

from agenttrace.capture._passing import let_pass

logger: Final = logging.getLogger("agenttrace")


class LossCounter(Protocol):
    """Whoever keeps count of what was lost: a run."""

    def count_lost(self, cause: str) -> None:
        """Add one under this cause."""


class _Ledger:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.counts: Counter[str] = Counter()
        self.logged: set[tuple[str, str]] = set()
        self.uncounted = 0
        """Faults for which the stack had no room left, to be counted later."""
        self.on_unplaced: Callable[[str], None] | None = None
        self.mask: Callable[[str], str] | None = None


_ledger: Final = _Ledger()


def is_strict() -> bool:
    """Whether our own faults are raised instead of counted."""
    return os.environ.get("AGENTTRACE_STRICT") == "1"


def failed(
    where: str, error: BaseException, run: LossCounter | None = None, *, loses: bool = True
) -> None:
    """Count one fault of ours.

    Args:
        run: The run it concerns. None: it counts against every run that is open.
        loses: Whether evidence may be lost by it. What only kept a span from being exported, or a
            verdict from being printed, stands in no manifest.

    Raises:
        BaseException: the error itself, when `AGENTTRACE_STRICT=1`, and where it is no fault of
            ours but the program's: it only came up here.
    """
    try:
        _failed(where, error, run, loses=loses)
    except RecursionError:
        # Where the stack is nearly full, there is no room to count anything either.
        if loses:
            _ledger.uncounted += 1
        try:
            is_raised = is_strict()
        except RecursionError:
            return
        if is_raised:
            raise


def _failed(where: str, error: BaseException, run: LossCounter | None, *, loses: bool) -> None:
    if loses:
        lost(f"error:{where}", run)
    else:
        count(f"error:{where}")
    let_pass(error)
    kind = (where, type(error).__qualname__)
    with _ledger.lock:
        first = kind not in _ledger.logged
        _ledger.logged.add(kind)
    if is_strict():
        raise error
    if first:
        say(
            logging.ERROR,
            f"agenttrace could not finish {where}; the program is not affected, and what was lost "
            "is counted. Further faults of this kind are not logged.",
            error,
        )


def lost(cause: str, run: LossCounter | None = None) -> None:
    """Count something that was lost, refused, or failed to be made."""
    try:
        count(cause)
        if run is not None:
            run.count_lost(cause)
        elif _ledger.on_unplaced is not None:
            _ledger.on_unplaced(cause)
    except BaseException as error:  # noqa: BLE001 - nothing of ours may leave
        let_pass(error)
        say(logging.ERROR, "agenttrace could not count a loss", error)


def count_owed() -> None:
    """Count the faults that came where the stack was full, against every run that is open."""
    owed, _ledger.uncounted = _ledger.uncounted, 0
    for _ in range(owed):
        lost("stack-full")


def count(cause: str) -> None:
    """Count something for `doctor` alone: no run's evidence is less for it."""
    with _ledger.lock:
        _ledger.counts[cause] += 1


def warn_once(kind: str, message: str) -> None:
    """Log one warning a kind."""
    with _ledger.lock:
        first = (kind, "") not in _ledger.logged
        _ledger.logged.add((kind, ""))
    if first:
        say(logging.WARNING, message)


def say(level: int, message: str, error: BaseException | None = None) -> None:
    """Log; a user's filter or handler that raises is kept off the program too."""
    try:
        logger.log(level, "%s", message if error is None else f"{message}\n{_told(error)}")
    except BaseException as fault:  # noqa: BLE001 - of a filter or handler of the program's
        let_pass(fault)


def _told(error: BaseException) -> str:
    """Where an error was raised and what it says, as text: masked, and without any value.

    Handlers that are given the error itself print the exceptions it was raised during, which may
    be the program's own, and some print the variables of every frame.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    said = "(its message could not be masked)"
    try:
        text = str(error)
        said = text if _ledger.mask is None else _ledger.mask(text)
    except Exception as fault:  # noqa: BLE001 - of an exception's own code
        let_pass(fault)
    return f"Traceback (most recent call last):\n{frames}{type(error).__qualname__}: {said}"


def losses() -> dict[str, int]:
    """Everything lost in this process so far, by cause, for `doctor`."""
    with _ledger.lock:
        return dict(_ledger.counts)


def on_unplaced(listener: Callable[[str], None]) -> None:
    """Set who is told of a loss that no run could be named for."""
    _ledger.on_unplaced = listener


def mask_messages_with(mask: Callable[[str], str]) -> None:
    """Set what masks the messages of errors that are logged."""
    _ledger.mask = mask


def forget_faults() -> None:
    """Start counting and logging anew: for a forked child, and for tests."""
    _ledger.lock = threading.RLock()
    _ledger.counts.clear()
    _ledger.logged.clear()
    _ledger.uncounted = 0


class guard:  # noqa: N801 - reads as a statement: `with guard("response", run):`
    """Keep an exception of ours from the program; what it wraps is simply not done."""

    __slots__ = ("_loses", "_run", "_where")

    def __init__(self, where: str, run: LossCounter | None = None, *, loses: bool = True) -> None:
        self._where = where
        self._run = run
        self._loses = loses

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if error is None:
            return False
        failed(self._where, error, self._run, loses=self._loses)
        return True
