"""Ctrl-C, or whatever else a signal's handler raises, at any line of ours: nothing stays behind.

A trace function raises where a signal may come. Python looks for signals when a function begins and
after each call, and not between the last call of a `with` or `finally` and its end.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest
from opentelemetry import trace as otel

import agenttrace
from agenttrace.capture import current_scope
from agenttrace.capture._execution import OpenExecution
from agenttrace.capture._outbox import Outbox, outbox
from agenttrace.capture._spans import Attached
from agenttrace.capture._waiting import take
from agenttrace.testing import isolated
from tests.support.waiting import until


@agenttrace.trace
def look_up(order: str) -> str:
    return order


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with isolated():
        yield
    until(lambda: not outbox._turn.locked())  # our thread may have its turn


def lines_before_the_end(function: Callable[..., Any]) -> list[int]:
    """Lines of a function up to its `finally`, which nothing interrupts before it is done."""
    text, first = inspect.getsourcelines(function)
    own = [number for number, line in enumerate(text) if "finally:" in line]
    last = own[0] if own else len(text)
    known = {line for _, _, line in function.__code__.co_lines() if line is not None}
    return sorted(line for line in known if first < line < first + last)


class Raises:
    """Raises once, at a line or where a function begins."""

    def __init__(self, code: CodeType, line: int | None) -> None:
        self.code, self.line = code, line
        self.has_raised = False

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is not self.code or self.has_raised:
            return None
        if self.line is None:
            self.has_raised = True
            raise KeyboardInterrupt
        return self._at_line

    def _at_line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno == self.line and not self.has_raised:
            self.has_raised = True
            raise KeyboardInterrupt
        return self._at_line


def interrupted(function: Callable[..., Any], line: int | None, work: Callable[[], Any]) -> bool:
    """Do the work, with Ctrl-C at that line; whether it came there."""
    raises = Raises(function.__code__, line)
    before = sys.gettrace()
    sys.settrace(raises)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return raises.has_raised


def a_run() -> None:
    with agenttrace.run():
        look_up("A-104")


PLACES = [
    (function, line)
    for function in (Outbox.drain, Outbox._one, Outbox.leave, take)
    for line in (None, *lines_before_the_end(function))
]


@pytest.mark.parametrize(("function", "line"), PLACES)
def test_after_it_work_is_done_as_before(function: Callable[..., Any], line: int | None):
    interrupted(function, line, a_run)

    until(lambda: not outbox._turn.locked())
    with agenttrace.run() as run:
        look_up("A-105")
    assert agenttrace.flush()
    assert [one.arguments for one in run.evidence().executor] == [{"order": "A-105"}]


def test_the_places_are_passed_by_a_run():
    reached = [interrupted(function, line, a_run) for function, line in PLACES]

    assert sum(reached) > len(reached) / 2


CURRENT = [
    (function, line)
    for function in (
        OpenExecution.attach,
        OpenExecution.detach,
        OpenExecution.returned,
        Attached.again,
        Attached.detach,
    )
    for line in (None, *lines_before_the_end(function))
]


@pytest.mark.parametrize(("function", "line"), CURRENT)
def test_after_it_no_dead_call_is_current(function: Callable[..., Any], line: int | None):
    with agenttrace.run():
        scope, span = current_scope(), otel.get_current_span()
        interrupted(function, line, lambda: look_up("A-104"))

        assert current_scope() == scope
        assert otel.get_current_span() is span


class TimeIsUpError(Exception):
    """What a deadline raises."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of this kind here")
def test_a_deadline_that_passes_while_values_are_masked_reaches_the_program():
    text = '{"a": [' + "[" * 200_000

    def is_up(number: int, frame: Any) -> None:
        raise TimeIsUpError

    def goes_on() -> None:
        # Again and again: Python itself drops what is raised while it lets go of an object.
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        for _ in range(2_000):
            with agenttrace.run():
                agenttrace.flush()
                look_up(text)

    before = signal.signal(signal.SIGALRM, is_up)
    try:
        with pytest.raises(TimeIsUpError):
            goes_on()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def depth_of(tool: Callable[[int], int]) -> int:
    """How deep the stack may be for a call of the tool to come back."""

    def deep(left: int) -> int:
        return tool(1) if left == 0 else deep(left - 1)

    low, high = 1, sys.getrecursionlimit() * 2
    while low < high:
        middle = (low + high + 1) // 2
        try:
            deep(middle)
            low = middle
        except RecursionError:
            high = middle - 1
    return low


def leaf(number: int) -> int:
    return number


def test_near_the_end_of_the_stack_a_tool_runs_without_its_record_and_the_run_says_so():
    found: list[int] = []
    causes: list[str] = []

    def measure() -> None:  # in a thread, whose stack is its own
        plain = depth_of(leaf)
        with agenttrace.run() as one:
            found.append(plain - depth_of(agenttrace.trace(leaf)))
        causes.extend(cause.code for cause in one.verdict.causes)

    thread = threading.Thread(target=measure)
    thread.start()
    thread.join()
    assert 0 <= found[0] <= 8
    assert "lost" in causes
