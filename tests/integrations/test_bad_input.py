"""What a provider sends against its own format: recorded as what it is, and the program unchanged.

Each test asks twice, with the hooks and without them, and compares what the program saw.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import pytest

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations import uninstrument
from agenttrace.integrations._formats._values import MAX_SOURCE
from tests.support.handed import Handed
from tests.support.sdk_clients import WAYS, Way

STREAMED = [way for way in WAYS if way.is_streamed]
WHOLE = [way for way in WAYS if not way.is_streamed]
EVENTS = {"content-type": "text/event-stream"}
PAGE = {"content-type": "text/html"}
CALLS = (
    ScriptedCall(name="pay", arguments='{"order_id":"A"}', call_id="a"),
    ScriptedCall(name="pay", arguments='{"order_id":"B"}', call_id="b"),
)


def seen(way: Way, turn: Turn) -> str:
    """What the program sees of one answer: events, the response, or the error."""
    with ScriptedProvider([turn], fragment=4) as provider:
        try:
            return repr(way.ask(provider))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
            return f"{type(error).__qualname__}: {error}"


def same(way: Way, turn: Turn) -> str:
    """What the program sees with the hooks, which is what it sees without them."""
    hooked = seen(way, turn)
    uninstrument()
    assert hooked == seen(way, turn)
    return hooked


def text_of(way: Way, turn: Turn) -> str:
    """What the provider would send."""
    with ScriptedProvider([turn], fragment=4) as provider, way.client(provider) as client:
        if way.is_async:
            pytest.fail("ask synchronously")
        raw = way.resource(client).with_streaming_response.create(**way.options({}))
        with raw as response:
            return b"".join(response.iter_bytes()).decode()


def stream_of(way: Way, turn: Turn) -> list[str]:
    """The events that the provider would send, each as it goes over the wire."""
    sync = replace(way, is_async=False)
    return [f"{each}\n\n" for each in text_of(sync, turn).split("\n\n") if each]


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_half_an_event(way: Way, handed: Handed):
    broken = same(way, Turn(calls=CALLS, cut_after=5, cut_inside=True))

    assert "Error" in broken
    assert (handed.response.complete, handed.response.finish_reason) == (False, None)
    assert [call.complete for call in handed.response.calls] == [False]
    assert handed.response.response_id is not None
    assert "Error" in (handed.response.error or "")


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_half_an_event_and_then_a_proper_end_of_the_connection(way: Way, handed: Handed):
    events = stream_of(way, Turn(calls=CALLS))
    handed.requests.clear()
    text = "".join(events[:5]) + events[5][: len(events[5]) // 2]
    same(way, Turn(body=text, headers=EVENTS))

    assert (handed.response.complete, handed.response.finish_reason) == (False, None)
    assert [call.complete for call in handed.response.calls] == [False]


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_an_event_that_is_no_utf8(way: Way, handed: Handed):
    events = [each.encode() for each in stream_of(way, Turn(calls=CALLS))]
    events[4] = events[4].replace(b"{", b"{\xff", 1)
    assert "Error" in same(way, Turn(body=b"".join(events), headers=EVENTS))

    assert handed.response.complete is False
    assert (handed.response.error or "").startswith("UnicodeDecodeError")


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_an_event_that_is_no_json(way: Way, handed: Handed):
    events = stream_of(way, Turn(calls=CALLS))
    events[4] = events[4].replace("{", "{oops", 1)
    assert "Error" in same(way, Turn(body="".join(events), headers=EVENTS))

    assert handed.response.complete is False
    assert "Error" in (handed.response.error or "")


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_an_event_of_an_unknown_kind(way: Way, handed: Handed):
    events = stream_of(way, Turn(calls=CALLS))
    unknown = {"type": "brand.new", "index": 0, "sequence_number": 7, "sparkle": [1, {"a": None}]}
    kinds = [unknown, {}, {"object": "brand.new", "choices": [{"index": 0, "delta": {"n": 1}}]}]
    label = "event: message_start\n" if way.library == "anthropic" else ""
    strange = [f"{label}data: {json.dumps(each)}\n\n" for each in kinds]
    text = "".join(itertools.chain(events[:4], strange, events[4:]))
    same(way, Turn(body=text, headers=EVENTS))

    raws = [(call.call_id, call.raw) for call in handed.response.calls]
    assert raws == [("a", '{"order_id":"A"}'), ("b", '{"order_id":"B"}')]
    assert (handed.response.complete, handed.response.error) == (True, None)


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_an_event_that_is_no_object(way: Way, handed: Handed):
    events = stream_of(way, Turn(calls=CALLS))
    label = "event: ping\n" if way.library == "anthropic" else ""
    text = "".join([*events[:4], f"{label}data: []\n\n", *events[4:]])
    same(way, Turn(body=text, headers=EVENTS))

    assert len(handed.response.calls) == 2


@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_an_index_that_jumps(way: Way, handed: Handed):
    """The second call's number is far from the first one's."""
    events = stream_of(way, Turn(calls=CALLS))
    jumped = [re.sub(r'index": 1\b', 'index": 70', each) for each in events]
    same(way, Turn(body="".join(jumped), headers=EVENTS))

    raws = [(call.call_id, call.index, call.raw) for call in handed.response.calls]
    assert raws == [("a", 0, '{"order_id":"A"}'), ("b", 1, '{"order_id":"B"}')]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_two_calls_with_one_id(way: Way, handed: Handed):
    calls = tuple(replace(call, call_id="same") for call in CALLS)
    same(way, Turn(calls=calls))

    raws = [(call.call_id, call.index, call.raw) for call in handed.response.calls]
    assert raws == [("same", 0, '{"order_id":"A"}'), ("same", 1, '{"order_id":"B"}')]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_body_over_the_limit(way: Way, handed: Handed):
    """A long text, before the calls, over the limit up to which argument texts are sliced."""
    turn = Turn(text="x" * (MAX_SOURCE + 1), calls=CALLS)
    with ScriptedProvider([turn], fragment=100_000) as provider:
        way.ask(provider)

    (first, _) = handed.response.calls
    told = (first.raw, first.raw_observed, first.arguments)
    if way.takes_any_text:
        assert told == ('{"order_id":"A"}', True, None)
    else:
        assert told == (None, False, {"order_id": "A"})
    assert len(handed.response.text or "") == MAX_SOURCE + 1


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    ("body", "headers", "error"),
    [
        ('{"error": {"message": "no", "type": "t"}}', {}, "HTTP 400: t: no"),
        ('{"error": ', {}, 'HTTP 400: {"error":'),
        ("<h1>no</h1>", PAGE, "HTTP 400: <h1>no</h1>"),
        (b"\xff\xfe", PAGE, "HTTP 400: "),
        ("", {}, "HTTP 400: "),
        ("[]", {}, "HTTP 400: []"),
        ('{"detail": "no"}', {}, "HTTP 400: "),
    ],
)
def test_an_error_in_json_or_in_html(
    body: str | bytes, headers: dict[str, str], error: str, way: Way, handed: Handed
):
    assert "BadRequestError" in same(way, Turn(status=400, body=body, headers=headers))

    assert (handed.response.error or "").startswith(error)
    assert handed.response.calls == ()


@pytest.mark.parametrize("way", WHOLE, ids=str)
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ("<h1>sign in</h1>", PAGE),
        ("[]", {}),
        ("7", {}),
        ("null", {}),
        ('{"id": ', {}),
        (b'{"id": "\xff"}', {}),
        ("", {}),
    ],
)
def test_a_body_that_is_no_object(
    body: str | bytes, headers: dict[str, str], way: Way, handed: Handed
):
    same(way, Turn(body=body, headers=headers))

    assert len(handed.requests) == 1
    assert len(handed.responses) + len(handed.run.lost) == 1
    assert all(response.error for response in handed.responses)


@pytest.mark.parametrize("way", WHOLE, ids=str)
def test_a_body_of_an_unknown_shape_is_counted_as_lost(way: Way, handed: Handed):
    same(way, Turn(body={"surprise": 1}))

    assert (handed.responses, handed.run.lost) == ([], ["unrecognised-response"])


@pytest.mark.parametrize("way", STREAMED, ids=str)
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ("<h1>sign in</h1>", PAGE),
        ('{"error": {"message": "no"}}', {"content-type": "application/json"}),
        ("", EVENTS),
    ],
)
def test_an_answer_that_is_no_stream(body: str, headers: dict[str, str], way: Way, handed: Handed):
    same(way, Turn(body=body, headers=headers))

    assert (handed.response.complete, handed.response.calls) == (False, ())
