"""The openai SDK at the model boundary: chat completions and responses, whole and streamed.

Two methods that all clients share see every answer: the request builder, where a request is given
its stamp, and the hook that turns parsed JSON into the SDK's objects, for whole bodies and for
each event of a stream. The other hooks say where a request and where a stream ends, so that a
retry is no second request and a broken-off stream is not lost.

Not seen: bodies that the program reads by itself from `with_streaming_response`, and websockets.
A request without a recorded answer is counted, so its run is never taken for whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar, Token
from importlib import import_module
from typing import Any, Final

from agenttrace.capture import guard, report_hook
from agenttrace.domain import Boundary, JsonObject
from agenttrace.errors import MissingExtraError
from agenttrace.integrations._exchange import (
    EXTENSION,
    Exchange,
    begin,
    describe,
    failure,
    provider_of,
    settle_streams,
    waiting_for,
)
from agenttrace.integrations._formats import error_text, format_of_path
from agenttrace.integrations._patching import HookCheck, Wrapper, check_method, patch_of
from agenttrace.integrations._watched import WatchedAsyncIterator, WatchedIterator

LIBRARY: Final = "openai"
MODULE: Final = "openai._base_client"
"""What has to be loaded before there is anything to hook."""

_RAW_MODULES: Final = frozenset({"openai._legacy_response", "openai._response"})
_MAX_ERROR: Final = 2_000  # characters of an error body that is no JSON

_Wrapped = Callable[..., Any]
_Args = tuple[Any, ...]
_Kwargs = dict[str, Any]


class _Call:
    """One call of a client's `request`, with all its attempts."""

    __slots__ = ("exchange",)

    def __init__(self) -> None:
        self.exchange: Exchange | None = None


_current: Final[ContextVar[_Call | None]] = ContextVar("agenttrace_openai_call", default=None)


