"""`model_response()`: responses that a program hands over by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenttrace.capture import losses
from agenttrace.demo._provider import ScriptedCall, Turn
from agenttrace.demo._provider_formats import chat_completion, responses_response
from agenttrace.integrations import model_response, uninstrument
from tests.support.handed import Handed
from tests.support.openai_clients import CHAT_TOOL, MESSAGES, WAYS, client_of

TURN = Turn(calls=(ScriptedCall(name="pay", arguments='{"a":1.50}', call_id="c1"),))
BODIES = {
    "openai-chat": chat_completion("r", "m", TURN),
    "openai-responses": responses_response("r", "m", TURN),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("form", [dict, json.dumps, lambda body: json.dumps(body).encode()])
def test_a_response_is_taken_as_an_object_as_text_or_as_bytes(name: str, form: Any, handed: Handed):
    for named in (None, name):
        assert model_response(form(BODIES[name]), format=named) == ("call-0",)

    assert [(r.response_id, r.calls[0].raw) for r in handed.responses] == [("r", '{"a":1.50}')] * 2


@pytest.mark.parametrize("way", [w for w in WAYS if not w.is_async and not w.is_streamed], ids=str)
def test_an_object_of_the_sdk_is_taken(way: Any, handed: Handed):
    uninstrument()
    with client_of([TURN]) as client:
        answer = way.create(client)(**way.options({}))

    assert model_response(answer) == ("call-0",)
    assert (handed.call.raw, handed.call.call_id) == ('{"a":1.50}', "c1")


def test_tools_and_messages_are_taken_in_the_formats_own_form(handed: Handed):
    model_response(BODIES["openai-chat"], tools=[CHAT_TOOL], messages=MESSAGES)
    model_response(BODIES["openai-responses"], messages=MESSAGES)

    assert [tool.name for tool in handed.requests[0].tools or ()] == ["pay"]
    assert [list(r.messages or ()) for r in handed.requests] == [MESSAGES, MESSAGES]
    assert handed.requests[1].tools is None


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
    things = [None, 7, "no JSON", b"\xff", [], {"object": "list"}, Hostile()]

    assert [model_response(thing) for thing in things] == [()] * len(things)
    assert (handed.responses, handed.requests) == ([], [])
    assert losses()["unknown-response"] == before + len(things)


def test_a_format_that_is_not_known_is_refused(handed: Handed):
    assert model_response(BODIES["openai-chat"], format="telegraph") == ()
    assert handed.responses == []
