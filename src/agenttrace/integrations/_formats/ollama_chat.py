"""Ollama's own `/api/chat`: one message, whole or in pieces of the same shape.

A response has no id. Calls come whole, with their arguments as an object.
"""

from __future__ import annotations

from dataclasses import replace

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.domain import JsonObject
from agenttrace.integrations._formats._values import (
    Source,
    as_object,
    as_text,
    call_draft,
    is_complete,
    joined,
    no_source,
    placed,
    with_source,
)


def is_response(body: JsonObject) -> bool:
    """Whether the body is a message of this format, or a piece of one."""
    return isinstance(body.get("message"), dict) and "done" in body


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The message as a draft."""
    stream = OllamaStream()
    stream.feed(body, source)
    return stream.draft()


class OllamaStream:
    """A message so far."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.has_ended = False
        self.begun: list[str] = []
        self._reason: str | None = None
        self._error: str | None = None
        self._texts: list[str | None] = []
        self._calls: list[CallDraft] = []

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one piece; True when it held a call."""
        message = as_object(event.get("message"))
        self.model = self.model or as_text(event.get("model"))
        self._texts.append(as_text(message.get("content")))
        self._error = as_text(event.get("error")) or self._error
        self._reason = as_text(event.get("done_reason")) or self._reason
        self.has_ended = self.has_ended or event.get("done") is True
        entries = placed(message.get("tool_calls"))
        calls = [
            call_draft(
                as_object(entry.get("function")),
                "arguments",
                call_id=entry.get("id"),
                index=len(self._calls) + number,
            )
            for number, (_, entry) in enumerate(entries)
        ]
        places = [f"/message/tool_calls/{place}/function/arguments" for place, _ in entries]
        self._calls += with_source(calls, places, source)
        if len(self.begun) + len(calls) == len(self._calls) and all(call.name for call in calls):
            self.begun += [call.name for call in calls]
        return bool(calls)

    def draft(self) -> ResponseDraft:
        """The message as far as it came."""
        return ResponseDraft(
            response_id=None,
            provider_request_id=None,
            provider=None,
            model=self.model,
            finish_reason=self._reason,
            text=joined(self._texts),
            calls=tuple(replace(call, complete=self._is_complete(call)) for call in self._calls),
            complete=self.has_ended,
            error=self._error,
        )

    def _is_complete(self, call: CallDraft) -> bool | None:
        parsed = replace(call, raw_observed=False)  # the server has parsed what the model wrote
        is_last = call is self._calls[-1]
        return is_complete(parsed, self._reason, is_last=is_last, ended=self.has_ended)
