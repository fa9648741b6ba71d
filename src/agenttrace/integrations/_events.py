"""The events of a stream out of whatever a program has kept of it.

Events may be parsed objects, objects of an SDK, or text: server-sent events, one JSON value a line,
or one JSON array. What cannot be read as an event is counted, never guessed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agenttrace.domain import JsonObject
from agenttrace.integrations._formats import Source, no_source
from agenttrace.records import JsonTextError, parse_json, slices

_LINE: Final = re.compile(r"\r\n|\r|\n")  # and not the further ends that `splitlines` knows
_FIELD: Final = re.compile(r"^(?:data|event|id|retry)?:", re.MULTILINE)
_DONE: Final = "[DONE]"

Plain = Callable[[object], JsonObject | None]
"""Turns an object that is no text into a parsed event; None where it must not be asked."""


@dataclass(kw_only=True)
class Events:
    """What was found: events in order, each with where its text can be had."""

    events: list[tuple[JsonObject, Source]] = field(default_factory=list)
    unreadable: int = 0
    """Pieces that are no event: cut off, malformed, or of an unknown kind."""
    error: BaseException | None = None
    """What the iterator raised instead of going on."""

    def add(self, event: JsonObject | None, source: Source = no_source) -> None:
        """Add one event; None counts as unreadable."""
        if event is None:
            self.unreadable += 1
        else:
            self.events.append((event, source))

    def add_text(self, text: str) -> None:
        """Add the events of a text."""
        for piece in pieces(text):
            self.add(_parsed(piece), functools.partial(str, piece))


def is_stream_text(text: str) -> bool:
    """Whether a text that is no single JSON value may be a stream's."""
    return _FIELD.search(text) is not None or "\n{" in text.strip() or text.lstrip()[:1] == "["


def read_events(given: Iterable[object], plain: Plain) -> Events:
    """Read a list or an iterator to its end; what it raises ends it and is kept.

    Texts in it are pieces of one text: lines without their ends, or pieces cut anywhere.
    """
    found = Events()
    texts: list[str] = []
    try:
        for item in given:
            if isinstance(item, str | bytes | bytearray):
                texts.append(decoded(item))
            else:
                found.add(_unwrapped(plain(item)))
    except Exception as error:  # noqa: BLE001 - it is the program's own iterator
        found.error = error
    if texts:
        glue = "" if any("\n" in text or "\r" in text for text in texts) else "\n"
        found.add_text(glue.join(texts))
    return found


def decoded(text: str | bytes | bytearray) -> str:
    """Bytes as text; what is no UTF-8 becomes a replacement character."""
    return text if isinstance(text, str) else bytes(text).decode("utf-8", "replace")


def pieces(text: str) -> Iterator[str]:
    """The texts of the events in a text."""
    if text.lstrip()[:1] == "[":
        yield from _array(text)
    elif _FIELD.search(text) is None:
        yield from (line for line in _LINE.split(text) if line.strip())
    else:
        yield from _server_sent(text)


def _array(text: str) -> Iterator[str]:
    value = None
    try:
        value = parse_json(text).value
    except JsonTextError:
        yield text  # one piece, and an unreadable one
    if isinstance(value, list):
        found = slices(text, [f"/{place}" for place in range(len(value))])
        yield from found.values()


def _server_sent(text: str) -> Iterator[str]:
    data: list[str] = []
    for line in (*_LINE.split(text), ""):
        if not line:
            whole, data = "\n".join(data), []
            if whole and whole.strip() != _DONE:
                yield whole
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))


def _parsed(text: str) -> JsonObject | None:
    try:
        value = parse_json(text).value
    except JsonTextError:
        return None
    return _unwrapped(value) if isinstance(value, dict) else None


def _unwrapped(event: JsonObject | None) -> JsonObject | None:
    """An event out of the envelope that some clients leave around it."""
    if event is None or len(event) != 1:
        return event
    ((key, inner),) = event.items()
    if key == "chunk" and isinstance(inner, Mapping):  # Bedrock's bytes of another provider's event
        data: Any = inner.get("bytes")
        return _parsed(decoded(data)) if isinstance(data, str | bytes | bytearray) else event
    if key == "data" and isinstance(inner, dict):
        return inner
    return event
