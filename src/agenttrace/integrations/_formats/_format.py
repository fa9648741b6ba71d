"""One wire format, as a row of the table: how it is told and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agenttrace.capture import ResponseDraft, ToolOffer
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._assembly import Assembly
from agenttrace.integrations._formats._values import Source


def _never(_: object) -> bool:
    return False


def _nothing(_: JsonObject) -> None:
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """How one wire format is told and read."""

    name: str
    """What `model_response(format=…)` calls it."""
    is_response: Callable[[JsonObject], bool]
    is_event: Callable[[JsonObject], bool]
    read_response: Callable[[JsonObject, Source], ResponseDraft]
    assembly: Callable[[JsonObject], Assembly]
    """A reader of the stream that answers this request."""
    read_tools: Callable[[JsonObject], tuple[ToolOffer, ...]]
    read_messages: Callable[[JsonObject], tuple[JsonValue, ...] | None]
    asks: Callable[[str], bool] = _never
    """Whether a request posted to this path is answered in the format."""
    read_previous: Callable[[JsonObject], str | None] = _nothing
    """The response that a request asks the provider to go on from."""
    is_unfinished: Callable[[JsonObject], bool] = _never
    """Whether a body says that its response is still being made."""
