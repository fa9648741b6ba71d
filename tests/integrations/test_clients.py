"""What holds for the hooks on both SDKs and all their clients, with a loopback provider."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations import settle_streams, uninstrument
from tests.support.handed import Handed
from tests.support.sdk_clients import MESSAGES, PARAMETERS, SYNC_WHOLE, WAYS, Way

WHOLE = [way for way in WAYS if not way.is_streamed]
STREAMED = [way for way in WAYS if way.is_streamed]
SYNC_STREAMED = [way for way in STREAMED if not way.is_async]
BY_IDS = {"chat": "chatcmpl", "responses": "resp", "messages": "msg", "beta": "msg"}
REASONS = {
    "chat": "tool_calls",
    "responses": "completed",
    "messages": "tool_use",
    "beta": "tool_use",
}
CUT = {"chat": "length", "responses": "max_output_tokens", "messages": "max_tokens"}

RAW_TEXTS = {
    "ordinary": '{"order_id":"A-104","amount_cents":"9800"}',
    "spaced": '{ "amount_cents" :  9800.0,\n "order_id":"A-104"}',
    "malformed": '{"order_id":"A-104","amount',
    "duplicate keys": '{"order_id":"A","order_id":"B"}',
    "empty": "",
    "big integer": '{"amount_cents":123456789012345678901234567890}',
    "unicode": '{"note":"Grüße \\u00e9 日本 🙂"}',
    "lone surrogate": '{"note":"\\ud800"}',
    "not an object": '"pay everything"',
}
ALWAYS_TEXT = {"responses-sync-stream", "responses-async-stream"}
"""A stream that ends by repeating each call's whole text, so that none is never absent."""
NO_OBJECTS = {"malformed", "empty", "not an object"}


def pay(arguments: str | None = '{"order_id":"A-104"}', **more: Any) -> ScriptedCall:
    return ScriptedCall(name="pay", arguments=arguments, **more)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_argument_text_is_recorded_as_the_provider_sent_it(way: Way, handed: Handed):
    texts = {k: v for k, v in RAW_TEXTS.items() if way.takes_any_text or k not in NO_OBJECTS}
    turns = [Turn(calls=(pay(raw, call_id=kind),)) for kind, raw in texts.items()]
    with ScriptedProvider(turns) as provider:
        way.ask(provider, times=len(turns))

    calls = [response.calls[0] for response in handed.responses]
    got = {call.call_id: call.raw or "" for call in calls}  # an empty text is sent as no fragment
    assert got == texts
    assert {(c.name, c.index, c.raw_observed, c.complete) for c in calls} == {
        ("pay", 0, True, True)
    }


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_is_recorded_once_with_all_its_ids(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(), pay()), text="Two payments.")], name="x") as provider:
        way.ask(provider)

    assert handed.response.response_id == f"{BY_IDS[way.api]}-x-0001"
    assert handed.response.provider_request_id == "req-x-0001"
    assert (handed.response.provider, handed.response.model) == (way.library, "m")
    assert handed.response.finish_reason == REASONS[way.api]
    assert (handed.response.text, handed.response.complete) == ("Two payments.", True)
    assert [call.index for call in handed.response.calls] == [0, 1]
    assert len({call.call_id for call in handed.response.calls}) == 2
    assert handed.stamps == handed.requests


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_response_without_calls_is_recorded(way: Way, handed: Handed):
    with ScriptedProvider([Turn(text="I cannot do that.")]) as provider:
        way.ask(provider)

    assert (handed.response.text, handed.response.calls) == ("I cannot do that.", ())


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_tools_and_messages_of_the_request_are_handed_over(way: Way, handed: Handed):
    with ScriptedProvider([Turn(text="ok")]) as provider:
        way.ask(provider)

    (request,) = handed.requests
    assert [(tool.name, tool.schema) for tool in request.tools or ()] == [("pay", PARAMETERS)]
    assert list(request.messages or ()) == MESSAGES


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_retried_request_is_one_request_and_one_response(way: Way, handed: Handed):
    boom = Turn(status=500, headers={"retry-after-ms": "1"}, body={"error": {"message": "boom"}})
    with ScriptedProvider([boom, boom, Turn(calls=(pay(),))]) as provider:
        way.ask(provider, max_retries=2)

    assert len(provider.requests) == 3
    assert len(handed.requests) == 1
    assert handed.response.provider_request_id == "req-demo-0003"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_error_status_is_recorded_and_raised_as_it_is(way: Way, handed: Handed):
    error = {"message": "no such tool", "type": "invalid_request_error"}
    refused = Turn(status=400, body={"type": "error", "error": error})
    with ScriptedProvider([refused]) as provider, pytest.raises(way.sdk.BadRequestError):
        way.ask(provider)

    assert handed.response.error == "HTTP 400: invalid_request_error: no such tool"
    assert handed.response.provider_request_id == "req-demo-0001"
    assert handed.stamps == handed.requests


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_error_page_is_recorded_as_text(way: Way, handed: Handed):
    page = Turn(status=502, headers={"content-type": "text/html"}, body="<h1>bad gateway</h1>")
    with ScriptedProvider([page]) as provider, pytest.raises(way.sdk.InternalServerError):
        way.ask(provider)

    assert handed.response.error == "HTTP 502: <h1>bad gateway</h1>"


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_a_long_error_page_is_recorded_by_its_beginning(way: Way, handed: Handed):
    page = Turn(status=502, headers={"content-type": "text/html"}, body="<p>" * 100_000)
    with ScriptedProvider([page]) as provider, pytest.raises(way.sdk.InternalServerError):
        way.ask(provider)

    assert 1_000 < len(handed.response.error or "") < 3_000


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_request_that_nobody_answers_is_recorded_as_that(way: Way, handed: Handed):
    with ScriptedProvider([]) as provider:
        pass

    with pytest.raises(way.sdk.APIConnectionError):
        way.ask(provider)

    assert (handed.response.error or "").startswith("APIConnectionError")
    assert (handed.response.complete, len(handed.requests)) == (False, 1)


