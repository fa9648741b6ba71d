"""Runs in local evidence that were recorded some time ago."""

from __future__ import annotations

import os
import time
from pathlib import Path

import agenttrace


@agenttrace.trace
def work(number: int = 0) -> int:
    return number


def record(age_s: float, *, name: str | None = None, case: str | None = None) -> Path:
    """A run that was recorded so long ago, in its folder."""
    with agenttrace.run(case, run_id=name) as run:
        work()
    made_old(run.folder, age_s)
    return run.folder


def made_old(folder: Path, age_s: float) -> None:
    then = time.time() - age_s
    for path in folder.iterdir():
        os.utime(path, (then, then), follow_symlinks=False)


def cut_end(folder: Path, age_s: float) -> None:
    """Leave the run without its end, as one that is open, or whose process was killed."""
    (file,) = folder.glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]))
    made_old(folder, age_s)
