"""The model boundary: what a response leaves on record, and whose it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from agenttrace import capture
from agenttrace.capture import ToolOffer, begin_request, record_response
from agenttrace.domain import Phase, Response, Run, ToolCall
from agenttrace.records import RecordKind, ToolSchema
from agenttrace.testing import Recording, isolated, recording
from tests.support.drafts import call, refund, response


@pytest.fixture
def recorded() -> Iterator[Recording]:
    with recording() as recorded:
        yield recorded


def responses(recorded: Recording) -> list[Response]:
    return [r.payload for r in recorded.records() if isinstance(r.payload, Response)]


def calls(recorded: Recording) -> list[ToolCall]:
    return [
        r.payload
        for r in recorded.records()
        if r.kind is RecordKind.CALL and isinstance(r.payload, ToolCall)
    ]


def ask(*messages: object, previous: str | None = None, **more: object) -> None:
    stamp = begin_request(None, messages, previous_response_id=previous)
    record_response(response(**more), stamp)


def test_a_calls_raw_text_stays_as_it_came(recorded):
    raw = '{ "amount_cents":9800.0 ,"order_id" : "A-104"}'

    (ref,) = record_response(response(call("issue_refund", raw)), begin_request(None, None))

    (one,) = calls(recorded)
    assert (one.ref, one.raw, one.raw_length) == (ref, raw, len(raw))
    assert one.arguments == {"amount_cents": 9800.0, "order_id": "A-104"}


@pytest.mark.parametrize("raw", ['{"a": 98', "[1]", '{"a": 1, "a": 2}', "refund it"])
def test_text_that_is_no_object_has_no_arguments_and_keeps_its_text(recorded, raw):
    record_response(response(call("issue_refund", raw)), begin_request(None, None))

    (one,) = calls(recorded)
    assert (one.raw, one.arguments, one.digest) == (raw, None, None)


@pytest.mark.parametrize("raw", [None, "", "  ", "{}"])
def test_absent_blank_and_empty_text_are_no_arguments(recorded, raw):
    record_response(response(call("ping", raw)), begin_request(None, None))

    (one,) = calls(recorded)
    assert (one.raw, one.arguments) == (raw, {})


def test_text_out_of_reach_is_not_taken_for_absent(recorded):
    record_response(response(call("ping", None, raw_observed=False)), begin_request(None, None))

    (one,) = calls(recorded)
    assert (one.raw, one.raw_observed, one.arguments) == (None, False, None)


def test_a_format_that_sends_an_object_has_arguments_without_text(recorded):
    draft = response(call("ping", None, raw_observed=False, arguments={"n": 1}))

    record_response(draft, begin_request(None, None))

    assert calls(recorded)[0].arguments == {"n": 1}


def test_a_response_without_calls_is_recorded(recorded):
    assert record_response(response(text="Sorry."), begin_request(None, None)) == ()

    (one,) = responses(recorded)
    assert (one.calls, one.text, one.text_length, one.finish_reason) == (0, "Sorry.", 6, "stop")


def test_the_response_carries_the_stamps_request_id(recorded):
    stamp = begin_request(None, None)
    record_response(response(refund()), stamp)

    assert responses(recorded)[0].request_id == stamp.request_id == calls(recorded)[0].request_id


def test_parallel_calls_keep_place_and_order(recorded):
    refs = record_response(
        response(refund(1, call_id="a"), refund(2, call_id="b", index=1)), begin_request(None, None)
    )

    assert [(c.ref, c.call_id, c.index) for c in calls(recorded)] == [
        (refs[0], "a", 0),
        (refs[1], "b", 1),
    ]


def test_secrets_of_one_call_are_masked_in_every_text_of_the_response(recorded):
    secret = "s3cret-value-of-the-desk"
    draft = response(
        call("note", f'{{"text": "use {secret}"}}', "a"),
        call("login", f'{{"password": "{secret}"}}', "b", 1),
        text=f"I use {secret}.",
    )

    record_response(draft, begin_request(None, None))

    assert secret not in repr(recorded.records())


# Turns


def test_responses_are_numbered_within_their_run(recorded):
    for number in range(3):
        ask(response_id=f"resp_{number}")

    assert [one.turn for one in responses(recorded)] == [1, 2, 3]


def test_a_continued_response_is_one_turn_after_the_one_it_continues(recorded):
    ask(response_id="a")
    ask(response_id="b", previous="a")
    ask(response_id="c", previous="a")
    ask(response_id="d", previous="c")

    assert [one.turn for one in responses(recorded)] == [1, 2, 2, 3]


# Messages


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_only_messages_new_since_the_last_response_are_recorded(recorded):
    history = [user("one")]
    ask(*history)
    history += [{"role": "assistant", "content": "two"}, user("three")]
    ask(*history)

    assert [[m.content for m in one.messages] for one in responses(recorded)] == [
        ["one"],
        ["two", "three"],
    ]


def test_a_request_that_was_never_answered_takes_no_message_away(recorded):
    begin_request(None, [user("one")])
    ask(user("one"))

    assert [m.content for m in responses(recorded)[0].messages] == ["one"]


def test_a_compacted_history_shows_what_is_new_in_it(recorded):
    ask(user("one"), user("two"), user("three"))
    ask(user("summary"), user("three"), user("four"))

    assert [m.content for m in responses(recorded)[1].messages] == ["summary", "four"]


def test_input_of_a_conversation_that_the_provider_keeps_is_all_new(recorded):
    ask(user("yes"), response_id="a")
    ask(user("yes"), previous="a")

    assert [m.content for m in responses(recorded)[1].messages] == ["yes"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "done"}],
        },
    ],
    ids=["chat", "responses", "messages"],
)
def test_a_result_handed_back_is_known_by_its_call(recorded, message):
    ask(message)

    (one,) = responses(recorded)[0].messages
    assert (one.role, one.call_id, one.content) == ("tool", "call_1", "done")


# Tools


def test_a_tools_schema_is_recorded_once_a_run_and_again_when_it_changes(recorded):
    for schema in ({"type": "object"}, {"type": "object"}, {"type": "object", "required": ["a"]}):
        record_response(response(), begin_request([ToolOffer("ping", schema)], None))

    schemas = [r.payload for r in recorded.records() if isinstance(r.payload, ToolSchema)]
    assert len(schemas) == 2
    digests = [one.tools_digest for one in responses(recorded)]
    assert digests[0] == digests[1] != digests[2]


def test_no_tools_and_tools_not_said_are_kept_apart(recorded):
    record_response(response(), begin_request([], None))
    record_response(response(), begin_request(None, None))

    assert [one.tools_offered for one in responses(recorded)] == [(), None]


# Whose it is


def test_an_answer_read_in_another_thread_belongs_to_the_run_that_asked():
    with recording() as asking:
        stamp = begin_request(None, None)
        with isolated(), recording():
            reader = threading.Thread(target=record_response, args=(response(refund()), stamp))
            reader.start()
            reader.join()

    assert len(calls(asking)) == 1


def test_agent_and_phase_are_those_of_the_request(recorded):
    scope = capture.Scope(run=recorded.state, agent="helper", phase=Phase.SETUP)
    token = capture.enter_scope(scope)
    stamp = begin_request(None, None)
    capture.leave_scope(token)

    record_response(response(refund()), stamp)

    (one,) = calls(recorded)
    assert (one.agent, one.phase) == ("helper", Phase.SETUP)


def test_a_call_can_be_linked_to_before_it_is_complete(recorded):
    opened = capture.open_response(begin_request(None, None), model="gpt-x")
    early = opened.open_call(0, "issue_refund")
    assert calls(recorded) == []

    assert opened.close(response(refund())) == (early,)


def test_a_run_with_a_given_id_keeps_it():
    with recording(Run(run_id="mine")) as recorded:
        ask()

    assert {r.run.run_id for r in recorded.records()} == {"mine"}
