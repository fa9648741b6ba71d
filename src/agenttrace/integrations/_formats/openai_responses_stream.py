"""The responses format as a stream of events.

Items are known by `output_index`, else by `item_id`. Later events repeat the full text of a call;
the last full text counts, and nothing is added to it. The closing event holds the whole response,
so what the fragments made matters where that never came, or came without items.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from agenttrace.capture import ResponseDraft
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._assembly import Fragments
from agenttrace.integrations._formats._values import (
    Source,
    as_index,
    as_object,
    as_objects,
    as_text,
    error_text,
    joined,
    no_source,
)
from agenttrace.integrations._formats.openai_responses import (
    TEXT_FIELDS,
    finish_reason,
    read_calls,
    read_response,
)

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_CALL_TEXT = ("response.function_call_arguments.", "response.custom_tool_call_input.")


def is_event(event: JsonObject) -> bool:
    """Whether this is an event of a streamed response."""
    kind = as_text(event.get("type")) or ""
    return kind.startswith("response.") or (kind == "error" and "sequence_number" in event)


class _Item:
    def __init__(self) -> None:
        self.fields: dict[str, JsonValue] = {}
        self.text = Fragments()
        self.is_done = False
        self.is_text_done = False

    def plain(self) -> JsonObject:
        """The item as far as it came, with a status only where its end was seen."""
        fields = dict(self.fields)
        status = fields.pop("status", None)
        if self.is_done:
            fields["status"] = status or "completed"
        elif self.is_text_done:
            fields["status"] = "completed"
        key = TEXT_FIELDS.get(str(fields.get("type")))
        if key is not None:
            fields.pop(key, None)
            raw = self.text.raw
            if raw is not None:
                fields[key] = raw
        return fields


class ResponsesStream:
    """A response so far."""

    def __init__(self) -> None:
        self._begun: JsonObject = {}
        self._final: JsonObject | None = None
        self._items: dict[int | str, _Item] = {}
        self._names: dict[str, int | str] = {}
        self._texts: list[str] = []
        self._error: str | None = None
        self._begun_names: list[str] = []

    @property
    def has_ended(self) -> bool:
        """Whether the closing event has come."""
        return self._final is not None

    @property
    def model(self) -> str | None:
        """Model that answers, once that is known."""
        return as_text((self._final or self._begun).get("model"))

    @property
    def begun(self) -> Sequence[str]:
        """Names of the calls so far, in the order of their items."""
        return self._begun_names

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one event; True when it held a part of a call."""
        kind = as_text(event.get("type")) or ""
        if kind in _ENDS:
            self._final = as_object(event.get("response"))
        elif kind.startswith("response.output_item."):
            return self._feed_item(event, is_done=kind.endswith(".done"))
        elif kind.startswith(_CALL_TEXT):
            self._feed_text(event)
            return True
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            self._texts.append(as_text(event.get("delta")) or "")
        elif kind == "error":
            self._error = error_text(event.get("error") or event)
        elif "response" in event:
            self._begun = as_object(event["response"])
        return False

    def _feed_item(self, event: JsonObject, *, is_done: bool) -> bool:
        fields = as_object(event.get("item"))
        item = self._item(event, fields)
        item.fields.update(fields)
        item.is_done = item.is_done or is_done
        key = TEXT_FIELDS.get(str(item.fields.get("type")))
        if key is None:
            return False
        if is_done:
            item.text.set_whole(fields.get(key))
        else:
            item.text.add(fields.get(key))
            self._tell_begun()
        return True

    def _tell_begun(self) -> None:
        fields = [item.fields for _, item in sorted(self._items.items(), key=_by_place)]
        names = (as_text(f.get("name")) or "" for f in fields if f.get("type") in TEXT_FIELDS)
        self._begun_names = list(itertools.takewhile(bool, names))

    def _feed_text(self, event: JsonObject) -> None:
        item = self._item(event, {})
        if str(event["type"]).endswith(".delta"):
            item.text.add(event.get("delta"))
        else:
            item.text.set_whole(event.get("arguments", event.get("input")))
            item.is_text_done = True

    def _item(self, event: JsonObject, fields: JsonObject) -> _Item:
        place, name = as_index(event.get("output_index")), event.get("item_id", fields.get("id"))
        key: int | str = str(name) if place is None else place
        if isinstance(name, str):
            key = self._names.setdefault(name, key)
        return self._items.setdefault(key, _Item())

    def draft(self) -> ResponseDraft:
        """The response as far as it came."""
        seen = [item.plain() for _, item in sorted(self._items.items(), key=_by_place)]
        if self._final is not None and (as_objects(self._final.get("output")) or not seen):
            return read_response(self._final)
        head = self._begun if self._final is None else self._final
        ended = self._final is not None
        reason = finish_reason(head) if ended else None
        return ResponseDraft(
            response_id=as_text(head.get("id")),
            provider_request_id=None,
            provider=None,
            model=as_text(head.get("model")),
            finish_reason=reason,
            text=joined(self._texts),
            calls=tuple(read_calls(seen, reason, ended=ended)),
            complete=ended,
            error=self._error or error_text(head.get("error")),
        )


def _by_place(entry: tuple[int | str, _Item]) -> tuple[bool, int]:
    key = entry[0]
    return (False, key) if isinstance(key, int) else (True, 0)
