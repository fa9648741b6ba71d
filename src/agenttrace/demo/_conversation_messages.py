"""One conversation with a model in the format that the anthropic SDK speaks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from agenttrace.demo._conversation import (
    INSTRUCTIONS,
    CallRequest,
    ChatConversation,
    Conversation,
    ResponsesConversation,
)
from agenttrace.demo._tools import DESCRIPTIONS, SCHEMAS

_MOST_TOKENS: Final = 1024


class MessagesConversation(Conversation):
    """By messages."""

    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call; results of one answer go back in one message."""
        block = {"type": "tool_result", "tool_use_id": call.call_id, "content": result}
        if self.items[-1]["role"] == "user":
            self.items[-1]["content"].append(block)
        else:
            self.items.append({"role": "user", "content": [block]})

    def _create(self, client: Any, **options: Any) -> Any:
        tools = [
            {"name": name, "description": DESCRIPTIONS[name], "input_schema": schema}
            for name, schema in SCHEMAS.items()
        ]
        return client.messages.create(
            model=self.model,
            system=INSTRUCTIONS,
            messages=self.items,
            tools=tools,
            max_tokens=_MOST_TOKENS,
            **options,
        )

    def _take_whole(self, answer: Any) -> list[CallRequest]:
        self.items.append({"role": "assistant", "content": answer.content})
        self.text = "".join(block.text for block in answer.content if block.type == "text")
        return [
            CallRequest(name=block.name, text=json.dumps(block.input), call_id=block.id)
            for block in answer.content
            if block.type == "tool_use"
        ]

    def _take_events(self, events: list[Any]) -> list[CallRequest]:
        text, calls = "", dict[int, CallRequest]()
        for event in events:
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                block = event.content_block
                calls[event.index] = CallRequest(name=block.name, text="", call_id=block.id)
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                text += event.delta.text
            elif event.type == "content_block_delta":
                call = calls[event.index]
                calls[event.index] = replace(call, text=call.text + event.delta.partial_json)
        self.text = text
        said = [{"type": "text", "text": text}] if text else []
        self.items.append({"role": "assistant", "content": [*said, *map(_as_sent, calls.values())]})
        return list(calls.values())


def _as_sent(call: CallRequest) -> dict[str, Any]:
    """The call as a block; one whose text is no JSON has no place for it, and goes back empty."""
    try:
        given = json.loads(call.text)
    except ValueError:
        given = {}
    return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": given}


CONVERSATIONS: Final[dict[str, type[Conversation]]] = {
    "chat": ChatConversation,
    "responses": ResponsesConversation,
    "messages": MessagesConversation,
}
"""The API's name to how it is spoken."""
