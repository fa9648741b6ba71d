"""Chat completions as a stream of chunks.

Fragments belong together by choice and by the call's index; an id tells calls under one index
apart, because some servers give every call the index 0. A fragment without an id goes to the call
that came last under its index. Calls stand in the order in which they began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._assembly import Fragments
from agenttrace.integrations._formats._values import (
    Source,
    as_id,
    as_index,
    as_object,
    as_objects,
    as_text,
    content_text,
    error_text,
    is_complete,
    joined,
    no_source,
)
from agenttrace.integrations._formats.openai_chat import part_of, reasons


def is_event(event: JsonObject) -> bool:
    """Whether this is a chunk of a chat completion."""
    if event.get("object") == "chat.completion.chunk":
        return True
    return any("delta" in choice for choice in as_objects(event.get("choices")))


class ChatStream:
    """A chat completion so far.

    Args:
        choices: How many choices the request asked for; the response has ended when as many have a
            finish reason, and so has every one that has begun.
    """

    def __init__(self, *, choices: int = 1) -> None:
        self._expected = choices
        self._finished = 0
        self._begun: list[str] = []
        self._choices: dict[int, _Choice] = {}
        self._id: str | None = None
        self.model: str | None = None
        self._error: str | None = None

    @property
    def has_ended(self) -> bool:
        """Whether every choice has its finish reason."""
        return self._finished >= max(self._expected, len(self._choices))

    @property
    def begun(self) -> Sequence[str]:
        """Names of the calls so far; of several choices none, because their places may change."""
        return self._begun if self._expected == 1 and len(self._choices) == 1 else ()

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one chunk; True when it held a part of a call."""
        self._id = self._id or as_text(event.get("id"))
        self.model = self.model or as_text(event.get("model"))
        if event.get("error"):
            self._error = error_text(event["error"])
        held = False
        for place, entry in enumerate(as_objects(event.get("choices"))):
            index = as_index(entry.get("index"))
            key = place if index is None else index
            choice = self._choices.get(key)
            if choice is None:
                choice = self._choices[key] = _Choice()
            was_open = not choice.reason
            if choice.feed(entry):
                held = True
                choice.tell_begun(self._begun)
            if was_open and choice.reason:
                self._finished += 1
        return held

    def draft(self) -> ResponseDraft:
        """The completion as far as it came."""
        calls: list[CallDraft] = []
        choices = [choice for _, choice in sorted(self._choices.items())]
        for choice in choices:
            calls += choice.drafts(len(calls))
        return ResponseDraft(
            response_id=self._id,
            provider_request_id=None,
            provider=None,
            model=self.model,
            finish_reason=reasons(choice.reason for choice in choices),
            text=joined(text for choice in choices for text in choice.texts),
            calls=tuple(calls),
            complete=bool(choices) and all(choice.reason for choice in choices),
            error=self._error,
        )


class _Call:
    def __init__(self, index: int | None) -> None:
        self.index = index
        self.call_id: str | int | None = None
        self.name = ""
        self.text = Fragments()
        self.has_text = False
        """Whether a piece of its arguments has come."""

    def add(self, piece: JsonValue) -> None:
        self.text.add(piece)
        self.has_text = self.has_text or bool(piece)


class _Choice:
    def __init__(self) -> None:
        self.reason: str | None = None
        self.texts: list[str] = []
        self._calls: list[_Call] = []
        self._legacy: _Call | None = None

    def feed(self, choice: JsonObject) -> bool:
        delta = as_object(choice.get("delta"))
        self.reason = as_text(choice.get("finish_reason")) or self.reason
        for text in (content_text(delta.get("content")), as_text(delta.get("refusal"))):
            if text is not None:
                self.texts.append(text)
        entries = as_objects(delta.get("tool_calls"))
        for entry in entries:
            kind, key = part_of(entry)
            part = as_object(entry.get(kind))
            call = self._call_of(entry, as_text(part.get("name")) or "")
            call.add(part.get(key))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._legacy = self._legacy or _Call(None)
            self._legacy.name += as_text(legacy.get("name")) or ""
            self._legacy.text.add(legacy.get("arguments"))
        return bool(entries) or isinstance(legacy, dict)

    def _call_of(self, entry: JsonObject, name: str) -> _Call:
        """The call that a fragment belongs to; it is named and given its id here."""
        index, call_id = as_index(entry.get("index")), as_id(entry.get("id"))
        under = [call for call in self._calls if index is None or call.index == index]
        call = next((c for c in under if call_id and c.call_id == call_id), None)
        if call is None and under and not _is_new(under[-1], index, call_id, name):
            call = under[-1]
        if call is None:
            call = _Call(index)
            self._calls.append(call)
        if not call.name or (name != call.name and not call.has_text):
            call.name += name
        call.call_id = call.call_id or call_id
        return call

    def tell_begun(self, names: list[str]) -> None:
        """Add the names of calls that have one by now, as far as no call before lacks it."""
        while len(names) < len(self._calls) and self._calls[len(names)].name:
            names.append(self._calls[len(names)].name)

    def drafts(self, first: int) -> list[CallDraft]:
        calls = [*self._calls] if self._legacy is None else [*self._calls, self._legacy]
        made = []
        for place, call in enumerate(calls):
            draft = call.text.call(call.name, call.call_id, first + place)
            complete = is_complete(
                draft, self.reason, is_last=place == len(calls) - 1, ended=bool(self.reason)
            )
            made.append(replace(draft, complete=complete))
        return made


def _is_new(last: _Call, index: int | None, call_id: str | int | None, name: str) -> bool:
    """Whether a fragment opens another call than the last one under its index.

    Another id does, and so does another name. Without an index, whole calls come one by one, so any
    name opens one. A repeated id or name goes on with the call, and so does the rest of a name: one
    that comes without an id under the index of a call that has one, and before its arguments.
    """
    if call_id and (last.call_id or (name and last.name)):
        return True
    if not name or not last.name:
        return False
    is_rest = bool(last.call_id) and not last.has_text
    return index is None or (name != last.name and not is_rest)
