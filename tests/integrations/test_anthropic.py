"""What holds for the hooks on the anthropic SDK alone, against a provider on the loopback."""

from __future__ import annotations

import json
import logging
from typing import Any

import anthropic
import pytest
from anthropic.lib.middleware import BetaRefusalFallbackMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations._formats import ANTHROPIC_MESSAGES
from tests.support.handed import Handed
from tests.support.sdk_clients import (
    ANTHROPIC_TOOL,
    MESSAGES,
    OPTIONS,
    WAYS,
    Way,
    anthropic_of,
)

ANTHROPIC = [way for way in WAYS if way.library == "anthropic"]
ASKED: dict[str, Any] = {"model": "m", **OPTIONS["messages"]}


def pay(arguments: str | None = '{"order_id":"A-104"}', **more: Any) -> ScriptedCall:
    return ScriptedCall(name="pay", arguments=arguments, **more)


def sse(*events: dict[str, Any]) -> Turn:
    text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    return Turn(body=text, headers={"content-type": "text/event-stream"})


def start(**more: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": "msg", "model": "m", "content": [], **more}}


def block(index: int, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": content}


def piece(index: int, text: str) -> dict[str, Any]:
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


END = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}


@pytest.mark.parametrize(
    ("path", "asks"),
    [
        ("/v1/messages", True),
        ("/proxy/v1/messages", True),
        ("/model/claude/invoke", True),
        ("/model/claude/invoke-with-response-stream", True),
        ("/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict", True),
        ("/projects/p/locations/l/publishers/anthropic/models/claude:streamRawPredict", True),
        ("/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", False),
        ("/v1/messages/count_tokens", False),
        ("/v1/messages/batches", False),
        ("/v1/files", False),
    ],
)
def test_only_paths_that_ask_for_a_message_have_the_format(path: str, asks: bool):
    assert ANTHROPIC_MESSAGES.asks(path) is asks


class Answer(BaseModel):
    """What a response is parsed into."""

    cents: int


@pytest.mark.parametrize("beta", [False, True])
@pytest.mark.parametrize("text", ['{"cents": 9800}', '{"cents": '])
def test_parse_is_recorded_even_where_it_raises(text: str, beta: bool, handed: Handed):
    with anthropic_of([Turn(text=text)]) as client:
        messages = client.beta.messages if beta else client.messages
        try:
            messages.parse(model="m", messages=MESSAGES, max_tokens=9, output_format=Answer)
        except ValueError:
            assert text.endswith(" ")

    assert handed.response.text == text


@pytest.mark.parametrize("beta", [False, True])
def test_the_stream_helper_is_recorded_once(beta: bool, handed: Handed):
    with anthropic_of([Turn(calls=(pay(),))]) as client:
        messages = client.beta.messages if beta else client.messages
        with messages.stream(**ASKED) as stream:
            final = stream.get_final_message()

    assert final.stop_reason == "tool_use"
    assert handed.call.raw == '{"order_id":"A-104"}'


async def test_the_stream_helper_of_the_async_client_is_recorded_once(handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(),))]) as provider:
        async with (
            anthropic.AsyncAnthropic(base_url=provider.address, api_key="k") as client,
            client.messages.stream(**ASKED) as stream,
        ):
            await stream.get_final_message()

    assert handed.call.raw == '{"order_id":"A-104"}'


def test_text_that_is_cut_is_recorded_as_cut_where_the_sdk_makes_a_whole_value_of_it(
    handed: Handed,
):
    cut = Turn(calls=(pay('{"order_id":"A-104","cents":98'),), finish_reason="max_tokens")
    with anthropic_of([cut]) as client, client.messages.stream(**ASKED) as stream:
        (made,) = stream.get_final_message().content

    assert made.input == {"order_id": "A-104", "cents": 98}  # type: ignore[union-attr]
    assert handed.call.raw == '{"order_id":"A-104","cents":98'
    assert (handed.call.complete, handed.response.finish_reason) == (False, "max_tokens")


def test_a_call_is_on_record_before_the_program_sees_the_stop_reason(handed: Handed):
    seen = None
    with anthropic_of([Turn(calls=(pay(),))]) as client:
        for event in client.messages.create(**ASKED, stream=True):
            if event.type == "message_delta":
                seen = len(handed.responses)

    assert seen == 1


def test_of_a_stream_without_a_stop_reason_no_call_is_complete(handed: Handed):
    with anthropic_of(
        [
            sse(
                start(),
                block(0, type="tool_use", id="t", name="pay", input={}),
                piece(0, "{}"),
                stop(0),
            )
        ]
    ) as client:
        list(client.messages.create(**ASKED, stream=True))

    assert (handed.call.raw, handed.call.complete) == ("{}", False)
    assert (handed.response.complete, handed.response.finish_reason) == (False, None)


@pytest.mark.parametrize("way", [w for w in ANTHROPIC if w.api == "beta"], ids=str)
def test_a_thread_that_goes_on_names_the_message_before(way: Way, handed: Handed):
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider, extra_body={"thread": thread})

    assert handed.requests[0].previous_response_id == "msg_1"


def test_the_system_prompt_is_the_first_message(handed: Handed):
    with anthropic_of([Turn(text="ok")]) as client:
        client.messages.create(**ASKED, system="Be brief.")

    expected = [{"role": "system", "content": "Be brief."}, *MESSAGES]
    assert list(handed.requests[0].messages or ()) == expected


def test_extra_body_counts_as_part_of_the_request(handed: Handed):
    with anthropic_of([Turn(text="ok")]) as client:
        client.messages.create(**{**ASKED, "tools": []}, extra_body={"tools": [ANTHROPIC_TOOL]})

    assert [tool.name for tool in handed.requests[0].tools or ()] == ["pay"]


