"""Items of the responses API, and messages of content blocks."""

from __future__ import annotations

import json

import pytest

from tests.transcripts.logs import ARGUMENTS, PLAN, calls_of, evidence_of, refusal_of

TEXT = json.dumps(ARGUMENTS)
ITEMS = [
    {"role": "user", "content": "Refund order A-104."},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "issue_refund", "arguments": TEXT},
    {"type": "function_call", "call_id": "c2", "name": "ping", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "done"},
    {"type": "function_call_output", "call_id": "c2", "output": "pong"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is refunded."}],
    },
]
BLOCKS = {
    "case_id": "refund",
    "expected": PLAN,
    "system": "You refund orders.",
    "messages": [
        {"role": "user", "content": "Refund order A-104."},
        {
            "role": "assistant",
            "id": "msg_1",
            "model": "claude",
            "stop_reason": "tool_use",
            "content": [
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "t1", "name": "issue_refund", "input": ARGUMENTS},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
                {"type": "text", "text": "And now?"},
            ],
        },
        {"role": "assistant", "content": "It is refunded."},
    ],
}


def responses(tmp_path, row):
    return evidence_of(tmp_path, row, "openai-responses")


def blocks(tmp_path, row):
    return evidence_of(tmp_path, row, "anthropic-messages")


@pytest.mark.parametrize(
    "row",
    [{"items": ITEMS}, {"input": ITEMS[:1], "output": ITEMS[1:]}, {"input": ITEMS}],
    ids=["items", "input and output", "input"],
)
def test_items_that_the_model_made_without_a_pause_are_one_turn(tmp_path, row):
    evidence = responses(tmp_path, row)

    assert calls_of(evidence) == [
        (1, 0, "issue_refund", "c1", TEXT, ARGUMENTS),
        (1, 1, "ping", "c2", "{}", {}),
    ]
    assert [(r.turn, r.calls, r.text) for r in evidence.responses] == [
        (1, 2, None),
        (2, 0, "It is refunded."),
    ]
    shown = [[(m.role, m.call_id, m.content) for m in r.messages] for r in evidence.responses]
    assert shown == [
        [("user", None, "Refund order A-104.")],
        [("tool", "c1", "done"), ("tool", "c2", "pong")],
    ]


def test_a_response_object_is_one_turn_with_its_own_id_and_reason(tmp_path):
    row = {
        "object": "response",
        "id": "resp_1",
        "model": "gpt-5",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "instructions": "You refund orders.",
        "input": "Refund order A-104.",
        "output": [
            {"type": "function_call", "call_id": "c1", "name": "issue_refund", "arguments": '{"or'}
        ],
    }

    evidence = responses(tmp_path, row)
    (response,), (call,) = evidence.responses, evidence.model

    assert (response.response_id, response.model) == ("resp_1", "gpt-5")
    assert (call.finish_reason, call.complete) == ("max_output_tokens", False)
    assert [(m.role, m.content) for m in response.messages] == [
        ("system", "You refund orders."),
        ("user", "Refund order A-104."),
    ]


def test_a_response_object_without_items_is_a_response_and_not_blank(tmp_path):
    row = {"object": "response", "id": "resp_1", "status": "completed", "output": []}

    assert [r.response_id for r in responses(tmp_path, row).responses] == ["resp_1"]


def test_an_items_own_status_says_whether_it_is_complete(tmp_path):
    item = {**ITEMS[2], "status": "incomplete"}

    assert [c.complete for c in responses(tmp_path, {"items": [item]}).model] == [False]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"messages": []}, "the row has no items or input or output; it holds 'messages'"),
        ({"items": {}}, "items is an object, not a list"),
        ({"items": [{"type": 1}]}, "items[0].type is a number (1), not a text"),
        ({"items": [{"role": "tool"}]}, "items[0].role is 'tool', not one of assistant,"),
        ({"output": [{"type": "function_call"}]}, "output[0] has no name"),
    ],
)
def test_items_of_another_shape_are_refused_with_where_and_what(tmp_path, row, said):
    assert said in refusal_of(tmp_path, row, "openai-responses")


def test_tool_use_blocks_are_calls_and_tool_results_what_was_shown(tmp_path):
    evidence = blocks(tmp_path, BLOCKS)

    assert calls_of(evidence) == [(1, 0, "issue_refund", "t1", None, ARGUMENTS)]
    assert [(r.response_id, r.finish_reason, r.text) for r in evidence.responses] == [
        ("msg_1", "tool_use", "I will."),
        (None, None, "It is refunded."),
    ]
    shown = [[(m.role, m.call_id, m.content) for m in r.messages] for r in evidence.responses]
    assert shown == [
        [("system", None, "You refund orders."), ("user", None, "Refund order A-104.")],
        [("tool", "t1", "done"), ("user", None, [{"type": "text", "text": "And now?"}])],
    ]


def test_an_object_of_arguments_has_no_text_of_the_models(tmp_path):
    (call,) = blocks(tmp_path, BLOCKS).model

    assert (call.raw, call.raw_observed, call.complete) == (None, False, True)


def test_unfinished_json_of_a_stream_stays_raw(tmp_path):
    block = {"type": "tool_use", "id": "t1", "name": "issue_refund", "input": '{"order_id": "A'}
    row = {"messages": [{"role": "assistant", "stop_reason": "max_tokens", "content": [block]}]}

    (call,) = blocks(tmp_path, row).model

    assert (call.raw, call.arguments, call.complete) == ('{"order_id": "A', None, False)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "assistant", "tool_calls": [{}]}, "read this log with --format openai-chat"),
        ({"role": "tool", "content": "x"}, "read this log with --format openai-chat"),
        ({"role": "human", "content": "x"}, "messages[0].role is 'human', not one of"),
        ({"role": "user", "content": 3}, "messages[0].content is a number (3), not a list"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
            "messages[0].content[0] has no name",
        ),
    ],
)
def test_messages_of_another_shape_are_refused_with_where_and_what(tmp_path, message, said):
    assert said in refusal_of(tmp_path, {"messages": [message]}, "anthropic-messages")
