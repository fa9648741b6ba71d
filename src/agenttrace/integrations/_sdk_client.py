"""The clients of SDKs generated from one template, at the model boundary: openai's and anthropic's.

Two methods that all clients of such an SDK share see every answer: the request builder, where a
request is given its stamp, and the hook that turns parsed JSON into the SDK's objects, for whole
bodies and for each event of a stream. The other hooks say where a request and where a stream ends,
so that a retry is no second request and a broken-off stream is not lost.

A request without a recorded answer is counted, so its run is never taken for whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias

from agenttrace.capture import guard, report_hook
from agenttrace.domain import Boundary, JsonObject
from agenttrace.errors import MissingExtraError
from agenttrace.integrations._exchange import (
    EXTENSION,
    Exchange,
    Mark,
    begin,
    provider_of,
    settle_streams,
    waiting_for,
)
from agenttrace.integrations._formats import Format, failure
from agenttrace.integrations._patching import HookCheck, Wrapper, check_method, patch_of
from agenttrace.integrations._refusals import failure_of
from agenttrace.integrations._watched import WatchedAsyncIterator, WatchedIterator

_Wrapped: TypeAlias = Callable[..., Any]
_Args: TypeAlias = tuple[Any, ...]
_Kwargs: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sdk:
    """What tells one such SDK from another."""

    library: str
    """Its package, its extra, and who answers at an address that is not known."""
    formats: tuple[Format, ...]
    """Formats that its clients ask in."""
    request_id_header: str
    """Header of an answer that holds the provider's id of the request."""
    raw_modules: frozenset[str]
    """Modules of the objects that hand a response out unparsed."""

    @property
    def module(self) -> str:
        """What has to be loaded before there is anything to hook."""
        return f"{self.library}._base_client"

    def format_of(self, request: Any) -> Format | None:
        """The format that a request is answered in; None: it asks for no response."""
        if request.method != "POST":
            return None
        return next((each for each in self.formats if each.asks(request.url.path)), None)


class _Call:
    """One call of a client's `request`, with all its attempts."""

    __slots__ = ("drops_answer", "exchange", "is_streamed")

    def __init__(self, *, is_streamed: bool, drops_answer: bool) -> None:
        self.exchange: Exchange | None = None
        self.is_streamed = is_streamed
        self.drops_answer = drops_answer
        """The program asked to be given nothing back, so nothing is known of the body."""


