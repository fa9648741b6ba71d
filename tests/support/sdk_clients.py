"""Ways to ask a model through the real SDKs, for tests that hold for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import anthropic
import openai

from agenttrace.demo._provider import Script, ScriptedProvider
from tests.support.waiting import PATIENCE_S

MESSAGES: Any = [{"role": "user", "content": "Refund order A-104"}]
PARAMETERS = {"type": "object", "properties": {"order_id": {"type": "string"}}}
CHAT_TOOL: Any = {"type": "function", "function": {"name": "pay", "parameters": PARAMETERS}}
RESPONSES_TOOL: Any = {"type": "function", "name": "pay", "parameters": PARAMETERS, "strict": False}
ANTHROPIC_TOOL: Any = {"name": "pay", "input_schema": PARAMETERS}
OPTIONS: dict[str, dict[str, Any]] = {
    "chat": {"messages": MESSAGES, "tools": [CHAT_TOOL]},
    "responses": {"input": MESSAGES, "tools": [RESPONSES_TOOL]},
    "messages": {"messages": MESSAGES, "tools": [ANTHROPIC_TOOL], "max_tokens": 100},
    "beta": {"messages": MESSAGES, "tools": [ANTHROPIC_TOOL], "max_tokens": 100},
}
APIS = tuple(OPTIONS)


@dataclass(frozen=True)
class Way:
    """One way to ask."""

    api: str
    is_async: bool
    is_streamed: bool

    def __str__(self) -> str:
        kind = "stream" if self.is_streamed else "whole"
        return f"{self.api}-{'async' if self.is_async else 'sync'}-{kind}"

    @property
    def library(self) -> str:
        """The SDK's name."""
        return "openai" if self.api in ("chat", "responses") else "anthropic"

    @property
    def sdk(self) -> Any:
        """The SDK, for its errors."""
        return openai if self.library == "openai" else anthropic

    @property
    def takes_any_text(self) -> bool:
        """Whether argument text reaches the wire as it is, whatever it is."""
        return self.library == "openai" or self.is_streamed

    def ask(
        self, provider: ScriptedProvider, *, max_retries: int = 0, times: int = 1, **options: Any
    ) -> Any:
        """Ask with a new client; a stream is read to its end and given back as a list."""
        if self.is_async:
            return asyncio.run(self._ask(provider, max_retries, times, options))
        with self.client(provider, max_retries=max_retries) as client:
            for _ in range(times):
                answer = self.create(client)(**self.options(options))
                answer = list(answer) if self.is_streamed else answer
        return answer

    async def _ask(
        self, provider: ScriptedProvider, max_retries: int, times: int, options: dict[str, Any]
    ) -> Any:
        async with self.client(provider, max_retries=max_retries) as client:
            for _ in range(times):
                answer = await self.create(client)(**self.options(options))
                answer = [event async for event in answer] if self.is_streamed else answer
        return answer

    def client(self, provider: ScriptedProvider, *, max_retries: int = 0) -> Any:
        """A new client that asks the provider."""
        kinds: dict[tuple[str, bool], Any] = {
            ("openai", False): (openai.OpenAI, openai.DefaultHttpxClient),
            ("openai", True): (openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient),
            ("anthropic", False): (anthropic.Anthropic, anthropic.DefaultHttpxClient),
            ("anthropic", True): (anthropic.AsyncAnthropic, anthropic.DefaultAsyncHttpxClient),
        }
        url = provider.base_url if self.library == "openai" else provider.address
        kind, http = kinds[self.library, self.is_async]
        # Nothing is encrypted here, and loading certificates takes longer than a whole test.
        return kind(
            base_url=url,
            api_key="k",
            max_retries=max_retries,
            http_client=http(verify=False),
            timeout=PATIENCE_S,
        )

    def resource(self, client: Any) -> Any:
        """What the client asks in this format by."""
        return {
            "chat": lambda: client.chat.completions,
            "responses": lambda: client.responses,
            "messages": lambda: client.messages,
            "beta": lambda: client.beta.messages,
        }[self.api]()

    def create(self, client: Any) -> Any:
        """The client's method for this format."""
        return self.resource(client).create

    def options(self, more: dict[str, Any]) -> dict[str, Any]:
        """What is asked, with a tool on offer."""
        stream = {"stream": True} if self.is_streamed else {}
        return {"model": "m", **OPTIONS[self.api], **stream, **more}


WAYS = [Way(*each) for each in product(APIS, (False, True), (False, True))]
SYNC_WHOLE = [way for way in WAYS if not way.is_async and not way.is_streamed]


@contextmanager
def client_of(script: Script, *, name: str = "demo") -> Iterator[openai.OpenAI]:
    """A sync client of openai's whose provider answers from the script."""
    way = Way("chat", is_async=False, is_streamed=False)
    with ScriptedProvider(script, name=name) as provider, way.client(provider) as client:
        yield client


@contextmanager
def anthropic_of(script: Script, **options: Any) -> Iterator[anthropic.Anthropic]:
    """A sync client of anthropic's whose provider answers from the script."""
    way = Way("messages", is_async=False, is_streamed=False)
    with ScriptedProvider(script) as provider, way.client(provider) as client:
        yield client.with_options(**options) if options else client
