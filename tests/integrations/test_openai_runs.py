"""The hooks together with the recorder: whose run an answer belongs to, and what is on record."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from agenttrace import run
from agenttrace.demo._provider import ReceivedRequest, ScriptedCall, ScriptedProvider, Turn
from agenttrace.domain import Boundary, Evidence
from agenttrace.integrations import instrument, uninstrument
from agenttrace.testing import isolated
from tests.support.openai_clients import CHAT_TOOL, WAYS, Way, client_of

CASES = 100


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    with isolated():
        instrument("openai")
        yield
        uninstrument()


def echo(request: ReceivedRequest) -> Turn:
    """A call whose argument is the last message, so that a wrong run shows."""
    messages = request.body.get("messages") or request.body["input"]
    said = messages if isinstance(messages, str) else messages[-1]["content"]
    return Turn(calls=(ScriptedCall(name="pay", arguments=json.dumps({"order": said})),))


def asked(number: int) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": f"order {number}"}]}


def orders(evidence: Evidence) -> list[Any]:
    return [(call.arguments or {}).get("order") for call in evidence.model]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_and_its_call_are_evidence_of_the_run(way: Way):
    with ScriptedProvider(echo) as provider, run() as this:
        way.ask(provider.base_url)

    evidence = this.evidence()
    (response,), (call,) = evidence.responses or (), evidence.model
    assert (response.provider_request_id, response.tools_offered) == ("req-demo-0001", ("pay",))
    assert call.raw == '{"order": "Refund order A-104"}'
    assert (call.response_id, call.request_id) == (response.response_id, response.request_id)
    assert (call.turn, call.index, call.complete) == (1, 0, True)
    assert evidence.sees(Boundary.MODEL, "any tool")
    assert evidence.completeness.lost == {}
    assert evidence.tools.schemas["pay"] == CHAT_TOOL["function"]["parameters"]


def test_each_turns_messages_are_only_the_new_ones():
    with client_of(echo) as client, run() as this:
        messages: list[Any] = [{"role": "user", "content": "first"}]
        for turn in range(2):
            answer = client.chat.completions.create(model="m", messages=messages)
            messages.append(answer.choices[0].message)
            call = answer.choices[0].message.tool_calls[0]  # type: ignore[index]
            result = {"role": "tool", "tool_call_id": call.id, "content": f"done {turn}"}
            messages.append(result)

    first, second = this.evidence().responses or ()
    assert [message.role for message in first.messages] == ["user"]
    assert [message.role for message in second.messages] == ["assistant", "tool"]
    assert (first.turn, second.turn) == (1, 2)


def test_parallel_cases_in_threads_keep_apart():
    def one(number: int) -> tuple[int, Evidence]:
        with run() as this:
            client.chat.completions.create(**asked(number))
            list(client.chat.completions.create(**asked(number), stream=True))
        return number, this.evidence()

    with client_of(echo) as client, ThreadPoolExecutor(16) as pool:
        found = list(pool.map(one, range(CASES)))

    assert {n: orders(evidence) for n, evidence in found} == {
        n: [f"order {n}"] * 2 for n in range(CASES)
    }


def test_parallel_cases_in_tasks_keep_apart():
    async def one(client: openai.AsyncOpenAI, number: int) -> tuple[int, Evidence]:
        async with run() as this:
            await client.chat.completions.create(**asked(number))
            stream = await client.chat.completions.create(**asked(number), stream=True)
            async for _ in stream:
                pass
        return number, this.evidence()

    async def all_of_them(base_url: str) -> list[tuple[int, Evidence]]:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0) as client:
            return await asyncio.gather(*(one(client, n) for n in range(CASES)))

    with ScriptedProvider(echo) as provider:
        found = asyncio.run(all_of_them(provider.base_url))

    assert {n: orders(evidence) for n, evidence in found} == {
        n: [f"order {n}"] * 2 for n in range(CASES)
    }


def test_a_stream_read_in_another_thread_belongs_to_the_run_that_asked():
    with client_of(echo) as client:
        with run() as first:
            stream = client.chat.completions.create(**asked(1), stream=True)
            reader = threading.Thread(target=lambda: list(stream))
            reader.start()
            reader.join()
        with run() as second:
            client.chat.completions.create(**asked(2))

    assert orders(first.evidence()) == ["order 1"]
    assert orders(second.evidence()) == ["order 2"]


def test_a_stream_read_after_the_run_is_given_to_no_other_run():
    with client_of(echo) as client:
        with run() as first:
            stream = client.chat.completions.create(**asked(1), stream=True)
        with run() as second:
            list(stream)
            client.chat.completions.create(**asked(2))

    assert orders(second.evidence()) == ["order 2"]
    assert {call.request_id for call in first.evidence().model}.isdisjoint(
        call.request_id for call in second.evidence().model
    )


def test_a_stream_left_open_is_on_record_as_unfinished_when_its_run_ends():
    with client_of([Turn(calls=(ScriptedCall(name="pay"),) * 2)]) as client, run() as this:
        stream = client.chat.completions.create(**asked(1), stream=True)
        for _ in range(3):
            next(stream)
    stream.close()

    evidence = this.evidence()
    (response,) = evidence.responses or ()
    assert (response.complete, response.finish_reason) == (False, None)
    assert [call.complete for call in evidence.model] == [False]


def test_a_request_without_a_recorded_answer_is_counted():
    with client_of(echo) as client, run() as this:
        client.chat.completions.create(**asked(1))
        with client.chat.completions.with_streaming_response.create(**asked(2)) as response:
            b"".join(response.iter_bytes())

    whole = this.evidence().completeness
    assert (whole.requests_made, whole.responses_recorded) == (2, 1)


def test_a_retried_request_lacks_no_answer():
    boom = Turn(status=500, headers={"retry-after-ms": "1"}, body={"error": {"message": "boom"}})
    way = WAYS[0]
    with ScriptedProvider([boom, Turn(text="ok")]) as provider, run() as this:
        way.ask(provider.base_url, max_retries=1)

    whole = this.evidence().completeness
    assert (whole.requests_made, whole.responses_recorded) == (1, 1)


def test_a_hook_that_does_not_fit_stands_in_the_manifest(monkeypatch: pytest.MonkeyPatch):
    uninstrument()
    monkeypatch.delattr(openai.Stream, "__stream__")
    instrument("openai")
    with client_of([Turn(text="ok")]) as client, run() as this:
        client.chat.completions.create(**asked(1))

    assert this.evidence().completeness.lost == {"hook:openai:Stream.__stream__": 1}
