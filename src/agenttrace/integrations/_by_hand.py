"""`model_response()`: the model boundary for programs that no hook covers.

It takes what the program has in its hands: an object of a provider's SDK, the parsed JSON, the JSON
text itself, or the events of a stream in any of these. Only SDK objects are asked for their
content; any other object is refused, because asking an unknown object may run anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agenttrace.capture import (
    RequestStamp,
    ResponseDraft,
    begin_request,
    guard,
    lost,
    record_response,
    warn_once,
)
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._events import Events, decoded, is_stream_text, read_events
from agenttrace.integrations._formats import (
    FORMATS,
    Format,
    Source,
    no_source,
    read_error,
    recognise,
    recognise_events,
)
from agenttrace.integrations._recorded import recorded
from agenttrace.integrations._refusals import describe, failure_of
from agenttrace.records import JsonTextError, parse_json

_SDKS: Final = frozenset(
    {
        "anthropic",
        "cohere",
        "google",
        "groq",
        "mistralai",
        "ollama",
        "openai",
        "together",
        "writerai",
    }
)
"""Packages whose pydantic objects are asked for what they hold, and whose errors are told."""


def model_response(
    response: Any,
    *,
    raw_text: str | bytes | None = None,
    format: str | None = None,  # noqa: A002 - what users call it
    tools: Sequence[Mapping[str, Any]] | None = None,
    messages: Sequence[Any] | None = None,
) -> tuple[str, ...]:
    """Record one provider response, and the calls in it, in the current run.

    Nothing is raised: what cannot be read is counted, stands in the run's manifest, and is logged
    once. A response that a hook has recorded in this run is known by its id and not recorded again.

    Args:
        response: An object of a provider's SDK, the parsed JSON, or the JSON text or bytes; of a
            stream its events, as a list or an iterator of such, which is read to its end, or as
            text. An error body or an SDK's exception is recorded as what came instead.
        raw_text: The body as it came, where `response` is an object; raw argument text is taken
            from it for formats that send arguments as an object.
        format: Name of the format. None: told by the shape.
        tools: The `tools` of the request, in the format's own form. None: not known.
        messages: The `messages`, `input` or `contents` of the request. None: not known.

    Returns:
        A reference for each call, in order; empty where nothing could be recorded.
    """
    with guard("model_response"):
        given = _read(response, raw_text, format)
        if given is None:
            _refuse(response, format)
            return ()
        known = recorded(given.draft)
        if known is not None:
            return known
        refs = record_response(given.draft, stamp := _stamp(given, tools, messages))
        if given.lost:
            lost("unreadable-event", None if stamp is None else stamp.run)
        return refs
    return ()


@dataclass(frozen=True, kw_only=True)
class _Given:
    """What was made of what was given."""

    draft: ResponseDraft
    wire: Format | None = None
    previous: str | None = None
    lost: bool = False
    """Something of it could not be read, and nothing else says so."""


def _stamp(
    given: _Given, tools: Sequence[Mapping[str, Any]] | None, messages: Sequence[Any] | None
) -> RequestStamp | None:
    offers = heard = None
    wire = given.wire
    if wire is not None and tools is not None:
        offers = wire.read_tools({"tools": list(tools)})
    if wire is not None and messages is not None:
        heard = wire.read_messages({"messages": messages, "input": messages, "contents": messages})
    return begin_request(offers, heard, given.previous)


def _read(response: Any, raw_text: str | bytes | None, name: str | None) -> _Given | None:
    """The response as a draft; None where it is none that can be read."""
    text = None if raw_text is None else decoded(raw_text)
    if isinstance(response, str | bytes | bytearray):
        text = decoded(response) if text is None else text
        body = _parsed(text)
        if body is None and is_stream_text(text):
            return _of_events(read_events([text], _plain), name)
        return _of_body(body, lambda: text, name)
    if isinstance(response, BaseException):
        return _Given(draft=failure_of(response)) if _is_sdks(response) else None
    if isinstance(response, list | tuple) or _is_iterator(response):
        return _of_events(read_events(response, _plain), name)
    return _of_body(_plain(response), no_source if text is None else lambda: text, name)


def _of_body(body: JsonObject | None, source: Source, name: str | None) -> _Given | None:
    if body is None:
        return None
    wire = _format(name, recognise(body))
    if wire is None or not wire.is_response(body):
        error = read_error(body) if name is None or wire is not None else None
        if error is not None or wire is None:
            return None if error is None else _Given(draft=error, wire=wire)
    previous = body.get("previous_response_id")
    return _Given(
        draft=wire.read_response(body, source),
        wire=wire,
        previous=previous if isinstance(previous, str) else None,
    )


def _of_events(found: Events, name: str | None) -> _Given | None:
    bodies = [event for event, _ in found.events]
    wire = _format(name, recognise_events(bodies))
    if wire is None:
        error = read_error(bodies[0]) if len(bodies) == 1 and name is None else None
        return None if error is None else _Given(draft=error)
    stream = wire.assembly({})
    for event, source in found.events:
        stream.feed(event, source)
    draft = stream.draft()
    if found.error is not None:
        draft = replace(draft, error=draft.error or describe(found.error))
    elif found.unreadable and not draft.complete:
        said = f"{found.unreadable} of its events could not be read"
        draft = replace(draft, error=draft.error or said)
    return _Given(draft=draft, wire=wire, lost=draft.complete and found.unreadable > 0)


def _format(name: str | None, told: Format | None) -> Format | None:
    """The format of that name; without a name the one that the shape tells."""
    return told if name is None else next((each for each in FORMATS if each.name == name), None)


def _plain(value: object) -> JsonObject | None:
    """The parsed form of an object, as far as it may be asked for it."""
    if issubclass(type(value), Mapping):
        return dict(value)  # type: ignore[call-overload, no-any-return]
    if _is_sdks(value) and hasattr(value, "model_dump"):
        dumped = value.model_dump(mode="json", exclude_unset=True, warnings=False)
        return dumped if isinstance(dumped, dict) else None
    return None


def _is_sdks(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in _SDKS


def _is_iterator(value: object) -> bool:
    return issubclass(type(value), Iterator)


def _parsed(text: str) -> JsonObject | None:
    try:
        value: JsonValue = parse_json(text).value
    except JsonTextError:
        return None
    return value if isinstance(value, dict) else None


def _refuse(response: Any, name: str | None) -> None:
    kind = type(response)
    known = ", ".join(each.name for each in FORMATS)
    lost("unknown-response")
    warn_once(
        f"model_response:{kind.__module__}.{kind.__qualname__}:{name}",
        f"model_response() was given a {kind.__name__} that is no response of a known format "
        f"({known}), so it was not recorded. Pass the provider's JSON, its SDK's object, or the "
        "events of its stream.",
    )