@pytest.mark.parametrize("way", WHOLE, ids=str)
def test_a_body_that_is_no_response_is_recorded_as_an_error(way: Way, handed: Handed):
    page = Turn(headers={"content-type": "text/html"}, body="<h1>sign in</h1>")
    with ScriptedProvider([page]) as provider:
        answer = way.ask(provider)

    assert answer == "<h1>sign in</h1>"
    assert handed.response.error == "the answer is no JSON object, and became a str"


@pytest.mark.parametrize("way", WHOLE, ids=str)
def test_an_error_in_a_body_with_status_200_is_recorded_as_an_error(way: Way, handed: Handed):
    body = {"error": {"message": "overloaded", "code": 529}}
    with ScriptedProvider([Turn(body=body)]) as provider:
        way.ask(provider)

    assert handed.response.error == "529: overloaded"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_of_a_cut_response_only_the_call_being_written_can_be_unfinished(way: Way, handed: Handed):
    endings = {'{"a":1': False, "": False, '{"a":1,}': False}
    if way.api != "responses":  # a response's items have a status of their own
        endings['{"a":1}'] = True
    reason = CUT.get(way.api, CUT["messages"])
    turns = [Turn(calls=(pay(), pay(raw)), finish_reason=reason) for raw in endings]
    with ScriptedProvider(turns) as provider:
        way.ask(provider, times=len(turns))

    assert [r.calls[0].complete for r in handed.responses] == [True] * len(turns)
    if way.takes_any_text:
        got = {r.calls[1].raw or "": r.calls[1].complete for r in handed.responses}
        assert got == endings
    else:  # the provider parses by itself, so half a text would look whole
        assert {r.calls[1].complete for r in handed.responses} == {None}
    assert {(r.finish_reason, r.complete) for r in handed.responses} == {(reason, True)}


@pytest.mark.parametrize("way", [w for w in WAYS if w.api != "responses"], ids=str)
def test_a_call_without_an_id_gets_none(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(has_id=False),))]) as provider:
        way.ask(provider)

    assert handed.call.call_id is None


