"""Keeps the folder of local evidence within its bounds of age and size.

Done on a thread of its own when a process records its first run, and then once a day: nobody waits
for it, and it stops after some seconds, however much there is. A file in the folder says when it
was last done, so that of many processes that start together one does it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from agenttrace.capture._guard import guard
from agenttrace.capture._settings import Settings
from agenttrace.capture._stored import (
    StoredRun,
    facts_of,
    has_ended,
    open_evidence,
    remove_run,
    stored_runs,
)

MARK: Final = ".cleaned"
YOUNG_S: Final = 3_600
"""A run that was written to within this time is never removed."""
UNENDED_S: Final = 86_400
"""One without an end counts as open for so long after its last line."""
_AGAIN_S: Final = 86_400
_OTHERS_S: Final = 3_600
_BUDGET_S: Final = 5.0
_DAY_S: Final = 86_400


def clean_up(
    root: Path,
    *,
    keep_days: float | None,
    keep_bytes: int | None,
    is_open: Callable[[Path], bool],
    budget_s: float = _BUDGET_S,
) -> tuple[int, int]:
    """Remove the runs that are beyond the bounds, the oldest first.

    Args:
        is_open: Whether the run in this folder is being recorded.
        budget_s: Longest time to spend; the rest is left for the next time.

    Returns:
        How many runs were removed, and their bytes.
    """
    until = time.monotonic() + budget_s
    removed = freed = 0
    with open_evidence(root) as folder:
        runs: list[StoredRun] = []
        for run in stored_runs(folder):
            runs.append(run)
            if time.monotonic() > until:
                break
            time.sleep(0)  # others have their turn
        total = sum(run.size for run in runs)
        now_ns = time.time_ns()
        for run in sorted(runs, key=lambda run: run.written_ns):
            age_s = (now_ns - run.written_ns) / 1e9
            too_old = keep_days is not None and age_s > keep_days * _DAY_S
            too_much = keep_bytes is not None and total > keep_bytes
            if time.monotonic() > until or not (too_old or too_much):
                break
            if age_s < YOUNG_S or is_open(root / run.day / run.name):
                continue
            facts = facts_of(folder, run)
            if facts is None or (age_s < UNENDED_S and not has_ended(folder, run, facts)):
                continue
            bytes_, left = remove_run(folder, run, facts)
            total -= bytes_
            freed += bytes_
            removed += left is None
            time.sleep(0)
    return removed, freed


class Retention:
    """When the folder is next looked at."""

    def __init__(self) -> None:
        self._due_s = 0.0

    def begin(self, settings: Settings, open_folders: Callable[[], set[Path]]) -> None:
        """Look after the folder of evidence, if that is due; the caller does not wait."""
        root = settings.evidence
        if root is None or (settings.keep_days is None and settings.keep_bytes is None):
            return
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + _AGAIN_S
        work = threading.Thread(
            target=_work,
            args=(root, settings, open_folders),
            daemon=True,
            name="agenttrace-clean",
        )
        with suppress(RuntimeError):  # the interpreter is ending, or has no threads
            work.start()


def _work(root: Path, settings: Settings, open_folders: Callable[[], set[Path]]) -> None:
    with guard("clearing old evidence", loses=False), suppress(OSError), _turn(root) as is_mine:
        if is_mine:
            clean_up(
                root,
                keep_days=settings.keep_days,
                keep_bytes=settings.keep_bytes,
                is_open=lambda folder: folder in open_folders(),
            )


@contextmanager
def _turn(root: Path) -> Iterator[bool]:
    """Whether no process has done it for some time; then it is this one's turn."""
    path = root / MARK
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    is_new = not path.exists()
    mark = os.open(path, flags, 0o600)
    try:
        age_s = time.time() - os.fstat(mark).st_mtime
        is_mine = is_new or not 0 <= age_s < _OTHERS_S
        if is_mine:
            os.utime(mark if os.utime in os.supports_fd else path)
    finally:
        os.close(mark)
    yield is_mine


retention: Final = Retention()
"""That of this process."""
