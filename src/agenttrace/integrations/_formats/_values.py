"""What the formats share: careful reading of parsed JSON, and the rule for complete calls.

A provider may send anything, so every reader here answers None where a value is not of the kind
that the format promises; nothing is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from agenttrace.capture import CallDraft
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.records import parse_arguments, slice_at

Source: TypeAlias = Callable[[], str | None]
"""Fetches the text that a body was parsed from; asked only where a slice of it is needed."""

CUT_REASONS: Final = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "content_filter", "error"}
)
"""Reasons that say the response was broken off before the model had ended it."""

_EMPTY: Final[JsonObject] = {}


def no_source() -> None:
    """The source of a body of which only the parsed form is left."""


def as_object(value: object) -> JsonObject:
    """The value, or an empty object."""
    return value if isinstance(value, dict) else _EMPTY


def as_objects(value: object) -> list[JsonObject]:
    """The objects of an array, in order; whatever else stands in it is left out."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, dict)]


def as_text(value: object) -> str | None:
    """The value if it is a text."""
    return value if isinstance(value, str) else None


def as_id(value: object) -> str | int | None:
    """The value if it can be an id: a text, or a number as some servers send."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return None


def as_index(value: object) -> int | None:
    """The value if it can be a place in a list."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def joined(parts: Iterable[str | None]) -> str | None:
    """Texts in order; None where there were none."""
    texts = [part for part in parts if part is not None]
    return "".join(texts) if texts else None


def content_text(content: JsonValue) -> str | None:
    """The text of a message's content: a text itself, or the text parts of a list."""
    if content is None or isinstance(content, str):
        return content
    return joined(
        as_text(part.get("text")) or as_text(part.get("refusal")) for part in as_objects(content)
    )


def error_text(error: JsonValue) -> str | None:
    """What a provider's error object says: its message, with its code or type before it."""
    if isinstance(error, str):
        return error
    fields = as_object(error)
    message = as_text(fields.get("message"))
    label = as_id(fields.get("code")) or as_text(fields.get("type"))
    if message is None:
        return None if label is None else str(label)
    return message if label is None else f"{label}: {message}"


def call_draft(
    part: JsonObject, key: str, *, call_id: JsonValue, index: int, source: Source, at: str
) -> CallDraft:
    """One call as it stands in a body.

    A text is the text that the provider sent: JSON's own escapes are undone and nothing else. Some
    servers send an object in its place; then the slice of the body is the raw text.

    Args:
        part: What holds the call's name and its argument field; null and absent text are one.
        key: The argument field.
        at: JSON pointer of `part` in the body.
    """
    text = part.get(key)
    raw, observed, arguments = as_text(text), True, None
    if raw is None and text is not None:
        body = source()
        raw = None if body is None else slice_at(body, f"{at}/{key}")
        observed = raw is not None
        arguments = text if isinstance(text, dict) and not observed else None
    return CallDraft(
        name=as_text(part.get("name")) or "",
        call_id=as_id(call_id),
        index=index,
        raw=raw,
        raw_observed=observed,
        arguments=arguments,
    )


def is_complete(
    call: CallDraft, finish_reason: str | None, *, is_last: bool, ended: bool
) -> bool | None:
    """Whether the response said that this call was finished.

    1. A stream that stopped without a terminal event or a finish reason finished no call: False.
    2. A body that gives no reason, or a blank one, says nothing: None.
    3. A reason that is no cut says that every call is finished: True, whatever the text is.
    4. A cut falls on what was being written, so it says that every call but the last is finished.
       The last one is too where its text is a whole JSON object, which cannot go on; else False.

    Args:
        is_last: Nothing came after this call in its choice.
        ended: False for a stream without a terminal event or a finish reason.
    """
    if not ended:
        return False
    if not finish_reason:
        return None
    if finish_reason not in CUT_REASONS or not is_last:
        return True
    if not call.raw_observed:
        return call.arguments is not None
    return parse_arguments(call.raw).state in ("object", "duplicate_keys")
