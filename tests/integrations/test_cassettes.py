"""Real providers' answers, recorded by others: read by hand, and through the SDKs they speak to.

A reference gives raw argument text only where the provider sent a text. Where it sent an object,
ours is the slice of the body's own text, or not observed where there is no text; then the parsed
arguments are compared. A finish reason that came as a number stands as its digits.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.demo._provider import ScriptedProvider, Turn
from agenttrace.integrations import model_response
from agenttrace.integrations._formats import (
    FORMATS,
    OPENAI_CHAT,
    Format,
    recognise,
    recognise_events,
)
from tests.support.handed import Handed
from tests.support.sdk_clients import Way

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / os.environ.get("AGENTTRACE_SHARED", "../shared") / "data" / "cassettes"
APIS = {"chat.completions": "chat", "v1.chat": "chat", "responses": "responses"}
"""APIs that the openai SDK speaks, as it calls them."""
FORMATS_OF = {
    "chat.completions": "openai-chat",
    "v1.chat": "openai-chat",
    "responses": "openai-responses",
    "messages": "anthropic-messages",
    "invoke": "anthropic-messages",
    "converse": "bedrock-converse",
    "generateContent": "gemini-content",
    "v2.chat": "cohere-chat",
    "api.chat": "ollama-chat",
}


def load() -> list[Any]:
    """Each recorded answer: those of single files, and every step of whole conversations."""
    found = [pytest.param(json.loads(p.read_text("utf-8")), id=p.stem) for p in files("*.json")]
    for path in files("runs/*.json"):
        for number, step in enumerate(json.loads(path.read_text("utf-8"))["steps"]):
            found.append(pytest.param(step, id=f"{path.stem}-{number}"))
    return found


def files(pattern: str) -> list[Path]:
    return sorted(FOLDER.glob(pattern))


CASSETTES = load()
pytestmark = pytest.mark.skipif(not CASSETTES, reason=f"no cassettes in {FOLDER}")


def told(response: ResponseDraft, *, of: Any) -> dict[str, Any]:
    """What was handed over, in the words of a cassette's reference."""
    pairs = zip(response.calls, of["reference"]["calls"], strict=True)
    return {
        "response_id": response.response_id,
        "finish_reason": response.finish_reason,
        "calls": [call_told(call, right) for call, right in pairs],
    }


def call_told(call: CallDraft, right: Any) -> dict[str, Any]:
    arguments, raw = right["arguments"], call.raw
    if right["arguments_raw"] is None and raw is not None:
        raw, arguments = None, json.loads(raw)  # the slice of an object
    elif call.arguments is not None:
        arguments = call.arguments
    return {"id": call.call_id, "name": call.name, "arguments_raw": raw, "arguments": arguments}


def reference(cassette: Any) -> dict[str, Any]:
    right = cassette["reference"]
    reason = right["finish_reason"]
    keys = ("id", "name", "arguments_raw", "arguments")
    return {
        "response_id": right["response_id"],
        "finish_reason": str(reason) if isinstance(reason, int) else reason,
        "calls": [{key: call[key] for key in keys} for call in right["calls"]],
    }


def forms(cassette: Any) -> dict[str, Any]:
    """The answer in every form in which a program may have it."""
    if "response_json" in cassette:
        body = cassette["response_json"]
        return {"object": body, "text": json.dumps(body), "bytes": json.dumps(body).encode()}
    if "event_stream_events" in cassette:
        return {"events": cassette["event_stream_events"]}
    text = cassette["sse_text"]
    lines = text.splitlines()
    data = (line.removeprefix("data: ") for line in lines if line.startswith("data: {"))
    events = [json.loads(each) for each in data]
    size = 50
    return {
        "text": text,
        "bytes": text.encode(),
        "lines": lines,
        "pieces": [text[at : at + size] for at in range(0, len(text), size)],
        "events": events,
        "iterator": iter(events),
    }


@pytest.mark.parametrize("cassette", CASSETTES)
def test_a_recorded_answer_given_by_hand_is_read_as_its_reference_says(
    cassette: Any, handed: Handed
):
    given = forms(cassette)
    for form in given.values():
        model_response(form)

    assert [told(r, of=cassette) for r in handed.responses] == [reference(cassette)] * len(given)


@pytest.mark.parametrize("cassette", [c for c in CASSETTES if c.values[0]["status"] == 200])
def test_the_format_of_a_recorded_answer_is_told_by_its_shape(cassette: Any):
    given = forms(cassette)
    events = given.get("events")
    wire = recognise(given["object"]) if events is None else recognise_events(events)
    assert wire is not None
    assert wire.name == FORMATS_OF[cassette["api"]]


