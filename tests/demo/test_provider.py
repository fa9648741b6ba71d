"""The scripted provider sends what its script says."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn


def post(provider: ScriptedProvider, path: str, **body: Any) -> tuple[str, Any]:
    data = json.dumps({"model": "m", **body}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{provider.base_url}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode(), answer.headers


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
def test_argument_text_is_sent_as_it_stands(path: str):
    raw = '{"a": 1, "a": 2'
    with ScriptedProvider([Turn(calls=(ScriptedCall(name="pay", arguments=raw),))]) as provider:
        body, headers = post(provider, path)

    assert json.dumps(raw) in body
    assert headers["x-request-id"] == "req-demo-0001"


def test_ids_differ_from_turn_to_turn_and_from_provider_to_provider():
    turns = [Turn(calls=(ScriptedCall(name="pay"), ScriptedCall(name="pay")))] * 2
    ids = []
    for name in ("a", "b"):
        with ScriptedProvider(turns, name=name) as provider:
            for _ in turns:
                body = json.loads(post(provider, "/responses")[0])
                ids += [body["id"], *(item["call_id"] for item in body["output"])]

    assert len(set(ids)) == len(ids) == 12


def test_a_function_picks_the_turn_from_the_request():
    with ScriptedProvider(lambda request: Turn(text=request.body["input"])) as provider:
        body, _ = post(provider, "/responses", input="echo")

    assert json.loads(body)["output"][0]["content"][0]["text"] == "echo"


def test_a_stream_ends_with_done_and_carries_the_same_ids():
    with ScriptedProvider([Turn(text="hello")]) as provider:
        body, headers = post(provider, "/chat/completions", stream=True)

    assert headers["content-type"] == "text/event-stream"
    assert body.endswith("data: [DONE]\n\n")
    assert '"id": "chatcmpl-demo-0001"' in body


def test_a_request_after_the_last_turn_is_refused_with_the_reason():
    with ScriptedProvider([]) as provider, pytest.raises(urllib.error.HTTPError) as caught:
        post(provider, "/responses")

    assert caught.value.code == 500
    assert "request 1 has none" in caught.value.read().decode()
    caught.value.close()


def test_requests_are_kept_as_they_arrived():
    with ScriptedProvider([Turn(text="a")]) as provider:
        post(provider, "/responses", input="x")

    (request,) = provider.requests
    assert (request.number, request.path) == (1, "/v1/responses")
    assert request.body == {"model": "m", "input": "x"}
