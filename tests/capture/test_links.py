"""Calls that nothing but their dispatch tells apart: each execution answers its own.

Same tool, same arguments, finishing out of order; the result says which dispatch really ran it.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from multiprocessing import get_context
from pathlib import Path

import pytest

import agenttrace
from agenttrace import adapter, trace
from agenttrace.domain import Evidence
from agenttrace.records import RecordKind, RunEnd
from agenttrace.session import AgentRun
from agenttrace.testing import isolated

CALLS = 100
told: ContextVar[str] = ContextVar("told")
"""The call that a task is about, which the tool gives back."""
ARGUMENTS = {"order_id": "A-104"}


def wrong_links(evidence: Evidence) -> list[tuple[object, object]]:
    """Executions whose call id is not the one that their result names."""
    assert len(evidence.executor) == CALLS
    return [(one.call_id, one.result) for one in evidence.executor if one.call_id != one.result]


def pause() -> float:
    return random.random() / 50


def in_asyncio() -> None:
    @trace
    async def look_up(order_id: str) -> str:
        await asyncio.sleep(pause())
        return told.get()

    async def dispatch(call_id: str) -> None:
        told.set(call_id)
        await asyncio.sleep(pause())
        with adapter(name="look_up", call_id=call_id, arguments=ARGUMENTS):
            await asyncio.sleep(pause())
            await look_up(**ARGUMENTS)

    async def work() -> None:
        await asyncio.gather(*(dispatch(f"call-{n}") for n in range(CALLS)))

    asyncio.run(work())


def in_asyncio_parsed_first() -> None:
    """Each task parses its call, and runs the tool later."""

    @adapter
    def parse(call_id: str) -> tuple[str, dict[str, str]]:
        return "look_up", dict(ARGUMENTS)

    @trace
    async def look_up(order_id: str) -> str:
        await asyncio.sleep(pause())
        return told.get()

    async def dispatch(call_id: str) -> None:
        told.set(call_id)
        _, arguments = parse(call_id=call_id)
        await asyncio.sleep(pause())
        await look_up(**arguments)

    async def work() -> None:
        await asyncio.gather(*(dispatch(f"call-{n}") for n in range(CALLS)))

    asyncio.run(work())


def in_threads_of_asyncio() -> None:
    @trace
    def look_up(order_id: str) -> str:
        threading.Event().wait(pause())
        return told.get()

    async def dispatch(call_id: str) -> None:
        told.set(call_id)
        with adapter(name="look_up", call_id=call_id, arguments=ARGUMENTS):
            await asyncio.to_thread(look_up, **ARGUMENTS)

    async def work() -> None:
        await asyncio.gather(*(dispatch(f"call-{n}") for n in range(CALLS)))

    asyncio.run(work())


def in_threads() -> None:
    @trace
    def look_up(order_id: str) -> str:
        threading.Event().wait(pause())
        return own.call_id  # type: ignore[no-any-return]

    own = threading.local()

    def dispatch(call_id: str) -> None:
        own.call_id = call_id
        with adapter(name="look_up", call_id=call_id, arguments=ARGUMENTS):
            look_up(**ARGUMENTS)

    with ThreadPoolExecutor(20) as pool:
        for n in range(CALLS):
            pool.submit(copy_context().run, dispatch, f"call-{n}")


@pytest.mark.parametrize(
    "work", [in_asyncio, in_asyncio_parsed_first, in_threads_of_asyncio, in_threads]
)
def test_parallel_calls_that_are_equal_are_linked_each_to_its_own(work: Callable[[], None]):
    with isolated(), agenttrace.run() as run:
        work()

    assert wrong_links(run.evidence()) == []


@trace
def elsewhere(order_id: str) -> str:
    threading.Event().wait(pause())
    return _call_id[0]


_call_id = [""]


def dispatch_in_process(folder: str, call_id: str) -> None:
    _call_id[0] = call_id
    with (
        isolated(evidence=folder),
        agenttrace.run(run_id="run-of-all"),
        adapter(name="elsewhere", call_id=call_id, arguments=ARGUMENTS),
    ):
        elsewhere(**ARGUMENTS)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_parallel_calls_of_one_run_in_processes_are_linked_each_to_its_own(
    tmp_path: Path, method: str
):
    with (
        isolated(evidence=tmp_path),
        agenttrace.run(run_id="run-of-all") as run,
        ProcessPoolExecutor(4, mp_context=get_context(method)) as pool,
    ):
        waiting = [
            pool.submit(dispatch_in_process, str(tmp_path), f"call-{n}") for n in range(CALLS)
        ]
        for each in waiting:
            each.result()

    assert wrong_links(run.evidence()) == []


def test_of_ten_thousand_tasks_at_once_every_call_is_kept_or_counted():
    @trace
    async def look_up(number: int) -> int:
        await asyncio.sleep(0)
        return number

    async def work() -> None:
        await asyncio.gather(*(look_up(number) for number in range(10_000)))

    with isolated(), agenttrace.run() as run:
        asyncio.run(work())

    records = run.records()
    kept = [r.payload.result for r in records if r.kind is RecordKind.EXECUTION]
    (end,) = [r.payload for r in records if isinstance(r.payload, RunEnd)]
    assert len(kept) == len(set(kept))
    assert len(kept) + sum(end.manifest.lost.values()) == 10_000
    assert end.manifest.made["executor"] == len(kept)


def test_runs_at_the_same_time_keep_their_own_calls():
    @trace
    async def look_up(case: int) -> int:
        await asyncio.sleep(pause())
        return case

    async def one(case: int) -> AgentRun:
        with agenttrace.run() as run:
            await asyncio.gather(*(look_up(case) for _ in range(20)))
        return run

    async def work() -> list[AgentRun]:
        return await asyncio.gather(*(one(case) for case in range(50)))

    with isolated():
        runs = asyncio.run(work())

    for case, run in enumerate(runs):
        assert [call.result for call in run.evidence().executor] == [case] * 20