@pytest.mark.parametrize("way", [w for w in WAYS if str(w) not in ALWAYS_TEXT], ids=str)
def test_absent_argument_text_is_none_and_observed(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(None),))]) as provider:
        way.ask(provider)

    assert (handed.call.raw, handed.call.raw_observed, handed.call.arguments) == (None, True, None)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_answer_and_the_request_are_those_without_hooks(way: Way, handed: Handed):
    turn = Turn(calls=(pay(), pay('{"order_id":"B" }')), text="both")
    with ScriptedProvider([turn]) as provider:
        hooked, sent = way.ask(provider), provider.requests[0].body
    uninstrument()
    with ScriptedProvider([turn]) as provider:
        plain, sent_plain = way.ask(provider), provider.requests[0].body

    assert (repr(hooked), sent) == (repr(plain), sent_plain)
    assert len(handed.responses) == 1


@pytest.mark.parametrize("parsed", [0, 1, 2])
@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_a_raw_response_is_recorded_once_however_often_it_is_parsed(
    way: Way, parsed: int, handed: Handed
):
    with ScriptedProvider([Turn(calls=(pay(),))]) as provider, way.client(provider) as client:
        raw = way.resource(client).with_raw_response.create(**way.options({}))
        for _ in range(parsed):
            raw.parse()

    assert handed.call.raw == '{"order_id":"A-104"}'


@pytest.mark.parametrize("way", SYNC_STREAMED, ids=str)
def test_a_raw_stream_is_recorded_when_it_is_parsed_and_read(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(),))]) as provider, way.client(provider) as client:
        raw = way.resource(client).with_raw_response.create(**way.options({}))
        list(raw.parse())

    assert handed.call.raw == '{"order_id":"A-104"}'


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_a_streaming_raw_response_is_recorded_when_it_is_parsed(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(),))]) as provider, way.client(provider) as client:
        raw = way.resource(client).with_streaming_response.create(**way.options({}))
        with raw as response:
            response.parse()

    assert handed.call.raw == '{"order_id":"A-104"}'


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_a_body_the_program_reads_itself_is_a_request_without_a_response(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(),))]) as provider, way.client(provider) as client:
        raw = way.resource(client).with_streaming_response.create(**way.options({}))
        with raw as response:
            b"".join(response.iter_bytes())

    assert (len(handed.requests), handed.responses) == (1, [])


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_a_stream_that_breaks_off_is_recorded_as_far_as_it_came(way: Way, handed: Handed):
    cut = 5 if way.library == "anthropic" else 4  # two events precede the first block
    turn = Turn(calls=(pay(), pay()), cut_after=cut)
    with ScriptedProvider([turn], fragment=4) as provider, pytest.raises(Exception, match=r"."):
        way.ask(provider)

    response = handed.response
    assert (response.complete, response.finish_reason) == (False, None)
    assert (response.calls[0].raw, response.calls[0].complete) == ('{"order_', False)
    assert response.response_id is not None
    assert "Error" in (response.error or "")


@pytest.mark.parametrize("way", SYNC_STREAMED, ids=str)
def test_a_stream_that_nobody_reads_on_belongs_to_the_run_that_asked(way: Way, handed: Handed):
    turn = Turn(calls=(pay(), pay()))
    with ScriptedProvider([turn]) as provider, way.client(provider) as client:
        stream = way.create(client)(**way.options({}))
        for _ in range(3):
            next(stream)
        settle_streams(handed.run)
        list(stream)

    assert (handed.response.complete, handed.stamps) == (False, handed.requests)
    assert handed.response.calls[0].complete is False
    assert set(handed.run.lost) == {"fragment-after-end"}


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_calls_of_a_stream_are_open_before_it_ends(way: Way, handed: Handed):
    with ScriptedProvider([Turn(calls=(pay(), pay()))]) as provider:
        way.ask(provider)

    assert handed.opened == [(0, "pay"), (1, "pay")]