def test_tools_of_the_provider_are_offered_by_their_names_and_their_calls_are_none(handed: Handed):
    search = {"type": "web_search_20250305", "name": "web_search"}
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "mcp_tool_use", "id": "m", "name": "x", "server_name": "y", "input": {}},
        {"type": "tool_use", "id": "t", "name": "pay", "input": {"a": 1}},
    ]
    whole = {"id": "msg", "type": "message", "model": "m", "content": content}
    events = [start()]
    for index, each in enumerate(content):
        events += [block(index, **{**each, "input": {}}), piece(index, '{"a":1}'), stop(index)]
    with anthropic_of(
        [Turn(body={**whole, "stop_reason": "tool_use"}), sse(*events, END)]
    ) as client:
        client.messages.create(**{**ASKED, "tools": [search, ANTHROPIC_TOOL]})
        list(client.messages.create(**ASKED, stream=True))

    assert [tool.name for tool in handed.requests[0].tools or ()] == ["web_search", "pay"]
    assert [[c.call_id for c in r.calls] for r in handed.responses] == [["t"], ["t"]]


def test_what_asks_for_no_message_is_ignored(handed: Handed):
    counted = Turn(body={"input_tokens": 7})
    listing = Turn(body={"data": [], "has_more": False, "first_id": None, "last_id": None})
    with anthropic_of([counted, listing]) as client:
        client.messages.count_tokens(model="m", messages=MESSAGES)
        client.models.list()

    assert (handed.requests, handed.responses) == ([], [])


def test_a_refusal_is_told_in_its_own_words(handed: Handed):
    details = {"type": "refusal", "category": "cyber", "explanation": "not that"}
    body = {"id": "msg", "type": "message", "model": "m", "content": [], "stop_reason": "refusal"}
    end = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    with anthropic_of([Turn(body={**body, "stop_details": details}), sse(start(), end)]) as client:
        client.messages.create(**ASKED)
        list(client.messages.create(**ASKED, stream=True))

    assert [r.finish_reason for r in handed.responses] == ["refusal", "refusal"]
    assert [r.error for r in handed.responses] == ["refusal: cyber: not that"] * 2


def test_an_error_event_is_told_in_the_providers_words(handed: Handed):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with anthropic_of([sse(start(), error)]) as client, pytest.raises(anthropic.APIStatusError):
        list(client.messages.create(**ASKED, stream=True))

    assert (handed.response.error or "").endswith(": overloaded_error: Overloaded")
    assert (handed.response.response_id, handed.response.complete) == ("msg", False)


def test_middleware_that_asks_again_makes_a_second_request(handed: Handed):
    logging.getLogger("anthropic.lib.middleware").disabled = True
    fallback = BetaRefusalFallbackMiddleware([{"model": "other"}])
    turns = [Turn(text="no", finish_reason="refusal"), Turn(text="yes")]
    with anthropic_of(turns, middleware=[fallback]) as client:
        client.beta.messages.create(**ASKED)

    assert [(r.model, r.finish_reason) for r in handed.responses] == [
        ("m", "refusal"),
        ("other", "end_turn"),
    ]
    assert handed.stamps == handed.requests


def test_middleware_that_splices_a_fallback_into_a_stream_makes_one_response(handed: Handed):
    logging.getLogger("anthropic.lib.middleware").disabled = True
    details = {"type": "refusal", "category": "cyber", "fallback_credit_token": "credit"}
    end = {"type": "message_delta", "usage": {}}
    end["delta"] = {"stop_reason": "refusal", "stop_details": details}
    refused = sse(start(usage={}), end, {"type": "message_stop"})
    fallback = BetaRefusalFallbackMiddleware([{"model": "other"}])
    with anthropic_of([refused, Turn(calls=(pay(),))], middleware=[fallback]) as client:
        list(client.beta.messages.create(**ASKED, stream=True))

    assert handed.call.raw == '{"order_id":"A-104"}'
    assert handed.stamps == handed.requests
    assert len(handed.requests) == 1


def test_middleware_that_answers_by_itself_is_not_asked_about(handed: Handed):
    def cached(request: Any, call_next: Any) -> Any:
        return {"cached": request.options.url}

    with anthropic_of([], middleware=[cached]) as client:
        assert client.messages.create(**ASKED) == {"cached": "/v1/messages"}

    assert (handed.requests, handed.responses) == ([], [])


@pytest.mark.parametrize("is_bedrock", [True, False])
def test_clients_for_other_clouds_are_recorded(is_bedrock: bool, handed: Handed):
    content = [{"type": "tool_use", "id": "t", "name": "pay", "input": {"a": 1}}]
    body = {"id": "msg", "type": "message", "content": content, "stop_reason": "tool_use"}
    with ScriptedProvider([Turn(body=body)]) as provider:
        client = (
            anthropic.AnthropicBedrock(
                base_url=provider.address, api_key="k", aws_region="us-east-1"
            )
            if is_bedrock
            else anthropic.AnthropicVertex(
                base_url=provider.address, access_token="k", region="us", project_id="p"
            )
        )
        client.messages.create(**ASKED)
        client.close()

    assert handed.call.raw == '{"a": 1}'


def test_the_sdks_own_spans_stay_as_they_are_and_are_no_records(handed: Handed):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with anthropic_of(
        [Turn(calls=(pay(),))], open_telemetry={"tracer_provider": provider}
    ) as client:
        client.messages.create(**ASKED)

    (span,) = exporter.get_finished_spans()
    assert span.name.startswith("anthropic.messages")
    assert span.attributes is not None
    assert not [name for name in span.attributes if name.startswith("agenttrace")]
    assert len(handed.responses) == 1
