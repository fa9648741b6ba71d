"""What masks and digests of a run have in common: the redactor's key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agenttrace.domain import JsonValue, Masking

if TYPE_CHECKING:
    from agenttrace.redaction._redactor import Redactor


class Keyed:
    """Digests with the redactor's key."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def digest(self, value: JsonValue) -> str:
        """As `Redactor.digest`."""
        return self._redactor.digest(value)

    def digest_text(self, text: str | bytes) -> str:
        """As `Redactor.digest_text`."""
        return self._redactor.digest_text(text)

    def masking(self) -> Masking:
        """As `Redactor.masking`."""
        return self._redactor.masking()
