"""What the scripted provider sends in anthropic's messages format, whole or as events of a stream.

A whole message has no place for argument text, only for an object. A turn's text stands there as it
is, spaces and repeated keys included, where it is the text of an object; any other becomes an empty
object, because the format could not hold it. A stream sends every text as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from agenttrace.demo._provider_turns import Json, SseEvent, Turn, fragments_of, merged, pieces


def message(response_id: str, model: str, turn: Turn) -> Json:
    """The turn as a message, its calls without their arguments."""
    content: list[Json] = []
    if turn.text is not None:
        content.append({"type": "text", "text": turn.text})
    for place, call in enumerate(turn.calls):
        block: Json = {"type": "tool_use", "name": call.name}
        if call.has_id:
            block["id"] = call.call_id or f"toolu-{response_id}-{place}"
        content.append(block)
    return {
        "id": response_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": turn.finish_reason or ("tool_use" if turn.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def message_text(made: Json, turn: Turn) -> str:
    """A message as the text of a whole response, with its calls' arguments."""
    texts = iter(turn.calls)
    blocks = []
    for block in made["content"]:
        text = json.dumps(block)
        if block["type"] == "tool_use":
            arguments = next(texts).arguments
            text = text if arguments is None else f'{text[:-1]}, "input": {_object(arguments)}}}'
        blocks.append(text)
    rest = json.dumps({key: value for key, value in made.items() if key != "content"})
    return f'{rest[:-1]}, "content": [{", ".join(blocks)}]}}'


def _object(text: str) -> str:
    try:
        return text if isinstance(json.loads(text), dict) else "{}"
    except ValueError:
        return "{}"


def message_events(made: Json, fragment: int, turn: Turn) -> Iterator[SseEvent]:
    """A message as the events that a stream sends.

    Args:
        fragment: Characters of each piece of text.
        turn: Its calls' arguments, and how they are cut up.
    """

    def event(kind: str, **fields: object) -> SseEvent:
        return kind, {"type": kind, **fields}

    def block_events(index: int, block: Json, arguments: str | None) -> Iterator[SseEvent]:
        is_text = block["type"] == "text"
        opening = {**block, "text": ""} if is_text else {**block, "input": {}}
        start = event("content_block_start", index=index, content_block=opening)
        yield start
        parts = pieces(block["text"], fragment) if is_text else None
        for piece in parts or fragments_of(arguments or "", fragment, turn):
            if turn.repeat_opening and not is_text:
                yield start
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    head = {**made, "content": [], "stop_reason": None}
    yield event("message_start", message=head)
    yield event("ping")
    texts = iter(turn.calls)
    yield from merged(
        [
            block_events(
                index, block, next(texts).arguments if block["type"] == "tool_use" else None
            )
            for index, block in enumerate(made["content"])
        ],
        turn,
    )
    delta = {"stop_reason": made["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": 5})
    yield event("message_stop")
