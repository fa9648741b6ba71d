"""Named normalizers: the only way in which two different texts may count as equal.

Each is registered with pairs it must accept as equal and pairs it must keep apart, and both are
run at registration, so that a normalizer cannot quietly swallow a difference that matters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from agenttrace._dataclass import dataclass
from agenttrace.domain import JsonValue
from agenttrace.errors import InvalidCaseError

TextFunction = Callable[[str], str]
Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Normalizer:
    """A function from text to text, and the pairs that say what it is for."""

    name: str
    function: TextFunction
    accepts: tuple[tuple[str, str], ...]
    """Pairs that are equal after it."""
    rejects: tuple[tuple[str, str], ...]
    """Pairs that stay different after it."""

    def __call__(self, value: JsonValue) -> JsonValue:
        """Normalize text; every other value passes unchanged."""
        return self.function(value) if isinstance(value, str) else value

    def faults(self) -> Iterator[str]:
        """Run the pairs, and say each that comes out the other way or is not there."""
        if not self.accepts or not self.rejects:
            yield "needs a pair it accepts and a pair it rejects"
        for left, right in self.accepts:
            if self.function(left) != self.function(right):
                yield f"does not accept {left!r:.40} as {right!r:.40}"
        for left, right in self.rejects:
            if self.function(left) == self.function(right):
                yield f"does not keep {left!r:.40} and {right!r:.40} apart"


_known: dict[str, Normalizer] = {}


def register_normalizer(
    name: str, function: TextFunction, *, accepts: Pairs, rejects: Pairs
) -> Normalizer:
    """Make a normalizer known by name, after running its own examples.

    Raises:
        InvalidCaseError: It has no pair of one sort, or a pair comes out the other way.
    """
    made = Normalizer(name=name, function=function, accepts=tuple(accepts), rejects=tuple(rejects))
    for fault in made.faults():
        raise InvalidCaseError(f"normalizer {name}", fault)
    _known[name] = made
    return made


def normalizer(name: str) -> Normalizer:
    """The normalizer of this name.

    Raises:
        InvalidCaseError: There is none; the known names are listed.
    """
    try:
        return _known[name]
    except KeyError:
        known = ", ".join(sorted(_known))
        raise InvalidCaseError(f"normalizer {name!r:.40}", f"is unknown; known: {known}") from None


def normalizer_names() -> tuple[str, ...]:
    """All known names."""
    return tuple(sorted(_known))


def instant_of(text: str) -> datetime | None:
    """The date-time that an ISO 8601 text with a `T` states, with or without an offset."""
    if "T" not in text or not 10 < len(text) < 48:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _utc_instant(text: str) -> str:
    when = instant_of(text)
    if when is None or when.tzinfo is None:
        return text
    try:
        return when.astimezone(UTC).isoformat()
    except (OverflowError, ValueError):
        return text


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


register_normalizer("casefold", str.casefold, accepts=[("Straße", "STRASSE")], rejects=[("a", "b")])
register_normalizer("trim", str.strip, accepts=[(" a ", "a")], rejects=[("a b", "ab")])
register_normalizer(
    "collapse_whitespace", _collapse, accepts=[("a \n b", "a b")], rejects=[("a b", "ab")]
)
register_normalizer(
    "nfc",
    lambda text: unicodedata.normalize("NFC", text),
    accepts=[("e\u0301", "\u00e9")],
    rejects=[("\uff21", "A")],
)
register_normalizer("digits", _digits, accepts=[("48-81 02", "488102")], rejects=[("12", "21")])
register_normalizer(
    "utc_instant",
    _utc_instant,
    accepts=[("2026-01-01T12:00:00+01:00", "2026-01-01T11:00:00Z")],
    rejects=[("2026-01-01T12:00:00", "2026-01-01T12:00:00Z")],
)
