"""200 cases at once with the same tool, their streams read elsewhere: no call in a wrong run.

They ask in three formats in turn, and every other stream is read after its run has ended.

Whoever reads a stream stands in a run of its own, so a reader that believed its context would give
every call to the wrong case.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest

import agenttrace
from agenttrace.demo._provider import ReceivedRequest, ScriptedCall, ScriptedProvider, Turn
from agenttrace.domain import Boundary, Case, Evidence, RequiredCall, Status
from agenttrace.integrations import instrument, uninstrument
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow

CASES = 200
WORKERS = 16
APIS = ("chat", "responses", "messages")


@agenttrace.trace
def pay(order: str) -> str:
    return f"paid {order}"


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    with isolated():
        instrument("openai", "anthropic")
        yield
        uninstrument()


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(echo) as one:
        yield one


def echo(request: ReceivedRequest) -> Turn:
    """A call whose argument is the last message, so that a wrong run shows."""
    messages = request.body.get("messages") or request.body["input"]
    arguments = json.dumps({"order": messages[-1]["content"]})
    return Turn(text="One moment.", calls=(ScriptedCall(name="pay", arguments=arguments),))


@dataclass(frozen=True)
class One:
    """One of the cases."""

    number: int
    way: Way

    @classmethod
    def of(cls, number: int, *, is_async: bool) -> One:
        return cls(number, Way(APIS[number % len(APIS)], is_async, is_streamed=True))

    @property
    def is_read_within(self) -> bool:
        """Whether its stream is read while its run goes on."""
        return self.number % 2 == 0

    @property
    def order(self) -> str:
        return f"order {self.number}"

    @property
    def case(self) -> Case:
        call = RequiredCall(name="pay", arguments={"order": self.order})
        case = Case(case_id=f"case-{self.number}", required=(call,))
        return case if self.is_read_within else replace(case, compare=Boundary.MODEL)

    @property
    def asked(self) -> dict[str, Any]:
        key = "input" if self.way.api == "responses" else "messages"
        return self.way.options({key: [{"role": "user", "content": self.order}]})


def dispatched(run: AgentRun, one: One) -> None:
    """Run what the model asked this run for."""
    (call,) = run.evidence().model
    arguments = dict(call.arguments or {})
    with agenttrace.adapter(name="pay", call_id=call.call_id, arguments=arguments, sees="all"):
        pay(**arguments)


def check(found: list[tuple[One, AgentRun]], readers: list[AgentRun]) -> None:
    """Every run holds its own calls, all of them and no other, and is judged by its own case."""
    evidences = [(one, run.evidence(), run) for one, run in found]
    wrong = [
        (one.number, orders(evidence))
        for one, evidence, _ in evidences
        if not is_own(one, evidence)
    ]
    assert wrong == []
    assert sum(len(evidence.model) for _, evidence, _ in evidences) == CASES
    assert [run.evidence().model for run in readers] == [()] * len(readers)
    assert {run.verdict.status for _, _, run in evidences} == {Status.PASS}
    assert not any(evidence.ownership.foreign_requests for _, evidence, _ in evidences)
    assert (
        len({one for _, e, _ in evidences for one in e.ownership.requests_of_case or ()}) == CASES
    )


def orders(evidence: Evidence) -> set[Any]:
    calls = (*evidence.model, *evidence.adapter, *evidence.executor)
    return {(call.arguments or {}).get("order") for call in calls}


def is_own(one: One, evidence: Evidence) -> bool:
    known = set(evidence.ownership.requests_of_case or ())
    ids = {call.request_id for call in (*evidence.model, *evidence.adapter, *evidence.executor)}
    return orders(evidence) == {one.order} and ids == known and len(known) == 1


def test_in_threads(provider: ScriptedProvider) -> None:
    ones = [One.of(number, is_async=False) for number in range(CASES)]
    readers: list[AgentRun] = []

    def read(stream: Any) -> None:
        with agenttrace.run() as reader:
            pay("of the reader")
            list(stream)
        readers.append(reader)

    def work(one: One) -> tuple[One, AgentRun]:
        with agenttrace.run(one.case) as run:
            stream = one.way.create(clients[one.way])(**one.asked)
            if one.is_read_within:
                reading.submit(read, stream).result(60)
                dispatched(run, one)
        if not one.is_read_within:
            reading.submit(read, stream).result(60)
        return one, run

    with (
        ExitStack() as stack,
        ThreadPoolExecutor(WORKERS) as pool,
        ThreadPoolExecutor(WORKERS) as reading,
    ):
        ways = {one.way for one in ones}
        clients = {way: stack.enter_context(way.client(provider)) for way in ways}
        found = list(pool.map(work, ones))

    check(found, readers)


def test_in_tasks(provider: ScriptedProvider) -> None:
    ones = [One.of(number, is_async=True) for number in range(CASES)]
    readers: list[AgentRun] = []

    async def read(stream: Any) -> None:
        async with agenttrace.run() as reader:
            pay("of the reader")
            async for _ in stream:
                pass
        readers.append(reader)

    async def reading(streams: asyncio.Queue[Any]) -> None:
        """Reads one stream after the other, in a task that was there before any case."""
        while True:
            stream, done = await streams.get()
            await read(stream)
            done.set()

    async def work(client: Any, streams: asyncio.Queue[Any], one: One) -> tuple[One, AgentRun]:
        done = asyncio.Event()
        async with agenttrace.run(one.case) as run:
            stream = await one.way.create(client)(**one.asked)
            if one.is_read_within:
                await streams.put((stream, done))
                await done.wait()
                dispatched(run, one)
        if not one.is_read_within:
            await streams.put((stream, done))
            await done.wait()
        return one, run

    async def everything() -> list[tuple[One, AgentRun]]:
        streams: asyncio.Queue[Any] = asyncio.Queue()
        tasks = [asyncio.create_task(reading(streams)) for _ in range(WORKERS)]
        async with AsyncExitStack() as stack:
            ways = {one.way for one in ones}
            clients = {way: await stack.enter_async_context(way.client(provider)) for way in ways}
            found = await asyncio.gather(*(work(clients[one.way], streams, one) for one in ones))
        for task in tasks:
            task.cancel()
        return list(found)

    check(asyncio.run(everything()), readers)


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_a_run_left_half_read_is_in_no_other_run_and_blames_nobody(
    provider: ScriptedProvider, api: str
) -> None:
    way = Way(api, is_async=False, is_streamed=True)
    one = One(0, way)
    with way.client(provider) as client:
        with agenttrace.run(one.case) as first:
            stream = iter(way.create(client)(**one.asked))
            for _ in range(3):
                next(stream)
        at_its_end = first.verdict.status
        with agenttrace.run() as second:
            pay("another")
            list(stream)

    assert (at_its_end, first.verdict.status) == (Status.INCONCLUSIVE, Status.INCONCLUSIVE)
    assert {cause.code for cause in first.verdict.causes} == {"response-unfinished"}
    assert second.evidence().model == ()
    assert second.evidence().responses == ()
