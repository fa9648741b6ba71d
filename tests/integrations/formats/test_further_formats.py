"""Formats that are only read by hand, in invented bodies, and errors of any format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.capture import CallDraft
from agenttrace.integrations._formats import (
    FORMATS,
    Format,
    read_error,
    recognise,
    recognise_events,
)
from agenttrace.integrations._formats._assembly import MAX_TEXT, Fragments
from agenttrace.integrations._formats._values import MAX_SOURCE

NAMED = {each.name: each for each in FORMATS}
PAY = {"order_id": "A-104", "cents": 9800}


def gemini(*parts: Any, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", **more}
    return {"candidates": [candidate], "modelVersion": "gem", "responseId": "r"}


def call_part(**more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "pay", "args": PAY, **more}}


def converse(*blocks: Any, reason: str = "tool_use") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": reason,
    }


def use(**more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": "t1", "name": "pay", "input": PAY, **more}}


def cohere(reason: str = "TOOL_CALL", arguments: str = json.dumps(PAY)) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": arguments}}
    message = {"role": "assistant", "tool_plan": "I pay.", "tool_calls": [call]}
    message["content"] = [{"type": "text", "text": "Paid."}]
    return {"id": "r", "message": message, "finish_reason": reason}


def ollama(*calls: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Paid.", "tool_calls": list(calls)}
    return {"model": "q", "message": message, "done": True, "done_reason": "stop", **more}


def function(**more: Any) -> dict[str, Any]:
    return {"function": {"name": "pay", "arguments": PAY, **more}}


BODIES = {
    "gemini-content": gemini({"text": "Paid."}, call_part(id="g1")),
    "bedrock-converse": converse({"text": "Paid."}, use()),
    "cohere-chat": cohere(),
    "ollama-chat": ollama(function()),
}


def read(name: str, body: Any, text: str | None = None) -> Any:
    return NAMED[name].read_response(body, lambda: text)


def fed(name: str, *events: Any) -> Any:
    stream = NAMED[name].assembly({})
    held = [stream.feed(event) for event in events]
    return stream, held


def shown(*calls: CallDraft) -> list[Any]:
    return [(c.name, c.call_id, c.raw, c.arguments, c.complete) for c in calls]


@pytest.mark.parametrize("name", BODIES)
def test_a_whole_body_is_told_by_its_shape_and_read(name: str):
    body = BODIES[name]
    text = json.dumps(body, indent=2)
    draft = read(name, body, text)
    wire = recognise(body)

    assert wire is not None
    assert wire.name == name
    assert (draft.text, draft.complete, draft.error) == ("Paid.", True, None)
    (call,) = draft.calls
    assert (call.name, call.index, call.raw_observed, call.complete) == ("pay", 0, True, True)
    assert json.loads(call.raw) == PAY
    assert json.dumps(call.raw)[1:-1] in text or call.raw in text


@pytest.mark.parametrize("name", ["gemini-content", "bedrock-converse", "ollama-chat"])
def test_without_its_text_a_body_gives_the_arguments_alone(name: str):
    (call,) = read(name, BODIES[name]).calls

    assert (call.raw, call.raw_observed, call.arguments) == (None, False, PAY)


@pytest.mark.parametrize("name", ["gemini-content", "bedrock-converse", "ollama-chat"])
def test_of_a_body_over_the_limit_the_arguments_alone_are_kept(name: str):
    text = json.dumps(BODIES[name]) + " " * MAX_SOURCE
    (call,) = read(name, BODIES[name], text).calls

    assert (call.raw, call.raw_observed, call.arguments) == (None, False, PAY)


def test_of_a_call_over_the_limit_the_text_is_not_observed():
    fragments = Fragments()
    for _ in range(17):
        fragments.add("x" * (MAX_TEXT // 16))
    call = fragments.call("pay", "c", 0)

    assert (call.raw, call.raw_observed, call.arguments) == (None, False, None)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("gemini-content", ("r", "gem", "STOP")),
        ("bedrock-converse", (None, None, "tool_use")),
        ("cohere-chat", ("r", None, "TOOL_CALL")),
        ("ollama-chat", (None, "q", "stop")),
    ],
)
def test_ids_and_reasons_are_the_providers_own(name: str, ids: tuple[Any, ...]):
    draft = read(name, BODIES[name])

    assert (draft.response_id, draft.model, draft.finish_reason) == ids


# Gemini


def test_gemini_calls_without_ids_and_arguments_are_calls():
    draft = read("gemini-content", gemini({"functionCall": {"name": "a"}}, call_part(args={})))

    assert shown(*draft.calls) == [("a", None, None, None, True), ("pay", None, None, {}, True)]
    assert [call.raw_observed for call in draft.calls] == [True, False]


def test_gemini_objects_in_snake_case_are_read_alike():
    part = {"function_call": {"name": "pay", "args": PAY, "id": "g"}}
    candidate = {"content": {"parts": [part]}, "finish_reason": "MAX_TOKENS"}
    body = {"candidates": [candidate], "response_id": "r", "model_version": "gem"}
    draft = read("gemini-content", body)

    assert (draft.response_id, draft.model, draft.finish_reason) == ("r", "gem", "MAX_TOKENS")
    assert shown(*draft.calls) == [("pay", "g", None, PAY, None)]


@pytest.mark.parametrize(
    ("reason", "complete"), [(1, True), (2, None), (3, None), (9, None), ("SAFETY", None)]
)
def test_gemini_reasons_by_number_tell_cuts_from_ends(reason: Any, complete: bool | None):
    draft = read("gemini-content", gemini(call_part(), finishReason=reason))

    assert draft.finish_reason == str(reason)
    assert draft.calls[0].complete is complete


def test_gemini_thoughts_are_no_text():
    body = gemini({"text": "hm", "thought": True}, {"text": "Paid."})

    assert read("gemini-content", body).text == "Paid."


def test_what_gemini_refused_is_told():
    malformed = gemini(finishReason="MALFORMED_FUNCTION_CALL", finishMessage="pay(")
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "not that"}
    blocked = {"promptFeedback": feedback, "responseId": "r"}

    assert read("gemini-content", malformed).error == "MALFORMED_FUNCTION_CALL: pay("
    assert recognise(blocked) is NAMED["gemini-content"]
    draft = read("gemini-content", blocked)
    assert (draft.error, draft.complete) == ("the prompt was blocked: SAFETY: not that", True)


def test_gemini_pieces_make_one_answer():
    first = gemini(call_part(), finishReason=None)
    stream, held = fed("gemini-content", first, gemini({"text": "Paid."}), gemini(call_part()))

    assert held == [True, False, True]
    assert list(stream.begun) == ["pay", "pay"]
    draft = stream.draft()
    assert [(c.index, c.arguments, c.complete) for c in draft.calls] == [
        (0, PAY, True),
        (1, PAY, True),
    ]
    assert (draft.text, draft.complete) == ("Paid.", True)


def test_a_gemini_call_cut_into_parts_is_one_call_whose_text_is_not_observed():
    opening = {"functionCall": {"name": "pay", "id": "g", "willContinue": True}}
    more = {"functionCall": {"partialArgs": [{"jsonPath": "$.a"}], "willContinue": True}}
    last: dict[str, Any] = {"functionCall": {}}
    stream, held = fed(
        "gemini-content",
        gemini(opening, finishReason=None),
        gemini(more, finishReason=None),
        gemini(last),
    )

    assert held == [True, True, True]
    (call,) = stream.draft().calls
    assert (call.name, call.call_id, call.raw, call.raw_observed) == ("pay", "g", None, False)
    assert call.arguments is None


def test_gemini_candidates_are_numbered_through():
    body = gemini(call_part())
    body["candidates"].append({**body["candidates"][0], "index": 1, "finishReason": "MAX_TOKENS"})
    draft = read("gemini-content", body)

    assert [call.index for call in draft.calls] == [0, 1]
    assert draft.finish_reason == "STOP,MAX_TOKENS"


def test_gemini_schemas_are_put_in_json_schemas_words():
    properties = {"type": {"type": "STRING"}, "items": {"type": "ARRAY", "items": {"type": 3}}}
    declared = [
        {"name": "a", "parameters": {"type": "OBJECT", "properties": properties}},
        {"name": "b", "parametersJsonSchema": {"type": "object"}},
        {"name": "c"},
    ]
    tools = [{"functionDeclarations": declared}, {"googleSearch": {}}]

    offers = NAMED["gemini-content"].read_tools({"tools": tools})
    assert [offer.name for offer in offers] == ["a", "b", "c", "googleSearch"]
    assert offers[0].schema == {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "items": {"type": "array", "items": {"type": "integer"}},
        },
    }
    assert [offer.schema for offer in offers[1:]] == [{"type": "object"}, None, None]


def test_gemini_contents_become_messages():
    request = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Pay."}]},
            {"role": "model", "parts": [call_part()]},
            {"parts": [{"functionResponse": {"name": "pay", "response": {"ok": True}}}]},
        ],
    }

    assert NAMED["gemini-content"].read_messages(request) == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": [call_part()]},
        {"role": "tool", "tool_call_id": None, "name": "pay", "content": {"ok": True}},
    )
    assert NAMED["gemini-content"].read_messages({"contents": "Pay."}) == (
        {"role": "user", "content": "Pay."},
    )


# Converse


def test_converse_events_make_the_answer():
    head = {"contentBlockIndex": 1}
    stream, held = fed(
        "bedrock-converse",
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Pa"}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "id."}}},
        {"contentBlockStart": {**head, "start": {"toolUse": {"toolUseId": "t", "name": "pay"}}}},
        {"contentBlockDelta": {**head, "delta": {"toolUse": {"input": '{"a":'}}}},
        {"contentBlockDelta": {**head, "delta": {"toolUse": {"input": "1}"}}}},
        {"contentBlockStop": head},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {}}},
    )

    assert held == [False, False, False, True, True, True, False, False, False]
    assert (stream.has_ended, list(stream.begun)) == (True, ["pay"])
    draft = stream.draft()
    assert shown(*draft.calls) == [("pay", "t", '{"a":1}', None, True)]
    assert (draft.text, draft.finish_reason) == ("Paid.", "tool_use")


def test_calls_that_follow_each_other_under_one_number_and_id_are_two():
    use = {"toolUse": {"toolUseId": "t", "name": "pay"}}
    converse: list[Any] = [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": use}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
    ]
    entry = {"id": "t", "function": {"name": "pay", "arguments": "{}"}}
    cohere: list[Any] = [
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": entry}}},
        {"type": "tool-call-end", "index": 0},
    ]
    for name, events in (("bedrock-converse", converse), ("cohere-chat", cohere)):
        stream, _ = fed(name, *events, *events)

        assert [(call.call_id, call.raw) for call in stream.draft().calls] == [("t", "{}")] * 2


def test_an_exception_in_a_converse_stream_is_told_and_ends_nothing():
    start = {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t", "name": "pay"}}}}
    stream, _ = fed("bedrock-converse", start, {"throttlingException": {"message": "slow down"}})
    draft = stream.draft()

    assert draft.error == "throttlingException: slow down"
    assert (draft.complete, draft.calls[0].complete) == (False, False)


def test_calls_that_bedrock_runs_are_marked():
    draft = read("bedrock-converse", converse(use(type="server_tool_use"), use(type="tool_use")))

    assert [call.by_provider for call in draft.calls] == [True, False]


def test_the_request_id_of_boto3_is_the_providers():
    body = {**converse(use()), "ResponseMetadata": {"RequestId": "abc"}}

    assert read("bedrock-converse", body).provider_request_id == "abc"


def test_converse_requests_are_read():
    result = {"toolUseId": "t", "content": [{"text": "no"}, {"text": "pe"}], "status": "error"}
    value = {"toolUseId": "u", "content": [{"json": {"ok": True}}]}
    image = {"toolUseId": "v", "content": [{"image": {}}]}
    results = [{"toolResult": each} for each in (result, value, image)]
    spec = {"name": "pay", "inputSchema": {"json": {"type": "object"}}}
    tools = [{"toolSpec": spec}, {"systemTool": {"name": "code"}}, {"cachePoint": {}}]
    request = {
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Pay."}]},
            {"role": "user", "content": [*results, {"text": "Well?"}]},
        ],
        "toolConfig": {"tools": tools},
    }

    wire = NAMED["bedrock-converse"]
    assert [(tool.name, tool.schema) for tool in wire.read_tools(request)] == [
        ("pay", {"type": "object"}),
        ("code", None),
    ]
    assert wire.read_messages(request) == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"text": "Pay."}]},
        {"role": "tool", "tool_call_id": "t", "content": "nope", "is_error": True},
        {"role": "tool", "tool_call_id": "u", "content": {"ok": True}},
        {"role": "tool", "tool_call_id": "v", "content": [{"image": {}}]},
        {"role": "user", "content": [{"text": "Well?"}]},
    )


# Cohere


def test_cohere_events_make_the_message():
    def event(kind: str, **message: Any) -> dict[str, Any]:
        return {"type": kind, "index": 0, "delta": {"message": message}}

    entry = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": ""}}
    stream, held = fed(
        "cohere-chat",
        {"type": "message-start", "id": "r", "delta": {"message": {"role": "assistant"}}},
        event("tool-plan-delta", tool_plan="I pay."),
        event("tool-call-start", tool_calls=entry),
        event("tool-call-delta", tool_calls={"function": {"arguments": '{"a":'}}),
        event("tool-call-delta", tool_calls={"function": {"arguments": "1}"}}),
        event("tool-call-end"),
        event("content-start", content={"type": "text", "text": ""}),
        event("content-delta", content={"text": "Paid."}),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    )

    assert [at for at, each in enumerate(held) if each] == [2, 3, 4]
    draft = stream.draft()
    assert (draft.response_id, draft.text, draft.finish_reason) == ("r", "Paid.", "TOOL_CALL")
    assert shown(*draft.calls) == [("pay", "c1", '{"a":1}', None, True)]


@pytest.mark.parametrize(("text", "complete"), [('{"a":', False), ('{"a":1}', True)])
def test_a_cohere_call_that_was_cut_is_told_by_its_text(text: str, complete: bool):
    assert read("cohere-chat", cohere("MAX_TOKENS", text)).calls[0].complete is complete


# Ollama


def test_ollama_pieces_make_one_message():
    first = ollama(function(), done=False, done_reason=None)
    second = ollama(function(name="look"), function(name=""), done=False, done_reason=None)
    stream, held = fed("ollama-chat", first, second, ollama())

    assert held == [True, True, False]
    assert list(stream.begun) == ["pay"]
    draft = stream.draft()
    assert [(c.name, c.index) for c in draft.calls] == [("pay", 0), ("look", 1), ("", 2)]
    assert (draft.text, draft.complete, draft.finish_reason) == ("Paid.Paid.Paid.", True, "stop")


def test_an_ollama_message_that_is_not_done_is_not_complete():
    draft = read("ollama-chat", ollama(function(), done=False, done_reason=None))

    assert (draft.complete, draft.calls[0].complete) == (False, False)


# Errors


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"message": "no", "type": "t", "code": None}}, "t: no"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
            "overloaded_error: no",
        ),
        ({"error": {"code": 404, "message": "no", "status": "NOT_FOUND"}}, "404: no"),
        ([{"error": {"code": 404, "message": "no"}}], "404: no"),
        (
            {"Error": {"Code": "Throttled", "Message": "no"}, "ResponseMetadata": {}},
            "Throttled: no",
        ),
        ({"__type": "ValidationException", "message": "no"}, "ValidationException: no"),
        ({"object": "error", "message": "no", "type": "invalid", "code": 3000}, "3000: no"),
        ({"id": "x", "message": "no"}, "no"),
        ({"error": "model not found"}, "model not found"),
        ({"error": {}}, None),
        ({"message": "hi", "author": "me"}, None),
        ({"object": "list", "data": []}, None),
        ({}, None),
    ],
)
def test_an_error_is_told_in_the_providers_words(body: Any, error: str | None):
    found = read_error(body)

    assert (None if found is None else found.error) == error


def test_what_the_model_wrote_before_the_provider_refused_it_is_kept():
    text = '{"name": "pay", "arguments": {"cents": "many"}}'
    error = {"message": "no", "code": "tool_use_failed", "failed_generation": text}
    found = read_error({"error": error})

    assert found is not None
    assert (found.error, found.text, found.calls) == ("tool_use_failed: no", text, ())


@pytest.mark.parametrize("name", [each.name for each in FORMATS])
def test_no_two_formats_claim_one_body_or_event(name: str):
    events = {
        "openai-chat": {"choices": [{"index": 0, "delta": {}}]},
        "openai-responses": {"type": "response.created", "response": {}},
        "anthropic-messages": {"type": "message_start", "message": {}},
        "gemini-content": gemini(),
        "bedrock-converse": {"messageStart": {"role": "assistant"}},
        "cohere-chat": {"type": "message-start", "id": "r"},
        "ollama-chat": ollama(done=False),
    }

    def claims(event: Any) -> list[Format]:
        return [each for each in FORMATS if each.is_event(event)]

    assert claims(events[name]) == [NAMED[name]]
    assert recognise_events([{"type": "ping"}, events[name]]) is NAMED[name]
    body = BODIES.get(name, {})
    assert [each for each in FORMATS if each.is_response(body)] == ([NAMED[name]] if body else [])


def test_every_format_has_a_row_in_the_reference():
    page = Path(__file__).parents[3] / "docs" / "reference" / "formats.md"
    rows = [
        line.split("`")[1] for line in page.read_text("utf-8").splitlines() if line[:3] == "| `"
    ]

    assert rows == list(NAMED)