def _build_request(wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
    request = wrapped(*args, **kwargs)
    with guard("openai: stamping a request"):
        _stamp(request, args[1] if len(args) > 1 else kwargs["options"])
    return request


def _stamp(request: Any, options: Any) -> None:
    wire = format_of_path(request.url.path) if request.method == "POST" else None
    if wire is None:
        return
    call = _current.get()
    exchange = call.exchange if call is not None else None
    if exchange is None:
        exchange = begin(wire, _body_of(options))
        exchange.provider = provider_of(str(request.url), LIBRARY)
        if call is not None:
            call.exchange = exchange
    request.extensions[EXTENSION] = exchange


def _body_of(options: Any) -> JsonObject:
    body, extra = options.json_data, options.extra_json
    if isinstance(body, bytes):
        body = json.loads(body)
    merged = body if isinstance(body, Mapping) else {}
    return {**merged, **extra} if isinstance(extra, Mapping) else merged


def _process_response_data(wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
    with guard("openai: reading a response"):
        data = kwargs["data"]
        if isinstance(data, dict):
            _take(data, kwargs["response"])
    return wrapped(*args, **kwargs)


def _take(data: JsonObject, response: Any) -> None:
    exchange = _exchange_of(response) or waiting_for(data)
    if exchange is None:
        return
    if not exchange.is_answered:
        exchange.is_answered = True
        exchange.provider_request_id = response.headers.get("x-request-id")
        content_type = response.headers.get("content-type", "")
        exchange.takes_events = content_type.startswith("text/event-stream")
    if exchange.takes_events or exchange.format.is_event(data):
        exchange.take_event(data)
    else:
        exchange.take_body(data, lambda: _text_of(response))


def _exchange_of(response: Any) -> Exchange | None:
    """The exchange of an answer; one without a stamp where the request left without one."""
    request = response.request
    found = request.extensions.get(EXTENSION)
    if isinstance(found, Exchange):
        return found
    wire = format_of_path(request.url.path) if request.method == "POST" else None
    if wire is None:
        return None
    made = request.extensions[EXTENSION] = Exchange(wire, None, request={})
    made.provider = provider_of(str(request.url), LIBRARY)
    return made


def _text_of(response: Any) -> str | None:
    text = response.text
    return text if isinstance(text, str) else None


def _request(wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
    call, token = _begin_call()
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        _end_call(call, token, error=error)
        raise
    _end_call(call, token, result=result)
    return result


async def _request_async(wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
    call, token = _begin_call()
    try:
        result = await wrapped(*args, **kwargs)
    except BaseException as error:
        _end_call(call, token, error=error)
        raise
    _end_call(call, token, result=result)
    return result


def _begin_call() -> tuple[_Call, Token[_Call | None]]:
    with guard("openai: settling streams"):
        settle_streams()
    call = _Call()
    return call, _current.set(call)


def _end_call(
    call: _Call,
    token: Token[_Call | None],
    *,
    result: Any = None,
    error: BaseException | None = None,
) -> None:
    with guard("openai: ending a request"):
        # A coroutine may be closed in another context, which never held our value.
        with suppress(ValueError):
            _current.reset(token)
        exchange = call.exchange
        if exchange is None or exchange.is_recorded:
            return
        if error is not None:
            _record_error(exchange, error)
        elif not exchange.is_streamed and not exchange.is_waiting:
            _record_unseen(exchange, result)


def _record_error(exchange: Exchange, error: BaseException) -> None:
    """Record what came in place of a response, or that nothing came."""
    response = getattr(error, "response", None)
    if response is None:
        exchange.record(failure(describe(error), complete=False))
        return
    exchange.provider_request_id = response.headers.get("x-request-id")
    said = error_text(getattr(error, "body", None)) or str(response.text)[:_MAX_ERROR]
    exchange.record(failure(f"HTTP {response.status_code}: {said}"))


def _record_unseen(exchange: Exchange, result: Any) -> None:
    """Record an answer that never went through the response hook.

    A raw response that is read already holds the body. One that is not will come through the hook
    when the program parses it, or not at all.
    """
    if type(result).__module__ not in _RAW_MODULES:
        kind = type(result).__name__
        exchange.record(failure(f"the answer is no JSON object, and became a {kind}"))
        return
    response = result.http_response
    if not response.is_closed:
        return
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        _take(body, response)
    else:
        exchange.record(failure("the answer is no JSON object"))


def _stream(wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
    return _watch(WatchedIterator, wrapped(*args, **kwargs), args[0])


def _stream_async(wrapped: _Wrapped, args: _Args, kwargs: _Kwargs) -> Any:
    return _watch(WatchedAsyncIterator, wrapped(*args, **kwargs), args[0])


def _watch(watched: type[Any], iterator: Any, stream: Any) -> Any:
    with guard("openai: watching a stream"):
        exchange = _exchange_of(stream.response)
        if exchange is not None:
            return watched(iterator, exchange)
    return iterator


_HOOKS: Final[tuple[tuple[str, str, tuple[str, ...], Wrapper], ...]] = (
    (MODULE, "BaseClient._build_request", ("options",), _build_request),
    (
        MODULE,
        "BaseClient._process_response_data",
        ("data", "cast_to", "response"),
        _process_response_data,
    ),
    (MODULE, "SyncAPIClient.request", ("cast_to", "options"), _request),
    (MODULE, "AsyncAPIClient.request", ("cast_to", "options"), _request_async),
    ("openai._streaming", "Stream.__stream__", (), _stream),
    ("openai._streaming", "AsyncStream.__stream__", (), _stream_async),
)


def _owners() -> Iterator[tuple[Any, str, tuple[str, ...], Wrapper]]:
    try:
        for module, hook, names, wrapper in _HOOKS:
            yield getattr(import_module(module), hook.partition(".")[0], None), hook, names, wrapper
    except ImportError as error:
        raise MissingExtraError(extra=LIBRARY) from error


def check() -> tuple[HookCheck, ...]:
    """Whether each hook still fits the installed SDK; imports it.

    Raises:
        MissingExtraError: `openai` is not installed.
    """
    return tuple(check_method(owner, hook, names) for owner, hook, names, _ in _owners())


def instrument() -> Callable[[], None]:
    """Record the model boundary of every client of the SDK; the result takes it out again.

    A hook that no longer fits is left out and reported, to `doctor` and in each run's manifest.

    Raises:
        MissingExtraError: `openai` is not installed.
    """
    installed = []
    for owner, hook, names, wrapper in _owners():
        checked = check_method(owner, hook, names)
        if checked.fits:
            patch = patch_of(owner, hook, wrapper)
            patch.install()
            installed.append(patch)
        report_hook(LIBRARY, Boundary.MODEL, hook, checked.fits, checked.detail)

    def uninstrument() -> None:
        for patch in installed:
            patch.remove()

    return uninstrument
