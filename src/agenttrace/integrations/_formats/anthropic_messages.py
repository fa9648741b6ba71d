"""Anthropic's messages: content blocks, of which `tool_use` are the calls of the agent's tools.

The same bodies come from Bedrock and Vertex. Arguments are an object that the provider has parsed
by itself, so the raw text of a whole response is the slice of its body; in a stream it is the
joined pieces. Tools that the provider runs, or its MCP connector, reach no tool of the agent and
are no calls here.
"""

from __future__ import annotations

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
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)
_PATHS = ("/v1/messages", "/invoke", "/invoke-with-response-stream", ":rawPredict")
_STREAM_PATH = ":streamRawPredict"
_COUNTING = "/count-tokens:rawPredict"


def asks(path: str) -> bool:
    """Whether a request to this path is answered by a message: here, on Bedrock and on Vertex."""
    return path.endswith((*_PATHS, _STREAM_PATH)) and not path.endswith(_COUNTING)


def is_response(body: JsonObject) -> bool:
    """Whether the body is a message of the model's."""
    if not isinstance(body.get("content"), list | tuple):
        return False
    return body.get("type") == "message" or ("stop_reason" in body and "type" not in body)


def is_event(event: JsonObject) -> bool:
    """Whether this is an event of a streamed message."""
    return as_text(event.get("type")) in _EVENTS


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The message as a draft; provider and the provider's request id are not in the body."""
    reason = as_text(body.get("stop_reason"))
    blocks = placed(body.get("content"))
    calls: list[CallDraft] = []
    places: list[str] = []
    for place, block in blocks:
        if block.get("type") != "tool_use":
            continue
        call = call_draft(block, "input", call_id=block.get("id"), index=len(calls))
        is_last = block is blocks[-1][1]
        complete = is_complete(call, reason, is_last=is_last, ended=True)
        calls.append(replace(call, complete=complete))
        places.append(f"/content/{place}/input")
    return ResponseDraft(
        response_id=as_text(body.get("id")),
        provider_request_id=None,
        provider=None,
        model=as_text(body.get("model")),
        finish_reason=reason,
        text=joined(as_text(b.get("text")) for _, b in blocks if b.get("type") == "text"),
        calls=with_source(calls, places, source),
        error=_refusal(body),
    )


def _refusal(stopped: JsonObject) -> str | None:
    """What the provider says of its refusal; None where it refused nothing or says nothing."""
    details = as_object(stopped.get("stop_details"))
    if stopped.get("stop_reason") != "refusal" or not details:
        return None
    parts = ("refusal", as_text(details.get("category")), as_text(details.get("explanation")))
    return ": ".join(part for part in parts if part)


class MessageStream(BlockStream):
    """A message so far.

    A reason to stop that stands in the opening ends nothing: what is told of is still to come.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: str | None = None

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one event; True when it held a part of a call."""
        kind = event.get("type")
        key = as_index(event.get("index"))
        if kind == "message_start":
            self._begin(as_object(event.get("message")))
        elif kind == "content_block_start":
            return self._open(key, as_object(event.get("content_block")))
        elif kind == "content_block_delta":
            return self._add_delta(key, as_object(event.get("delta")))
        elif kind == "content_block_stop":
            self.close(key)
        elif kind == "message_delta":
            delta = as_object(event.get("delta"))
            self.reason = as_text(delta.get("stop_reason")) or self.reason
            self.error = _refusal(delta) or self.error
        elif kind == "message_stop":
            self.is_stopped = True
            self.reason = self.reason or self._told
        elif kind == "error":
            self.error = error_text(event.get("error"))
        return False

    def _begin(self, message: JsonObject) -> None:
        self.response_id = self.response_id or as_text(message.get("id"))
        self.model = self.model or as_text(message.get("model"))
        for place, block in placed(message.get("content")):
            self._open(place, block)
        self._told = as_text(message.get("stop_reason")) or self._told

    def _open(self, key: int | None, block: JsonObject) -> bool:
        if block.get("type") == "tool_use":
            self.open_call(key, block.get("name"), block.get("id"), given=block.get("input"))
            return True
        self.open_text(key)
        if block.get("type") == "text":
            self.add_text(key, block.get("text") or None)
        return False

    def _add_delta(self, key: int | None, delta: JsonObject) -> bool:
        if delta.get("type") == "input_json_delta":
            return self.add_to_call(key, delta.get("partial_json"))
        if delta.get("type") == "text_delta":
            self.add_text(key, delta.get("text"))
        return False


def read_tools(request: JsonObject) -> tuple[ToolOffer, ...]:
    """The tools of a request, in order; one that has no schema of its own goes by its name."""
    return tuple(
        ToolOffer(
            name=as_text(tool.get("name")) or as_text(tool.get("type")) or "",
            schema=schema if isinstance(schema := tool.get("input_schema"), dict) else None,
        )
        for tool in as_objects(request.get("tools"))
    )


def read_messages(request: JsonObject) -> tuple[JsonValue, ...] | None:
    """The system prompt and the messages of a request as they stand; None: it has none."""
    system, messages = request.get("system"), request.get("messages")
    if not isinstance(messages, list | tuple):
        return None
    return tuple(messages) if not system else ({"role": "system", "content": system}, *messages)


def read_previous(request: JsonObject) -> str | None:
    """The message that a thread held by the provider goes on from."""
    return as_text(as_object(request.get("thread")).get("previous_message_id"))
