"""Chat messages: turns, calls and what the model was shown."""

from __future__ import annotations

import json

import pytest

from agenttrace.domain import Boundary
from tests.transcripts.logs import ARGUMENTS, calls_of, chat_call, chat_row, evidence_of, refusal_of

TEXT = json.dumps(ARGUMENTS)


def message_of_assistant(**fields):
    return {"messages": [{"role": "assistant", "content": None, **fields}]}


def test_each_assistant_message_is_a_turn_and_its_calls_keep_their_text(tmp_path):
    evidence = evidence_of(tmp_path, chat_row())

    assert [(r.turn, r.calls, r.text) for r in evidence.responses] == [
        (1, 0, "Hello!"),
        (2, 1, None),
        (3, 0, "It is refunded."),
    ]
    assert calls_of(evidence) == [(2, 0, "issue_refund", "c1", TEXT, ARGUMENTS)]


def test_only_the_model_boundary_was_observed(tmp_path):
    evidence = evidence_of(tmp_path, chat_row())

    assert [b for b in Boundary if evidence.is_observed(b)] == [Boundary.MODEL]
    assert evidence.completeness.settled is True


def test_nothing_is_invented_that_a_chat_does_not_hold(tmp_path):
    evidence = evidence_of(tmp_path, chat_row())
    (call,) = evidence.model

    assert {r.response_id for r in evidence.responses} == {None}
    assert {r.finish_reason for r in evidence.responses} == {None}
    assert (call.finish_reason, call.complete, call.request_id) == (None, None, None)


def test_messages_between_two_turns_are_what_the_later_turn_was_given(tmp_path):
    evidence = evidence_of(tmp_path, chat_row())

    shown = [
        [(m.role, m.turn, m.call_id, m.tool, m.content) for m in response.messages]
        for response in evidence.responses
    ]
    assert shown == [
        [("system", 1, None, None, "You refund orders.")],
        [("user", 2, None, None, "Refund order A-104.")],
        [("tool", 3, "c1", "issue_refund", "done")],
    ]


def test_calls_without_an_id_are_told_by_their_place(tmp_path):
    row = chat_row("refund", chat_call(call_id=None), chat_call({}, call_id=None))

    evidence = evidence_of(tmp_path, row)

    assert [(c.index, c.call_id) for c in evidence.model] == [(0, None), (1, None)]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("{'order_id': 'A-104'}", None), ('{"order_id": "A-1', None), ("[1]", None), ("", {})],
)
def test_arguments_that_are_no_json_object_stay_raw(tmp_path, text, arguments):
    (call,) = evidence_of(tmp_path, chat_row("refund", chat_call(text))).model

    assert (call.raw, call.raw_observed, call.arguments) == (text, True, arguments)


def test_arguments_that_a_harness_had_parsed_have_no_text(tmp_path):
    flat = {"id": "c1", "name": "issue_refund", "arguments": ARGUMENTS}

    (call,) = evidence_of(tmp_path, message_of_assistant(tool_calls=[flat])).model

    assert (call.name, call.arguments) == ("issue_refund", ARGUMENTS)
    assert (call.raw, call.raw_observed) == (None, False)


def test_absent_arguments_are_an_absent_text_and_no_arguments(tmp_path):
    bare = {"id": "c1", "function": {"name": "ping"}}

    (call,) = evidence_of(tmp_path, message_of_assistant(tool_calls=[bare])).model

    assert (call.raw, call.raw_observed, call.arguments) == (None, True, {})


def test_a_list_in_place_of_arguments_matches_nothing(tmp_path):
    odd = {"function": {"name": "ping", "arguments": [1, {"a": 2}]}}

    (call,) = evidence_of(tmp_path, message_of_assistant(tool_calls=[odd])).model

    assert (call.raw, call.arguments) == ('[1,{"a":2}]', None)


def test_a_legacy_function_call_is_a_call_without_an_id(tmp_path):
    row = message_of_assistant(function_call={"name": "issue_refund", "arguments": TEXT})
    row["messages"].append({"role": "function", "name": "issue_refund", "content": "done"})
    row["messages"].append({"role": "assistant", "content": "ok"})

    evidence = evidence_of(tmp_path, row)

    assert calls_of(evidence) == [(1, 0, "issue_refund", None, TEXT, ARGUMENTS)]
    assert [m.role for m in evidence.responses[1].messages] == ["tool"]


