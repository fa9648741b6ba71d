"""A response read from its stream is the response read whole, however it was cut into pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.demo._provider_formats import (
    ScriptedCall,
    Turn,
    chat_completion,
    chat_events,
    responses_events,
    responses_response,
)
from agenttrace.integrations._formats import (
    FORMATS,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    read_error,
)
from agenttrace.integrations._formats.openai_chat_stream import ChatStream
from agenttrace.integrations._formats.openai_responses_stream import ResponsesStream

texts = st.text(max_size=40)
calls = st.builds(
    ScriptedCall,
    name=st.sampled_from(["pay", "search", "größe"]),
    arguments=st.one_of(texts, st.just('{"a": 1}')),
    kind=st.sampled_from(["function", "custom"]),
)
turns = st.builds(
    Turn,
    calls=st.lists(calls, max_size=4).map(tuple),
    text=st.one_of(st.none(), texts),
    finish_reason=st.sampled_from([None, "length"]),
    interleaved=st.booleans(),
    repeat_opening=st.booleans(),
)
ONE_CALL = Turn(calls=(ScriptedCall(name="pay", arguments='{"a": 1}'),))
sizes = st.integers(min_value=1, max_value=50)


@given(turn=turns, more=st.lists(turns, max_size=2), size=sizes)
def test_chat_chunks_make_the_response_that_the_whole_body_makes(
    turn: Turn, more: list[Turn], size: int
):
    body = chat_completion("c", "m", replace(turn, choices=tuple(more)))
    stream = ChatStream(choices=1 + len(more))
    for _, event in chat_events(body, size, turn):
        stream.feed(event)

    whole = OPENAI_CHAT.read_response(body, lambda: None)
    assert stream.has_ended
    assert replace(stream.draft(), text=stream.draft().text or None) == replace(
        whole, text=whole.text or None
    )


@given(turn=turns, size=sizes, keep_output=st.booleans())
def test_response_events_make_the_response_that_the_whole_body_makes(
    turn: Turn, size: int, keep_output: bool
):
    body = responses_response("r", "m", turn)
    stream = ResponsesStream()
    for _, event in responses_events(body, size, turn):
        if not keep_output and "response" in event:
            event = {**event, "response": {**event["response"], "output": []}}  # noqa: PLW2901
        stream.feed(event)

    whole = OPENAI_RESPONSES.read_response(body, lambda: None)
    assert stream.has_ended
    assert replace(stream.draft(), text=stream.draft().text or None) == replace(
        whole, text=whole.text or None
    )


@given(turn=turns, size=sizes, data=st.data())
def test_of_a_stream_that_broke_off_no_call_is_complete(turn: Turn, size: int, data: Any):
    body = chat_completion("c", "m", turn)
    events = [event for _, event in chat_events(body, size)][:-2]
    stop = data.draw(st.integers(min_value=0, max_value=len(events)))
    stream = ChatStream()
    for event in events[:stop]:
        stream.feed(event)

    whole = OPENAI_CHAT.read_response(body, lambda: None)
    draft = stream.draft()
    assert (draft.complete, draft.finish_reason) == (False, None)
    for seen, sent in zip(draft.calls, whole.calls, strict=False):
        assert seen.complete is False
        assert (sent.raw or "").startswith(seen.raw or "")


@given(turn=turns, size=sizes, data=st.data())
def test_of_a_broken_off_response_only_items_that_ended_are_complete(
    turn: Turn, size: int, data: Any
):
    body = responses_response("r", "m", turn)
    events = [event for _, event in responses_events(body, size)][:-1]
    stop = data.draw(st.integers(min_value=0, max_value=len(events)))
    stream = ResponsesStream()
    for event in events[:stop]:
        stream.feed(event)

    whole = OPENAI_RESPONSES.read_response(body, lambda: None)
    draft = stream.draft()
    assert (draft.complete, draft.finish_reason) == (False, None)
    for seen, sent in zip(draft.calls, whole.calls, strict=False):
        assert (sent.raw or "").startswith(seen.raw or "")
        assert seen.complete is False or seen.raw == sent.raw


def test_a_text_repeated_in_full_is_not_added_to_its_fragments():
    stream = ResponsesStream()
    for _, event in responses_events(responses_response("r", "m", ONE_CALL), 3):
        stream.feed(event)
        if event["type"] == "response.function_call_arguments.done":
            break

    (call,) = stream.draft().calls
    assert (call.raw, call.complete) == ('{"a": 1}', True)


def chunk(*entries: Any, reason: str | None = None) -> dict[str, Any]:
    delta = {"tool_calls": list(entries)} if entries else {}
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def piece(index: int | None, text: str | None, **more: Any) -> dict[str, Any]:
    function = {"name": more.pop("name")} if "name" in more else {}
    if text is not None:
        function["arguments"] = text
    place = {} if index is None else {"index": index}
    return {**place, "type": "function", "function": function, **more}


def raws(chunks: Iterator[Any] | list[Any]) -> list[tuple[Any, str | None]]:
    stream = ChatStream()
    for each in chunks:
        stream.feed(each)
    stream.feed(chunk(reason="tool_calls"))
    return [(call.call_id, call.raw) for call in stream.draft().calls]


@given(
    left=st.lists(st.text(max_size=5), max_size=6),
    right=st.lists(st.text(max_size=5), max_size=6),
    data=st.data(),
)
def test_interleaved_fragments_go_to_their_own_call(left: list[str], right: list[str], data: Any):
    order = data.draw(st.permutations([0] * len(left) + [1] * len(right)))
    sources = [iter(left), iter(right)]
    chunks = [chunk(piece(0, "", id="a", name="x"), piece(1, "", id="b", name="x"))]
    chunks += [chunk(piece(index, next(sources[index]))) for index in order]

    assert raws(chunks) == [("a", "".join(left)), ("b", "".join(right))]


def test_two_ids_under_one_index_are_two_calls():
    chunks = [
        chunk(piece(0, "", id="a", name="x")),
        chunk(piece(0, '{"n":1}')),
        chunk(piece(0, "", id="b", name="x")),
        chunk(piece(0, '{"n":2}')),
    ]

    assert raws(chunks) == [("a", '{"n":1}'), ("b", '{"n":2}')]


def test_a_first_chunk_with_two_entries_of_one_index_keeps_both_fragments():
    chunks = [
        chunk(piece(0, "", id="z1", name="set"), piece(0, '{"zone": ')),
        chunk(piece(0, '"G2"}')),
    ]

    assert raws(chunks) == [("z1", '{"zone": "G2"}')]


def test_an_id_or_a_name_that_is_repeated_goes_on_with_the_call():
    chunks = [chunk(piece(0, part, id="a", name="x")) for part in ('{"n"', ":", "1}")]

    assert raws(chunks) == [("a", '{"n":1}')]


def test_an_id_that_comes_late_or_blank_is_the_calls_own():
    chunks = [
        chunk(piece(0, "{", name="x")),
        chunk(piece(0, "}", id="late")),
        chunk(piece(1, "{}", id="", name="y")),
    ]

    assert raws(chunks) == [("late", "{}"), ("", "{}")]


def test_whole_calls_without_an_index_stay_apart():
    chunks = [
        chunk(piece(None, '{"n":1}', name="x"), piece(None, '{"n":1}', name="x")),
        chunk(piece(None, '{"n":2}', id="c", name="x")),
    ]

    assert raws(chunks) == [(None, '{"n":1}'), (None, '{"n":1}'), ("c", '{"n":2}')]


def test_an_index_that_jumps_makes_no_call_up():
    assert raws([chunk(piece(7, "{}", id="a", name="x"))]) == [("a", "{}")]


def test_a_full_text_repeated_at_the_end_is_joined_as_it_came():
    chunks = [chunk(piece(0, '{"n":1}', id="a", name="x")), chunk(piece(0, '{"n":1}'))]

    assert raws(chunks) == [("a", '{"n":1}{"n":1}')]


def test_an_object_among_fragments_is_kept_as_arguments_without_a_text():
    stream = ChatStream()
    stream.feed(chunk(piece(0, None, id="a", function={"name": "x", "arguments": {"n": 1}})))
    stream.feed(chunk(reason="stop"))

    (call,) = stream.draft().calls
    assert (call.raw, call.raw_observed, call.arguments) == (None, False, {"n": 1})


def test_places_of_calls_are_told_as_soon_as_their_names_are_known():
    stream, seen = ChatStream(), []
    for each in (
        chunk(piece(0, "", id="a", name="x")),
        chunk(piece(1, "", id="b")),
        chunk(piece(1, "{}", name="y")),
    ):
        stream.feed(each)
        seen.append(list(stream.begun))

    assert seen == [["x"], ["x"], ["x", "y"]]


KEYS = [
    "arguments",
    "args",
    "candidates",
    "choices",
    "content",
    "content_block",
    "contentBlockDelta",
    "contentBlockIndex",
    "contentBlockStart",
    "delta",
    "done",
    "error",
    "finish_reason",
    "finishReason",
    "function",
    "function_call",
    "functionCall",
    "functionResponse",
    "id",
    "index",
    "input",
    "item",
    "item_id",
    "message",
    "messageStop",
    "name",
    "object",
    "output",
    "output_index",
    "parts",
    "partial_json",
    "promptFeedback",
    "response",
    "role",
    "start",
    "status",
    "stopReason",
    "stop_details",
    "stop_reason",
    "system",
    "systemInstruction",
    "text",
    "thread",
    "tool_calls",
    "tools",
    "toolConfig",
    "toolResult",
    "toolSpec",
    "toolUse",
    "toolUseId",
    "type",
]
KINDS = [
    "content_block_delta",
    "content_block_start",
    "error",
    "input_json_delta",
    "message-end",
    "message-start",
    "message_delta",
    "message_start",
    "response.completed",
    "response.created",
    "response.function_call_arguments.delta",
    "response.output_item.added",
    "response.output_item.done",
    "tool-call-delta",
    "tool-call-start",
    "tool_use",
]


@given(
    event=st.recursive(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.text(max_size=3),
            st.sampled_from(KINDS),
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        ),
        max_leaves=30,
    ),
    kind=st.sampled_from(KINDS),
)
def test_no_shape_of_an_event_or_a_body_makes_a_reader_raise(event: Any, kind: str):
    body = event if isinstance(event, dict) else dict.fromkeys(KEYS, event)
    text = json.dumps(body)
    read_error(body)
    for wire in FORMATS:
        stream = wire.assembly(body)
        wire.is_event(body)
        wire.is_response(body)
        wire.is_unfinished(body)
        wire.read_response(body, lambda: text)
        wire.read_tools({"tools": event, "toolConfig": event})
        wire.read_messages({"messages": event, "input": event, "contents": event, "system": event})
        wire.read_previous(body)
        stream.feed(body)
        stream.feed({**body, "type": kind})
        assert stream.draft() is not None
        assert all(isinstance(name, str) and name for name in stream.begun)


def test_a_name_that_comes_in_pieces_is_one_name():
    chunks = [
        chunk(piece(0, "", id="a", name="issue")),
        chunk(piece(0, None, name="_refund")),
        chunk(piece(0, '{"n":1}')),
        chunk(piece(0, "", id="b", name="issue"), piece(0, "", id="b", name="_refund")),
    ]
    stream = ChatStream()
    for each in chunks:
        stream.feed(each)

    found = [(call.name, call.call_id, call.raw) for call in stream.draft().calls]
    assert found == [("issue_refund", "a", '{"n":1}'), ("issue_refund", "b", "")]


def test_another_name_behind_arguments_is_another_call():
    chunks = [chunk(piece(0, '{"n":1}', id="a", name="x")), chunk(piece(0, '{"n":2}', name="y"))]

    assert raws(chunks) == [("a", '{"n":1}'), (None, '{"n":2}')]


def test_choices_that_nobody_asked_for_are_waited_for():
    stream = ChatStream()
    opened = chunk(piece(0, "{}", id="a", name="x"))
    other = {**opened, "choices": [{**opened["choices"][0], "index": 1}]}
    ended = chunk(reason="tool_calls")
    for each in (opened, other, ended):
        stream.feed(each)
    assert not stream.has_ended

    stream.feed({**ended, "choices": [{**ended["choices"][0], "index": 1}]})

    assert stream.has_ended
    assert [call.complete for call in stream.draft().calls] == [True, True]
