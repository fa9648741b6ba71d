"""The hooks on the real SDK, against a provider on the loopback."""

from __future__ import annotations

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations import settle_streams
from tests.support.handed import Handed
from tests.support.openai_clients import (
    CHAT_TOOL,
    MESSAGES,
    RESPONSES_TOOL,
    WAYS,
    Way,
    client_of,
)

CHAT = [way for way in WAYS if way.api == "chat"]
RESPONSES = [way for way in WAYS if way.api == "responses"]
WHOLE = [way for way in WAYS if not way.is_streamed]
STREAMED = [way for way in WAYS if way.is_streamed]

RAW_TEXTS = {
    "ordinary": '{"order_id":"A-104","amount_cents":"9800"}',
    "spaced": '{ "amount_cents" :  9800.0,\n "order_id":"A-104"}',
    "malformed": '{"order_id":"A-104","amount',
    "duplicate keys": '{"order_id":"A","order_id":"B"}',
    "empty": "",
    "big integer": '{"amount_cents":123456789012345678901234567890}',
    "unicode": '{"note":"Grüße \\u00e9 日本 🙂"}',
    "lone surrogate": '{"note":"\\ud800"}',
    "not an object": '"pay everything"',
}


def pay(arguments: str | None = '{"order_id":"A-104"}', **more: Any) -> ScriptedCall:
    return ScriptedCall(name="pay", arguments=arguments, **more)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_argument_text_is_recorded_as_the_provider_sent_it(way: Way, handed: Handed):
    turns = [Turn(calls=(pay(raw, call_id=kind),)) for kind, raw in RAW_TEXTS.items()]
    with ScriptedProvider(turns) as provider:
        way.ask(provider.base_url, times=len(turns))

    calls = [response.calls[0] for response in handed.responses]
    assert {call.call_id: call.raw for call in calls} == RAW_TEXTS
    assert {(c.name, c.index, c.raw_observed, c.complete) for c in calls} == {
        ("pay", 0, True, True)
    }


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_is_recorded_once_with_all_its_ids(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(), pay()), text="Two payments.")], name="x") as provider:
        way.ask(provider.base_url)

    prefix, reason = ("chatcmpl", "tool_calls") if way.api == "chat" else ("resp", "completed")
    assert handed.response.response_id == f"{prefix}-x-0001"
    assert handed.response.provider_request_id == "req-x-0001"
    assert (handed.response.provider, handed.response.model) == ("openai", "m")
    assert handed.response.finish_reason == reason
    assert (handed.response.text, handed.response.complete) == ("Two payments.", True)
    assert [call.index for call in handed.response.calls] == [0, 1]
    assert len({call.call_id for call in handed.response.calls}) == 2
    assert handed.stamps == handed.requests


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_without_calls_is_recorded(way: Way, handed: Handed):
    with ScriptedProvider([Turn(text="I cannot do that.")]) as provider:
        way.ask(provider.base_url)

    assert (handed.response.text, handed.response.calls) == ("I cannot do that.", ())


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_tools_and_messages_of_the_request_are_handed_over(way: Way, handed: Handed):
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider.base_url)

    (request,) = handed.requests
    assert [(tool.name, tool.schema) for tool in request.tools or ()] == [
        ("pay", RESPONSES_TOOL["parameters"])
    ]
    assert list(request.messages or ()) == MESSAGES


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_retried_request_is_one_request_and_one_response(way: Way, handed: Handed):
    boom = Turn(status=500, headers={"retry-after-ms": "1"}, body={"error": {"message": "boom"}})
    with ScriptedProvider([boom, boom, Turn(calls=(pay(),))]) as provider:
        way.ask(provider.base_url, max_retries=2)

    assert len(provider.requests) == 3
    assert len(handed.requests) == 1
    assert handed.response.provider_request_id == "req-demo-0003"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_error_status_is_recorded_and_raised_as_it_is(way: Way, handed: Handed):
    error = {"message": "no such tool", "type": "invalid", "code": "bad_tool"}
    refused = Turn(status=400, body={"error": error})
    with ScriptedProvider([refused]) as provider, pytest.raises(openai.BadRequestError):
        way.ask(provider.base_url)

    assert handed.response.error == "HTTP 400: bad_tool: no such tool"
    assert handed.response.provider_request_id == "req-demo-0001"
    assert handed.stamps == handed.requests


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_error_page_is_recorded_as_text(way: Way, handed: Handed):
    page = Turn(status=502, headers={"content-type": "text/html"}, body="<h1>bad gateway</h1>")
    with ScriptedProvider([page]) as provider, pytest.raises(openai.InternalServerError):
        way.ask(provider.base_url)

    assert handed.response.error == "HTTP 502: <h1>bad gateway</h1>"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_request_that_nobody_answers_is_recorded_as_that(way: Way, handed: Handed):
    with ScriptedProvider([]) as provider:
        base_url = provider.base_url

    with pytest.raises(openai.APIConnectionError):
        way.ask(base_url)

    assert (handed.response.error or "").startswith("APIConnectionError")
    assert (handed.response.complete, len(handed.requests)) == (False, 1)


