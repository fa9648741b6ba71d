"""One logical request to a model, and what has come back for it so far.

The exchange travels on the request itself, so an answer finds its run wherever and whenever it is
read. Attempts of one request share it. It is recorded once: by the whole body, by the end of the
stream, or by the error that came instead.

Collectors may finalise an abandoned stream at any point, even inside the recorder. Nothing is
recorded then; the exchange is only put aside, and recorded when a hook runs the next time.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import replace
from typing import Final, Self, SupportsIndex
from urllib.parse import urlsplit

from agenttrace.capture import (
    OpenResponse,
    RequestStamp,
    ResponseDraft,
    begin_request,
    lost,
    open_response,
    record_response,
    recorder,
)
from agenttrace.domain import JsonObject
from agenttrace.integrations._formats import Format, Source, read_error, recognise
from agenttrace.integrations._recorded import remember
from agenttrace.integrations._refusals import describe

EXTENSION: Final = "agenttrace"
"""Where an exchange stands among an HTTP request's extensions; it is never sent."""

MAX_WAITING: Final = 1_000
"""Responses made in the background that are still asked for."""

_PROVIDERS: Final = {
    "openai.azure.com": "azure.ai.openai",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "mistral.ai": "mistral_ai",
    "x.ai": "x_ai",
    "perplexity.ai": "perplexity",
    "cohere.com": "cohere",
    "anthropic.com": "anthropic",
    "amazonaws.com": "aws.bedrock",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "googleapis.com": "gcp.vertex_ai",
}
"""Hosts whose name in the GenAI conventions is known; any other host goes by its SDK's name."""

_open_streams: Final[dict[int, Exchange]] = {}
_abandoned: Final[deque[Exchange]] = deque()
_waiting: Final[dict[str, Exchange]] = {}


class Mark(dict[str, object]):
    """An exchange among a request's extensions, which a program may copy, pickle or write as JSON.

    Copies are the same mark. What leaves the process is an empty object: the exchange stays here.
    """

    __slots__ = ("exchange",)

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()
        self.exchange = exchange

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce_ex__(self, _: SupportsIndex) -> tuple[type[dict[str, object]], tuple[()]]:
        return dict, ()


