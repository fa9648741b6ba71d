"""Chat completions and responses, read from whole bodies."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.integrations._formats import (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    recognise,
)


def completion(**message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    body = {"id": "r", "object": "response", "model": "m", "status": "completed"}
    return {**body, "output": list(output), **more}


def function_call(**more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": "{}", **more}


@pytest.mark.parametrize(
    ("body", "wire"),
    [
        (completion(content="hi"), OPENAI_CHAT),
        ({"choices": [{"message": {"content": "hi"}}]}, OPENAI_CHAT),
        ({"object": "chat.completion", "choices": []}, OPENAI_CHAT),
        ({"object": "text_completion", "choices": [{"text": "hi"}]}, None),
        (response(), OPENAI_RESPONSES),
        ({"status": "completed", "output": [function_call()]}, OPENAI_RESPONSES),
        ({"object": "response.compaction", "output": []}, None),
        ({"object": "list", "data": []}, None),
        ({}, None),
    ],
)
def test_a_body_is_recognised_by_its_shape(body: dict[str, Any], wire: Any):
    assert recognise(body) is wire


@pytest.mark.parametrize(
    ("path", "wire"),
    [
        ("/v1/chat/completions", OPENAI_CHAT),
        ("/openai/deployments/gpt/chat/completions", OPENAI_CHAT),
        ("/v1/responses", OPENAI_RESPONSES),
        ("/v1/completions", None),
        ("/v1/responses/resp_1/cancel", None),
        ("/v1/responses/input_tokens", None),
        ("/v1/embeddings", None),
    ],
)
def test_only_paths_that_ask_for_a_response_have_a_format(path: str, wire: Any):
    formats = [each for each in (OPENAI_CHAT, OPENAI_RESPONSES) if each.asks(path)]
    assert formats == ([] if wire is None else [wire])


def test_text_parts_and_refusals_are_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    message = {
        "type": "message",
        "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "no"}],
    }

    assert OPENAI_CHAT.read_response(completion(content=parts), lambda: None).text == "ab"
    refusal = completion(content=None, refusal="no")
    assert OPENAI_CHAT.read_response(refusal, lambda: None).text == "no"
    assert OPENAI_CHAT.read_response(completion(content=None), lambda: None).text is None
    assert OPENAI_RESPONSES.read_response(response(message, message), lambda: None).text == "anoano"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, "completed"),
        ({"status": "incomplete"}, "incomplete"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "max_output_tokens",
        ),
        ({"status": "failed", "error": {"code": "server_error", "message": "x"}}, "failed"),
        ({"status": None}, None),
    ],
)
def test_the_reason_of_a_response_is_its_incomplete_detail_or_its_status(
    more: dict[str, Any], reason: str | None
):
    draft = OPENAI_RESPONSES.read_response(response(**more), lambda: None)

    assert draft.finish_reason == reason
    assert draft.error == ("server_error: x" if reason == "failed" else None)


@pytest.mark.parametrize(
    ("item", "more", "complete"),
    [
        (function_call(status="completed"), {"status": "incomplete"}, True),
        (function_call(status="incomplete"), {}, False),
        (function_call(status="in_progress"), {}, False),
        (function_call(arguments="{"), {}, True),
        (function_call(arguments="{"), {"status": "incomplete"}, False),
        (function_call(arguments="{}"), {"status": "incomplete"}, True),
        (function_call(), {"status": None}, None),
    ],
)
def test_an_items_own_status_comes_before_the_responses_reason(
    item: dict[str, Any], more: dict[str, Any], complete: bool | None
):
    (call,) = OPENAI_RESPONSES.read_response(response(item, **more), lambda: None).calls

    assert call.complete is complete


def test_calls_that_the_provider_runs_are_no_calls_and_do_not_count():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    body = response(search, function_call(id="fc_1"), search, function_call(call_id="c2"))

    calls = OPENAI_RESPONSES.read_response(body, lambda: None).calls
    assert [(call.call_id, call.index) for call in calls] == [("c1", 0), ("c2", 1)]


@pytest.mark.parametrize("reason", [None, ""])
def test_a_body_that_says_nothing_of_its_end_leaves_calls_open(reason: str | None):
    body = completion(tool_calls=[{"id": "1", "function": {"name": "pay", "arguments": "{}"}}])
    body["choices"][0]["finish_reason"] = reason

    draft = OPENAI_CHAT.read_response(body, lambda: None)
    assert (draft.calls[0].complete, draft.finish_reason) == (None, reason)


def test_without_a_source_arguments_in_object_form_are_kept_and_the_text_is_unobserved():
    entry = {"id": "1", "function": {"name": "pay", "arguments": {"n": 1}}}

    (call,) = OPENAI_CHAT.read_response(completion(tool_calls=[entry]), lambda: None).calls
    assert (call.raw, call.raw_observed, call.arguments) == (None, False, {"n": 1})


def test_reasons_of_choices_that_differ_are_all_told():
    body = completion(content="a")
    body["choices"] += [{"message": {}, "finish_reason": "length"}] * 2

    assert OPENAI_CHAT.read_response(body, lambda: None).finish_reason == "tool_calls,length"


def test_tools_go_by_their_own_name_or_their_type():
    parameters = {"type": "object"}
    chat = {
        "tools": [
            {"type": "function", "function": {"name": "pay", "parameters": parameters}},
            {"type": "custom", "custom": {"name": "sql"}},
        ],
        "functions": [{"name": "old", "parameters": parameters}],
    }
    tool = {"type": "function", "name": "pay", "parameters": parameters}
    responses = {
        "tools": [
            {"type": "web_search"},
            {"type": "namespace", "name": "crm", "tools": [tool]},
            {"type": "custom", "name": "sql"},
        ]
    }

    found = [(tool.name, tool.schema) for tool in OPENAI_CHAT.read_tools(chat)]
    assert found == [("pay", parameters), ("sql", None), ("old", parameters)]
    found = [(tool.name, tool.schema) for tool in OPENAI_RESPONSES.read_tools(responses)]
    assert found == [("web_search", None), ("pay", parameters), ("sql", None)]


def test_input_items_become_messages():
    request = {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Refund A-104"},
            function_call(),
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
        ],
    }

    assert OPENAI_RESPONSES.read_messages(request) == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Refund A-104"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "pay", "arguments": "{}"},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    )
    assert OPENAI_RESPONSES.read_messages({}) is None
    assert OPENAI_CHAT.read_messages({}) is None
