"""What holds for the hooks on the openai SDK alone, against a provider on the loopback."""

from __future__ import annotations

import os
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations import settle_streams
from tests.support.handed import Handed
from tests.support.sdk_clients import CHAT_TOOL, MESSAGES, WAYS, Way, client_of

CHAT = [way for way in WAYS if way.api == "chat"]
RESPONSES = [way for way in WAYS if way.api == "responses"]
OPENAI = [*CHAT, *RESPONSES]


def pay(arguments: str | None = '{"order_id":"A-104"}', **more: Any) -> ScriptedCall:
    return ScriptedCall(name="pay", arguments=arguments, **more)


@pytest.mark.parametrize("way", CHAT, ids=str)
def test_calls_of_all_choices_are_numbered_through(way: Way, handed: Handed):
    turn = Turn(calls=(pay(), pay()), choices=(Turn(calls=(pay("{}"),)),))
    with ScriptedProvider([turn]) as provider:
        way.ask(provider, n=2)

    assert [call.index for call in handed.response.calls] == [0, 1, 2]
    assert handed.response.calls[2].raw == "{}"
    assert handed.response.finish_reason == "tool_calls"


@pytest.mark.parametrize("way", CHAT, ids=str)
def test_a_legacy_function_call_is_a_call_without_an_id(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(kind="legacy"),))]) as provider:
        way.ask(provider)

    assert (handed.call.call_id, handed.call.raw) == (None, '{"order_id":"A-104"}')
    assert handed.response.finish_reason == "function_call"


@pytest.mark.parametrize("way", OPENAI, ids=str)
def test_a_custom_tools_free_text_is_its_raw_text(way: Way, handed: Handed):
    text = "SELECT 1 -- no JSON"
    with ScriptedProvider([Turn(calls=(pay(text, kind="custom"),))]) as provider:
        way.ask(provider)

    assert (handed.call.name, handed.call.raw) == ("pay", text)


def test_arguments_sent_as_an_object_are_sliced_from_the_body(handed: Handed):
    way = Way("chat", is_async=False, is_streamed=False)
    body = (
        '{"id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop",'
        ' "message": {"tool_calls": [{"id": "1", "type": "function", "function":'
        ' {"name": "pay", "arguments": {"amount":  98.00} }}]}}]}'
    )
    with ScriptedProvider([Turn(body=body)]) as provider:
        way.ask(provider)

    assert (handed.call.raw, handed.call.raw_observed) == ('{"amount":  98.00}', True)


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


def test_stream_helpers_are_recorded_once(handed: Handed):
    turns = [Turn(calls=(pay(),)), Turn(calls=(pay(),))]
    with client_of(turns) as client:
        with client.chat.completions.stream(model="m", messages=MESSAGES) as chat:
            chat.get_final_completion()
        with client.responses.stream(model="m", input="x") as responses:
            responses.get_final_response()

    assert [r.calls[0].raw for r in handed.responses] == ['{"order_id":"A-104"}'] * 2


def test_a_call_is_on_record_before_the_program_sees_the_finish_reason(handed: Handed):
    with client_of([Turn(calls=(pay(),))]) as client:
        for chunk in client.chat.completions.create(model="m", messages=MESSAGES, stream=True):
            if chunk.choices and chunk.choices[0].finish_reason:
                seen = len(handed.responses)
                break

    assert seen == 1


@pytest.mark.parametrize("way", RESPONSES, ids=str)
def test_a_call_of_a_response_without_an_id_gets_none(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(has_id=False),))]) as provider:
        way.ask(provider)

    assert handed.call.call_id is None


@pytest.mark.parametrize("way", RESPONSES, ids=str)
def test_previous_response_ids_are_handed_over(way: Way, handed: Handed):
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider, previous_response_id="resp_1")

    assert handed.requests[0].previous_response_id == "resp_1"


def test_extra_body_counts_as_part_of_the_request(handed: Handed):
    way = Way("chat", is_async=False, is_streamed=False)
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider, tools=[], extra_body={"tools": [CHAT_TOOL]})

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
