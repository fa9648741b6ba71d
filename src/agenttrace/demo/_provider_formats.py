"""What the scripted provider sends in openai's formats: a turn whole, or as events of a stream.

Each format is two pure functions, one that makes the response and one that cuts it into the events
of a stream. Argument text passes through as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from agenttrace.demo._provider_turns import (
    Json,
    ScriptedCall,
    SseEvent,
    Turn,
    fragments_of,
    merged,
    pieces,
)


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


def chat_events(completion: Json, fragment: int, turn: Turn | None = None) -> Iterator[SseEvent]:
    """A chat completion as the chunks that a stream sends.

    Args:
        fragment: Characters of each piece of argument text.
        turn: How its calls are cut up; by default one comes after the other.
    """
    turn = turn or Turn()
    head = {**completion, "object": "chat.completion.chunk"}
    head.pop("usage")

    def chunk(index: int, delta: Json, finish_reason: str | None = None) -> SseEvent:
        choice = {"index": index, "delta": delta, "finish_reason": finish_reason}
        return None, {**head, "choices": [choice]}

    def call_chunks(index: int, place: int, call: Json) -> Iterator[SseEvent]:
        kind = call["type"]
        key = "input" if kind == "custom" else "arguments"
        text = call[kind].get(key)
        opening = {**call[kind], **({} if text is None else {key: ""})}
        yield chunk(index, {"tool_calls": [{**call, "index": place, kind: opening}]})
        for piece in fragments_of(text or "", fragment, turn):
            part = {"index": place, kind: {key: piece}}
            if turn.repeat_opening:
                part = {**call, "index": place, kind: {**call[kind], key: piece}}
            yield chunk(index, {"tool_calls": [part]})

    for choice in completion["choices"]:
        index, message = choice["index"], choice["message"]
        yield chunk(index, {"role": "assistant", "content": "" if message["content"] else None})
        for piece in pieces(message["content"] or "", fragment):
            yield chunk(index, {"content": piece})
        calls = message.get("tool_calls", ())
        yield from merged([call_chunks(index, n, call) for n, call in enumerate(calls)], turn)
        if legacy := message.get("function_call"):
            yield chunk(index, {"function_call": {**legacy, "arguments": ""}})
            for piece in fragments_of(legacy.get("arguments", ""), fragment, turn):
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


def responses_events(response: Json, fragment: int, turn: Turn | None = None) -> Iterator[SseEvent]:
    """A response as the events that a stream sends.

    Args:
        fragment: Characters of each piece of argument text.
        turn: How its calls are cut up; by default one comes after the other.
    """
    turn = turn or Turn()
    number = itertools.count()

    def event(kind: str, **fields: Any) -> SseEvent:
        return kind, {"type": kind, "sequence_number": next(number), **fields}

    def item_events(place: int, item: Json) -> Iterator[SseEvent]:
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
        for piece in pieces(text, fragment) if is_text else fragments_of(text, fragment, turn):
            if turn.repeat_opening and not is_text:
                yield event("response.output_item.added", output_index=place, item=opening)
            yield event(f"response.{name}.delta", **at, delta=piece)
        if item["status"] == "completed":
            full = {"text" if is_text else key: text}
            yield event(f"response.{name}.done", **at, **full)
        yield event("response.output_item.done", output_index=place, item=item)

    yield event("response.created", response={**response, "status": "in_progress", "output": []})
    items = [item_events(place, item) for place, item in enumerate(response["output"])]
    yield from merged(items, turn)
    yield event(f"response.{response['status']}", response=response)
