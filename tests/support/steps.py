"""Counting the steps of a piece of work, where a clock would count the load of the machine too.

One call into C is one step whatever its size: what a regular expression does inside shows only as
a hang.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(work: Callable[[], object]) -> int:
    """How many lines, calls and returns of Python code it takes in this thread."""
    count = 0

    def one(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return one

    before = sys.gettrace()
    sys.settrace(one)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether eight times the size takes about eight times the steps; the square would be 64."""
    work(size)  # what is made once and kept is none of the growth
    small, large = (steps(lambda count=count: work(count)) for count in (size, 8 * size))
    return large <= 9 * small


def hangs(work: Callable[[], object], *, beyond_s: float) -> bool:
    """Whether it takes more processor time than this: at least ten times what is usual."""
    began = time.process_time()
    work()
    return time.process_time() - began > beyond_s
