"""Provider formats: pure readers from parsed JSON to what capture takes.

The table is what the hooks and `model_response()` share. A format is recognised by the shape of a
body, never by who sent it, because many servers speak the format of another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agenttrace.capture import ResponseDraft, ToolOffer
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats import (
    openai_chat,
    openai_chat_stream,
    openai_responses,
    openai_responses_stream,
)
from agenttrace.integrations._formats._assembly import Assembly
from agenttrace.integrations._formats._values import Source, as_index, error_text, no_source

__all__ = [
    "FORMATS",
    "Assembly",
    "Format",
    "Source",
    "error_text",
    "format_of_path",
    "no_source",
    "recognise",
]


def _never(_: JsonObject) -> bool:
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """How one wire format is told and read."""

    name: str
    """What `model_response(format=…)` calls it."""
    path: str
    """End of the path that a request in this format is posted to."""
    is_response: Callable[[JsonObject], bool]
    is_event: Callable[[JsonObject], bool]
    read_response: Callable[[JsonObject, Source], ResponseDraft]
    assembly: Callable[[JsonObject], Assembly]
    """A reader of the stream that answers this request."""
    read_tools: Callable[[JsonObject], tuple[ToolOffer, ...]]
    read_messages: Callable[[JsonObject], tuple[JsonValue, ...] | None]
    is_unfinished: Callable[[JsonObject], bool] = _never
    """Whether a body says that its response is still being made."""


OPENAI_CHAT: Final = Format(
    name="openai-chat",
    path="/chat/completions",
    is_response=openai_chat.is_response,
    is_event=openai_chat_stream.is_event,
    read_response=openai_chat.read_response,
    assembly=lambda request: openai_chat_stream.ChatStream(choices=as_index(request.get("n")) or 1),
    read_tools=openai_chat.read_tools,
    read_messages=openai_chat.read_messages,
)
OPENAI_RESPONSES: Final = Format(
    name="openai-responses",
    path="/responses",
    is_response=openai_responses.is_response,
    is_event=openai_responses_stream.is_event,
    read_response=openai_responses.read_response,
    assembly=lambda _: openai_responses_stream.ResponsesStream(),
    read_tools=openai_responses.read_tools,
    read_messages=openai_responses.read_messages,
    is_unfinished=openai_responses.is_unfinished,
)
FORMATS: Final = (OPENAI_CHAT, OPENAI_RESPONSES)


def recognise(body: JsonObject) -> Format | None:
    """The format of a whole response, or None: it is no response, or of no known format."""
    return next((each for each in FORMATS if each.is_response(body)), None)


def format_of_path(path: str) -> Format | None:
    """The format that a request to this path is answered in, or None: it asks for no response."""
    return next((each for each in FORMATS if path.endswith(each.path)), None)
