"""What every format's stream reader can do: take events one by one and tell what they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._values import Source, no_source

MAX_TEXT: Final = 16_000_000
"""Characters of one call's argument text that are kept; of a longer one the text stands as not
observed, because half of it would look like a text that the model had cut."""


class Assembly(Protocol):
    """A streamed response so far. Events are read as they pass and are not kept."""

    @property
    def has_ended(self) -> bool:
        """Whether the provider has said that the response is over."""

    @property
    def model(self) -> str | None:
        """Model that answers, once that is known."""

    @property
    def begun(self) -> Sequence[str]:
        """Names of the calls that have begun, at their places in `draft().calls`.

        A name that is not known yet ends the list, and so does a place that may still change.
        """

    def feed(self, event: JsonObject, source: Source = no_source) -> bool:
        """Take one event; True when it held a part of a call.

        Args:
            source: Where the event's own text can be had, for arguments sent as an object.
        """

    def draft(self) -> ResponseDraft:
        """The response as far as it came; not `complete` when its end was not seen."""


class Fragments:
    """The argument text of one streamed call: pieces in the order in which they came."""

    __slots__ = ("_length", "_object", "_pieces", "_whole")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._whole: str | None = None
        self._object: JsonValue = None

    def add(self, piece: JsonValue) -> None:
        """Take one piece. An object in its place is kept, but its text cannot be had."""
        if isinstance(piece, str):
            self._length += len(piece)
            if self._length <= MAX_TEXT:
                self._pieces.append(piece)
            else:
                self._pieces.clear()
        elif piece is not None:
            self._object = piece

    def set_whole(self, text: JsonValue) -> None:
        """Take the full text, which some events repeat; the last one counts and none is added."""
        if isinstance(text, str):
            self._whole = text

    @property
    def raw(self) -> str | None:
        """The text. None: no piece ever came, or it was no text, or it was too long."""
        if self._whole is not None:
            return self._whole
        return "".join(self._pieces) if self._pieces and self._object is None else None

    @property
    def is_observed(self) -> bool:
        """Whether `raw` is all that there was."""
        return self.raw is not None or (self._object is None and not self._length)

    def call(self, name: str, call_id: str | int | None, index: int) -> CallDraft:
        """The call that these are the arguments of."""
        raw = self.raw
        return CallDraft(
            name=name,
            call_id=call_id,
            index=index,
            raw=raw,
            raw_observed=self.is_observed,
            arguments=self._object if raw is None and isinstance(self._object, dict) else None,
        )
