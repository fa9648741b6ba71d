"""`model_response()`: responses that a program hands over by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenttrace.capture import losses
from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.demo._provider_formats import (
    chat_completion,
    chat_events,
    responses_events,
    responses_response,
)
from agenttrace.demo._provider_messages import message, message_events, message_text
from agenttrace.integrations import model_response, uninstrument
from tests.support.handed import Handed
from tests.support.sdk_clients import CHAT_TOOL, MESSAGES, SYNC_WHOLE, WAYS, Way

TURN = Turn(calls=(ScriptedCall(name="pay", arguments='{"a":1.50}', call_id="c1"),))
BODIES = {
    "openai-chat": chat_completion("r", "m", TURN),
    "openai-responses": responses_response("r", "m", TURN),
    "anthropic-messages": json.loads(message_text(message("r", "m", TURN), TURN)),
}
EVENTS = {
    "openai-chat": chat_events(BODIES["openai-chat"], 3),
    "openai-responses": responses_events(BODIES["openai-responses"], 3),
    "anthropic-messages": message_events(message("r", "m", TURN), 3, TURN),
}
STREAMS = {name: [event for _, event in events] for name, events in EVENTS.items()}


def sse(events: list[Any], end: str = "\n") -> str:
    lines = [f"data: {json.dumps(event)}{end}{end}" for event in events]
    return f": a comment{end}{end}{''.join(lines)}data: [DONE]{end}{end}"


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("form", [dict, json.dumps, lambda body: json.dumps(body).encode()])
def test_a_response_is_taken_as_an_object_as_text_or_as_bytes(name: str, form: Any, handed: Handed):
    for named in (None, name):
        assert model_response(form(BODIES[name]), format=named) == ("call-0",)

    found = [(r.response_id, r.calls[0].call_id, arguments_of(r)) for r in handed.responses]
    assert found == [("r", "c1", {"a": 1.5})] * 2


def arguments_of(response: Any) -> Any:
    (call,) = response.calls
    return call.arguments if call.raw is None else json.loads(call.raw)


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_an_object_of_the_sdk_is_taken(way: Way, handed: Handed):
    uninstrument()
    with ScriptedProvider([TURN]) as provider:
        answer = way.ask(provider)

    assert model_response(answer) == ("call-0",)
    assert (arguments_of(handed.response), handed.call.call_id) == ({"a": 1.5}, "c1")


@pytest.mark.parametrize("way", [w for w in WAYS if w.is_streamed and not w.is_async], ids=str)
def test_a_stream_of_the_sdk_is_read_to_its_end(way: Way, handed: Handed):
    uninstrument()
    with ScriptedProvider([TURN]) as provider, way.client(provider) as client:
        stream = way.create(client)(**way.options({}))
        assert model_response(stream) == ("call-0",)
        assert list(stream) == []

    assert (handed.call.raw, handed.call.complete) == ('{"a":1.50}', True)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_taken_in_any_form_of_its_events(name: str, handed: Handed):
    events = STREAMS[name]
    text = sse(events)
    given = [
        events,
        tuple(events),
        iter(events),
        (event for event in events),
        text,
        text.encode(),
        sse(events, "\r\n"),
        text.splitlines(),
        (line.encode() for line in text.splitlines()),
        [text[at : at + 7] for at in range(0, len(text), 7)],
        "\n".join(map(json.dumps, events)),
        json.dumps(events),
        [{"data": event} for event in events],
        [{"chunk": {"bytes": json.dumps(event).encode()}} for event in events],
    ]
    for each in given:
        assert model_response(each) == ("call-0",)

    told = [(r.response_id, r.calls[0].raw, r.calls[0].complete) for r in handed.responses]
    assert told == [("r", '{"a":1.50}', True)] * len(given)
    assert {(r.complete, r.error) for r in handed.responses} == {(True, None)}
    assert handed.run.lost == []


def test_arguments_of_a_streamed_object_are_sliced_from_the_streams_text(handed: Handed):
    part = '{"functionCall": {"name": "pay", "args": { "a" : 1.50 }}}'
    piece = '{"candidates": [{"finishReason": "STOP", "content": {"parts": [%s]}}]}'
    model_response(f"data: {piece % part}\r\n\r\n")
    model_response(f"[{piece % part},\r\n{piece % part}]")

    raws = [call.raw for response in handed.responses for call in response.calls]
    assert raws == ['{ "a" : 1.50 }'] * 3


@pytest.mark.parametrize("name", STREAMS)
def test_half_an_event_at_the_end_leaves_the_response_unfinished(name: str, handed: Handed):
    pieces = sse(STREAMS[name]).split("\n\n")
    half = len(pieces[5]) // 2
    model_response("\n\n".join([*pieces[:5], pieces[5][:half]]))

    assert (handed.response.complete, handed.call.complete) == (False, False)
    assert '{"a":1.50}'.startswith(handed.call.raw or "")
    assert handed.response.error == "1 of its events could not be read"
    assert handed.run.lost == []


def test_an_unreadable_event_in_the_middle_is_a_loss(handed: Handed):
    events = [json.dumps(event) for event in STREAMS["openai-chat"]]
    model_response("\n\n".join(f"data: {each}" for each in [*events[:3], "{oops", *events[3:]]))

    assert (handed.response.complete, handed.response.error) == (True, None)
    assert handed.run.lost == ["unreadable-event"]


def test_bytes_that_are_no_utf8_are_read_with_what_they_mean_replaced(handed: Handed):
    body = json.dumps(BODIES["openai-chat"]).encode().replace(b"1.50", b"1.50,\xff")
    model_response(body)
    model_response(sse(STREAMS["openai-chat"]).encode().replace(b".50", b".\xff0"))

    assert "\ufffd" in (handed.responses[0].calls[0].raw or "")
    assert "\ufffd" in (handed.responses[1].calls[0].raw or "")


def test_an_iterator_that_raises_is_recorded_as_far_as_it_came(handed: Handed):
    def broken() -> Any:
        yield from STREAMS["anthropic-messages"][:5]
        raise ConnectionError("gone")

    assert model_response(broken()) == ("call-0",)
    assert handed.response.error == "ConnectionError: gone"
    assert (handed.response.complete, handed.call.complete) == (False, False)


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_an_error_of_the_sdk_is_recorded_as_what_came_instead(way: Way, handed: Handed):
    uninstrument()
    text = '{"name": "pay", "arguments": {"a": "x"}}'
    error = {"message": "no", "code": "tool_use_failed", "failed_generation": text}
    body = {"error": error}
    with (
        ScriptedProvider([Turn(status=400, body=body)]) as provider,
        pytest.raises(way.sdk.BadRequestError) as raised,
    ):
        way.ask(provider)

    assert model_response(raised.value) == model_response(body) == ()
    assert [r.error for r in handed.responses] == [
        "HTTP 400: tool_use_failed: no",
        "tool_use_failed: no",
    ]
    assert [r.text for r in handed.responses] == [text, text]


def test_tools_and_messages_are_taken_in_the_formats_own_form(handed: Handed):
    model_response(BODIES["openai-chat"], tools=[CHAT_TOOL], messages=MESSAGES)
    model_response(BODIES["openai-responses"], messages=MESSAGES)
    model_response({"candidates": []}, messages=[{"role": "user", "parts": [{"text": "Refund"}]}])
    model_response(BODIES["openai-chat"])

    assert [tool.name for tool in handed.requests[0].tools or ()] == ["pay"]
    assert [list(r.messages or ()) for r in handed.requests] == [
        MESSAGES,
        MESSAGES,
        [{"role": "user", "content": "Refund"}],
        [],
    ]
    assert [r.tools for r in handed.requests[1:]] == [None] * 3
    assert handed.requests[3].messages is None


def test_arguments_in_object_form_are_sliced_from_the_text(handed: Handed):
    function = {"name": "pay", "arguments": {"a": 1}}
    body = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": function}]}}]}
    text = json.dumps(body).replace('{"a": 1}', '{ "a" : 1.0 }')
    model_response(text)
    model_response(body, raw_text=text)
    model_response(body)

    assert [r.calls[0].raw for r in handed.responses] == ['{ "a" : 1.0 }'] * 2 + [None]
    assert handed.responses[2].calls[0].arguments == {"a": 1}


class Hostile:
    """Looks like an SDK's object and runs something when it is asked."""

    def model_dump(self, **_: Any) -> Any:
        raise AssertionError("was asked")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("was asked")


