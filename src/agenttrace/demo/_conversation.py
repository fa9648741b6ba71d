"""One conversation with a model, in the formats that the openai SDK speaks.

A conversation asks through whatever client it is given. With a synchronous client an answer is
there at once, with an asynchronous one it is awaited; nothing else differs. A streamed answer is
the list of its events.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, Final

from agenttrace.demo._tools import DESCRIPTIONS, SCHEMAS

INSTRUCTIONS: Final = (
    "You are the refund desk of a shop. Look an order up before you give money back for it, "
    "and refund what was paid, in cents. Answer in one sentence when you are done."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRequest:
    """One tool call as the model asked for it."""

    name: str
    text: str
    """Argument text, as it came."""
    call_id: str


class Conversation(ABC):
    """What was said so far, and how to go on."""

    def __init__(self, model: str, prompt: str, *, is_streamed: bool = False) -> None:
        self.model = model
        self.is_streamed = is_streamed
        self.items: list[Any] = [{"role": "user", "content": prompt}]
        self.text = ""
        """The model's last words."""

    def ask(self, client: Any) -> Any:
        """Send the conversation; the answer, or an awaitable of it."""
        if not self.is_streamed:
            return self._create(client)
        events = self._create(client, stream=True)
        return _read_all(events) if inspect.isawaitable(events) else list(events)

    def take(self, answer: Any) -> list[CallRequest]:
        """Add an answer to the conversation; the calls it asks for."""
        return self._take_events(answer) if self.is_streamed else self._take_whole(answer)

    @abstractmethod
    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""

    @abstractmethod
    def _create(self, client: Any, **options: Any) -> Any:
        """Call the SDK."""

    @abstractmethod
    def _take_whole(self, answer: Any) -> list[CallRequest]:
        """Add an answer that came in one piece."""

    @abstractmethod
    def _take_events(self, events: list[Any]) -> list[CallRequest]:
        """Add an answer that came as a stream."""


async def _read_all(stream: Awaitable[Any]) -> list[Any]:
    return [event async for event in await stream]


class ChatConversation(Conversation):
    """By chat completions."""

    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""
        self.items.append({"role": "tool", "tool_call_id": call.call_id, "content": result})

    def _create(self, client: Any, **options: Any) -> Any:
        tools = [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": DESCRIPTIONS[name],
                    "parameters": schema,
                },
            }
            for name, schema in SCHEMAS.items()
        ]
        messages = [{"role": "system", "content": INSTRUCTIONS}, *self.items]
        return client.chat.completions.create(
            model=self.model, messages=messages, tools=tools, **options
        )

    def _take_whole(self, answer: Any) -> list[CallRequest]:
        message = answer.choices[0].message
        self.items.append(message)
        self.text = message.content or ""
        return [
            CallRequest(name=call.function.name, text=call.function.arguments, call_id=call.id)
            for call in message.tool_calls or ()
        ]

    def _take_events(self, events: list[Any]) -> list[CallRequest]:
        text, calls = "", dict[int, CallRequest]()
        for delta in (choice.delta for event in events for choice in event.choices):
            text += delta.content or ""
            for part in delta.tool_calls or ():
                opened = CallRequest(name=part.function.name or "", text="", call_id=part.id or "")
                call = calls.get(part.index, opened)
                calls[part.index] = replace(call, text=call.text + (part.function.arguments or ""))
        self.text = text
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [_as_sent(call) for call in calls.values()]
        self.items.append(message)
        return list(calls.values())


def _as_sent(call: CallRequest) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.text}
    return {"id": call.call_id, "type": "function", "function": function}


class ResponsesConversation(Conversation):
    """By responses."""

    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""
        self.items.append(
            {"type": "function_call_output", "call_id": call.call_id, "output": result}
        )

    def _create(self, client: Any, **options: Any) -> Any:
        tools = [
            {
                "type": "function",
                "name": name,
                "description": DESCRIPTIONS[name],
                "parameters": schema,
                "strict": False,
            }
            for name, schema in SCHEMAS.items()
        ]
        items = [{"role": "system", "content": INSTRUCTIONS}, *self.items]
        return client.responses.create(model=self.model, input=items, tools=tools, **options)

    def _take_whole(self, answer: Any) -> list[CallRequest]:
        self.items.extend(answer.output)
        self.text = answer.output_text
        return [
            CallRequest(name=item.name, text=item.arguments, call_id=item.call_id)
            for item in answer.output
            if item.type == "function_call"
        ]

    def _take_events(self, events: list[Any]) -> list[CallRequest]:
        # The last event holds the whole response.
        return self._take_whole(events[-1].response)
