"""The ways in which the demo's agent can ask a model: API, client, streamed or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any, Final

from agenttrace.errors import MissingExtraError


@dataclass(frozen=True, kw_only=True, slots=True)
class Sdk:
    """One provider's SDK, and the names that it goes by."""

    name: str
    """Of its package, and of its extra."""
    clients: tuple[str, str]
    """Its synchronous and its asynchronous client."""
    error: str
    """What all its errors are."""
    live_model: str
    """The model that is asked where the environment names none."""

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key of the real provider."""
        return f"{self.name.upper()}_API_KEY"

    @property
    def model_variable(self) -> str:
        """The environment variable that may name a model."""
        return f"{self.name.upper()}_MODEL"

    def load(self) -> Any:
        """The package.

        Raises:
            MissingExtraError: It is not installed.
        """
        try:
            return import_module(self.name)
        except ImportError as error:
            raise MissingExtraError(extra=self.name) from error


OPENAI: Final = Sdk(
    name="openai",
    clients=("OpenAI", "AsyncOpenAI"),
    error="OpenAIError",
    live_model="gpt-5-mini",
)
ANTHROPIC: Final = Sdk(
    name="anthropic",
    clients=("Anthropic", "AsyncAnthropic"),
    error="AnthropicError",
    live_model="claude-sonnet-4-5",
)

SDKS: Final = (OPENAI, ANTHROPIC)
SDK_OF: Final = {"chat": OPENAI, "responses": OPENAI, "messages": ANTHROPIC}
"""API to the SDK that speaks it."""

APIS: Final = tuple(SDK_OF)
MODES: Final = ("sync", "async")


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """One way to ask."""

    api: str = "chat"
    mode: str = "sync"
    is_streamed: bool = False

    def __str__(self) -> str:
        return f"{self.mode}, {self.api}{', streamed' if self.is_streamed else ''}"

    @property
    def sdk(self) -> Sdk:
        """The SDK that speaks the API."""
        return SDK_OF[self.api]

    @property
    def is_async(self) -> bool:
        """Whether answers are awaited."""
        return self.mode == "async"


def ways(*, api: str, mode: str, stream: bool | None) -> Iterator[Way]:
    """Every way that is asked for; `all`, or None for the stream, is both or all of them."""
    chosen = product(
        APIS if api == "all" else (api,),
        (False, True) if stream is None else (stream,),
        MODES if mode == "all" else (mode,),
    )
    for one_api, is_streamed, one_mode in chosen:
        yield Way(api=one_api, mode=one_mode, is_streamed=is_streamed)
