"""Gemini's and Vertex's `generateContent`: candidates of parts, whole or in pieces of one shape.

Names come in camel case from the API and in snake case from the SDK's objects; reasons come as
words or as the numbers of their enumeration, and a number stands as its digits. A call is a part of
its own, with its arguments as an object and often without an id. Where a stream cuts one call's
arguments into several parts, neither their text nor their value can be had here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agenttrace.capture import CallDraft, ResponseDraft, ToolOffer
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._values import (
    Source,
    as_id,
    as_index,
    as_object,
    as_objects,
    as_text,
    call_draft,
    either,
    is_complete,
    joined,
    no_source,
    placed,
    with_source,
)

_CALL: Final = ("functionCall", "function_call")
_RESULT: Final = ("functionResponse", "function_response")
_REASONS: Final = ("finishReason", "finish_reason")
_ARGS: Final = ("args", "arguments")
_WHOLE: Final = frozenset({"STOP", "MAX_TOKENS", "1", "2"})
"""Reasons with which the provider has refused nothing."""
_NUMBERS: Final = ("unspecified", "stop", "max_tokens", "safety", "recitation", "other")
"""Reasons of the first numbers; the further ones are taken for cuts."""
_TYPES: Final = ("", "string", "number", "integer", "boolean", "array", "object", "null")
"""Types of a schema by their numbers."""


def is_response(body: JsonObject) -> bool:
    """Whether the body is an answer of this format, or a piece of one."""
    if isinstance(body.get("candidates"), list | tuple):
        return True
    return isinstance(either(body, "promptFeedback", "prompt_feedback"), dict)


def read_response(body: JsonObject, source: Source = no_source) -> ResponseDraft:
    """The answer as a draft; the provider's request id is not in the body."""
    stream = GeminiStream()
    stream.feed(body, source)
    return stream.draft(is_whole=True)


@dataclass(eq=False, slots=True)
class _Candidate:
    reason: str | None = None
    error: str | None = None
    calls: list[CallDraft] = field(default_factory=list)
    last_is_call: bool = False
    is_open: bool = False
    """The last call goes on in the next part."""

    def drafts(self, first: int, *, is_whole: bool) -> Iterator[CallDraft]:
        for place, call in enumerate(self.calls):
            is_last = self.last_is_call and call is self.calls[-1]
            parsed = replace(call, raw_observed=False)  # the provider parsed what the model wrote
            reason = _word(self.reason)
            ended = is_whole or self.reason is not None
            complete = is_complete(parsed, reason, is_last=is_last, ended=ended)
            yield replace(call, index=first + place, complete=complete)


