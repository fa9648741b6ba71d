"""Bedrock's Converse: one message for every model there, whole or as a stream of events.

The response has no id of its own. Nova runs some tools by itself and lists them among the calls,
as `server_tool_use`; they are recorded as run by the provider, so that no boundary is asked for
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agenttrace.capture import CallDraft, ResponseDraft, ToolOffer
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._blocks import BlockStream
from agenttrace.integrations._formats._values import (
    Source,
    as_index,
    as_object,
    as_objects,
    as_text,
    call_draft,
    error_text,
    is_complete,
    joined,
    no_source,
    placed,
    with_source,
)

_EVENTS = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
    }
)
_SERVER = "server_tool_use"


def is_response(body: JsonObject) -> bool:
    """Whether the body is an answer of Converse."""
    message = as_object(as_object(body.get("output")).get("message"))
    return isinstance(message.get("content"), list | tuple)


def is_event(event: JsonObject) -> bool:
    """Whether this is an event of a streamed answer: an object named by its one key."""
    return not _EVENTS.isdisjoint(event)


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The answer as a draft; the model is not in the body, the request's id only by boto3."""
    reason = as_text(body.get("stopReason"))
    blocks = placed(as_object(as_object(body.get("output")).get("message")).get("content"))
    calls: list[CallDraft] = []
    places: list[str] = []
    for place, block in blocks:
        if not isinstance(use := block.get("toolUse"), dict):
            continue
        call = call_draft(use, "input", call_id=use.get("toolUseId"), index=len(calls))
        is_last = block is blocks[-1][1]
        complete = is_complete(call, reason, is_last=is_last, ended=True)
        by_provider = use.get("type") == _SERVER
        calls.append(replace(call, complete=complete, by_provider=by_provider))
        places.append(f"/output/message/content/{place}/toolUse/input")
    metadata = as_object(body.get("ResponseMetadata"))
    return ResponseDraft(
        response_id=None,
        provider_request_id=as_text(metadata.get("RequestId")),
        provider=None,
        model=None,
        finish_reason=reason,
        text=joined(as_text(block.get("text")) for _, block in blocks),
        calls=with_source(calls, places, source),
    )


class ConverseStream(BlockStream):
    """An answer so far."""

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one event; True when it held a part of a call."""
        for kind, value in event.items():
            fields = as_object(value)
            key = as_index(fields.get("contentBlockIndex"))
            if kind == "contentBlockStart":
                return self._open(key, as_object(fields.get("start")))
            if kind == "contentBlockDelta":
                return self._add_delta(key, as_object(fields.get("delta")))
            if kind == "contentBlockStop":
                self.close(key)
            elif kind == "messageStop":
                self.reason = as_text(fields.get("stopReason")) or self.reason
                self.is_stopped = True
            elif kind.endswith("Exception"):
                self.error = error_text({"type": kind, **fields})
        return False

    def _open(self, key: int | None, start: JsonObject) -> bool:
        use = start.get("toolUse")
        if not isinstance(use, dict):
            self.open_text(key)
            return False
        by_provider = use.get("type") == _SERVER
        self.open_call(key, use.get("name"), use.get("toolUseId"), by_provider=by_provider)
        return True

    def _add_delta(self, key: int | None, delta: JsonObject) -> bool:
        if isinstance(use := delta.get("toolUse"), dict):
            return self.add_to_call(key, use.get("input"))
        self.add_text(key, delta.get("text"))
        return False


def read_tools(request: JsonObject) -> tuple[ToolOffer, ...]:
    """The tools of a request, in order, those among them that the provider runs."""
    tools = as_object(request.get("toolConfig")).get("tools", request.get("tools"))
    return tuple(_offers(as_objects(tools)))


def _offers(tools: list[JsonObject]) -> Iterator[ToolOffer]:
    for tool in tools:
        spec = as_object(tool.get("toolSpec")) or as_object(tool.get("systemTool"))
        name = as_text(spec.get("name"))
        if name is not None:
            schema = as_object(spec.get("inputSchema")).get("json")
            yield ToolOffer(name=name, schema=schema if isinstance(schema, dict) else None)


def read_messages(request: JsonObject) -> tuple[JsonValue, ...] | None:
    """The system prompt and the messages of a request; None: it has none.

    A result handed back becomes a `tool` message under its call's id.
    """
    messages = request.get("messages")
    if not isinstance(messages, list | tuple):
        return None
    system = joined(as_text(part.get("text")) for part in as_objects(request.get("system")))
    made: list[JsonValue] = [] if system is None else [{"role": "system", "content": system}]
    for message in messages:
        made.extend(_messages_of(message) if isinstance(message, dict) else [message])
    return tuple(made)


def _messages_of(message: JsonObject) -> Iterator[JsonValue]:
    rest: list[JsonValue] = []
    for block in as_objects(message.get("content")):
        result = block.get("toolResult")
        if not isinstance(result, dict):
            rest.append(block)
            continue
        shown = {
            "role": "tool",
            "tool_call_id": result.get("toolUseId"),
            "content": _shown(result.get("content")),
        }
        if result.get("status") == "error":
            shown["is_error"] = True
        yield shown
    if rest or not message.get("content"):
        yield {"role": message.get("role"), "content": rest}


def _shown(content: JsonValue) -> JsonValue:
    """A result as the model reads it: its one JSON value, else its texts."""
    parts = as_objects(content)
    if len(parts) == 1 and "json" in parts[0]:
        return parts[0]["json"]
    if parts and all(isinstance(part.get("text"), str) for part in parts):
        return joined(as_text(part.get("text")) for part in parts)
    return content
