"""`model_response()`: the model boundary for programs that no hook covers.

It takes what the program has in its hands: an object of a provider's SDK, the parsed JSON, or the
JSON text itself. Only SDK objects are asked for their content; any other object is refused, because
asking an unknown object may run anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agenttrace.capture import begin_request, guard, lost, record_response, warn_once
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats import FORMATS, Format, Source, no_source, recognise
from agenttrace.records import JsonTextError, parse_json

_SDKS: Final = frozenset({"openai", "anthropic", "google", "mistralai", "groq", "cohere", "ollama"})
"""Packages whose pydantic objects are asked for what they hold."""


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
    once. A response that a hook records already must not be given here too.

    Args:
        response: An object of a provider's SDK, the parsed JSON, or the JSON text or bytes.
        raw_text: The body as it came, where `response` is an object; raw argument text is taken
            from it for formats that send arguments as an object.
        format: `openai-chat` or `openai-responses`. None: told by the shape.
        tools: The `tools` of the request, in the format's own form. None: not known.
        messages: The `messages` or `input` of the request. None: not known.

    Returns:
        A reference for each call, in order; empty where nothing could be recorded.
    """
    with guard("model_response"):
        body, source = _read(response, raw_text)
        wire = None if body is None else _format(body, format)
        if body is None or wire is None:
            _refuse(response, format)
            return ()
        draft = wire.read_response(body, source)
        offers = None if tools is None else wire.read_tools({"tools": list(tools)})
        previous = body.get("previous_response_id")
        stamp = begin_request(
            offers, _messages(wire, messages), previous if isinstance(previous, str) else None
        )
        return record_response(draft, stamp)
    return ()


def _read(response: Any, raw_text: str | bytes | None) -> tuple[JsonObject | None, Source]:
    """The parsed body, and where its text can be had."""
    text = _decoded(raw_text)
    if isinstance(response, str | bytes | bytearray):
        text = text or _decoded(response)
        return _parsed(text), lambda: text
    if issubclass(type(response), Mapping):
        body: JsonObject | None = dict(response)
    elif type(response).__module__.partition(".")[0] in _SDKS and hasattr(response, "model_dump"):
        body = response.model_dump(mode="json", exclude_unset=True, warnings=False)
    else:
        body = None
    return body, no_source if text is None else lambda: text


def _decoded(text: str | bytes | bytearray | None) -> str | None:
    return text.decode("utf-8", "replace") if isinstance(text, bytes | bytearray) else text


def _parsed(text: str | None) -> JsonObject | None:
    try:
        value = None if text is None else parse_json(text).value
    except JsonTextError:
        return None
    return value if isinstance(value, dict) else None


def _format(body: JsonObject, name: str | None) -> Format | None:
    if name is None:
        return recognise(body)
    return next((each for each in FORMATS if each.name == name), None)


def _messages(wire: Format, messages: Sequence[Any] | None) -> tuple[JsonValue, ...] | None:
    if messages is None:
        return None
    return wire.read_messages({"messages": messages, "input": messages})


def _refuse(response: Any, name: str | None) -> None:
    kind = type(response)
    known = ", ".join(each.name for each in FORMATS)
    lost("unknown-response")
    warn_once(
        f"model_response:{kind.__module__}.{kind.__qualname__}:{name}",
        f"model_response() was given a {kind.__name__} that is no response of a known format "
        f"({known}), so it was not recorded. Pass the provider's JSON, or its SDK's object.",
    )
