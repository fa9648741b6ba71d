"""The responses format, whole: output items, of which function and custom calls are the agent's.

`call_id` is the id that a call's result comes back under; `id` names the item and joins nothing.
Calls that the provider runs by itself (search, code, remote MCP) never reach a tool of the agent
and are no calls here.
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

TEXT_FIELDS = {"function_call": "arguments", "custom_tool_call": "input"}
"""Item types that are calls of the agent's tools, and the field that holds their text."""

UNFINISHED = frozenset({"queued", "in_progress"})
"""Statuses of a response that the provider is still making."""


def is_response(body: JsonObject) -> bool:
    """Whether the body is a response of this format."""
    if "object" in body:
        return body["object"] == "response"
    return "status" in body and any("type" in item for item in as_objects(body.get("output")))


def is_unfinished(body: JsonObject) -> bool:
    """Whether the provider is still making it: a response in the background, to be asked for."""
    return as_text(body.get("status")) in UNFINISHED


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The response as a draft; provider and the provider's request id are not in the body.

    The finish reason is the reason of `incomplete_details`, else the status.
    """
    items = as_objects(body.get("output"))
    reason = finish_reason(body)
    return ResponseDraft(
        response_id=as_text(body.get("id")),
        provider_request_id=None,
        provider=None,
        model=as_text(body.get("model")),
        finish_reason=reason,
        text=items_text(items),
        calls=with_source(tuple(read_calls(items, reason)), _places(body), source),
        complete=not is_unfinished(body),
        error=error_text(body.get("error")),
    )


def finish_reason(body: JsonObject) -> str | None:
    """Why the response ended: the reason it is incomplete, else its status."""
    details = as_object(body.get("incomplete_details"))
    return as_text(details.get("reason")) or as_text(body.get("status"))


def items_text(items: list[JsonObject]) -> str | None:
    """The text and refusal parts of all messages among the items."""
    return joined(content_text(i.get("content")) for i in items if i.get("type") == "message")


def read_calls(
    items: list[JsonObject], reason: str | None, *, ended: bool = True
) -> Iterator[CallDraft]:
    """The calls among output items, numbered by themselves.

    An item's own status says whether it is finished; where it has none, the response's reason does.
    """
    index = 0
    for item in items:
        field = TEXT_FIELDS.get(str(item.get("type")))
        if field is None:
            continue
        call = call_draft(item, field, call_id=item.get("call_id"), index=index)
        yield replace(call, complete=_is_complete(call, item, reason, item is items[-1], ended))
        index += 1


def _places(body: JsonObject) -> list[str]:
    """Where the argument field of each call stands."""
    fields = ((n, TEXT_FIELDS.get(str(item.get("type")))) for n, item in placed(body.get("output")))
    return [f"/output/{place}/{field}" for place, field in fields if field is not None]


def _is_complete(
    call: CallDraft, item: JsonObject, reason: str | None, is_last: bool, ended: bool
) -> bool | None:
    status = as_text(item.get("status"))
    if status is not None:
        return status == "completed"
    if reason in ("incomplete", "failed", "cancelled"):
        reason = "error"
    return is_complete(call, reason, is_last=is_last, ended=ended)


def read_tools(request: JsonObject) -> tuple[ToolOffer, ...]:
    """The tools of a request, in order, those of namespaces among them.

    A tool that the provider runs goes by its type.
    """
    return tuple(_offers(as_objects(request.get("tools"))))


def _offers(tools: list[JsonObject]) -> Iterator[ToolOffer]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _offers(as_objects(tool.get("tools")))
            continue
        schema = tool.get("parameters")
        yield ToolOffer(
            name=as_text(tool.get("name")) or as_text(tool.get("type")) or "",
            schema=schema if isinstance(schema, dict) else None,
        )


def read_messages(request: JsonObject) -> tuple[JsonValue, ...] | None:
    """Instructions and input of a request in the words of chat messages; None: it has neither.

    The records know one form of message. A result handed back becomes a `tool` message under its
    `call_id`, a call an `assistant` message that holds it.
    """
    instructions, given = request.get("instructions"), request.get("input")
    messages: list[JsonValue] = []
    if isinstance(instructions, str):
        messages.append({"role": "system", "content": instructions})
    if isinstance(given, str):
        messages.append({"role": "user", "content": given})
    messages.extend(_message(item) for item in as_objects(given))
    return tuple(messages) if messages or given is not None else None


def _message(item: JsonObject) -> JsonValue:
    kind = str(item.get("type", "message"))
    if kind == "message":
        return {"role": item.get("role"), "content": item.get("content")}
    if kind in TEXT_FIELDS:
        text = item.get(TEXT_FIELDS[kind])
        function = {"name": item.get("name"), "arguments": text}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind.endswith("_call_output"):
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    return {"role": "assistant", "content": [item]}


def read_previous(request: JsonObject) -> str | None:
    """The response that the provider is to go on from."""
    return as_text(request.get("previous_response_id"))
