"""Chat messages with tool calls: each assistant message is a turn.

Read besides: the legacy `function_call`, custom tools, calls that stand flat in their entry with
parsed arguments, and `raw_data`, the provider's own response where a harness keeps it.
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

_GIVEN: Final = frozenset({"system", "developer", "user"})
_RESULTS: Final = frozenset({"tool", "function"})
_FOREIGN_PARTS: Final = frozenset({"tool_use", "tool_result"})


def read_turns(row: JsonObject) -> list[Turn]:
    """The turns of a row, none where it has no messages.

    Raises:
        ShapeError: A message is none of this format.
    """
    turns: list[Turn] = []
    given: list[Message] = []
    for place, message in enumerate(as_objects(row.get("messages"), "messages")):
        where = f"messages[{place}]"
        role = as_text(message, "role", where)
        _refuse_foreign(message.get("content"), where)
        if role == "assistant":
            turns.append(_turn(message, tuple(given), where))
            given = []
        elif role in _RESULTS:
            given.append(_result(message, where))
        elif role in _GIVEN:
            given.append(message_of(role, message.get("content")))
        else:
            known = ", ".join(sorted({"assistant", *_GIVEN, *_RESULTS}))
            raise ShapeError(f"{where}.role", f"is {role!r:.40}, not one of {known}")
    return turns


def _turn(message: JsonObject, given: tuple[Message, ...], where: str) -> Turn:
    body, choice = _provider_response(message)
    provider = choice.get("message")
    calls = _calls(provider, f"{where}.raw_data") if isinstance(provider, dict) else []
    texts = (text_of(message.get("content"), f"{where}.content"), text_or_none(message, "refusal"))
    return turn_of(
        # A harness that parses calls out of a text has calls where the provider has none.
        calls or _calls(message, where),
        finish_reason=text_or_none(choice, "finish_reason"),
        messages=given,
        text="".join(one for one in texts if one) or None,
        response_id=text_or_none(body, "id"),
        model=text_or_none(body, "model"),
    )


def _provider_response(message: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The provider's response beside a message, and its choice; both empty where there is none."""
    body = message.get("raw_data")
    if not isinstance(body, dict):
        return {}, {}
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else body
    return body, first if isinstance(first, dict) else {}


def _calls(message: JsonObject, where: str) -> list[LoggedCall]:
    entries = as_objects(message.get("tool_calls"), f"{where}.tool_calls")
    calls = [_call(one, f"{where}.tool_calls[{place}]") for place, one in enumerate(entries)]
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        at = f"{where}.function_call"
        name = as_text(legacy, "name", at)
        calls.append(call_of(legacy, "arguments", name=name, call_id=None, where=at))
    return calls


def _call(entry: JsonObject, where: str) -> LoggedCall:
    function, custom = entry.get("function"), entry.get("custom")
    part, key, at = entry, "arguments", where
    if isinstance(function, dict):
        part, at = function, f"{where}.function"
    elif isinstance(custom, dict):
        part, key, at = custom, "input", f"{where}.custom"
    elif "name" not in entry:
        raise ShapeError(where, "has neither function nor name")
    name = as_text(part, "name", at)
    return call_of(part, key, name=name, call_id=entry.get("id"), where=where)


def _result(message: JsonObject, where: str) -> Message:
    call_id = message.get("tool_call_id", message.get("id"))
    return message_of(
        "tool",
        message.get("content"),
        call_id=id_of(call_id, where),
        tool=text_or_none(message, "name"),
    )


def _refuse_foreign(content: JsonValue, where: str) -> None:
    """Parts of another format hold calls that would be lost if they were passed over."""
    if not isinstance(content, list):
        return
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _FOREIGN_PARTS:
            reason = f"is a {kind} part; read this log with --format anthropic-messages"
            raise ShapeError(f"{where}.content[{place}]", reason)
