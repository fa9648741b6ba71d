"""Named normalizers: the only way in which two different texts may count as equal.

Each is registered with pairs it must accept as equal and pairs it must keep apart, and both are
run at registration, so that a normalizer cannot quietly swallow a difference that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from agenttrace._dataclass import dataclass
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonValue
from agenttrace.errors import InvalidCaseError

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Final

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
        return _all()[name]
    except KeyError:
        known = ", ".join(normalizer_names())
        raise InvalidCaseError(f"normalizer {name!r:.40}", f"is unknown; known: {known}") from None


def normalizer_names() -> tuple[str, ...]:
    """All known names."""
    return tuple(sorted(_all()))


def instant_of(text: str) -> datetime | None:
    """The date-time that an ISO 8601 text with a `T` states, with or without an offset."""
    if "T" not in text or not 10 < len(text) < 48:
        return None
    # Few texts look like one, and until then the module is not needed.
    from datetime import datetime  # noqa: PLC0415

    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _utc_instant(text: str) -> str:
    when = instant_of(text)
    if when is None or when.tzinfo is None:
        return text
    from datetime import UTC  # noqa: PLC0415 - as above

    try:
        return when.astimezone(UTC).isoformat()
    except (OverflowError, ValueError):
        return text


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _nfc(text: str) -> str:
    import unicodedata  # noqa: PLC0415 - few rows need it

    return unicodedata.normalize("NFC", text)


_OWN: Final[dict[str, tuple[TextFunction, tuple[str, str], tuple[str, str]]]] = {
    "casefold": (str.casefold, ("Straße", "STRASSE"), ("a", "b")),
    "trim": (str.strip, (" a ", "a"), ("a b", "ab")),
    "collapse_whitespace": (_collapse, ("a \n b", "a b"), ("a b", "ab")),
    "nfc": (_nfc, ("e\u0301", "\u00e9"), ("\uff21", "A")),
    "digits": (_digits, ("48-81 02", "488102"), ("12", "21")),
    "utc_instant": (
        _utc_instant,
        ("2026-01-01T12:00:00+01:00", "2026-01-01T11:00:00Z"),
        ("2026-01-01T12:00:00", "2026-01-01T12:00:00Z"),
    ),
}
"""Function, a pair that it accepts, and one that it rejects."""


def _all() -> dict[str, Normalizer]:
    """All known normalizers; our own show their pairs when one is first asked for."""
    for name in _OWN.keys() - _known.keys():
        function, accepted, rejected = _OWN[name]
        register_normalizer(name, function, accepts=[accepted], rejects=[rejected])
    return _known