class Exchange:
    """A request and its answer; see the module."""

    def __init__(self, wire: Format, stamp: RequestStamp | None, *, request: JsonObject) -> None:
        self.format = wire
        self.stamp = stamp
        self.is_streamed = request.get("stream") is True
        self.is_waiting = False
        self.is_answered = False
        """Whether the head of the answer was looked at."""
        self.takes_events = False
        """Whether the answer is a stream of events by its head."""
        self.provider: str | None = None
        self.provider_request_id: str | None = None
        self._assembly = wire.assembly(request)
        self._opened: OpenResponse | None = None
        self._begun = 0
        self._is_open = [True]  # emptied by whoever records; a list's pop happens once

    @property
    def is_recorded(self) -> bool:
        """Whether the answer is on record."""
        return not self._is_open

    def take_body(self, body: JsonObject, source: Source) -> None:
        """Record a whole response; what has no known shape is an error, or lost and counted."""
        wire = self.format if self.format.is_response(body) else recognise(body)
        if wire is not None and wire.is_unfinished(body):
            self._wait(body)
        elif wire is not None:
            self.record(wire.read_response(body, source))
        elif (error := read_error(body)) is not None:
            self.record(error)
        elif self._claim():
            self.lose("unrecognised-response")

    def take_event(self, event: JsonObject) -> None:
        """Take one event of a stream, and record the response once the provider has ended it."""
        self.is_streamed = True
        if not self.is_recorded:
            _open_streams[id(self)] = self
        held_call = self._assembly.feed(event)
        if self.is_recorded:
            if held_call:
                self.lose("fragment-after-end")
            return
        if held_call:
            self._open_calls()
        if self._assembly.has_ended:
            self.record(self._assembly.draft())

    def end_stream(self, error: BaseException | None = None) -> None:
        """Record a stream as far as it came; nothing more can come of it."""
        if self.is_recorded:
            return
        draft = self._assembly.draft()
        self.record(draft if error is None else replace(draft, error=describe(error)))

    def abandon(self) -> None:
        """Put the exchange aside, to be recorded later; takes no lock and makes no record."""
        if self._is_open:
            _abandoned.append(self)

    def disown(self) -> None:
        """Record nothing of it in this process."""
        self._is_open.clear()

    def record(self, draft: ResponseDraft) -> None:
        """Hand the answer to capture; only the first one counts."""
        if not self._claim():
            return
        named = replace(draft, provider=self.provider, provider_request_id=self.provider_request_id)
        if self._opened is None:
            refs = record_response(named, self.stamp)
        else:
            refs = self._opened.close(named)
        remember(None if self.stamp is None else self.stamp.run, named, refs)

    def _open_calls(self) -> None:
        """Begin the records of calls that have begun: a tool may start before the stream ends."""
        begun = self._assembly.begun
        if len(begun) <= self._begun:
            return
        if self._opened is None:
            self._opened = open_response(self.stamp, model=self._assembly.model)
        if self._opened is not None:
            for place in range(self._begun, len(begun)):
                self._opened.open_call(place, begun[place])
            self._begun = len(begun)

    def lose(self, cause: str) -> None:
        """Count something that could not be recorded."""
        lost(cause, None if self.stamp is None else self.stamp.run)

    def _claim(self) -> bool:
        _open_streams.pop(id(self), None)
        try:
            return self._is_open.pop()
        except IndexError:
            return False

    def _wait(self, body: JsonObject) -> None:
        self.is_waiting = True
        response_id = body.get("id")
        if isinstance(response_id, str):
            _waiting[response_id] = self
        while len(_waiting) > MAX_WAITING:
            dropped = _waiting.pop(next(iter(_waiting)), None)
            if dropped is not None and dropped._claim():
                dropped.lose("background-response")


def begin(wire: Format, request: JsonObject) -> Exchange:
    """An exchange for a request that is about to be sent; its stamp names the run that asks."""
    stamp = begin_request(
        wire.read_tools(request), wire.read_messages(request), wire.read_previous(request)
    )
    return Exchange(wire, stamp, request=request)


def waiting_for(body: JsonObject) -> Exchange | None:
    """The exchange whose response was left in the background and is now here in full."""
    response_id = body.get("id")
    found = _waiting.get(response_id) if isinstance(response_id, str) else None
    if found is not None and not found.format.is_unfinished(body):
        _waiting.pop(str(response_id), None)
        return found
    return None


def settle_streams(run: object | None = None) -> None:
    """Record streams that nobody reads any more; with a run, also those of it still open.

    Args:
        run: The run that ends: `RequestStamp.run` of its requests.
    """
    while _abandoned:
        try:
            _abandoned.popleft().end_stream()
        except IndexError:
            break
    if run is None:
        return
    for exchange in list(_open_streams.values()):
        if exchange.stamp is not None and exchange.stamp.run is run:
            exchange.end_stream()


def _leave_to_parent() -> None:
    """In a forked child: what was asked before the fork is the parent's to record."""
    for exchange in (*_open_streams.values(), *_abandoned, *_waiting.values()):
        exchange.disown()
    _open_streams.clear()
    _abandoned.clear()
    _waiting.clear()


recorder.closers.append(settle_streams)
os.register_at_fork(after_in_child=_leave_to_parent)


def provider_of(url: str, sdk: str) -> str:
    """Who answers at this address; an address that is not known goes by the SDK's name."""
    host = urlsplit(url).hostname or ""
    return next(
        (name for end, name in _PROVIDERS.items() if host == end or host.endswith(f".{end}")), sdk
    )
