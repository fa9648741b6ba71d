"""Clients used in ways that are allowed and rare: the program goes on as without us, and the record
is of what happened.
"""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import threading
import time
from typing import Any

import httpx2
import pytest
from openai import OpenAI

from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations import uninstrument
from tests.support.handed import Handed
from tests.support.sdk_clients import SYNC_WHOLE, WAYS, Way

SYNC_STREAMED = [way for way in WAYS if way.is_streamed and not way.is_async]
ASYNC_STREAMED = [way for way in WAYS if way.is_streamed and way.is_async]
TURN = Turn(calls=(ScriptedCall(name="pay", arguments='{"order_id":"A-104"}'),))
PATHS = {"chat": "/chat/completions", "responses": "/responses"}


@pytest.mark.parametrize("way", SYNC_STREAMED, ids=str)
def test_a_second_reader_that_is_refused_ends_no_stream(way: Way, handed: Handed):
    refused: list[BaseException] = []

    def read() -> None:
        while True:
            try:
                next(stream)
            except StopIteration:
                return
            except ValueError as error:
                refused.append(error)
                time.sleep(0.001)  # whoever reads has its turn

    turn = Turn(calls=TURN.calls, delay_s=0.1)
    with ScriptedProvider([turn]) as provider, way.client(provider) as client:
        stream = way.create(client)(**way.options({}))
        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()

    assert {str(error) for error in refused} == {"generator already executing"}
    assert (handed.call.raw, handed.call.complete) == ('{"order_id":"A-104"}', True)
    assert (handed.response.error, handed.run.lost) == (None, [])


@pytest.mark.parametrize("way", ASYNC_STREAMED, ids=str)
def test_a_second_task_that_is_refused_ends_no_stream(way: Way, handed: Handed):
    async def both(provider: ScriptedProvider) -> list[BaseException]:
        refused: list[BaseException] = []
        async with way.client(provider) as client:
            stream = await way.create(client)(**way.options({}))
            while not any(isinstance(error, StopAsyncIteration) for error in refused):
                pair = await asyncio.gather(anext(stream), anext(stream), return_exceptions=True)
                refused += [found for found in pair if isinstance(found, BaseException)]
        return refused

    turn = Turn(calls=TURN.calls, delay_s=0.02)
    with ScriptedProvider([turn]) as provider:
        refused = asyncio.run(both(provider))

    said = {str(error) for error in refused if not isinstance(error, StopAsyncIteration)}
    assert said == {"anext(): asynchronous generator is already running"}
    assert (handed.call.raw, handed.call.complete) == ('{"order_id":"A-104"}', True)
    assert (handed.response.error, handed.run.lost) == (None, [])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("way", SYNC_STREAMED, ids=str)
def test_a_streams_iterator_is_copied_no_more_than_a_generator(
    way: Way, duplicate: Any, handed: Handed
):
    with ScriptedProvider([TURN]) as provider, way.client(provider) as client:
        stream = way.create(client)(**way.options({}))
        with pytest.raises(TypeError, match="cannot pickle 'generator' object"):
            duplicate(stream._iterator)
        list(stream)

    assert handed.call.raw == '{"order_id":"A-104"}'


@pytest.mark.parametrize("kind", [httpx2.Response, str, dict[str, object], object])
@pytest.mark.parametrize("api", sorted(PATHS))
def test_an_answer_that_is_asked_for_unparsed_is_recorded(api: str, kind: Any, handed: Handed):
    way = Way(api, is_async=False, is_streamed=False)
    with ScriptedProvider([TURN]) as provider, way.client(provider) as client:
        client.post(PATHS[api], cast_to=kind, body=way.options({}))

    assert (handed.call.raw, handed.response.error) == ('{"order_id":"A-104"}', None)


def test_an_answer_of_which_nothing_is_asked_for_is_not_said_to_be_wrong(handed: Handed):
    """The request is counted, so that its run is not taken for whole."""
    way = Way("chat", is_async=False, is_streamed=False)
    with ScriptedProvider([TURN]) as provider, way.client(provider) as client:
        assert client.post(PATHS["chat"], cast_to=type(None), body=way.options({})) is None

    assert (len(handed.requests), handed.responses) == (1, [])


def kept_as(extensions: dict[str, Any]) -> list[Any]:
    """What a transport that caches or records may do with a request's extensions."""
    return [copy.deepcopy(extensions), pickle.dumps(extensions), json.dumps(extensions)]


def test_a_transport_may_copy_and_keep_what_belongs_to_a_request(handed: Handed):
    class Keeping(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            kept.append(kept_as(request.extensions))
            return httpx2.Response(200, json=body, request=request)

    kept: list[list[Any]] = []
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": []}
    for _ in range(2):
        http = httpx2.Client(transport=Keeping())
        client = OpenAI(base_url="http://here", api_key="k", http_client=http, max_retries=0)
        client.chat.completions.create(model="m", messages=[])
        uninstrument()

    (_, hooked, text), (_, plain, _) = kept
    assert json.loads(text).pop("agenttrace") == {}
    assert pickle.loads(hooked) == {**pickle.loads(plain), "agenttrace": {}}
    assert handed.response.response_id == "c"


@pytest.mark.parametrize("way", SYNC_WHOLE, ids=str)
def test_an_answer_to_a_copied_request_belongs_to_the_one_that_asked(way: Way, handed: Handed):
    """Middleware may send a copy of a request in its place."""

    def resend(request: httpx2.Request) -> httpx2.Response:
        again = httpx2.Request(
            request.method,
            request.url,
            content=request.content,
            headers=request.headers,
            extensions=copy.deepcopy(dict(request.extensions)),
        )
        with httpx2.Client(verify=False) as inner:
            answer = inner.send(again)
        return httpx2.Response(200, content=answer.content, request=again)

    with ScriptedProvider([TURN]) as provider:
        client = way.client(provider).with_options(
            http_client=httpx2.Client(transport=httpx2.MockTransport(resend))
        )
        way.create(client)(**way.options({}))

    assert (handed.call.name, handed.stamps) == ("pay", handed.requests)
