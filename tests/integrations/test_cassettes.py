"""Real providers' answers in openai's formats, recorded by others, through the real client."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agenttrace.demo._provider import Turn
from agenttrace.integrations import _exchange, model_response
from agenttrace.integrations._formats import OPENAI_CHAT, OPENAI_RESPONSES
from tests.support.handed import Handed
from tests.support.openai_clients import client_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / os.environ.get("AGENTTRACE_SHARED", "../shared") / "data" / "cassettes"
APIS = ("chat.completions", "responses")


def load() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        cassette = json.loads(path.read_text("utf-8"))
        if cassette.get("api") in APIS:
            found.append(pytest.param(cassette, id=path.stem))
    return found


CASSETTES = load()
pytestmark = pytest.mark.skipif(not CASSETTES, reason=f"no cassettes in {FOLDER}")


def told(handed: Handed) -> dict[str, Any]:
    """What was handed over, in the words of a cassette's reference."""
    response = handed.response
    return {
        "response_id": response.response_id,
        "finish_reason": response.finish_reason,
        "calls": [
            {"id": call.call_id, "name": call.name, "arguments_raw": call.raw}
            for call in response.calls
        ],
    }


def reference(cassette: Any) -> dict[str, Any]:
    right = {key: cassette["reference"][key] for key in ("response_id", "finish_reason")}
    keys = ("id", "name", "arguments_raw")
    calls = [{key: call[key] for key in keys} for call in cassette["reference"]["calls"]]
    return {**right, "calls": calls}


@pytest.mark.parametrize("cassette", CASSETTES)
def test_a_recorded_answer_is_read_as_its_reference_says(cassette: Any, handed: Handed):
    streamed = cassette["streaming"]
    body = cassette["sse_text"] if streamed else json.dumps(cassette["response_json"])
    kind = "text/event-stream" if streamed else "application/json"
    turn = Turn(body=body, headers={"content-type": kind})
    request = {**cassette["request_json"], "stream": streamed}
    with client_of([turn]) as client:
        resource = client.chat.completions if cassette["api"] == APIS[0] else client.responses
        answer = resource.create(model="m", **_arguments(resource, request))
        if streamed:
            list(answer)

    assert told(handed) == reference(cassette)


def _arguments(resource: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The body of a request, sent as it is whatever the SDK's signature knows."""
    needed = {"messages": []} if hasattr(resource, "stream") and "messages" in request else {}
    return {**needed, "stream": request["stream"], "extra_body": request}


@pytest.mark.parametrize("cassette", [c for c in CASSETTES if not c.values[0]["streaming"]])
def test_a_recorded_answer_given_by_hand_is_read_the_same(cassette: Any, handed: Handed):
    request = cassette["request_json"]
    model_response(
        json.dumps(cassette["response_json"]),
        tools=request.get("tools"),
        messages=request.get("messages", request.get("input")),
    )

    assert told(handed) == reference(cassette)


@pytest.mark.parametrize("cassette", [c for c in CASSETTES if c.values[0]["streaming"]])
def test_a_recorded_stream_ends_by_its_own_word(cassette: Any):
    wire = OPENAI_CHAT if cassette["api"] == APIS[0] else OPENAI_RESPONSES
    stream = _exchange.Exchange(wire, None, request={})._assembly
    for line in cassette["sse_text"].splitlines():
        if line.startswith("data: {"):
            event = json.loads(line.removeprefix("data: "))
            assert wire.is_event(event)
            stream.feed(event)

    assert stream.has_ended
