"""Ways to ask a model through the real openai SDK, for tests that hold for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import openai

from agenttrace.demo._provider import Script, ScriptedProvider

MESSAGES: Any = [{"role": "user", "content": "Refund order A-104"}]
PARAMETERS = {"type": "object", "properties": {"order_id": {"type": "string"}}}
CHAT_TOOL: Any = {"type": "function", "function": {"name": "pay", "parameters": PARAMETERS}}
RESPONSES_TOOL: Any = {"type": "function", "name": "pay", "parameters": PARAMETERS, "strict": False}


@dataclass(frozen=True)
class Way:
    """One way to ask."""

    api: str
    is_async: bool
    is_streamed: bool

    def __str__(self) -> str:
        kind = "stream" if self.is_streamed else "whole"
        return f"{self.api}-{'async' if self.is_async else 'sync'}-{kind}"

    def ask(self, base_url: str, *, max_retries: int = 0, times: int = 1, **options: Any) -> Any:
        """Ask with a new client; a stream is read to its end and given back as a list."""
        if self.is_async:
            return asyncio.run(self._ask(base_url, max_retries, times, options))
        with openai.OpenAI(base_url=base_url, api_key="k", max_retries=max_retries) as client:
            for _ in range(times):
                answer = self.create(client)(**self.options(options))
                answer = list(answer) if self.is_streamed else answer
        return answer

    async def _ask(
        self, base_url: str, max_retries: int, times: int, options: dict[str, Any]
    ) -> Any:
        client = openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=max_retries)
        async with client:
            for _ in range(times):
                answer = await self.create(client)(**self.options(options))
                answer = [event async for event in answer] if self.is_streamed else answer
        return answer

    def create(self, client: Any) -> Any:
        """The client's method for this format."""
        return client.chat.completions.create if self.api == "chat" else client.responses.create

    def options(self, more: dict[str, Any]) -> dict[str, Any]:
        """What is asked, with a tool on offer."""
        stream = {"stream": True} if self.is_streamed else {}
        if self.api == "chat":
            return {"model": "m", "messages": MESSAGES, "tools": [CHAT_TOOL], **stream, **more}
        return {"model": "m", "input": MESSAGES, "tools": [RESPONSES_TOOL], **stream, **more}


WAYS = [Way(*each) for each in product(("chat", "responses"), (False, True), (False, True))]


@contextmanager
def client_of(script: Script, *, name: str = "demo") -> Iterator[openai.OpenAI]:
    """A sync client whose provider answers from the script."""
    with (
        ScriptedProvider(script, name=name) as provider,
        openai.OpenAI(base_url=provider.base_url, api_key="k", max_retries=0) as client,
    ):
        yield client
