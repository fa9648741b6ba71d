"""Runs of a server: each request is a run of its own, and a run's id goes along to another process.

Plain ASGI and WSGI, so that every framework and server takes it. Between processes only the run's
id travels, as baggage, and only an id that we made: one that somebody chose may say something.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from opentelemetry import baggage
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context

from agenttrace import semconv
from agenttrace.capture import (
    Place,
    count,
    current_place,
    current_scope,
    enter_scope,
    guard,
    leave_scope,
)
from agenttrace.session._run import AgentRun, run

RUN: Final = "agenttrace.run"
"""Key under which a request's run stands in its ASGI scope or WSGI environment."""

AsgiScope: TypeAlias = MutableMapping[str, Any]
AsgiApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[Any]]
WsgiApp: TypeAlias = Callable[[Any, Any], Iterable[bytes]]
RunOf: TypeAlias = Callable[[Mapping[str, Any]], AgentRun | None]

_OURS: Final = re.compile(r"run(-kept|-left)?-[0-9a-f]{1,64}", re.ASCII)
_HEADER: Final = "baggage"
_MAX_HEADER: Final = 8_192
"""What W3C Baggage asks everybody to pass on. What is longer is refused, and logged whole there."""


def run_headers() -> dict[str, str]:
    """Headers that tell another process of the current run: its id alone, as W3C baggage.

    Empty outside any run, where the run is only a guess, and where its id was chosen by somebody:
    that may say something, and the headers may go to anybody.
    """
    with guard("telling of a run", loses=False):
        scope = current_scope()
        if scope is None or scope.inferred:
            return {}
        run_id = scope.run.run.run_id
        if _OURS.fullmatch(run_id) is None:
            count("run-id-kept-back")
            return {}
        headers: dict[str, str] = {}
        only = baggage.set_baggage(semconv.RUN_ID, run_id, Context())
        W3CBaggagePropagator().inject(headers, only)
        return headers
    return {}


class AsgiRuns:
    """ASGI middleware: each HTTP request and each websocket is a run of its own.

    The run stands in the request's scope under `agenttrace.run`. A request that is made inside a
    run of this process, as by a test's client, belongs to that run.

    Args:
        app: The application.
        run: What makes a request's run from its scope; None for one that is no run of its own. By
            default `agenttrace.run()`.
        joins: Take part in the run that the caller's `baggage` header names, as `run_headers()`
            writes it. Only behind callers that may name any run.

    Example:
        >>> async def app(scope, receive, send):
        ...     scope["agenttrace.run"].set_output("done")
        >>> app = AsgiRuns(app, run=lambda scope: run(agent_version="7"))
    """

    def __init__(self, app: AsgiApp, *, run: RunOf | None = None, joins: bool = False) -> None:
        self.app = app
        self._run_of = run
        self._joins = joins

    async def __call__(self, scope: AsgiScope, receive: Any, send: Any) -> None:
        """Serve one request."""
        made = None
        with guard("making a request's run"):
            if scope["type"] in ("http", "websocket"):
                named = _named(scope.get("headers") or ()) if self._joins else None
                made = _made(self._run_of, scope, named)
            if made is not None:
                scope[RUN] = made
        if made is None:
            await self.app(scope, receive, send)
            return
        with made:
            await self.app(scope, receive, send)


class WsgiRuns:
    """The same for WSGI; the run stands in the environment, and ends when the body is sent."""

    def __init__(self, app: WsgiApp, *, run: RunOf | None = None, joins: bool = False) -> None:
        self.app = app
        self._run_of = run
        self._joins = joins

    def __call__(self, environ: MutableMapping[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve one request."""
        made = None
        with guard("making a request's run"):
            header = environ.get("HTTP_BAGGAGE")
            named = _named([(_HEADER, header)]) if self._joins and header else None
            made = _made(self._run_of, environ, named)
            if made is not None:
                environ[RUN] = made
        if made is None:
            return self.app(environ, start_response)
        made.__enter__()
        place = current_place()
        try:
            body = self.app(environ, start_response)
        except BaseException:
            made._end(made._leave())
            raise
        entered = made._leave()
        # A list is whole; a server's own file object is sent in a way of its own.
        wrapper = environ.get("wsgi.file_wrapper")
        is_file = isinstance(wrapper, type) and issubclass(type(body), wrapper)
        if is_file or isinstance(body, list | tuple) or not hasattr(type(body), "__iter__"):
            made._end(entered)
            return body
        kind = _SizedBody if hasattr(type(body), "__len__") else _Body
        return kind(body, place, lambda: made._end(entered))


class _Body(Iterator[bytes]):
    """A body that is made while it is sent: each step stands in the request's run."""

    def __init__(self, inner: Any, place: Place, end: Callable[[], None]) -> None:
        self._inner = inner
        self._parts: Iterator[bytes] | None = None
        self._place = place
        self._ends = [end]

    def __next__(self) -> bytes:
        token = enter_scope(self._place)
        try:
            if self._parts is None:  # an object's own code may make its iterator
                self._parts = iter(self._inner)
            return next(self._parts)
        finally:
            leave_scope(token)

    def close(self) -> None:
        """End the body, and then the run."""
        try:
            close = getattr(self._inner, "close", None)
            if close is not None:
                close()
        finally:
            self._end()

    def _end(self) -> None:
        self._place = None
        if self._ends:
            self._ends.pop()()

    def __del__(self) -> None:
        self._end()


class _SizedBody(_Body):
    """One that says how many parts it has; a server may read a header off that."""

    def __len__(self) -> int:
        return len(self._inner)


def _made(run_of: RunOf | None, request: Mapping[str, Any], named: str | None) -> AgentRun | None:
    """A request's run; None where it belongs to one already, or shall be none."""
    scope = current_scope()
    if scope is not None and not (scope.inferred or scope.run.run.implicit or scope.run.is_closed):
        return None
    if named is not None:
        return run(run_id=named)
    if run_of is None:
        return run()
    given = run_of(request)
    # Requests come at the same time: each enters one of its own.
    return None if given is None else given._again()


def _named(headers: Iterable[tuple[Any, Any]]) -> str | None:
    """The run that baggage names, if it is an id that we could have made."""
    texts = [_text(value) for name, value in headers if _text(name).lower() == _HEADER]
    if not texts:
        return None
    text = ",".join(texts)
    if len(text) > _MAX_HEADER:
        return None
    found = W3CBaggagePropagator().extract({_HEADER: text}, Context())
    named = baggage.get_baggage(semconv.RUN_ID, found)
    return named if isinstance(named, str) and _OURS.fullmatch(named) else None


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
