"""What a caller may pass in: types for type checkers, so that only they load this module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from agenttrace.domain import Evidence, JsonObject, JsonValue


class TextMatcher(Protocol):
    """A compiled pattern; `fullmatch` answers None where the whole text does not fit."""

    def fullmatch(self, text: str, /) -> object | None:
        """Match the whole text."""


class TextSearcher(Protocol):
    """A compiled pattern; `search` answers None where it fits no part of the text."""

    def search(self, text: str, /) -> object | None:
        """Find a part of the text that fits."""


class ExpectedValues(Protocol):
    """Brings expected values into the form of the observed ones."""

    def prepare(self, calls: Iterable[tuple[str, JsonObject]]) -> None:
        """Look at every expected call, by name and arguments, before the first is masked."""

    def arguments(self, arguments: JsonObject, tool: str) -> JsonObject:
        """Arguments of a call of a tool."""

    def value(
        self, value: JsonValue, pointer: str | None = None, tool: str | None = None
    ) -> JsonValue:
        """A single value, of a field where that has a place; a tool's argument where it has one."""


class ExpectedMasker(Protocol):
    """Masks a case's expected values the way the recorder masked the observed ones."""

    def expected_by(self, evidence: Evidence) -> ExpectedValues:
        """What brings values into the form that the values of this evidence have."""

    def unknown_keys(self, evidence: Evidence) -> frozenset[str]:
        """Ids of the keys that masked values of the evidence were made with and this lacks."""
