"""What the scripted provider sends: one turn of a script in each wire format, whole or as events.

Each format is two pure functions, one that makes the response and one that cuts it into the events
of a stream. Argument text passes through as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
SseEvent: TypeAlias = tuple[str | None, Json]
"""Name of the event, where the format has names, and its data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptedCall:
    """One tool call of a scripted response."""

    name: str
    arguments: str | None = "{}"
    """Argument text, sent as it is. None leaves the field out."""
    call_id: str | None = None
    """None lets the provider make one up, unique within the provider."""
    has_id: bool = True
    """False sends the call without an id, as some servers do."""
    kind: str = "function"
    """`function`; `custom` for a tool that takes free text; `legacy` for `function_call`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What the provider answers to one request."""

    calls: tuple[ScriptedCall, ...] = ()
    text: str | None = None
    finish_reason: str | None = None
    """None: what the format says for a whole response. For the responses format anything else
    makes the response incomplete for that reason."""
    choices: tuple[Turn, ...] = ()
    """Further choices of a chat completion, as a request with `n` above 1 gets."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | Mapping[str, Any] | None = None
    """Sent instead of a response: an error, or something no client expects."""
    cut_after: int | None = None
    """Events after which a streamed connection breaks off without an end."""


def chat_completion(response_id: str, model: str, turn: Turn) -> Json:
    """The turn as a chat completion."""
    return {
        "id": response_id,
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [
            _chat_choice(response_id, index, choice)
            for index, choice in enumerate((turn, *turn.choices))
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _chat_choice(response_id: str, index: int, turn: Turn) -> Json:
    message: Json = {"role": "assistant", "content": turn.text}
    calls = []
    for place, call in enumerate(turn.calls):
        if call.kind == "custom":
            part: Json = {"type": "custom", "custom": {"name": call.name, "input": call.arguments}}
        else:
            part = {"type": "function", "function": _named(call)}
        if call.has_id:
            part["id"] = call.call_id or f"call-{response_id}-{index}-{place}"
        if call.kind == "legacy":
            message["function_call"] = part["function"]
        else:
            calls.append(part)
    if calls:
        message["tool_calls"] = calls
    usual = "tool_calls" if calls else "function_call" if turn.calls else "stop"
    return {"index": index, "message": message, "finish_reason": turn.finish_reason or usual}


def _named(call: ScriptedCall) -> Json:
    text = {} if call.arguments is None else {"arguments": call.arguments}
    return {"name": call.name, **text}


def chat_events(completion: Json, fragment: int) -> Iterator[SseEvent]:
    """A chat completion as the chunks that a stream sends; calls come one after the other."""
    head = {**completion, "object": "chat.completion.chunk"}
    head.pop("usage")

    def chunk(index: int, delta: Json, finish_reason: str | None = None) -> SseEvent:
        choice = {"index": index, "delta": delta, "finish_reason": finish_reason}
        return None, {**head, "choices": [choice]}

    for choice in completion["choices"]:
        index, message = choice["index"], choice["message"]
        yield chunk(index, {"role": "assistant", "content": "" if message["content"] else None})
        for piece in _pieces(message["content"] or "", fragment):
            yield chunk(index, {"content": piece})
        for place, call in enumerate(message.get("tool_calls", ())):
            kind = call["type"]
            key = "input" if kind == "custom" else "arguments"
            text = call[kind].get(key)
            opening = {**call[kind], **({} if text is None else {key: ""})}
            yield chunk(index, {"tool_calls": [{**call, "index": place, kind: opening}]})
            for piece in _pieces(text or "", fragment):
                yield chunk(index, {"tool_calls": [{"index": place, kind: {key: piece}}]})
        if legacy := message.get("function_call"):
            yield chunk(index, {"function_call": {**legacy, "arguments": ""}})
            for piece in _pieces(legacy.get("arguments", ""), fragment):
                yield chunk(index, {"function_call": {"arguments": piece}})
        yield chunk(index, {}, choice["finish_reason"])
    yield None, {**head, "choices": [], "usage": completion["usage"]}


def responses_response(response_id: str, model: str, turn: Turn) -> Json:
    """The turn as a response of the responses format."""
    output: list[Json] = []
    if turn.text is not None:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": f"msg-{response_id}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for place, call in enumerate(turn.calls):
        custom = call.kind == "custom"
        item: Json = {"id": f"item-{response_id}-{place}", "status": "completed"}
        item["type"] = "custom_tool_call" if custom else "function_call"
        item.update({"name": call.name, "input": call.arguments} if custom else _named(call))
        if call.has_id:
            item["call_id"] = call.call_id or f"call-{response_id}-{place}"
        output.append(item)
    if turn.finish_reason and output:
        output[-1]["status"] = "incomplete"
    return {
        "id": response_id,
        "object": "response",
        "created_at": 1_700_000_000,
        "model": model,
        "status": "incomplete" if turn.finish_reason else "completed",
        "incomplete_details": {"reason": turn.finish_reason} if turn.finish_reason else None,
        "output": output,
        "error": None,
        "instructions": None,
        "metadata": {},
        "tools": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def responses_events(response: Json, fragment: int) -> Iterator[SseEvent]:
    """A response as the events that a stream sends; items come one after the other."""
    number = itertools.count()

    def event(kind: str, **fields: Any) -> SseEvent:
        return kind, {"type": kind, "sequence_number": next(number), **fields}

    yield event("response.created", response={**response, "status": "in_progress", "output": []})
    for place, item in enumerate(response["output"]):
        at: Json = {"output_index": place, "item_id": item["id"]}
        key, name = {
            "message": ("content", "output_text"),
            "custom_tool_call": ("input", "custom_tool_call_input"),
            "function_call": ("arguments", "function_call_arguments"),
        }[item["type"]]
        is_text = key == "content"
        opening = {**item, "status": "in_progress", key: [] if is_text else ""}
        yield event("response.output_item.added", output_index=place, item=opening)
        text = item[key][0]["text"] if is_text else item.get(key) or ""
        if is_text:
            at.update(content_index=0)
            part = {**item[key][0], "text": ""}
            yield event("response.content_part.added", **at, part=part)
            at.update(logprobs=[])
        for piece in _pieces(text, fragment):
            yield event(f"response.{name}.delta", **at, delta=piece)
        if item["status"] == "completed":
            full = {"text" if is_text else key: text}
            yield event(f"response.{name}.done", **at, **full)
        yield event("response.output_item.done", output_index=place, item=item)
    yield event(f"response.{response['status']}", response=response)


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
