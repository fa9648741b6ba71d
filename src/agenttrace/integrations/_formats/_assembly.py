"""What every format's stream reader can do: take events one by one and tell what they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.domain import JsonObject, JsonValue


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

    def feed(self, event: JsonObject) -> bool:
        """Take one event; True when it held a part of a call."""

    def draft(self) -> ResponseDraft:
        """The response as far as it came; not `complete` when its end was not seen."""


class Fragments:
    """The argument text of one streamed call: pieces in the order in which they came."""

    __slots__ = ("_object", "_pieces", "_whole")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._whole: str | None = None
        self._object: JsonValue = None

    def add(self, piece: JsonValue) -> None:
        """Take one piece. An object in its place is kept, but its text cannot be had."""
        if isinstance(piece, str):
            self._pieces.append(piece)
        elif piece is not None:
            self._object = piece

    def set_whole(self, text: JsonValue) -> None:
        """Take the full text, which some events repeat; the last one counts and none is added."""
        if isinstance(text, str):
            self._whole = text

    @property
    def raw(self) -> str | None:
        """The text. None: no piece ever came, or it was no text."""
        if self._whole is not None:
            return self._whole
        return "".join(self._pieces) if self._pieces and self._object is None else None

    def call(self, name: str, call_id: str | int | None, index: int) -> CallDraft:
        """The call that these are the arguments of."""
        observed = self.raw is not None or self._object is None
        arguments = self._object if not observed and isinstance(self._object, dict) else None
        return CallDraft(
            name=name,
            call_id=call_id,
            index=index,
            raw=self.raw,
            raw_observed=observed,
            arguments=arguments,
        )