@pytest.mark.parametrize("way", WHOLE, ids=str)
def test_a_body_that_is_no_response_is_recorded_as_an_error(way: Way, handed: Handed):
    page = Turn(headers={"content-type": "text/html"}, body="<h1>sign in</h1>")
    with ScriptedProvider([page]) as provider:
        answer = way.ask(provider.base_url)

    assert answer == "<h1>sign in</h1>"
    assert handed.response.error == "the answer is no JSON object, and became a str"


@pytest.mark.parametrize("way", WHOLE, ids=str)
def test_an_error_in_a_body_with_status_200_is_recorded_as_an_error(way: Way, handed: Handed):
    body = {"error": {"message": "overloaded", "code": 529}}
    with ScriptedProvider([Turn(body=body)]) as provider:
        way.ask(provider.base_url)

    assert handed.response.error == "529: overloaded"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_of_a_cut_response_only_the_call_being_written_can_be_unfinished(way: Way, handed: Handed):
    endings = {'{"a":1': False, "": False, '{"a":1,}': False}
    if way.api == "chat":  # a response's items have a status of their own
        endings['{"a":1}'] = True
    turns = [Turn(calls=(pay(), pay(raw)), finish_reason="length") for raw in endings]
    with ScriptedProvider(turns) as provider:
        way.ask(provider.base_url, times=len(turns))

    assert [r.calls[0].complete for r in handed.responses] == [True] * len(turns)
    assert {r.calls[1].raw: r.calls[1].complete for r in handed.responses} == endings
    assert {(r.finish_reason, r.complete) for r in handed.responses} == {("length", True)}


@pytest.mark.parametrize("way", CHAT, ids=str)
def test_calls_of_all_choices_are_numbered_through(way: Way, handed: Handed):
    turn = Turn(calls=(pay(), pay()), choices=(Turn(calls=(pay("{}"),)),))
    with ScriptedProvider([turn]) as provider:
        way.ask(provider.base_url, n=2)

    assert [call.index for call in handed.response.calls] == [0, 1, 2]
    assert handed.response.calls[2].raw == "{}"
    assert handed.response.finish_reason == "tool_calls"


@pytest.mark.parametrize("way", CHAT, ids=str)
def test_a_legacy_function_call_is_a_call_without_an_id(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(kind="legacy"),))]) as provider:
        way.ask(provider.base_url)

    assert (handed.call.call_id, handed.call.raw) == (None, '{"order_id":"A-104"}')
    assert handed.response.finish_reason == "function_call"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_custom_tools_free_text_is_its_raw_text(way: Way, handed: Handed):
    text = "SELECT 1 -- no JSON"
    with ScriptedProvider([Turn(calls=(pay(text, kind="custom"),))]) as provider:
        way.ask(provider.base_url)

    assert (handed.call.name, handed.call.raw) == ("pay", text)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_call_without_an_id_gets_none(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(has_id=False),))]) as provider:
        way.ask(provider.base_url)

    assert handed.call.call_id is None


@pytest.mark.parametrize("way", [*CHAT, *(w for w in WHOLE if w not in CHAT)], ids=str)
def test_absent_argument_text_is_none_and_observed(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(None),))]) as provider:
        way.ask(provider.base_url)

    assert (handed.call.raw, handed.call.raw_observed, handed.call.arguments) == (None, True, None)