@pytest.mark.parametrize("way", SYNC_STREAMED, ids=str)
def test_each_call_is_open_before_the_program_sees_its_first_fragment(way: Way, handed: Handed):
    turn = Turn(calls=(pay('{"n":"first"}'), pay('{"n":"second"}')))
    seen = {}
    with ScriptedProvider([turn], fragment=30) as provider, way.client(provider) as client:
        for event in way.create(client)(**way.options({})):
            for word in ("first", "second"):
                if word in repr(event):
                    seen.setdefault(word, len(handed.opened))

    assert seen == {"first": 1, "second": 2}


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_fragments_that_come_in_turns_or_twice_make_the_same_calls(way: Way, handed: Handed):
    calls = (pay('{"order_id":"A"}', call_id="a"), pay('{"order_id":"B"}', call_id="b"))
    turns = [
        Turn(calls=calls, interleaved=interleaved, repeat_opening=repeated)
        for interleaved in (False, True)
        for repeated in (False, True)
    ]
    with ScriptedProvider(turns, fragment=3) as provider:
        way.ask(provider, times=len(turns))

    found = [[(call.call_id, call.raw) for call in r.calls] for r in handed.responses]
    assert found == [[("a", '{"order_id":"A"}'), ("b", '{"order_id":"B"}')]] * len(turns)


@pytest.mark.parametrize("way", SYNC_STREAMED, ids=str)
def test_a_stream_is_not_held_back(way: Way, handed: Handed):
    """Each event is sent only after the one before was seen by the program."""
    turn = Turn(calls=(pay(),), delay_s=0.05)
    with ScriptedProvider([turn]) as provider, way.client(provider) as client:
        stream = iter(way.create(client)(**way.options({})))
        next(stream)
        assert handed.responses == []
        list(stream)

    assert len(handed.responses) == 1


@pytest.mark.parametrize("library", ["openai", "anthropic"])
def test_parallel_threads_and_tasks_keep_their_answers_apart(library: str, handed: Handed):
    def script(request: Any) -> Turn:
        text = request.body["messages"][0]["content"]
        return Turn(calls=(pay(json.dumps({"order_id": text})),))

    def message(number: int) -> Any:
        return [{"role": "user", "content": f"order {number}"}]

    api = "chat" if library == "openai" else "messages"
    sync, aio = Way(api, False, False), Way(api, True, False)

    async def ask_all(provider: ScriptedProvider) -> None:
        async with aio.client(provider) as client:
            asked = [aio.options({"messages": message(n)}) for n in range(100)]
            await asyncio.gather(*(aio.create(client)(**options) for options in asked))

    with ScriptedProvider(script) as provider:
        with sync.client(provider) as client, ThreadPoolExecutor(16) as pool:
            asked = [sync.options({"messages": message(n)}) for n in range(100, 200)]
            list(pool.map(lambda options: sync.create(client)(**options), asked))
        asyncio.run(ask_all(provider))

    heard = [stamp.messages[0]["content"] for stamp in handed.stamps]
    answered = [json.loads(r.calls[0].raw or "")["order_id"] for r in handed.responses]
    assert answered == heard
    assert sorted(heard) == sorted(f"order {n}" for n in range(200))


@pytest.mark.parametrize("way", [w for w in WHOLE if w.is_async], ids=str)
def test_cancelling_a_request_cancels_it_and_is_recorded(way: Way, handed: Handed):
    async def cancelled(provider: ScriptedProvider) -> bool:
        async with way.client(provider) as client:
            task = asyncio.create_task(way.create(client)(**way.options({})))
            while not handed.requests:
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return True
            return False

    with ScriptedProvider([Turn(text="late")]) as provider:
        assert asyncio.run(cancelled(provider))

    assert (handed.response.error, handed.response.complete) == ("CancelledError", False)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_fault_of_ours_never_reaches_the_program(
    way: Way, handed: Handed, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ours")

    monkeypatch.delenv("AGENTTRACE_STRICT")
    for name in ("begin_request", "record_response", "open_response", "remember"):
        monkeypatch.setattr(f"agenttrace.integrations._exchange.{name}", broken)
    with ScriptedProvider([Turn(text="fine", calls=(pay(),))]) as provider:
        assert way.ask(provider)
