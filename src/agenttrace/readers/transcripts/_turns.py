"""What every chat format is read into: turns, the calls in them, and what the model was shown.

Here too are the careful readers of a row's fields. A log is read loudly: a field of another kind
than its format promises means that the row is not what it was taken for, and passing over it could
lose a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agenttrace.domain import JsonObject, JsonValue, Message, is_broken_off
from agenttrace.records import ShapeError, canonical, dump_json, parse_arguments


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedCall:
    """One call as a log holds it."""

    name: str
    call_id: str | int | None = None
    raw: str | None = None
    raw_observed: bool = True
    """False where the log holds parsed arguments in place of the text."""
    arguments: JsonObject | None = None
    complete: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One answer of the model, and the messages that it was given since its last one."""

    messages: tuple[Message, ...] = ()
    calls: tuple[LoggedCall, ...] = ()
    text: str | None = None
    response_id: str | None = None
    model: str | None = None
    finish_reason: str | None = None


def turn_of(calls: Sequence[LoggedCall], *, finish_reason: str | None = None, **more: Any) -> Turn:
    """A turn; whether its calls are complete is told by the finish reason, where they do not say.

    Without a reason nothing is known. A reason that is no cut says that every call is finished; a
    cut says so of all but the last, which is finished only where its arguments are whole.
    """
    made: list[LoggedCall] = []
    for place, call in enumerate(calls, start=1):
        complete = call.complete
        if complete is None and finish_reason is not None:
            may_be_cut = is_broken_off(finish_reason) and place == len(calls)
            complete = not may_be_cut or call.arguments is not None
        made.append(replace(call, complete=complete))
    return Turn(calls=tuple(made), finish_reason=finish_reason, **more)


def call_of(
    part: JsonObject, key: str, *, name: str, call_id: JsonValue, where: str, blank: bool = True
) -> LoggedCall:
    """One call, its arguments as the log holds them under `key`.

    A text is taken to be the model's own. An object was parsed by whoever logged it, and its text
    is out of reach. Any other value stands as its JSON text, which is no object and so matches
    nothing.

    Args:
        blank: Whether absent arguments are text that was absent, and not out of reach.

    Raises:
        ShapeError: The id is neither a text nor a number.
    """
    value = part.get(key)
    call = LoggedCall(name=name, call_id=id_of(call_id, where))
    if isinstance(value, dict):
        return replace(call, arguments=value, raw_observed=False)
    if value is None:
        return replace(call, arguments={}, raw_observed=blank)
    raw = value if isinstance(value, str) else dump_json(value)
    return replace(call, raw=raw, arguments=parse_arguments(raw).value)


def message_of(
    role: str, content: JsonValue, *, call_id: str | int | None = None, tool: str | None = None
) -> Message:
    """What the model was given; a developer speaks for the system."""
    text = content if isinstance(content, str) else canonical(content)
    return Message(
        role="system" if role == "developer" else role,
        content=content,
        length=byte_length(text),
        call_id=call_id,
        tool=tool,
    )


def byte_length(text: str) -> int:
    """Bytes of a text, which may hold lone surrogates."""
    return len(text.encode("utf-8", "surrogatepass"))


def text_of(content: JsonValue, where: str) -> str | None:
    """The text parts of a message's content, joined; None where there are none.

    Raises:
        ShapeError: The content is neither a text nor a list of parts.
    """
    if content is None or isinstance(content, str):
        return content
    parts: list[str] = []
    for place, part in enumerate(as_list(content, where)):
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict):
            parts += [one for key in ("text", "refusal") if isinstance(one := part.get(key), str)]
        else:
            raise ShapeError(f"{where}[{place}]", f"is {said(part)}, not a part of a message")
    return "".join(parts) if parts else None


def as_list(value: JsonValue, where: str) -> Sequence[JsonValue]:
    """The value, which has to be a list.

    Raises:
        ShapeError: It is none.
    """
    if not isinstance(value, list):
        raise ShapeError(where, f"is {said(value)}, not a list")
    return value


def as_objects(value: JsonValue, where: str) -> list[JsonObject]:
    """The members of a list that has to hold objects alone; null is an empty list.

    Raises:
        ShapeError: It is no list, or one of them is no object.
    """
    found: list[JsonObject] = []
    for place, item in enumerate([] if value is None else as_list(value, where)):
        if not isinstance(item, dict):
            raise ShapeError(f"{where}[{place}]", f"is {said(item)}, not an object")
        found.append(item)
    return found


def as_text(holder: JsonObject, key: str, where: str) -> str:
    """The text under a key, which has to be there; it may be empty.

    Raises:
        ShapeError: It is missing or no text.
    """
    if key not in holder:
        raise ShapeError(where, f"has no {key}")
    value = holder[key]
    if not isinstance(value, str):
        raise ShapeError(f"{where}.{key}", f"is {said(value)}, not a text")
    return value


def id_of(value: JsonValue, where: str) -> str | int | None:
    """The id of a call, or None where the log has none.

    Raises:
        ShapeError: It is neither a text nor a number.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ShapeError(where, f"has {said(value)} for an id, not a text or a number")


def text_or_none(holder: JsonObject, key: str) -> str | None:
    """The text under a key of which nothing depends; None where there is no text."""
    value = holder.get(key)
    return value if isinstance(value, str) else None


def said(value: JsonValue) -> str:
    """A value for a message: its JSON type, and its beginning where that helps."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {value!r:.60}"
    if isinstance(value, int | float):
        return f"a number ({dump_json(value):.40})"
    return "an object" if isinstance(value, dict) else "a list"
