"""Runs that are not left in the order in which they were entered."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import threading
from collections.abc import Callable, Iterator

import pytest
from opentelemetry import trace as otel

import agenttrace
from agenttrace.capture import current_scope, unrecorded
from agenttrace.session import AgentRun
from agenttrace.testing import isolated


@agenttrace.trace
def look_up(order: str) -> str:
    return order


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with isolated():
        yield


def orders(run: AgentRun) -> list[object]:
    return [(one.arguments or {})["order"] for one in run.evidence().executor]


def leave(run: AgentRun) -> None:
    run.__exit__(None, None, None)


@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
@pytest.mark.parametrize("sampled", ["abc", "ac", "b"])
def test_once_all_are_left_nothing_of_them_is_current(order: tuple[str, ...], sampled: str):
    def program() -> None:
        runs = {name: agenttrace.run(sample=name in sampled) for name in "abc"}
        for run in runs.values():
            run.__enter__()
        for name in order:
            leave(runs[name])
        assert current_scope() is None
        assert not otel.get_current_span().get_span_context().is_valid

    contextvars.copy_context().run(program)


def test_a_call_between_belongs_to_the_run_that_is_open():
    def program() -> None:
        outer, inner = agenttrace.run(), agenttrace.run()
        outer.__enter__()
        look_up("outer")
        inner.__enter__()
        leave(outer)
        look_up("inner")
        leave(inner)
        look_up("nobody's")

        assert orders(outer) == ["outer"]
        assert orders(inner) == ["inner"]

    contextvars.copy_context().run(program)


def test_runs_that_are_nested_come_back_as_before():
    with agenttrace.run() as outer:
        with agenttrace.run():
            pass
        look_up("outer")

    assert orders(outer) == ["outer"]


def test_a_call_after_the_end_of_its_run_is_a_guess():
    def elsewhere(work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    def program() -> None:
        run = agenttrace.run()
        run.__enter__()
        look_up("in time")
        elsewhere(lambda: leave(run))
        look_up("late")

        found = run.evidence().executor
        assert [one.inferred for one in found] == [False, True]

    contextvars.copy_context().run(program)


async def test_a_task_that_outlives_its_run_is_a_guess_too():
    may_go_on = asyncio.Event()

    async def later() -> None:
        await may_go_on.wait()
        look_up("late")

    with agenttrace.run() as run:
        task = asyncio.create_task(later())
        await asyncio.sleep(0)
    may_go_on.set()
    await task

    assert [one.inferred for one in run.evidence().executor] == [True]


def test_a_function_that_masks_is_no_part_of_the_agent():
    classified: list[str] = []

    @agenttrace.trace
    def classify(text: str) -> str:
        classified.append(text)
        return "harmless"

    mask = unrecorded(lambda text: classify(text) and text)
    with agenttrace.run() as run:
        mask("a text")
        look_up("A-104")

    assert classified == ["a text"]
    assert [one.name for one in run.evidence().executor] == ["look_up"]
