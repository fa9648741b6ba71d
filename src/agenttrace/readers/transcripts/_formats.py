"""The formats of chat logs: what each is called, how it is told by a row, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agenttrace.domain import JsonObject, JsonValue
from agenttrace.readers.transcripts import (
    _anthropic_messages,
    _openai_chat,
    _openai_responses,
)
from agenttrace.readers.transcripts._turns import Turn


class TranscriptFormat(StrEnum):
    """How the rows of a chat log hold a conversation."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC_MESSAGES = "anthropic-messages"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """How one format is read."""

    fields: tuple[str, ...]
    """Fields of a row that can hold the conversation; one of them has to be there."""
    beside: tuple[str, ...]
    """Further fields that are part of what happened."""
    read_turns: Callable[[JsonObject], list[Turn]]


SHAPES: Final[Mapping[TranscriptFormat, Shape]] = MappingProxyType(
    {
        TranscriptFormat.OPENAI_CHAT: Shape(
            fields=("messages",),
            beside=("model", "tools", "functions"),
            read_turns=_openai_chat.read_turns,
        ),
        TranscriptFormat.OPENAI_RESPONSES: Shape(
            fields=("items", "input", "output"),
            beside=(
                "model",
                "tools",
                "instructions",
                "object",
                "id",
                "status",
                "incomplete_details",
            ),
            read_turns=_openai_responses.read_turns,
        ),
        TranscriptFormat.ANTHROPIC_MESSAGES: Shape(
            fields=("messages",),
            beside=("model", "tools", "system"),
            read_turns=_anthropic_messages.read_turns,
        ),
    }
)

_CHAT_ROLES: Final = frozenset({"system", "developer", "tool", "function"})
_CHAT_FIELDS: Final = ("tool_calls", "function_call", "tool_call_id")
_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def recognise_row(row: JsonValue) -> TranscriptFormat | None:
    """The format that a row is of by its shape, or None: it is of no known one.

    Messages that hold text alone could be of two formats. They count as chat messages; should a
    later row hold content blocks, its reader refuses it and names the right format.
    """
    if not isinstance(row, dict):
        return None
    messages = row.get("messages")
    if isinstance(messages, list):
        return _by_messages(row, [one for one in messages if isinstance(one, dict)])
    held = [row[name] for name in _openai_responses.ITEM_FIELDS if isinstance(row.get(name), list)]
    for item in (one for items in held for one in items if isinstance(one, dict)):
        if isinstance(item.get("type"), str) or isinstance(item.get("role"), str):
            return TranscriptFormat.OPENAI_RESPONSES
    return None


def _by_messages(row: JsonObject, messages: list[JsonObject]) -> TranscriptFormat:
    for message in messages:
        if message.get("role") in _CHAT_ROLES or any(name in message for name in _CHAT_FIELDS):
            return TranscriptFormat.OPENAI_CHAT
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") in _BLOCKS:
                return TranscriptFormat.ANTHROPIC_MESSAGES
    tools = row.get("tools")
    offered = tools if isinstance(tools, list) else []
    has_schema = any(isinstance(tool, dict) and "input_schema" in tool for tool in offered)
    if has_schema or "system" in row:
        return TranscriptFormat.ANTHROPIC_MESSAGES
    return TranscriptFormat.OPENAI_CHAT