def test_a_custom_tool_takes_its_input_as_text(tmp_path):
    custom = {"id": "c1", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}

    (call,) = evidence_of(tmp_path, message_of_assistant(tool_calls=[custom])).model

    assert (call.name, call.raw, call.arguments) == ("run_sql", "select 1", None)


def test_the_providers_own_response_beside_a_message_gives_ids_texts_and_the_reason(tmp_path):
    spaced = '{ "order_id":"A-104", "amount_cents":9800}'
    provider = {"role": "assistant", "content": None, "tool_calls": [chat_call(spaced)]}
    row = message_of_assistant(
        tool_calls=[{"id": "c1", "name": "issue_refund", "arguments": ARGUMENTS}],
        raw_data={
            "id": "chatcmpl-1",
            "model": "gpt-4.1-mini",
            "choices": [{"finish_reason": "tool_calls", "message": provider}],
        },
    )

    evidence = evidence_of(tmp_path, row)
    (call,), (response,) = evidence.model, evidence.responses

    assert (call.raw, call.complete) == (spaced, True)
    assert (response.response_id, call.response_id) == ("chatcmpl-1", "chatcmpl-1")
    assert (response.model, response.finish_reason) == ("gpt-4.1-mini", "tool_calls")


def test_a_call_that_the_provider_cut_off_is_not_complete(tmp_path):
    provider = {"tool_calls": [chat_call(), chat_call('{"order_id": "A-1', call_id="c2")]}
    row = message_of_assistant(
        raw_data={"choices": [{"finish_reason": "length", "message": provider}]}
    )

    assert [call.complete for call in evidence_of(tmp_path, row).model] == [True, False]


def test_tools_of_a_row_are_what_was_offered_with_their_schemas(tmp_path):
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    tools = [
        {"type": "function", "function": {"name": "issue_refund", "parameters": schema}},
        {"type": "function", "function": {"name": "ping"}},
    ]

    evidence = evidence_of(tmp_path, chat_row(tools=tools))

    assert evidence.tools.offered == ("issue_refund", "ping")
    assert evidence.tools.schemas == {"issue_refund": schema}


def test_without_tools_in_the_row_nothing_is_known_of_what_was_offered(tmp_path):
    assert evidence_of(tmp_path, chat_row()).tools.offered is None


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"messages": "hi"}, "messages is the text 'hi', not a list"),
        ({"messages": ["hi"]}, "messages[0] is the text 'hi', not an object"),
        ({"messages": [{"content": "hi"}]}, "messages[0] has no role"),
        ({"messages": [{"role": "ai"}]}, "messages[0].role is 'ai', not one of assistant,"),
        (message_of_assistant(tool_calls={}), "messages[0].tool_calls is an object, not a list"),
        (message_of_assistant(tool_calls=[{}]), "tool_calls[0] has neither function nor name"),
        (message_of_assistant(tool_calls=[{"function": {}}]), "[0].function has no name"),
        (
            message_of_assistant(tool_calls=[{"id": [], "function": {"name": "a"}}]),
            "messages[0].tool_calls[0] has a list for an id",
        ),
        (message_of_assistant(content=7), "messages[0].content is a number (7), not a list"),
        (
            message_of_assistant(content=[{"type": "tool_use"}]),
            "is a tool_use part; read this log with --format anthropic-messages",
        ),
        (chat_row(case_id=""), "case_id is the text '', not a text with something in it"),
        (chat_row(trial=-1), "trial is a number (-1), not a whole number from 0"),
        (chat_row(tools=["x"]), "tools[0] is the text 'x', not an object"),
        ({"chat": [], "id": 1}, "the row has no messages; it holds 'chat', 'id'"),
    ],
)
def test_a_row_of_another_shape_is_refused_with_where_and_what(tmp_path, row, said):
    refusal = refusal_of(tmp_path, row)

    assert "one.jsonl:1: the row does not fit openai-chat: " in refusal
    assert said in refusal


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ({}, "expected is an object, not a list"),
        ([{"name": "a"}], "expected[0].args is missing"),
        ([{"name": "a", "arguments": {}, "args": {}}], "expected[0].arguments is an unknown field"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused_by_the_rows_own_word(tmp_path, expected, said):
    refusal = refusal_of(tmp_path, chat_row(expected=expected))

    assert f"one.jsonl:1: the row's plan does not fit: {said}" in refusal
