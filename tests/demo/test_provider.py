"""The scripted provider sends what its script says."""

from __future__ import annotations

import http.client
import json
import time
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


def data(body: str) -> list[Any]:
    """What the events of a stream hold."""
    lines = (line.removeprefix("data: ") for line in body.splitlines())
    return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.mark.parametrize(
    ("raw", "sent"),
    [('{"a":1.50, "a":2}', '{"a":1.50, "a":2}'), ('{"a": 1', "{}"), ("", "{}"), ("[1]", "{}")],
)
def test_a_message_holds_argument_text_where_it_is_an_object(raw: str, sent: str):
    with ScriptedProvider([Turn(calls=(ScriptedCall(name="pay", arguments=raw),))]) as provider:
        body, headers = post(provider, "/messages?beta=true")

    assert f'"input": {sent}}}' in body
    (block,) = json.loads(body)["content"]
    assert block["id"] == "toolu-msg-demo-0001-0"
    assert (json.loads(body)["stop_reason"], headers["request-id"]) == ("tool_use", "req-demo-0001")


def test_a_message_as_a_stream_sends_any_text_and_names_its_events():
    turn = Turn(calls=(ScriptedCall(name="pay", arguments='{"a": 1'),), text="I pay.")
    with ScriptedProvider([turn], fragment=4) as provider:
        body, _ = post(provider, "/messages", stream=True)

    events = data(body)
    kinds = [line.removeprefix("event: ") for line in body.splitlines() if line[:6] == "event:"]
    assert kinds == [event["type"] for event in events]
    pieces = [event.get("delta", {}).get("partial_json", "") for event in events]
    assert "".join(pieces) == '{"a": 1'
    assert "[DONE]" not in body


def calls_of(path: str, events: list[Any]) -> list[Any]:
    """Which call each fragment of argument text belongs to."""
    if path == "/chat/completions":
        entries = [c["delta"].get("tool_calls", ()) for e in events for c in e["choices"]]
        return [part["index"] for each in entries for part in each if part["function"]["arguments"]]
    if path == "/responses":
        return [e["output_index"] for e in events if e["type"].endswith("arguments.delta")]
    return [e["index"] for e in events if e.get("delta", {}).get("partial_json")]


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/messages"])
def test_fragments_can_come_in_turns_and_twice(path: str):
    calls = (ScriptedCall(name="a", arguments="12345678"), ScriptedCall(name="b", arguments="1234"))
    turns = [
        Turn(calls=calls),
        Turn(calls=calls, interleaved=True),
        Turn(calls=calls, repeat_text=True),
        Turn(calls=calls, repeat_opening=True),
    ]
    with ScriptedProvider(turns, fragment=4) as provider:
        bodies = [post(provider, path, stream=True)[0] for _ in turns]

    found = [calls_of(path, data(body)) for body in bodies]
    assert found == [[0, 0, 1], [0, 1, 0], [0, 0, 0, 1, 1], [0, 0, 1]]
    assert bodies[3].count('"name": "b"') > bodies[0].count('"name": "b"')


def test_a_stream_can_be_slow_and_break_off_inside_an_event():
    turn = Turn(text="hello", delay_s=0.05, cut_after=2, cut_inside=True)
    with ScriptedProvider([turn]) as provider:
        began = time.monotonic()
        with pytest.raises(http.client.IncompleteRead) as caught:
            post(provider, "/messages", stream=True)

    assert time.monotonic() - began >= 0.1
    events = caught.value.partial.decode().split("\n\n")
    assert len(events) == 3
    assert events[2].startswith("event: content_block_start")
    assert not events[2].endswith("}")


def test_a_body_can_be_bytes_that_are_no_text():
    with ScriptedProvider([Turn(body=b"\xff")]) as provider:
        request = urllib.request.Request(f"{provider.address}/v1/messages", b"{}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.read() == b"\xff"