def test_what_is_no_response_is_counted_and_raises_nothing(handed: Handed):
    before = losses().get("unknown-response", 0)
    things = [
        None,
        7,
        "no JSON",
        "data: no JSON\n\n",
        b"\xff",
        [],
        [[], 7],
        iter([]),
        "[1, 2",
        {"object": "list"},
        [{"type": "ping"}],
        ValueError("mine"),
        Hostile(),
        [Hostile()],
    ]

    assert [model_response(thing) for thing in things] == [()] * len(things)
    assert (handed.responses, handed.requests) == ([], [])
    assert losses()["unknown-response"] == before + len(things)


def test_a_format_that_is_not_known_is_refused(handed: Handed):
    assert model_response(BODIES["openai-chat"], format="telegraph") == ()
    assert model_response(STREAMS["openai-chat"], format="telegraph") == ()
    assert model_response({"error": "no"}, format="telegraph") == ()
    assert handed.responses == []


def test_a_named_format_is_taken_at_its_word(handed: Handed):
    bare = {"message": {"tool_calls": [{"function": {"name": "pay", "arguments": {}}}]}}
    model_response(bare, format="ollama-chat")
    model_response([bare], format="ollama-chat")

    assert [r.calls[0].name for r in handed.responses] == ["pay", "pay"]
