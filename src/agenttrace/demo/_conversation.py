"""One conversation with a model, in either of the two formats that the openai SDK speaks.

A conversation asks through whatever client it is given. With a synchronous client an answer is
there at once, with an asynchronous one it is awaited; nothing else differs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
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

    def __init__(self, model: str, prompt: str) -> None:
        self.model = model
        self.items: list[Any] = [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": prompt},
        ]
        self.text = ""
        """The model's last words."""

    @abstractmethod
    def ask(self, client: Any) -> Any:
        """Send the conversation; the response, or an awaitable of it."""

    @abstractmethod
    def take(self, response: Any) -> list[CallRequest]:
        """Add a response to the conversation; the calls it asks for."""

    @abstractmethod
    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""


class ChatConversation(Conversation):
    """By chat completions."""

    def ask(self, client: Any) -> Any:
        """Send the conversation; the response, or an awaitable of it."""
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
        return client.chat.completions.create(model=self.model, messages=self.items, tools=tools)

    def take(self, response: Any) -> list[CallRequest]:
        """Add a response to the conversation; the calls it asks for."""
        message = response.choices[0].message
        self.items.append(message)
        self.text = message.content or ""
        return [
            CallRequest(name=call.function.name, text=call.function.arguments, call_id=call.id)
            for call in message.tool_calls or ()
        ]

    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""
        self.items.append({"role": "tool", "tool_call_id": call.call_id, "content": result})


class ResponsesConversation(Conversation):
    """By responses."""

    def ask(self, client: Any) -> Any:
        """Send the conversation; the response, or an awaitable of it."""
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
        return client.responses.create(model=self.model, input=self.items, tools=tools)

    def take(self, response: Any) -> list[CallRequest]:
        """Add a response to the conversation; the calls it asks for."""
        self.items.extend(response.output)
        self.text = response.output_text
        return [
            CallRequest(name=item.name, text=item.arguments, call_id=item.call_id)
            for item in response.output
            if item.type == "function_call"
        ]

    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""
        self.items.append(
            {"type": "function_call_output", "call_id": call.call_id, "output": result}
        )


CONVERSATIONS: Final[dict[str, type[Conversation]]] = {
    "chat": ChatConversation,
    "responses": ResponsesConversation,
}
"""The API's name to how it is spoken."""