@pytest.mark.parametrize("cassette", [c for c in CASSETTES if not c.values[0]["streaming"]])
def test_arguments_of_a_whole_body_are_slices_of_its_own_text(cassette: Any, handed: Handed):
    text = json.dumps(cassette["response_json"], indent=3, ensure_ascii=False)
    model_response(cassette["response_json"], raw_text=text)

    for call, right in zip(handed.response.calls, cassette["reference"]["calls"], strict=True):
        if right["arguments_raw"] is None and right["arguments"] is not None:
            assert call.raw is not None
            assert call.raw in text
            assert json.loads(call.raw) == right["arguments"]


@pytest.mark.parametrize("cassette", CASSETTES)
def test_tools_and_messages_of_a_recorded_request_are_read(cassette: Any, handed: Handed):
    wire = wire_of(cassette)
    request = cassette["request_json"]
    names = {tool.name for tool in wire.read_tools(request)}
    messages = wire.read_messages(request)

    assert messages
    assert all(isinstance(message, dict) and message["role"] for message in messages)
    offered = {call["name"] for call in cassette["reference"]["calls"] if call["name"]}
    if cassette.get("kind") != "unexpected_tool_call":
        assert offered <= names


def wire_of(cassette: Any) -> Format:
    return next(each for each in FORMATS if each.name == FORMATS_OF[cassette["api"]])


def is_openai(cassette: Any) -> bool:
    return cassette["api"] in APIS


def is_anthropic(cassette: Any) -> bool:
    return cassette["api"] == "messages"


def turn_of(cassette: Any) -> Turn:
    body = cassette["sse_text"] if cassette["streaming"] else json.dumps(cassette["response_json"])
    kind = "text/event-stream" if cassette["streaming"] else "application/json"
    return Turn(status=cassette["status"], body=body, headers={"content-type": kind})


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("cassette", [c for c in CASSETTES if is_openai(c.values[0])])
def test_a_recorded_answer_through_the_openai_sdk_is_read_as_its_reference_says(
    cassette: Any, is_async: bool, handed: Handed
):
    way = Way(APIS[cassette["api"]], is_async=is_async, is_streamed=cassette["streaming"])
    request = {**cassette["request_json"], "stream": cassette["streaming"]}
    asked = {"tools": openai.omit, "extra_body": request}
    with ScriptedProvider([turn_of(cassette)]) as provider:
        if cassette["status"] == 200:
            way.ask(provider, **asked)
        else:
            with pytest.raises(openai.BadRequestError):
                way.ask(provider, **asked)

    assert told(handed.response, of=cassette) == reference(cassette)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("api", ["messages", "beta"])
@pytest.mark.parametrize("cassette", [c for c in CASSETTES if is_anthropic(c.values[0])])
def test_a_recorded_answer_through_the_anthropic_sdk_is_read_as_its_reference_says(
    cassette: Any, api: str, is_async: bool, handed: Handed
):
    way = Way(api, is_async=is_async, is_streamed=cassette["streaming"])
    request = {**cassette["request_json"], "stream": cassette["streaming"]}
    with ScriptedProvider([turn_of(cassette)]) as provider:
        way.ask(provider, tools=anthropic.omit, extra_body=request)

    assert told(handed.response, of=cassette) == reference(cassette)
    assert all(call.raw is not None for call in handed.response.calls)


def test_a_call_that_the_provider_refused_is_kept_as_the_models_text(handed: Handed):
    refused = [c.values[0] for c in CASSETTES if c.values[0]["status"] != 200]
    for cassette in refused:
        model_response(cassette["response_json"])

    assert [(r.error or "").partition(":")[0] for r in handed.responses] == ["tool_use_failed"]
    assert [r.text for r in handed.responses] == ["maybe"]


@pytest.mark.parametrize("cassette", [c for c in CASSETTES if c.values[0]["streaming"]])
def test_a_recorded_stream_ends_by_its_own_word(cassette: Any):
    wire = wire_of(cassette)
    stream = wire.assembly({})
    for event in forms(cassette)["events"]:
        stream.feed(event)

    assert stream.has_ended
    assert stream.draft().complete
    expected = [call["name"] for call in cassette["reference"]["calls"]]
    assert list(stream.begun) == expected


def test_every_recorded_answer_is_here():
    assert len(files("*.json")) == 51
    assert len(files("runs/*.json")) == 7
    assert {FORMATS_OF[c.values[0]["api"]] for c in CASSETTES} == {each.name for each in FORMATS}
    assert OPENAI_CHAT in FORMATS
