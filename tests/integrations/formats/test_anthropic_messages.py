"""Anthropic's messages: whole bodies, and streams however they were cut into pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.demo._provider_messages import message, message_events, message_text
from agenttrace.demo._provider_turns import ScriptedCall, Turn
from agenttrace.integrations._formats import ANTHROPIC_MESSAGES
from agenttrace.integrations._formats.anthropic_messages import MessageStream
from agenttrace.records import parse_arguments, parse_json

texts = st.text(max_size=40)
calls = st.builds(
    ScriptedCall,
    name=st.sampled_from(["pay", "search", "größe"]),
    arguments=st.one_of(texts, st.just('{"a": 1}'), st.just('{"a":1.50,"a":"ü"}')),
)
turns = st.builds(
    Turn,
    calls=st.lists(calls, max_size=4).map(tuple),
    text=st.one_of(st.none(), texts),
    finish_reason=st.sampled_from([None, "max_tokens", "refusal"]),
    interleaved=st.booleans(),
    repeat_opening=st.booleans(),
)
sizes = st.integers(min_value=1, max_value=50)


def fed(events: Any) -> MessageStream:
    stream = MessageStream()
    for event in events:
        stream.feed(event)
    return stream


def whole(turn: Turn) -> Any:
    text = message_text(message("msg", "m", turn), turn)
    body = parse_json(text).value
    assert isinstance(body, dict)
    return ANTHROPIC_MESSAGES.read_response(body, lambda: text)


def events_of(turn: Turn, size: int = 4) -> list[Any]:
    return [event for _, event in message_events(message("msg", "m", turn), size, turn)]


@given(turn=turns, size=sizes)
def test_events_make_the_response_that_the_whole_body_makes(turn: Turn, size: int):
    stream = fed(events_of(turn, size))
    draft, body = stream.draft(), whole(turn)

    assert stream.has_ended
    assert replace(draft, text=draft.text or None, calls=()) == replace(
        body, text=body.text or None, calls=()
    )
    assert [(c.name, c.call_id, c.index) for c in draft.calls] == [
        (c.name, c.call_id, c.index) for c in body.calls
    ]
    assert [c.raw or "" for c in draft.calls] == [c.arguments or "" for c in turn.calls]


@given(turn=turns)
def test_a_whole_bodys_argument_texts_are_its_own(turn: Turn):
    for sent, call in zip(turn.calls, whole(turn).calls, strict=True):
        is_object = parse_arguments(sent.arguments).state in ("object", "duplicate_keys")
        assert call.raw == (sent.arguments if is_object else "{}")


@given(turn=turns, size=sizes, data=st.data())
def test_of_a_stream_that_broke_off_no_call_is_complete(turn: Turn, size: int, data: Any):
    events = events_of(turn, size)[:-2]
    stop = data.draw(st.integers(min_value=0, max_value=len(events)))
    draft = fed(events[:stop]).draft()

    assert (draft.complete, draft.finish_reason) == (False, None)
    for seen, sent in zip(draft.calls, turn.calls, strict=False):
        assert seen.complete is False
        assert (sent.arguments or "").startswith(seen.raw or "")


TWO = Turn(calls=(ScriptedCall(name="a", call_id="1"), ScriptedCall(name="b", call_id="2")))


def test_numbers_that_jump_make_no_call_up():
    events = [
        {**event, "index": event["index"] * 70} if "index" in event else event
        for event in events_of(TWO)
    ]

    assert fed(events).draft() == fed(events_of(TWO)).draft()


def test_two_blocks_with_one_id_are_two_calls():
    same = Turn(calls=(ScriptedCall(name="a", call_id="1"), ScriptedCall(name="b", call_id="1")))

    assert [(c.name, c.call_id) for c in fed(events_of(same)).draft().calls] == [
        ("a", "1"),
        ("b", "1"),
    ]


def test_two_blocks_under_one_number_are_two_calls():
    events = [{**e, "index": 0} if "index" in e else e for e in events_of(TWO)]

    assert [(c.call_id, c.raw) for c in fed(events).draft().calls] == [("1", "{}"), ("2", "{}")]


def test_a_block_that_opens_where_one_was_closed_is_another_call_whatever_its_id():
    same = Turn(calls=(ScriptedCall(name="a", call_id="1"), ScriptedCall(name="a", call_id="1")))
    events = [{**e, "index": 0} if "index" in e else e for e in events_of(same)]

    assert [(c.call_id, c.raw) for c in fed(events).draft().calls] == [("1", "{}"), ("1", "{}")]


@pytest.mark.parametrize("ends_with_it", [False, True])
def test_a_reason_in_the_opening_ends_nothing(ends_with_it: bool):
    """Some servers tell it at once; the calls come all the same."""
    events = [
        {**e, "message": {**e["message"], "stop_reason": "tool_use"}} if "message" in e else e
        for e in events_of(TWO)
        if not (ends_with_it and e["type"] == "message_delta")
    ]
    assert not fed(events[:1]).has_ended

    draft = fed(events).draft()

    assert (draft.finish_reason, draft.complete) == ("tool_use", True)
    assert [c.complete for c in draft.calls] == [True, True]


def test_a_piece_whose_opening_was_never_seen_is_a_call_without_a_name():
    events = [e for e in events_of(TWO) if e.get("content_block", {}).get("name") != "a"]
    stream = fed(events)

    assert [(c.name, c.raw) for c in stream.draft().calls] == [("", "{}"), ("b", "{}")]
    assert list(stream.begun) == []


def test_events_of_an_unknown_kind_are_passed_over():
    unknown = {"type": "content_block_sparkle", "index": 0, "delta": {"type": "glitter"}}
    events = [each for event in events_of(TWO) for each in (unknown, event)]

    assert fed(events).draft() == fed(events_of(TWO)).draft()


def test_arguments_that_come_whole_with_the_opening_are_kept_without_a_text():
    events = [
        {**e, "content_block": {**e["content_block"], "input": {"n": 1}}}
        if "content_block" in e
        else e
        for e in events_of(TWO)
        if "partial_json" not in e.get("delta", {})
    ]

    calls = fed(events).draft().calls
    assert [(c.raw, c.raw_observed, c.arguments) for c in calls] == [(None, False, {"n": 1})] * 2


def test_a_message_stop_without_a_reason_ends_the_message():
    events = [e for e in events_of(TWO) if e["type"] != "message_delta"]
    draft = fed(events).draft()

    assert (draft.complete, draft.finish_reason) == (True, None)
    assert [c.complete for c in draft.calls] == [None, None]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_a_cut_does_not_fall_on_a_call_after_which_something_came(reason: str):
    content = [
        {"type": "tool_use", "id": "t", "name": "pay", "input": {}},
        {"type": "text", "text": "and n"},
    ]
    body = {"id": "m", "type": "message", "content": content, "stop_reason": reason}

    for order, complete in ((1, True), (-1, None)):
        draft = ANTHROPIC_MESSAGES.read_response(
            {**body, "content": content[::order]}, lambda: None
        )
        assert [call.complete for call in draft.calls] == [complete]


def test_messages_and_tools_are_read_as_they_stand():
    request = {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [
            {"name": "pay", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "mcp_toolset", "mcp_server_name": "crm"},
        ],
        "thread": {"type": "continue", "previous_message_id": "msg_0"},
    }

    assert ANTHROPIC_MESSAGES.read_messages(request) == (
        {"role": "system", "content": request["system"]},
        {"role": "user", "content": "Hello"},
    )
    assert [(t.name, t.schema) for t in ANTHROPIC_MESSAGES.read_tools(request)] == [
        ("pay", {"type": "object"}),
        ("web_search", None),
        ("mcp_toolset", None),
    ]
    assert ANTHROPIC_MESSAGES.read_previous(request) == "msg_0"
    assert ANTHROPIC_MESSAGES.read_previous({}) is None
    assert ANTHROPIC_MESSAGES.read_messages({}) is None
