"""Chat completions, whole: the format of the openai SDK and of most servers that speak like it.

Calls are numbered through all choices, in order. A `function_call`, the older form, is a call
without an id and stands after the `tool_calls` of its choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agenttrace.capture import CallDraft, ResponseDraft, ToolOffer
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._values import (
    Source,
    as_object,
    as_objects,
    as_text,
    call_draft,
    content_text,
    error_text,
    is_complete,
    joined,
    no_source,
    placed,
    with_source,
)


def is_response(body: JsonObject) -> bool:
    """Whether the body is a chat completion; older text completions are none."""
    if body.get("object") == "chat.completion":
        return True
    return any(
        isinstance(choice.get("message"), dict) for choice in as_objects(body.get("choices"))
    )


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The completion as a draft; provider and the provider's request id are not in the body."""
    calls: list[CallDraft] = []
    places: list[str] = []
    choices = as_objects(body.get("choices"))
    for place, choice in placed(body.get("choices")):
        found = list(_calls_of(choice, f"/choices/{place}/message", len(calls)))
        reason = as_text(choice.get("finish_reason"))
        for call, at in found:
            is_last = call is found[-1][0]
            complete = is_complete(call, reason, is_last=is_last, ended=True)
            calls.append(replace(call, complete=complete))
            places.append(at)
    return ResponseDraft(
        response_id=as_text(body.get("id")),
        provider_request_id=None,
        provider=None,
        model=as_text(body.get("model")),
        finish_reason=reasons(as_text(choice.get("finish_reason")) for choice in choices),
        text=joined(_text_of(choice) for choice in choices),
        calls=with_source(calls, places, source),
        error=next((error_text(c["error"]) for c in (*choices, body) if c.get("error")), None),
    )


def reasons(each: Iterator[str | None]) -> str | None:
    """The finish reasons of all choices, each once; one choice gives its own word unchanged."""
    seen = list(dict.fromkeys(reason for reason in each if reason is not None))
    return ",".join(seen) if seen else None


def _text_of(choice: JsonObject) -> str | None:
    message = as_object(choice.get("message"))
    return joined((content_text(message.get("content")), as_text(message.get("refusal")) or None))


def _calls_of(choice: JsonObject, at: str, first: int) -> Iterator[tuple[CallDraft, str]]:
    """The calls of a choice, each with the place of its argument field."""
    message = as_object(choice.get("message"))
    index = first
    for place, entry in placed(message.get("tool_calls")):
        kind, key = part_of(entry)
        part = as_object(entry.get(kind))
        call = call_draft(part, key, call_id=entry.get("id"), index=index)
        yield call, f"{at}/tool_calls/{place}/{kind}/{key}"
        index += 1
    if isinstance(legacy := message.get("function_call"), dict):
        call = call_draft(legacy, "arguments", call_id=None, index=index)
        yield call, f"{at}/function_call/arguments"


def part_of(entry: JsonObject) -> tuple[str, str]:
    """Which part of a tool call holds it, and the field of its text: `custom` takes free text."""
    is_custom = entry.get("type") == "custom" or not isinstance(entry.get("function"), dict)
    if is_custom and isinstance(entry.get("custom"), dict):
        return "custom", "input"
    return "function", "arguments"


def read_tools(request: JsonObject) -> tuple[ToolOffer, ...]:
    """The tools of a request, in order; a tool that the provider runs goes by its type."""
    offers = [
        _offer(as_object(tool.get(as_text(tool.get("type")) or "function")), tool)
        for tool in as_objects(request.get("tools"))
    ]
    offers += (_offer(function, function) for function in as_objects(request.get("functions")))
    return tuple(offers)


def _offer(part: JsonObject, tool: JsonObject) -> ToolOffer:
    schema = part.get("parameters")
    return ToolOffer(
        name=as_text(part.get("name")) or as_text(tool.get("type")) or "",
        schema=schema if isinstance(schema, dict) else None,
    )


def read_messages(request: JsonObject) -> tuple[JsonValue, ...] | None:
    """The messages of a request as they stand; None where it has none."""
    messages = request.get("messages")
    return tuple(messages) if isinstance(messages, list | tuple) else None
