"""Provider formats: pure readers from parsed JSON to what capture takes.

The table is what the hooks and `model_response()` share. A format is recognised by the shape of a
body, never by who sent it, because many servers speak the format of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agenttrace.domain import JsonObject
from agenttrace.integrations._formats import (
    anthropic_messages,
    bedrock_converse,
    cohere_chat,
    gemini_content,
    ollama_chat,
    openai_chat,
    openai_chat_stream,
    openai_responses,
    openai_responses_stream,
)
from agenttrace.integrations._formats._assembly import Assembly
from agenttrace.integrations._formats._format import Format
from agenttrace.integrations._formats._values import Source, as_index, error_text, no_source
from agenttrace.integrations._formats.errors import failure, read_error

__all__ = [
    "ANTHROPIC_MESSAGES",
    "FORMATS",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "Assembly",
    "Format",
    "Source",
    "error_text",
    "failure",
    "no_source",
    "read_error",
    "recognise",
    "recognise_events",
]


OPENAI_CHAT: Final = Format(
    name="openai-chat",
    asks=lambda path: path.endswith("/chat/completions"),
    is_response=openai_chat.is_response,
    is_event=openai_chat_stream.is_event,
    read_response=openai_chat.read_response,
    assembly=lambda request: openai_chat_stream.ChatStream(choices=as_index(request.get("n")) or 1),
    read_tools=openai_chat.read_tools,
    read_messages=openai_chat.read_messages,
)
OPENAI_RESPONSES: Final = Format(
    name="openai-responses",
    asks=lambda path: path.endswith("/responses"),
    is_response=openai_responses.is_response,
    is_event=openai_responses_stream.is_event,
    read_response=openai_responses.read_response,
    assembly=lambda _: openai_responses_stream.ResponsesStream(),
    read_tools=openai_responses.read_tools,
    read_messages=openai_responses.read_messages,
    read_previous=openai_responses.read_previous,
    is_unfinished=openai_responses.is_unfinished,
)
ANTHROPIC_MESSAGES: Final = Format(
    name="anthropic-messages",
    asks=anthropic_messages.asks,
    is_response=anthropic_messages.is_response,
    is_event=anthropic_messages.is_event,
    read_response=anthropic_messages.read_response,
    assembly=lambda _: anthropic_messages.MessageStream(),
    read_tools=anthropic_messages.read_tools,
    read_messages=anthropic_messages.read_messages,
    read_previous=anthropic_messages.read_previous,
)
GEMINI_CONTENT: Final = Format(
    name="gemini-content",
    is_response=gemini_content.is_response,
    is_event=gemini_content.is_response,
    read_response=gemini_content.read_response,
    assembly=lambda _: gemini_content.GeminiStream(),
    read_tools=gemini_content.read_tools,
    read_messages=gemini_content.read_messages,
)
BEDROCK_CONVERSE: Final = Format(
    name="bedrock-converse",
    is_response=bedrock_converse.is_response,
    is_event=bedrock_converse.is_event,
    read_response=bedrock_converse.read_response,
    assembly=lambda _: bedrock_converse.ConverseStream(),
    read_tools=bedrock_converse.read_tools,
    read_messages=bedrock_converse.read_messages,
)
COHERE_CHAT: Final = Format(
    name="cohere-chat",
    is_response=cohere_chat.is_response,
    is_event=cohere_chat.is_event,
    read_response=cohere_chat.read_response,
    assembly=lambda _: cohere_chat.CohereStream(),
    read_tools=openai_chat.read_tools,
    read_messages=openai_chat.read_messages,
)
OLLAMA_CHAT: Final = Format(
    name="ollama-chat",
    is_response=ollama_chat.is_response,
    is_event=ollama_chat.is_response,
    read_response=ollama_chat.read_response,
    assembly=lambda _: ollama_chat.OllamaStream(),
    read_tools=openai_chat.read_tools,
    read_messages=openai_chat.read_messages,
)
FORMATS: Final = (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC_MESSAGES,
    GEMINI_CONTENT,
    BEDROCK_CONVERSE,
    COHERE_CHAT,
    OLLAMA_CHAT,
)


def recognise(body: JsonObject) -> Format | None:
    """The format of a whole response, or None: it is no response, or of no known format."""
    return next((each for each in FORMATS if each.is_response(body)), None)


def recognise_events(events: Sequence[JsonObject]) -> Format | None:
    """The format of a stream by its first event that has one, or None."""
    return next((each for event in events for each in FORMATS if each.is_event(event)), None)
