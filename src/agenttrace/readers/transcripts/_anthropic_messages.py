"""Messages made of content blocks: each assistant message is a turn, its `tool_use` blocks calls.

The provider sends arguments as an object, never as text, so the raw text is out of reach. Tools
that the provider runs by itself reach no tool of the agent, and are no calls here.
"""

from __future__ import annotations

from typing import Final

from agenttrace.domain import JsonObject, JsonValue, Message
from agenttrace.readers.transcripts._turns import (
    LoggedCall,
    Turn,
    as_objects,
    as_text,
    call_of,
    id_of,
    message_of,
    text_of,
    text_or_none,
    turn_of,
)
from agenttrace.records import ShapeError

_FOREIGN_FIELDS: Final = ("tool_calls", "function_call")


def read_turns(row: JsonObject) -> list[Turn]:
    """The turns of a row, none where it has no messages.

    Raises:
        ShapeError: A message is none of this format.
    """
    turns: list[Turn] = []
    system = row.get("system")
    given = [] if system is None else [message_of("system", system)]
    for place, message in enumerate(as_objects(row.get("messages"), "messages")):
        where = f"messages[{place}]"
        role = as_text(message, "role", where)
        _refuse_foreign(message, role, where)
        if role == "assistant":
            turns.append(_turn(message, tuple(given), where))
            given = []
        elif role in ("user", "system"):
            given += _given(role, message.get("content"), f"{where}.content")
        else:
            raise ShapeError(
                f"{where}.role", f"is {role!r:.40}, not one of assistant, user, system"
            )
    return turns


def _turn(message: JsonObject, given: tuple[Message, ...], where: str) -> Turn:
    content = message.get("content")
    at = f"{where}.content"
    calls: list[LoggedCall] = []
    for place, block in enumerate(_blocks(content, at)):
        if block.get("type") == "tool_use":
            here = f"{at}[{place}]"
            name = as_text(block, "name", here)
            call_id = block.get("id")
            calls.append(
                call_of(block, "input", name=name, call_id=call_id, where=here, blank=False)
            )
    return turn_of(
        calls,
        finish_reason=text_or_none(message, "stop_reason"),
        messages=given,
        text=text_of(content, at),
        response_id=text_or_none(message, "id"),
        model=text_or_none(message, "model"),
    )


def _given(role: str, content: JsonValue, where: str) -> list[Message]:
    """The results in a message, one by one, and then whatever else it holds."""
    blocks = _blocks(content, where)
    shown = [
        message_of(
            "tool",
            block.get("content"),
            call_id=id_of(block.get("tool_use_id"), f"{where}[{place}]"),
        )
        for place, block in enumerate(blocks)
        if block.get("type") == "tool_result"
    ]
    if not shown:
        return [message_of(role, content)]
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    return [*shown, message_of(role, rest)] if rest else shown


def _blocks(content: JsonValue, where: str) -> list[JsonObject]:
    return [] if isinstance(content, str) else as_objects(content, where)


def _refuse_foreign(message: JsonObject, role: str, where: str) -> None:
    """Fields of another format hold calls that would be lost if they were passed over."""
    found = next((name for name in _FOREIGN_FIELDS if message.get(name)), None)
    if found is not None:
        raise ShapeError(where, f"has {found}; read this log with --format openai-chat")
    if role in ("tool", "function", "developer"):
        reason = f"is {role!r}; read this log with --format openai-chat"
        raise ShapeError(f"{where}.role", reason)