def test_arguments_sent_as_an_object_are_sliced_from_the_body(handed: Handed):
    way = Way("chat", is_async=False, is_streamed=False)
    body = (
        '{"id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop",'
        ' "message": {"tool_calls": [{"id": "1", "type": "function", "function":'
        ' {"name": "pay", "arguments": {"amount":  98.00} }}]}}]}'
    )
    with ScriptedProvider([Turn(body=body)]) as provider:
        way.ask(provider.base_url)

    assert (handed.call.raw, handed.call.raw_observed) == ('{"amount":  98.00}', True)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_answer_and_the_request_are_those_without_hooks(way: Way, handed: Handed):
    from agenttrace.integrations import uninstrument

    turn = Turn(calls=(pay(), pay("{")), text="both")
    with ScriptedProvider([turn]) as provider:
        hooked, sent = way.ask(provider.base_url), provider.requests[0].body
    uninstrument()
    with ScriptedProvider([turn]) as provider:
        plain, sent_plain = way.ask(provider.base_url), provider.requests[0].body

    assert (repr(hooked), sent) == (repr(plain), sent_plain)


class Pay(BaseModel):
    """A tool's arguments."""

    order_id: str


@pytest.mark.parametrize("raw", ['{"order_id":"A-104"}', '{"order_id":'])
def test_parse_is_recorded_even_where_it_raises(raw: str, handed: Handed):
    tool = openai.pydantic_function_tool(Pay, name="pay")
    with ScriptedProvider([Turn(calls=(pay(raw),))]) as provider:
        client = openai.OpenAI(base_url=provider.base_url, api_key="k", max_retries=0)
        try:
            client.chat.completions.parse(model="m", messages=MESSAGES, tools=[tool])
        except ValueError:
            assert raw.endswith(":")
        finally:
            client.close()

    assert handed.call.raw == raw


@pytest.mark.parametrize("parsed", [False, True])
def test_a_raw_response_is_recorded_once_whether_it_is_parsed_or_not(parsed: bool, handed: Handed):
    with client_of([Turn(calls=(pay(),))]) as client:
        raw = client.chat.completions.with_raw_response.create(
            model="m", messages=MESSAGES, tools=[CHAT_TOOL]
        )
        for _ in range(2 if parsed else 0):
            raw.parse()

    assert handed.call.raw == '{"order_id":"A-104"}'


def test_a_streaming_raw_response_is_recorded_when_it_is_parsed(handed: Handed):
    with client_of([Turn(calls=(pay(),))]) as client:
        raw = client.responses.with_streaming_response.create(model="m", input="x")
        with raw as response:
            response.parse()

    assert handed.call.raw == '{"order_id":"A-104"}'


def test_a_body_the_program_reads_itself_is_a_request_without_a_response(handed: Handed):
    with client_of([Turn(calls=(pay(),))]) as client:
        raw = client.responses.with_streaming_response.create(model="m", input="x")
        with raw as response:
            b"".join(response.iter_bytes())

    assert (len(handed.requests), handed.responses) == (1, [])


def test_stream_helpers_are_recorded_once(handed: Handed):
    turns = [Turn(calls=(pay(),)), Turn(calls=(pay(),))]
    with client_of(turns) as client:
        with client.chat.completions.stream(model="m", messages=MESSAGES) as chat:
            chat.get_final_completion()
        with client.responses.stream(model="m", input="x") as responses:
            responses.get_final_response()

    assert [r.calls[0].raw for r in handed.responses] == ['{"order_id":"A-104"}'] * 2


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_a_stream_that_breaks_off_is_recorded_as_far_as_it_came(way: Way, handed: Handed):
    turn = Turn(calls=(pay(), pay()), cut_after=4)
    with ScriptedProvider([turn], fragment=4) as provider, pytest.raises(Exception, match=r"."):
        way.ask(provider.base_url)

    response = handed.response
    assert (response.complete, response.finish_reason) == (False, None)
    assert (response.calls[0].raw, response.calls[0].complete) == ('{"order_', False)
    assert response.response_id is not None
    assert "Error" in (response.error or "")


def test_a_stream_that_nobody_reads_on_belongs_to_the_run_that_asked(handed: Handed):
    turn = Turn(calls=(pay(), pay()))
    with client_of([turn, turn]) as client:
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        for _ in range(3):
            next(stream)
        settle_streams(handed.run)
        list(stream)

    assert (handed.response.complete, handed.stamps) == (False, handed.requests)
    assert handed.response.calls[0].complete is False
    assert set(handed.run.lost) == {"fragment-after-end"}


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_calls_of_a_stream_are_open_before_it_ends(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(), pay()))]) as provider:
        way.ask(provider.base_url)

    assert handed.opened == [(0, "pay"), (1, "pay")]


