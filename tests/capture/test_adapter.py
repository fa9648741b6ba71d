"""The adapter boundary by hand: what is handed on, what is refused, and which call it answers."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator

import pytest

from agenttrace import adapter, trace
from agenttrace.capture import begin_request, record_response
from agenttrace.domain import Boundary, Evidence
from agenttrace.errors import ConfigurationError
from agenttrace.testing import Recording, recording
from tests.support.drafts import call, refund, response


@pytest.fixture
def recorded() -> Iterator[Recording]:
    with recording() as recorded:
        yield recorded


@trace
def issue_refund(order_id: str, amount_cents: int) -> str:
    if amount_cents == 0:
        raise ValueError("nothing to refund")
    return "done"


@adapter
def parse(name: str, raw: str, call_id: str | None = None) -> dict[str, object]:
    arguments = json.loads(raw)
    if "order_id" not in arguments:
        raise KeyError("order_id")
    return arguments


def asked(*drafts: object) -> tuple[str, ...]:
    return record_response(response(*drafts), begin_request(None, None))


RAW = '{"order_id": "A-104", "amount_cents": 9800}'
ARGUMENTS = {"order_id": "A-104", "amount_cents": 9800}


def ended(recorded: Recording) -> Evidence:
    return recorded.evidence()


def test_the_decorator_records_what_the_parser_hands_on(recorded):
    (ref,) = asked(refund())

    assert parse("issue_refund", RAW, "call_1") == ARGUMENTS

    (one,) = ended(recorded).adapter
    assert (one.name, one.arguments, one.call_id, one.link) == (
        "issue_refund",
        ARGUMENTS,
        "call_1",
        ref,
    )


def test_equal_payloads_have_equal_digests_at_model_and_adapter(recorded):
    asked(refund())
    parse("issue_refund", RAW, "call_1")

    evidence = ended(recorded)
    assert evidence.model[0].digest == evidence.adapter[0].digest is not None


def test_the_execution_that_follows_answers_the_parsed_call(recorded):
    asked(refund())
    issue_refund(**parse("issue_refund", RAW, "call_1"))

    evidence = ended(recorded)
    (one,) = evidence.executor
    assert (one.link, one.call_id, one.turn) == (evidence.adapter[0].ref, "call_1", 1)


def test_a_parser_that_raises_has_refused(recorded):
    asked(call("issue_refund", "{}"))

    with pytest.raises(KeyError):
        parse("issue_refund", "{}", "call_1")

    (one,) = ended(recorded).adapter
    assert (one.error, one.error_type, one.arguments) == ("KeyError: 'order_id'", "KeyError", None)


def test_an_async_parser_is_recorded_when_it_is_done(recorded):
    @adapter
    async def later(name: str, raw: str) -> tuple[str, dict[str, object]]:
        await asyncio.sleep(0)
        return f"shop_{name}", json.loads(raw)

    asyncio.run(later("refund", RAW))

    (one,) = ended(recorded).adapter
    assert (one.name, one.arguments) == ("shop_refund", ARGUMENTS)


def test_calls_parsed_together_are_told_apart_by_their_arguments(recorded):
    asked(refund(1, call_id="a"), refund(2, call_id="b", index=1))
    parsed = [
        parse("issue_refund", f'{{"order_id": "A-104", "amount_cents": {n}}}', call_id)
        for n, call_id in ((1, "a"), (2, "b"))
    ]
    for arguments in reversed(parsed):
        issue_refund(**arguments)

    executed = {one.call_id: one.arguments["amount_cents"] for one in ended(recorded).executor}
    assert executed == {"a": 1, "b": 2}


def test_a_changed_call_among_several_is_linked_by_nobody(recorded):
    asked(refund(1, call_id="a"), refund(2, call_id="b", index=1))
    for n, call_id in ((1, "a"), (2, "b")):
        parse("issue_refund", f'{{"order_id": "A-104", "amount_cents": {n}}}', call_id)
    issue_refund("A-104", 3)

    assert [one.link for one in ended(recorded).executor] == [None]


@pytest.mark.parametrize(
    "given",
    [
        {"id": "call_1", "function": {"name": "issue_refund", "arguments": RAW}},
        {"type": "function_call", "call_id": "call_1", "name": "issue_refund", "arguments": RAW},
    ],
    ids=["chat", "responses"],
)
def test_a_call_given_as_an_object_names_itself(recorded, given):
    @adapter
    def read(tool_call: dict[str, object]) -> dict[str, object]:
        return json.loads(RAW)

    asked(refund())
    read(given)

    (one,) = ended(recorded).adapter
    assert (one.name, one.call_id) == ("issue_refund", "call_1")


def test_a_call_object_of_the_sdk_names_itself(recorded):
    chat = pytest.importorskip("openai.types.chat")
    given = chat.ChatCompletionMessageFunctionToolCall(
        id="call_1", type="function", function={"name": "issue_refund", "arguments": RAW}
    )

    @adapter
    def read(tool_call: object) -> dict[str, object]:
        return json.loads(RAW)

    read(given)

    (one,) = ended(recorded).adapter
    assert (one.name, one.call_id) == ("issue_refund", "call_1")


# Around dispatch


def test_the_tool_inside_a_dispatch_answers_its_call(recorded):
    (ref,) = asked(refund())

    with adapter(name="issue_refund", call_id="call_1", arguments=ARGUMENTS):
        issue_refund(**ARGUMENTS)

    evidence = ended(recorded)
    assert evidence.adapter[0].link == ref
    assert evidence.executor[0].link == evidence.adapter[0].ref


def test_running_the_tool_again_inside_a_dispatch_is_a_repeat_of_that_call(recorded):
    with adapter(name="issue_refund", call_id="call_1", arguments=ARGUMENTS):
        issue_refund(**ARGUMENTS)
        issue_refund(**ARGUMENTS)

    assert [(e.call_id, e.attempt) for e in ended(recorded).executor] == [
        ("call_1", 1),
        ("call_1", 2),
    ]


def test_a_tool_called_by_the_dispatched_tool_is_its_child_and_no_repeat(recorded):
    @trace(name="outer")
    def outer() -> str:
        return issue_refund(**ARGUMENTS)

    with adapter(name="outer", call_id="call_1", arguments={}):
        outer()

    child, parent = sorted(ended(recorded).executor, key=lambda one: one.name)
    assert (child.parent, child.call_id) == (parent.ref, None)


def test_an_exception_before_the_tool_was_entered_is_a_refusal(recorded):
    error = RuntimeError("policy says no")
    with (
        pytest.raises(RuntimeError) as caught,
        adapter(name="issue_refund", call_id="call_1", arguments=ARGUMENTS),
    ):
        raise error

    (one,) = ended(recorded).adapter
    assert caught.value is error
    assert (one.error, one.arguments) == ("RuntimeError: policy says no", None)


def test_the_tools_own_exception_is_no_refusal(recorded):
    arguments = {"order_id": "A-104", "amount_cents": 0}
    with (
        pytest.raises(ValueError, match="nothing to refund"),
        adapter(name="issue_refund", call_id="call_1", arguments=arguments),
    ):
        issue_refund(**arguments)

    (one,) = ended(recorded).adapter
    assert (one.error, one.arguments) == (None, arguments)


def test_the_exception_of_an_unrecorded_tool_is_not_taken_for_a_refusal(recorded):
    with (
        pytest.raises(ValueError, match="x"),
        adapter(name="nobody_decorated_this", call_id="call_1", arguments={}),
    ):
        raise ValueError("x")

    assert ended(recorded).adapter[0].error is None


def test_arguments_made_inside_the_block_are_handed_on(recorded):
    with adapter(name="issue_refund", call_id="call_1") as dispatch:
        arguments = json.loads(RAW)
        dispatch.hand_on(arguments=arguments)
        issue_refund(**arguments)

    assert ended(recorded).adapter[0].arguments == ARGUMENTS


def test_what_is_handed_on_is_copied_before_the_tool_changes_it(recorded):
    arguments: dict[str, object] = {"items": [1]}

    @trace
    def empty(items: list[int]) -> None:
        items.clear()

    with adapter(name="empty", call_id="c", arguments=arguments):
        empty(**arguments)  # type: ignore[arg-type]

    assert ended(recorded).adapter[0].arguments == {"items": [1]}


# Ids that repeat


def test_a_repeated_call_id_means_the_newest_call(recorded):
    record_response(response(refund(1), response_id="r1"), begin_request(None, None))
    parse("issue_refund", '{"order_id": "A-104", "amount_cents": 1}', "call_1")
    (second,) = record_response(response(refund(2), response_id="r2"), begin_request(None, None))
    parse("issue_refund", '{"order_id": "A-104", "amount_cents": 2}', "call_1")

    assert ended(recorded).adapter[1].link == second


def test_two_equal_ids_in_one_response_are_told_apart_by_arguments_or_not_at_all(recorded):
    refs = asked(refund(1), refund(2, index=1))
    parse("issue_refund", '{"order_id": "A-104", "amount_cents": 2}', "call_1")
    parse("issue_refund", '{"order_id": "A-104", "amount_cents": 1}', "call_1")
    asked(refund(1), refund(2, index=1))
    parse("issue_refund", '{"order_id": "A-104", "amount_cents": 7}', "call_1")

    assert [one.link for one in ended(recorded).adapter] == [refs[1], refs[0], None]


# What is known to be seen


def test_only_recorded_tools_are_known_to_pass_unless_more_is_said():
    with recording() as recorded:
        parse("issue_refund", RAW)
    seen = recorded.evidence().observed[Boundary.ADAPTER]
    assert (seen.everything, seen.tools) == (False, {"issue_refund"})

    @adapter(sees="all")
    def parse_all(name: str, raw: str) -> dict[str, object]:
        return json.loads(raw)

    with recording() as recorded:
        parse_all("issue_refund", RAW)
    assert recorded.evidence().observed[Boundary.ADAPTER].everything


def test_a_decorated_parser_can_be_copied():
    assert copy.deepcopy(parse) is parse


def test_decorating_what_cannot_be_called_is_refused():
    with pytest.raises(ConfigurationError, match="not int"):
        adapter(3)  # type: ignore[type-var]