class GeminiStream:
    """An answer so far."""

    def __init__(self) -> None:
        self.model: str | None = None
        self._id: str | None = None
        self._texts: list[str | None] = []
        self._candidates: dict[int, _Candidate] = {}
        self._blocked: str | None = None

    @property
    def has_ended(self) -> bool:
        """Whether every candidate has its finish reason, or the prompt was refused."""
        if self._blocked is not None:
            return True
        return bool(self._candidates) and all(c.reason for c in self._candidates.values())

    @property
    def begun(self) -> Sequence[str]:
        """Names of the calls so far; of several candidates none, because their places change."""
        if list(self._candidates) != [0]:
            return ()
        names = (call.name for call in self._candidates[0].calls)
        return list(itertools.takewhile(bool, names))

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one piece; True when it held a part of a call."""
        self._id = self._id or as_text(either(event, "responseId", "response_id"))
        self.model = self.model or as_text(either(event, "modelVersion", "model_version"))
        feedback = as_object(either(event, "promptFeedback", "prompt_feedback"))
        blocked = either(feedback, "blockReason", "block_reason")
        if blocked:
            said = either(feedback, "blockReasonMessage", "block_reason_message")
            self._blocked = _refusal("the prompt was blocked", _text_of(blocked), said)
        held = False
        for place, entry in placed(event.get("candidates")):
            index = as_index(entry.get("index"))
            candidate = self._candidates.setdefault(place if index is None else index, _Candidate())
            held = self._take(candidate, entry, f"/candidates/{place}", source) or held
        return held

    def _take(self, candidate: _Candidate, entry: JsonObject, at: str, source: Source) -> bool:
        reason = _text_of(either(entry, *_REASONS))
        if reason is not None:
            candidate.reason = reason
            message = either(entry, "finishMessage", "finish_message")
            if reason not in _WHOLE:
                candidate.error = _refusal(reason, as_text(message))
        calls: list[CallDraft] = []
        places: list[str] = []
        held = False
        for place, part in placed(as_object(entry.get("content")).get("parts")):
            key = next((key for key in _CALL if isinstance(part.get(key), dict)), None)
            if key is None:
                if part.get("text"):
                    candidate.last_is_call = False
                if part.get("thought") is not True:
                    self._texts.append(as_text(part.get("text")))
                continue
            call = as_object(part[key])
            field_name = next((name for name in _ARGS if name in call), _ARGS[0])
            drafts = [*candidate.calls, *calls]
            made = _call(call, field_name, drafts[-1] if candidate.is_open and drafts else None)
            candidate.is_open = either(call, "willContinue", "will_continue") is True
            candidate.last_is_call = held = True
            if made is not None:
                calls.append(made)
                places.append(f"{at}/content/parts/{place}/{key}/{field_name}")
        candidate.calls += with_source(calls, places, source)
        return held

    def draft(self, *, is_whole: bool = False) -> ResponseDraft:
        """The answer as far as it came.

        Args:
            is_whole: It is no stream, so that nothing was to follow.
        """
        calls: list[CallDraft] = []
        candidates = [candidate for _, candidate in sorted(self._candidates.items())]
        for candidate in candidates:
            calls += candidate.drafts(len(calls), is_whole=is_whole)
        reasons = dict.fromkeys(c.reason for c in candidates if c.reason is not None)
        return ResponseDraft(
            response_id=self._id,
            provider_request_id=None,
            provider=None,
            model=self.model,
            finish_reason=",".join(reasons) if reasons else None,
            text=joined(self._texts),
            calls=tuple(calls),
            complete=is_whole or self.has_ended,
            error=self._blocked or next((c.error for c in candidates if c.error), None),
        )


def _call(call: JsonObject, key: str, open_call: CallDraft | None) -> CallDraft | None:
    """The call of a part; None for a part that goes on with the call before."""
    partial = either(call, "partialArgs", "partial_args")
    if open_call is not None and not call.get("name"):
        return None
    made = call_draft(call, key, call_id=call.get("id"), index=0)
    in_pieces = bool(partial) or either(call, "willContinue", "will_continue") is True
    return replace(made, raw_observed=False) if in_pieces else made


def _text_of(value: JsonValue) -> str | None:
    """A word of an enumeration, or its number in digits."""
    found = as_id(value)
    return None if found is None else str(found)


def _word(reason: str | None) -> str | None:
    """The word for a reason that came as a number, as far as it tells cuts from ends."""
    if reason is None or not reason.isdigit():
        return reason
    return _NUMBERS[int(reason)] if int(reason) < len(_NUMBERS) else "other"


def _refusal(*parts: JsonValue) -> str:
    return ": ".join(part for part in parts if isinstance(part, str) and part)


def read_tools(request: JsonObject) -> tuple[ToolOffer, ...]:
    """The declared functions of a request, in order; a tool of the provider goes by its key."""
    return tuple(_offers(as_objects(request.get("tools"))))


def _offers(tools: list[JsonObject]) -> Iterator[ToolOffer]:
    for tool in tools:
        declared = either(tool, "functionDeclarations", "function_declarations")
        if declared is None:
            yield from (ToolOffer(name=name) for name in tool)
        for function in as_objects(declared):
            schema = either(function, "parametersJsonSchema", "parameters_json_schema")
            if schema is None:
                schema = _json_schema(function.get("parameters"))
            yield ToolOffer(
                name=as_text(function.get("name")) or "",
                schema=schema if isinstance(schema, dict) else None,
            )


def _json_schema(schema: JsonValue) -> JsonValue:
    """The API's own schema dialect as JSON Schema, as far as types go: in words, in lower case."""
    if isinstance(schema, list | tuple):
        return [_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, JsonValue] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            made[key] = {name: _json_schema(one) for name, one in value.items()}
        elif key == "type":
            made[key] = _type(value)
        else:
            made[key] = _json_schema(value) if key in ("items", "anyOf", "any_of") else value
    return made


def _type(value: JsonValue) -> JsonValue:
    number = as_index(value)
    if number is not None and 0 < number < len(_TYPES):
        return _TYPES[number]
    return value.lower() if isinstance(value, str) else value


def read_messages(request: JsonObject) -> tuple[JsonValue, ...] | None:
    """The system instruction and the contents of a request; None: it has none.

    A result handed back becomes a `tool` message with the tool's name, which is all that most of
    them have.
    """
    given = either(request, "contents", "messages")
    if isinstance(given, str):
        return ({"role": "user", "content": given},)
    if not isinstance(given, list | tuple):
        return None
    system = either(request, "systemInstruction", "system_instruction")
    parts = as_objects(as_object(system).get("parts"))
    said = as_text(system) or joined(as_text(part.get("text")) for part in parts)
    made: list[JsonValue] = [] if said is None else [{"role": "system", "content": said}]
    for content in given:
        made.extend(_messages_of(content) if isinstance(content, dict) else [content])
    return tuple(made)


def _messages_of(content: JsonObject) -> Iterator[JsonValue]:
    role = "assistant" if content.get("role") == "model" else content.get("role") or "user"
    rest: list[JsonValue] = []
    for part in as_objects(content.get("parts")):
        result = either(part, *_RESULT)
        if not isinstance(result, dict):
            rest.append(part)
            continue
        yield {
            "role": "tool",
            "tool_call_id": result.get("id"),
            "name": result.get("name"),
            "content": result.get("response"),
        }
    if rest:
        texts = [as_text(as_object(part).get("text")) for part in rest]
        plain = all(text is not None for text in texts)
        yield {"role": role, "content": joined(texts) if plain else rest}
