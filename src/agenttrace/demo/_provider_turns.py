"""A script's turns, and what all formats share when they cut them into the events of a stream."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

Json: TypeAlias = dict[str, Any]
SseEvent: TypeAlias = tuple[str | None, Json]
"""Name of the event, where the format has names, and its data."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptedCall:
    """One tool call of a scripted response."""

    name: str
    arguments: str | None = "{}"
    """Argument text, sent as it is. None leaves the field out."""
    call_id: str | None = None
    """None lets the provider make one up, unique within the provider."""
    has_id: bool = True
    """False sends the call without an id, as some servers do."""
    kind: str = "function"
    """`function`; `custom` for a tool that takes free text; `legacy` for `function_call`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What the provider answers to one request."""

    calls: tuple[ScriptedCall, ...] = ()
    text: str | None = None
    finish_reason: str | None = None
    """None: what the format says for a whole response. For the responses format anything else
    makes the response incomplete for that reason."""
    choices: tuple[Turn, ...] = ()
    """Further choices of a chat completion, as a request with `n` above 1 gets."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes | Mapping[str, Any] | None = None
    """Sent instead of a response: an error, or something no client expects."""
    cut_after: int | None = None
    """Events after which a streamed connection breaks off without an end."""
    cut_inside: bool = False
    """Where it breaks off: half of the next event is sent too."""
    delay_s: float = 0.0
    """Seconds before each event of a stream but the first."""
    interleaved: bool = False
    """Fragments of a stream's calls come in turns, not call by call."""
    repeat_opening: bool = False
    """Each fragment of a call comes with the call's id and name once more."""
    repeat_text: bool = False
    """After its fragments, each call's whole argument text comes once more, as a fragment."""


def fragments_of(text: str, size: int, turn: Turn) -> Iterator[str]:
    """A call's argument text as the pieces that a stream sends."""
    yield from pieces(text, size)
    if turn.repeat_text and text:
        yield text


def pieces(text: str, size: int) -> Iterator[str]:
    """A text in pieces of so many characters."""
    return (text[start : start + size] for start in range(0, len(text), size))


def merged(calls: Sequence[Iterable[T]], turn: Turn) -> Iterator[T]:
    """The events of all calls: call by call, or one of each in turns."""
    if not turn.interleaved:
        yield from itertools.chain.from_iterable(calls)
        return
    missing = object()
    for row in itertools.zip_longest(*calls, fillvalue=missing):
        yield from (event for event in row if event is not missing)  # type: ignore[misc]