def test_a_call_is_on_record_before_the_program_sees_the_finish_reason(handed: Handed):
    with client_of([Turn(calls=(pay(),))]) as client:
        for chunk in client.chat.completions.create(model="m", messages=MESSAGES, stream=True):
            if chunk.choices and chunk.choices[0].finish_reason:
                seen = len(handed.responses)
                break

    assert seen == 1


@pytest.mark.parametrize("way", RESPONSES, ids=str)
def test_previous_response_ids_are_handed_over(way: Way, handed: Handed):
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider.base_url, previous_response_id="resp_1")

    assert handed.requests[0].previous_response_id == "resp_1"


def test_extra_body_counts_as_part_of_the_request(handed: Handed):
    way = Way("chat", is_async=False, is_streamed=False)
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider.base_url, tools=[], extra_body={"tools": [CHAT_TOOL]})

    assert [tool.name for tool in handed.requests[0].tools or ()] == ["pay"]


def test_what_asks_for_no_response_is_ignored(handed: Handed):
    listing = Turn(body={"object": "list", "data": []})
    vectors = Turn(body={"object": "list", "data": [{"index": 0, "embedding": [0.5]}]})
    with client_of([listing, vectors]) as client:
        client.models.list()
        client.embeddings.create(model="m", input="x")

    assert (handed.requests, handed.responses) == ([], [])


def test_a_background_response_is_recorded_when_it_is_there_in_full(handed: Handed):
    with client_of([Turn(calls=(pay(),))], name="b") as client:
        whole = client.responses.create(model="m", input="x").to_dict()
    handed.responses.clear()
    early = {**whole, "id": "resp_b", "status": "queued", "output": []}
    late = {**whole, "id": "resp_b"}
    script = [Turn(body=early), Turn(body={**early, "status": "in_progress"}), Turn(body=late)]

    with client_of([*script, Turn(body=late)]) as client:
        client.responses.create(model="m", input="x", background=True)
        for _ in range(3):
            client.responses.retrieve("resp_b")

    assert handed.call.raw == '{"order_id":"A-104"}'
    assert handed.stamps[-1] is handed.requests[-1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_stream_that_was_open_at_a_fork_is_recorded_by_the_parent_alone(handed: Handed):
    with client_of([Turn(calls=(pay(),))]) as client:
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        next(stream)
        child = os.fork()
        if child == 0:
            settle_streams(handed.run)
            os._exit(len(handed.responses))
        status = os.waitpid(child, 0)[1]
        list(stream)

    assert status == 0
    assert handed.call.raw == '{"order_id":"A-104"}'


def test_parallel_threads_and_tasks_keep_their_answers_apart(handed: Handed):
    def script(request: Any) -> Turn:
        text = request.body["messages"][0]["content"]
        return Turn(calls=(pay(json.dumps({"order_id": text})),))

    def message(number: int) -> Any:
        return [{"role": "user", "content": f"order {number}"}]

    async def ask_all(base_url: str) -> None:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0) as client:
            create = client.chat.completions.create
            await asyncio.gather(*(create(model="m", messages=message(n)) for n in range(100)))

    with client_of(script) as client, ThreadPoolExecutor(16) as pool:
        create = client.chat.completions.create
        list(pool.map(lambda n: create(model="m", messages=message(n)), range(100, 200)))
    with ScriptedProvider(script) as provider:
        asyncio.run(ask_all(provider.base_url))

    asked = [stamp.messages[0]["content"] for stamp in handed.stamps]
    answered = [json.loads(r.calls[0].raw or "")["order_id"] for r in handed.responses]
    assert answered == asked
    assert sorted(asked) == sorted(f"order {n}" for n in range(200))


def test_cancelling_a_request_cancels_it_and_is_recorded(handed: Handed):
    async def cancelled(base_url: str) -> bool:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0) as client:
            asking = client.chat.completions.create(model="m", messages=MESSAGES)
            task = asyncio.create_task(asking)
            while not handed.requests:
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return True
            return False

    with ScriptedProvider([Turn(text="late")]) as provider:
        assert asyncio.run(cancelled(provider.base_url))

    assert (handed.response.error, handed.response.complete) == ("CancelledError", False)


def test_a_fault_of_ours_never_reaches_the_program(handed: Handed, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ours")

    monkeypatch.delenv("AGENTTRACE_STRICT")
    for name in ("begin_request", "record_response", "open_response"):
        monkeypatch.setattr(f"agenttrace.integrations._exchange.{name}", broken)
    for way in WAYS:
        with ScriptedProvider([Turn(text="fine", calls=(pay(),))]) as provider:
            assert way.ask(provider.base_url)