class ClientHooks:
    """The hooks of one SDK."""

    def __init__(self, sdk: Sdk) -> None:
        self.sdk: Final = sdk
        self._current: ContextVar[_Call | None] = ContextVar(
            f"agenttrace_{sdk.library}_call", default=None
        )
        self._sees_calls = False
        """Whether the hooks are in that say where a request begins and ends."""

    def check(self) -> tuple[HookCheck, ...]:
        """Whether each hook still fits the installed SDK; imports it.

        Raises:
            MissingExtraError: the SDK is not installed.
        """
        return tuple(check_method(owner, hook, names) for owner, hook, names, _ in self._owners())

    def instrument(self) -> Callable[[], None]:
        """Record the model boundary of every client; the result takes the hooks out again.

        A hook that no longer fits is left out and reported, to `doctor` and in each run's manifest.

        Raises:
            MissingExtraError: the SDK is not installed.
        """
        installed = []
        fitting = set()
        for owner, hook, names, wrapper in self._owners():
            checked = check_method(owner, hook, names)
            if checked.fits:
                patch = patch_of(owner, hook, wrapper)
                patch.install()
                installed.append(patch)
                fitting.add(hook)
            report_hook(self.sdk.library, Boundary.MODEL, hook, checked.fits, checked.detail)
        self._sees_calls = {"SyncAPIClient.request", "AsyncAPIClient.request"} <= fitting

        def uninstrument() -> None:
            for patch in installed:
                patch.remove()

        return uninstrument

    def _owners(self) -> Iterator[tuple[Any, str, tuple[str, ...], Wrapper]]:
        client, streaming = self.sdk.module, f"{self.sdk.library}._streaming"
        hooks: tuple[tuple[str, str, tuple[str, ...], Wrapper], ...] = (
            (client, "BaseClient._build_request", ("options",), self._build_request),
            (
                client,
                "BaseClient._process_response_data",
                ("data", "cast_to", "response"),
                self._process_response_data,
            ),
            (client, "SyncAPIClient.request", ("cast_to", "options", "stream"), self._request),
            (
                client,
                "AsyncAPIClient.request",
                ("cast_to", "options", "stream"),
                self._request_async,
            ),
            (streaming, "Stream.__stream__", (), self._stream),
            (streaming, "AsyncStream.__stream__", (), self._stream_async),
        )
        try:
            for module, hook, names, wrapper in hooks:
                owner = getattr(import_module(module), hook.partition(".")[0], None)
                yield owner, hook, names, wrapper
        except ImportError as error:
            raise MissingExtraError(extra=self.sdk.library) from error

    # A request

    def _request(self, wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
        call, token = self._begin_call(args, kwargs)
        try:
            result = wrapped(*args, **kwargs)
        except BaseException as error:
            self._end_call(call, token, error=error)
            raise
        self._end_call(call, token, result=result)
        return result

    async def _request_async(self, wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
        call, token = self._begin_call(args, kwargs)
        try:
            result = await wrapped(*args, **kwargs)
        except BaseException as error:
            self._end_call(call, token, error=error)
            raise
        self._end_call(call, token, result=result)
        return result

    def _begin_call(self, args: _Args, kwargs: _Kwargs) -> tuple[_Call, Token[_Call | None]]:
        with guard(f"{self.sdk.library}: settling streams"):
            settle_streams()
        cast_to = args[1] if len(args) > 1 else kwargs.get("cast_to")
        call = _Call(is_streamed=kwargs.get("stream") is True, drops_answer=cast_to is type(None))
        return call, self._current.set(call)

    def _end_call(
        self,
        call: _Call,
        token: Token[_Call | None],
        *,
        result: Any = None,
        error: BaseException | None = None,
    ) -> None:
        with guard(f"{self.sdk.library}: ending a request"):
            # A coroutine may be closed in another context, which never held our value.
            with suppress(ValueError):
                self._current.reset(token)
            exchange = call.exchange
            if exchange is None or exchange.is_recorded:
                return
            if error is not None:
                self._record_error(exchange, error)
            elif not (exchange.is_streamed or exchange.is_waiting or call.drops_answer):
                self._record_unseen(exchange, result)

    def _record_error(self, exchange: Exchange, error: BaseException) -> None:
        """Record what came in place of a response, or that nothing came."""
        response = getattr(error, "response", None)
        if response is not None:
            self._note_request_id(exchange, response)
        exchange.record(failure_of(error))

    def _record_unseen(self, exchange: Exchange, result: Any) -> None:
        """Record an answer that never went through the response hook.

        A response that is handed out as it is already holds the body, if it is read. One that is
        not will come through the hook when the program parses it, or not at all.
        """
        response = self._unparsed(result)
        if response is not None and not response.is_closed:
            return
        try:
            text = result if isinstance(result, str) else None
            body = json.loads(text) if response is None and text is not None else None
            body = body if response is None else response.json()
        except ValueError:
            body = None
        if isinstance(body, dict) and response is not None:
            self._take(body, response)
        elif isinstance(body, dict):
            exchange.take_body(body, lambda: text)
        elif response is not None:
            exchange.record(failure("the answer is no JSON object"))
        else:
            kind = type(result).__name__
            exchange.record(failure(f"the answer is no JSON object, and became a {kind}"))

    def _unparsed(self, result: Any) -> Any:
        """The HTTP response in what a client hands out unparsed; None: it is parsed."""
        kind = type(result)
        if kind.__module__ in self.sdk.raw_modules:
            return getattr(result, "http_response", None) or result.response
        is_http = all(hasattr(kind, name) for name in ("http_version", "aread", "iter_raw"))
        return result if is_http else None

    def _build_request(self, wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
        request = wrapped(*args, **kwargs)
        with guard(f"{self.sdk.library}: stamping a request"):
            self._stamp(request, args[1] if len(args) > 1 else kwargs["options"])
        return request

    def _stamp(self, request: Any, options: Any) -> None:
        """Put an exchange on a request, the same one for all attempts.

        Where one call asks again after it was answered, because middleware of the program's does
        so, that is a further exchange. What is built outside any call is a part of an answer that
        is being read, such as a fallback spliced into a stream, and stands in that answer.
        """
        wire = self.sdk.format_of(request)
        call = self._current.get()
        if wire is None or (call is None and self._sees_calls):
            return
        exchange = call.exchange if call is not None else None
        if exchange is None or exchange.is_recorded:
            exchange = begin(wire, body_of(options))
            exchange.provider = provider_of(str(request.url), self.sdk.library)
            if call is not None:
                call.exchange = exchange
                exchange.is_streamed = exchange.is_streamed or call.is_streamed
        request.extensions[EXTENSION] = Mark(exchange)

    # Its answer

    def _process_response_data(self, wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
        with guard(f"{self.sdk.library}: reading a response"):
            data = kwargs["data"]
            if isinstance(data, dict):
                self._take(data, kwargs["response"])
        return wrapped(*args, **kwargs)

    def _take(self, data: JsonObject, response: Any) -> None:
        exchange = self._exchange_of(response) or waiting_for(data)
        if exchange is None:
            return
        if not exchange.is_answered:
            exchange.is_answered = True
            self._note_request_id(exchange, response)
            content_type = response.headers.get("content-type", "")
            exchange.takes_events = content_type.startswith("text/event-stream")
        if exchange.takes_events or exchange.format.is_event(data):
            exchange.take_event(data)
        else:
            exchange.take_body(data, lambda: _text_of(response))

    def _note_request_id(self, exchange: Exchange, response: Any) -> None:
        exchange.provider_request_id = response.headers.get(self.sdk.request_id_header)

    def _exchange_of(self, response: Any) -> Exchange | None:
        """The exchange of an answer; one without a stamp where the request left without one."""
        request = response.request
        found = request.extensions.get(EXTENSION)
        if isinstance(found, Mark):
            return found.exchange
        wire = self.sdk.format_of(request)
        if wire is None:
            return None
        made = Exchange(wire, None, request={})
        request.extensions[EXTENSION] = Mark(made)
        made.provider = provider_of(str(request.url), self.sdk.library)
        return made

    def _stream(self, wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
        return self._watch(WatchedIterator, wrapped(*args, **kwargs), args[0])

    def _stream_async(self, wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
        return self._watch(WatchedAsyncIterator, wrapped(*args, **kwargs), args[0])

    def _watch(self, watched: type[Any], iterator: Any, stream: Any) -> Any:
        with guard(f"{self.sdk.library}: watching a stream"):
            exchange = self._exchange_of(stream.response)
            if exchange is not None:
                return watched(iterator, exchange)
        return iterator


def body_of(options: Any) -> JsonObject:
    """The JSON that a client is about to send, with what the program adds to it."""
    body, extra = options.json_data, options.extra_json
    if isinstance(body, bytes):
        body = json.loads(body)
    merged = body if isinstance(body, Mapping) else {}
    return {**merged, **extra} if isinstance(extra, Mapping) else merged


def _text_of(response: Any) -> str | None:
    text = response.text
    return text if isinstance(text, str) else None
