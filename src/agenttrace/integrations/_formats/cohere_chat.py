"""Cohere's chat, version 2: one message, whole or as a stream of events."""

from __future__ import annotations

from dataclasses import replace

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.domain import JsonObject
from agenttrace.integrations._formats._blocks import BlockStream
from agenttrace.integrations._formats._values import (
    Source,
    as_index,
    as_object,
    as_text,
    call_draft,
    content_text,
    is_complete,
    no_source,
    placed,
    with_source,
)

_EVENTS = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "message-end",
    }
)


def is_response(body: JsonObject) -> bool:
    """Whether the body is a message of this format."""
    return isinstance(body.get("message"), dict) and "finish_reason" in body


def is_event(event: JsonObject) -> bool:
    """Whether this is an event of a streamed message."""
    return as_text(event.get("type")) in _EVENTS


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The message as a draft; the model is not in the body."""
    message = as_object(body.get("message"))
    reason = as_text(body.get("finish_reason"))
    entries = placed(message.get("tool_calls"))
    calls: list[CallDraft] = []
    for _, entry in entries:
        function = as_object(entry.get("function"))
        call = call_draft(function, "arguments", call_id=entry.get("id"), index=len(calls))
        is_last = entry is entries[-1][1]
        calls.append(replace(call, complete=is_complete(call, reason, is_last=is_last, ended=True)))
    places = [f"/message/tool_calls/{place}/function/arguments" for place, _ in entries]
    return ResponseDraft(
        response_id=as_text(body.get("id")),
        provider_request_id=None,
        provider=None,
        model=None,
        finish_reason=reason,
        text=content_text(message.get("content")),
        calls=with_source(calls, places, source),
    )


class CohereStream(BlockStream):
    """A message so far. The calls are numbered apart from the texts."""

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one event; True when it held a part of a call."""
        kind = as_text(event.get("type")) or ""
        index = as_index(event.get("index"))
        delta = as_object(event.get("delta"))
        message = as_object(delta.get("message"))
        if kind == "message-start":
            self.response_id = self.response_id or as_text(event.get("id"))
        elif kind in ("content-start", "content-delta"):
            part = as_object(message.get("content"))
            self.add_text(("text", index), part.get("text") or None)
        elif kind in ("tool-call-start", "tool-call-delta"):
            entry = as_object(message.get("tool_calls"))
            function = as_object(entry.get("function"))
            if kind == "tool-call-start":
                self.open_call(("call", index), function.get("name"), entry.get("id"))
            self.add_to_call(("call", index), function.get("arguments"))
            return True
        elif kind == "tool-call-end":
            self.close(("call", index))
        elif kind == "message-end":
            self.reason = as_text(delta.get("finish_reason")) or self.reason
            self.error = as_text(delta.get("error")) or self.error
            self.is_stopped = True
        return False
