"""The hooks together with the recorder: whose run an answer belongs to, and what is on record."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import openai
import pytest

from agenttrace import adapter, model_response, run
from agenttrace.demo._provider import ReceivedRequest, ScriptedCall, ScriptedProvider, Turn
from agenttrace.domain import Boundary, Evidence
from agenttrace.integrations import instrument, uninstrument
from agenttrace.testing import isolated
from tests.support.sdk_clients import (
    PARAMETERS,
    SYNC_WHOLE,
    WAYS,
    Way,
    anthropic_of,
    client_of,
)

CASES = 40
SDKS = ("chat", "messages")
MANY = pytest.mark.parametrize("api", SDKS)


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    with isolated():
        instrument("openai", "anthropic")
        yield
        uninstrument()


def echo(request: ReceivedRequest) -> Turn:
    """A call whose argument is the last message, so that a wrong run shows."""
    messages = request.body.get("messages") or request.body["input"]
    said = messages if isinstance(messages, str) else messages[-1]["content"]
    return Turn(calls=(ScriptedCall(name="pay", arguments=json.dumps({"order": said})),))


def asked(number: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"order {number}"}]}


def ways(api: str) -> tuple[Way, Way]:
    """Whole and streamed."""
    return Way(api, is_async=False, is_streamed=False), Way(api, is_async=False, is_streamed=True)


def orders(evidence: Evidence) -> list[Any]:
    return [(call.arguments or {}).get("order") for call in evidence.model]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_and_its_call_are_evidence_of_the_run(way: Way):
    with ScriptedProvider(echo) as provider, run() as this:
        way.ask(provider)

    evidence = this.evidence()
    (response,), (call,) = evidence.responses or (), evidence.model
    assert (response.provider_request_id, response.tools_offered) == ("req-demo-0001", ("pay",))
    assert call.raw == '{"order": "Refund order A-104"}'
    assert (call.response_id, call.request_id) == (response.response_id, response.request_id)
    assert (call.turn, call.index, call.complete) == (1, 0, True)
    assert evidence.sees(Boundary.MODEL, "any tool")
    assert evidence.completeness.lost == {}
    assert evidence.tools.schemas["pay"] == PARAMETERS


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


def test_results_handed_back_to_anthropic_are_messages_of_their_tools():
    with anthropic_of(echo) as client, run() as this:
        messages: list[Any] = [{"role": "user", "content": "first"}]
        ids = []
        for is_error in (True, False):
            answer = client.messages.create(
                model="m", max_tokens=9, messages=messages, system="Be brief."
            )
            (block,) = answer.content
            ids.append(block.id)  # type: ignore[union-attr]
            result = {"type": "tool_result", "tool_use_id": ids[-1], "content": "done"}
            result |= {"is_error": True} if is_error else {}
            text = {"type": "text", "text": "and now?"}
            messages.append({"role": "assistant", "content": answer.content})
            messages.append({"role": "user", "content": [result, text]})
        client.messages.create(model="m", max_tokens=9, messages=messages, system="Be brief.")

    first, second, third = this.evidence().responses or ()
    assert [message.role for message in first.messages] == ["system", "user"]
    assert [message.role for message in second.messages] == ["assistant", "tool", "user"]
    told = [
        (m.call_id, m.is_error) for r in (second, third) for m in r.messages if m.role == "tool"
    ]
    assert told == [(ids[0], True), (ids[1], None)]


def test_a_thread_held_by_the_provider_goes_on_in_the_next_turn():
    with anthropic_of(echo) as client, run() as this:
        ask = client.beta.messages.create
        options: dict[str, Any] = {"model": "m", "max_tokens": 9}
        first = ask(**options, **asked(1), extra_body={"thread": {"type": "create"}})
        ask(**options, **asked(7))
        thread = {"type": "continue", "previous_message_id": first.id}
        ask(**options, **asked(2), extra_body={"thread": thread})

    found = {call.arguments["order"]: call.turn for call in this.evidence().model if call.arguments}
    assert found == {"order 1": 1, "order 7": 2, "order 2": 2}


@MANY
def test_parallel_cases_in_threads_keep_apart(api: str):
    whole, streamed = ways(api)

    def one(number: int) -> tuple[int, Evidence]:
        with run() as this:
            whole.create(client)(**whole.options(asked(number)))
            list(streamed.create(client)(**streamed.options(asked(number))))
        return number, this.evidence()

    with (
        ScriptedProvider(echo) as provider,
        whole.client(provider) as client,
        ThreadPoolExecutor(16) as pool,
    ):
        found = list(pool.map(one, range(CASES)))

    assert {n: orders(evidence) for n, evidence in found} == {
        n: [f"order {n}"] * 2 for n in range(CASES)
    }


@MANY
def test_parallel_cases_in_tasks_keep_apart(api: str):
    whole, streamed = Way(api, True, False), Way(api, True, True)

    async def one(client: Any, number: int) -> tuple[int, Evidence]:
        async with run() as this:
            await whole.create(client)(**whole.options(asked(number)))
            stream = await streamed.create(client)(**streamed.options(asked(number)))
            async for _ in stream:
                pass
        return number, this.evidence()

    async def all_of_them(provider: ScriptedProvider) -> list[tuple[int, Evidence]]:
        async with whole.client(provider) as client:
            return await asyncio.gather(*(one(client, n) for n in range(CASES)))

    with ScriptedProvider(echo) as provider:
        found = asyncio.run(all_of_them(provider))

    assert {n: orders(evidence) for n, evidence in found} == {
        n: [f"order {n}"] * 2 for n in range(CASES)
    }


@MANY
def test_a_stream_read_in_another_thread_belongs_to_the_run_that_asked(api: str):
    whole, streamed = ways(api)
    with ScriptedProvider(echo) as provider, whole.client(provider) as client:
        with run() as first:
            stream = streamed.create(client)(**streamed.options(asked(1)))
            reader = threading.Thread(target=lambda: list(stream))
            reader.start()
            reader.join()
        with run() as second:
            whole.create(client)(**whole.options(asked(2)))

    assert orders(first.evidence()) == ["order 1"]
    assert orders(second.evidence()) == ["order 2"]


@MANY
def test_a_stream_read_after_the_run_is_given_to_no_other_run(api: str):
    whole, streamed = ways(api)
    with ScriptedProvider(echo) as provider, whole.client(provider) as client:
        with run() as first:
            stream = streamed.create(client)(**streamed.options(asked(1)))
        with run() as second:
            list(stream)
            whole.create(client)(**whole.options(asked(2)))

    assert orders(second.evidence()) == ["order 2"]
    assert {call.request_id for call in first.evidence().model}.isdisjoint(
        call.request_id for call in second.evidence().model
    )


@MANY
def test_a_stream_left_open_is_on_record_as_unfinished_when_its_run_ends(api: str):
    _, streamed = ways(api)
    turn = Turn(calls=(ScriptedCall(name="pay"),) * 2)
    with ScriptedProvider([turn]) as provider, streamed.client(provider) as client, run() as this:
        stream = streamed.create(client)(**streamed.options(asked(1)))
        for _ in range(3):
            next(stream)
    stream.close()

    evidence = this.evidence()
    (response,) = evidence.responses or ()
    assert (response.complete, response.finish_reason) == (False, None)
    assert [call.complete for call in evidence.model] == [False]


@MANY
def test_a_stream_that_is_dropped_is_on_record_as_unfinished(api: str):
    whole, streamed = ways(api)
    with ScriptedProvider(echo) as provider, whole.client(provider) as client, run() as this:
        stream = streamed.create(client)(**streamed.options(asked(1)))
        next(stream)
        del stream
        gc.collect()
        whole.create(client)(**whole.options(asked(2)))

    assert [r.complete for r in this.evidence().responses or ()] == [False, True]


@MANY
def test_a_request_without_a_recorded_answer_is_counted(api: str):
    whole, _ = ways(api)
    with ScriptedProvider(echo) as provider, whole.client(provider) as client, run() as this:
        whole.create(client)(**whole.options(asked(1)))
        raw = whole.resource(client).with_streaming_response
        with raw.create(**whole.options(asked(2))) as response:
            b"".join(response.iter_bytes())

    counted = this.evidence().completeness
    assert (counted.requests_made, counted.responses_recorded) == (2, 1)


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_a_retried_request_lacks_no_answer(way: Way):
    boom = Turn(status=500, headers={"retry-after-ms": "1"}, body={"error": {"message": "boom"}})
    with ScriptedProvider([boom, Turn(text="ok")]) as provider, run() as this:
        way.ask(provider, max_retries=1)

    whole = this.evidence().completeness
    assert (whole.requests_made, whole.responses_recorded) == (1, 1)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_that_is_given_by_hand_too_is_recorded_once(way: Way):
    with ScriptedProvider([Turn(calls=(ScriptedCall(name="pay"),))]) as provider, run() as this:
        refs = model_response(way.ask(provider))

    evidence = this.evidence()
    assert len(evidence.responses or ()) == 1
    assert refs == tuple(call.ref for call in evidence.model)
    assert evidence.completeness.requests_made == 1


def test_another_response_under_the_same_id_is_another_response():
    same = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m"}

    def body(call_id: str) -> dict[str, Any]:
        call = {"id": call_id, "type": "function", "function": {"name": "pay", "arguments": "{}"}}
        choice = {"index": 0, "message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
        return {**same, "choices": [choice]}

    with client_of([Turn(body=body("c1"))]) as client, run() as this:
        client.chat.completions.create(model="m", messages=asked(1)["messages"])
        model_response(body("c2"))
    with run() as that:
        model_response(body("c1"))

    assert [call.call_id for call in this.evidence().model] == ["c1", "c2"]
    assert [call.call_id for call in that.evidence().model] == ["c1"]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_no_boundary_is_asked_for_a_call_that_the_provider_ran(is_streamed: bool):
    untraced = "settle_bill"  # a name that no test decorates: the executor does not see it
    uses = [("interpreter", "server_tool_use", {"code": "1"}), (untraced, "tool_use", {"cents": 1})]
    content = [
        {"toolUse": {"toolUseId": f"t-{name}", "name": name, "type": kind, "input": given}}
        for name, kind, given in uses
    ]
    events: list[Any] = []
    for index, (name, kind, given) in enumerate(uses):
        opened = {"toolUse": {"toolUseId": f"t-{name}", "name": name, "type": kind}}
        delta = {"toolUse": {"input": json.dumps(given)}}
        events.append({"contentBlockStart": {"contentBlockIndex": index, "start": opened}})
        events.append({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}})
    events.append({"messageStop": {"stopReason": "tool_use"}})
    body = {"output": {"message": {"role": "assistant", "content": content}}}
    with run() as this:
        model_response(events if is_streamed else {**body, "stopReason": "tool_use"})
        with adapter(name=untraced, call_id=f"t-{untraced}", sees="all") as dispatch:
            dispatch.hand_on(untraced, {"cents": 1})

    (ran, pay) = this.evidence().model
    assert (ran.name, pay.name) == ("interpreter", untraced)
    assert (ran.parent, pay.parent) == ((this.evidence().responses or ())[0].ref, None)
    assert this.verdict.divergences == ()


@pytest.mark.parametrize(
    ("library", "owner"), [("openai", openai.Stream), ("anthropic", anthropic.Stream)]
)
def test_a_hook_that_does_not_fit_stands_in_the_manifest(
    library: str, owner: Any, monkeypatch: pytest.MonkeyPatch
):
    uninstrument()
    monkeypatch.delattr(owner, "__stream__")
    instrument(library)
    with ScriptedProvider([Turn(text="ok")]) as provider, run() as this:
        next(way for way in SYNC_WHOLE if way.library == library).ask(provider)

    assert this.evidence().completeness.lost == {f"hook:{library}:Stream.__stream__": 1}
