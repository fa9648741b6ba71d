"""What the formats share: careful reading of parsed JSON, and the rule for complete calls.

A provider may send anything, so every reader here answers None where a value is not of the kind
that the format promises; nothing is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from agenttrace.capture import CallDraft
from agenttrace.domain import JsonObject, JsonValue, is_broken_off
from agenttrace.records import parse_arguments, slices

Source: TypeAlias = Callable[[], str | None]
"""Fetches the text that a body was parsed from; asked only where a slice of it is needed."""

MAX_SOURCE: Final = 1_000_000
"""Characters of a body out of which argument texts are still sliced. The program waits meanwhile,
so of a longer one the parsed arguments alone are kept, and the text stands as not observed."""

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


def placed(value: object) -> list[tuple[int, JsonObject]]:
    """The objects of an array, each with its place in it."""
    if not isinstance(value, list | tuple):
        return []
    return [(place, item) for place, item in enumerate(value) if isinstance(item, dict)]


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


def either(holder: JsonObject, *keys: str) -> JsonValue:
    """The value under the first of these spellings that is there."""
    return next((holder[key] for key in keys if key in holder), None)


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
    """What a provider's error object says: its message, with its code or type before it.

    An error may stand inside another one's `error`.
    """
    if isinstance(error, str):
        return error
    fields = as_object(error)
    if isinstance(inner := fields.get("error"), dict) and inner:
        return error_text(inner)
    message = as_text(either(fields, "message", "Message"))
    label = as_id(either(fields, "code", "Code"))
    if label is None:
        label = as_text(either(fields, "type", "__type", "status"))
    if message is None:
        return None if label is None else str(label)
    return message if label is None else f"{label}: {message}"


def call_draft(part: JsonObject, key: str, *, call_id: JsonValue, index: int) -> CallDraft:
    """One call as it stands in a body.

    A text is the text that the provider sent: JSON's own escapes are undone and nothing else. Some
    formats send an object in its place; its text is for `with_source` to find.

    Args:
        part: What holds the call's name and its argument field; null and absent text are one.
        key: The argument field.
    """
    value = part.get(key)
    raw = as_text(value)
    return CallDraft(
        name=as_text(part.get("name")) or "",
        call_id=as_id(call_id),
        index=index,
        raw=raw,
        raw_observed=raw is not None or value is None,
        arguments=value if isinstance(value, dict) else None,
    )


def with_source(
    calls: Sequence[CallDraft], places: Sequence[str], source: Source
) -> tuple[CallDraft, ...]:
    """The calls, with argument texts out of the body where arguments were sent as an object.

    Args:
        places: JSON pointer of each call's argument field in the body.
    """
    wanted = [at for call, at in zip(calls, places, strict=True) if not call.raw_observed]
    text = source() if wanted else None
    if text is None or len(text) > MAX_SOURCE:
        return tuple(calls)
    found = slices(text, wanted)
    return tuple(
        replace(call, raw=found[at], raw_observed=True, arguments=None)
        if at in found and not call.raw_observed
        else call
        for call, at in zip(calls, places, strict=True)
    )


def is_complete(
    call: CallDraft, finish_reason: str | None, *, is_last: bool, ended: bool
) -> bool | None:
    """Whether the response said that this call was finished; asked before `with_source`.

    1. A stream that stopped without a terminal event or a finish reason finished no call: False.
    2. A body that gives no reason, or a blank one, says nothing: None.
    3. A reason that is no cut says that every call is finished: True, whatever the text is.
    4. A cut falls on what was being written, so it says that every call but the last is finished.
       The last one is too where its text is a whole JSON object, which cannot go on; else False.
    5. Of a last call whose arguments the provider parsed by itself a cut says nothing: None. What
       the provider makes of half a text is an object too.

    Args:
        is_last: Nothing came after this call in its choice.
        ended: False for a stream without a terminal event or a finish reason.
    """
    if not ended:
        return False
    if not finish_reason:
        return None
    if not is_broken_off(finish_reason) or not is_last:
        return True
    if not call.raw_observed:
        return None
    return parse_arguments(call.raw).state in ("object", "duplicate_keys")
