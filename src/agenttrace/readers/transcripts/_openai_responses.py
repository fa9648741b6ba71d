"""Items of the responses API: what the model made without a pause is one turn.

A row holds a conversation as `items`, a request and its answer as `input` and `output`, or a whole
response object. Items carry no response id, so where a turn ends is told by what comes between: a
result, or a message to the model.
"""

from __future__ import annotations

from dataclasses import replace
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
    said,
    text_of,
    text_or_none,
    turn_of,
)
from agenttrace.records import ShapeError

ITEM_FIELDS: Final = ("items", "input", "output")
_TEXT_FIELDS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_MODELS: Final = ("reasoning", "mcp_list_tools", "mcp_approval_request")


def read_turns(row: JsonObject) -> list[Turn]:
    """The turns of a row, none where it has no items.

    Raises:
        ShapeError: An item is none of this format.
    """
    reader = _Reader(text_or_none(row, "instructions"))
    given = row.get("input")
    if isinstance(given, str):
        reader.given.append(message_of("user", given))
        given = None
    for name, items in (("items", row.get("items")), ("input", given)):
        for place, item in enumerate(as_objects(items, name)):
            reader.take(item, f"{name}[{place}]")
    if row.get("object") != "response":
        for place, item in enumerate(as_objects(row.get("output"), "output")):
            reader.take(item, f"output[{place}]")
        return reader.end()
    # A response object is one answer, also where it holds no item.
    reader.end()
    for place, item in enumerate(as_objects(row.get("output"), "output")):
        reader.made.append((item, f"output[{place}]"))
    reader.close(
        response_id=text_or_none(row, "id"),
        model=text_or_none(row, "model"),
        finish_reason=_finish_reason(row),
    )
    return reader.turns


class _Reader:
    """The turns so far, what the model was given since the last, and what it is making now."""

    def __init__(self, instructions: str | None) -> None:
        self.turns: list[Turn] = []
        self.given: list[Message] = []
        self.made: list[tuple[JsonObject, str]] = []
        if instructions is not None:
            self.given.append(message_of("system", instructions))

    def take(self, item: JsonObject, where: str) -> None:
        kind = item.get("type", "message")
        if not isinstance(kind, str):
            raise ShapeError(f"{where}.type", f"is {said(kind)}, not a text")
        if kind == "message":
            role = as_text(item, "role", where)
            if role == "assistant":
                self.made.append((item, where))
            elif role in ("system", "developer", "user"):
                self.end()
                self.given.append(message_of(role, item.get("content")))
            else:
                known = "assistant, developer, system, user"
                raise ShapeError(f"{where}.role", f"is {role!r:.40}, not one of {known}")
        elif kind.endswith("_call_output"):
            self.end()
            call_id = id_of(item.get("call_id"), where)
            self.given.append(message_of("tool", item.get("output"), call_id=call_id))
        elif kind in _MODELS or kind.endswith("_call"):
            self.made.append((item, where))

    def end(self) -> list[Turn]:
        """End the turn that is being made, if one is."""
        if self.made:
            self.close()
        return self.turns

    def close(
        self,
        *,
        response_id: str | None = None,
        model: str | None = None,
        finish_reason: str | None = None,
    ) -> None:
        calls = [
            _call(item, where) for item, where in self.made if item.get("type") in _TEXT_FIELDS
        ]
        texts = [
            text_of(item.get("content"), f"{where}.content")
            for item, where in self.made
            if item.get("type", "message") == "message"
        ]
        self.turns.append(
            turn_of(
                calls,
                finish_reason=finish_reason,
                messages=tuple(self.given),
                text="".join(one for one in texts if one) or None,
                response_id=response_id,
                model=model,
            )
        )
        self.given, self.made = [], []


def _call(item: JsonObject, where: str) -> LoggedCall:
    name = as_text(item, "name", where)
    field = _TEXT_FIELDS[str(item["type"])]
    call = call_of(item, field, name=name, call_id=item.get("call_id"), where=where)
    status = text_or_none(item, "status")
    return call if status is None else replace(call, complete=status == "completed")


def _finish_reason(row: JsonObject) -> str | None:
    """Why the response ended: the reason it is incomplete, else its status."""
    details: JsonValue = row.get("incomplete_details")
    reason = text_or_none(details, "reason") if isinstance(details, dict) else None
    return reason or text_or_none(row, "status")
