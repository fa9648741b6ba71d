"""Other renderings of a value: what the same thing looks like in prose, or in another system.

A match by one of these is weak and is marked as such. Renderings that mean nothing by themselves
are left out, as the values themselves are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Final

from agenttrace._dataclass import dataclass, field
from agenttrace.domain import JsonValue, Rendering
from agenttrace.scoring._lineage_tokens import Budget, Token
from agenttrace.scoring._numbers import exact, is_number

_NUMBER: Final = re.compile(
    r"[$\u20ac\u00a3\u00a5]? ?[+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,30})(?:\.[0-9]{1,12})?"
)
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_INSTANT: Final = re.compile(
    r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[tT ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?:[zZ]|[+-][0-9]{2}:?[0-9]{2})?)?(?![0-9])"
)
_IN_DIGITS: Final = re.compile(r"([0-9]{1,4})[/.]([0-9]{1,2})[/.]([0-9]{1,4})")
_IN_WORDS: Final = re.compile(
    r"(?:([a-z]{3,9})\.? ([0-9]{1,2})|([0-9]{1,2})(?: of)? ([a-z]{3,9})\.?),? ([0-9]{4})"
)
_ORDINAL: Final = re.compile(r"(?<=[0-9])(?:st|nd|rd|th)\b")
_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_LARGEST: Final = 10**15
_LONGEST: Final = 64
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def folded(text: str) -> str:
    """What texts have in common that differ in case, blanks and Unicode form alone."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    else:
        text = text.lower()
    return " ".join(text.split())


def undashed(text: str) -> str:
    """A folded text without dashes and number signs."""
    return text.replace("-", "").replace("#", "")


def number_of(text: str) -> Fraction | None:
    """The number that a text states as a whole, with its separators and a currency's sign."""
    bare = text.strip()
    if len(bare) > _LONGEST or _NUMBER.fullmatch(bare) is None:
        return None
    return Fraction(bare.lstrip("$\u20ac\u00a3\u00a5 ").replace(",", ""))


@dataclass(slots=True)
class Renderings:
    """How else one value may be written."""

    tokens: list[tuple[Token, Rendering]] = field(default_factory=list)
    """Looked for in folded text."""
    bare: Token | None = None
    """Looked for in folded text without dashes."""
    numbers: dict[Fraction, Rendering] = field(default_factory=dict)
    """JSON numbers that may stand for it."""
    moments: frozenset[object] = frozenset()
    """Dates and instants of which any ISO form is one of it."""

    def of_number(self, number: int | float) -> Rendering | None:
        """How a JSON number renders the value."""
        return self.numbers.get(exact(number)) if self.numbers else None

    def in_text(self, text: str, budget: Budget) -> Rendering | None:
        """How a folded text renders the value, somewhere in it."""
        for token, rendering in self.tokens:
            if token.text in text and token.stands_in(text, budget):
                return rendering
        bare = self.bare
        if bare is not None and bare.stands_in(undashed(text), budget):
            return Rendering.PUNCTUATION
        if self.moments and any(one in self.moments for one in _moments(text)):
            return Rendering.DATE
        return None


def renderings(value: JsonValue, own: str) -> Renderings:
    """Other renderings of a scalar.

    Args:
        own: The value's own text, which is no other rendering.
    """
    found = Renderings()
    number = _small(exact(value)) if is_number(value) else None
    if isinstance(value, str):
        number = _small(number_of(value))
        moment = _moment_of(value)
        plain = folded(value)
        if plain:
            found.tokens.append((Token(plain, plain.isdigit()), Rendering.FOLDED))
        _punctuate(found, plain)
        if moment is not None:
            _date(found, moment)
    if number is not None:
        _count(found, number, own)
    return found


def _small(number: Fraction | None) -> Fraction | None:
    return number if number is not None and abs(number) < _LARGEST else None


def _punctuate(found: Renderings, plain: str) -> None:
    bare = undashed(plain)
    if len(bare) < 3 or len(plain) > _LONGEST or not any(map(str.isdigit, bare)):
        return
    if bare != plain:
        found.tokens.append((Token(plain.replace("-", " ").strip("# ")), Rendering.PUNCTUATION))
    found.bare = Token(bare, bare.isdigit())


def _count(found: Renderings, number: Fraction, own: str) -> None:
    """The number itself, and as hundredths and hundredfold: an amount in another unit."""
    found.numbers[number] = Rendering.RETYPED
    for text in _written(number):
        if text != own:
            found.tokens.append((Token(text, is_number=True), Rendering.FORMATTED))
    for scaled in (number * 100, number / 100):
        if abs(scaled) < 10 and scaled.denominator == 1:
            continue
        found.numbers.setdefault(scaled, Rendering.SCALED)
        for text in _written(scaled):
            found.tokens.append((Token(text, is_number=True), Rendering.SCALED))


def _written(number: Fraction) -> Iterator[str]:
    """A number in digits: as short as can be, with two decimals, with separators."""
    sign, size = "-" if number < 0 else "", abs(number)
    if size.denominator == 1:
        whole = size.numerator
        made = [f"{whole}", f"{whole}.0", f"{whole}.00", f"{whole:,}", f"{whole:,}.00"]
    elif 100 % size.denominator == 0:
        cents = int(size * 100)
        made = [f"{cents // 100}.{cents % 100:02}", f"{cents // 100:,}.{cents % 100:02}"]
        made += [made[0].rstrip("0")]
    else:
        made = []
        if 10**12 % size.denominator == 0:
            parts = int(size * 10**12)
            made.append(f"{parts // 10**12}.{parts % 10**12:012}".rstrip("0"))
    yield from dict.fromkeys(sign + text for text in made)


def _moment_of(text: str) -> date | datetime | None:
    """The date or date-time that a text is as a whole."""
    bare = text.strip()
    if not 6 <= len(bare) <= _LONGEST or not any(map(str.isdigit, bare)):
        return None
    if _INSTANT.fullmatch(bare) is not None:
        return _iso(bare)
    return _written_date(bare)


def is_moment(text: str) -> bool:
    """Whether a text is a date or an instant as a whole."""
    return _moment_of(text) is not None


def _written_date(text: str) -> date | None:
    """A date in words, or in digits with the year first, or with the month first or the day."""
    if (found := _IN_DIGITS.fullmatch(text)) is not None:
        first, second, third = map(int, found.groups())
        ways = [(third, first, second), (third, second, first)]
        return _first_date([(first, second, third)] if len(found[1]) == 4 else ways)
    found = _IN_WORDS.fullmatch(_ORDINAL.sub("", folded(text)))
    if found is None:
        return None
    month = _month(found[1] or found[4])
    return _first_date([(int(found[5]), month, int(found[2] or found[3]))])


def _month(word: str) -> int:
    """The number of a month by its name or the first three letters of it; 0: it is none."""
    return next((n for n, one in enumerate(_MONTHS, 1) if word in (one, one[:3])), 0)


def _first_date(ways: Iterable[tuple[int, int, int]]) -> date | None:
    for year, month, day in ways:
        try:
            return date(year, month, day)
        except ValueError:
            continue
    return None


def _iso(text: str) -> date | datetime | None:
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
        return datetime.fromisoformat(text.replace("z", "Z").replace("t", "T"))
    except ValueError:
        return None


def _moments(text: str) -> Iterator[object]:
    """Every date and instant that stands in a text in ISO form."""
    if _DATE.search(text) is None:
        return
    for match in _INSTANT.finditer(text):
        moment = _iso(match[0])
        if isinstance(moment, datetime):
            yield _key(moment)
            yield moment.date()
        elif moment is not None:
            yield moment


def _key(moment: datetime) -> object:
    """Equal for one instant in several zones; without a zone, for one reading of the clock."""
    return moment if moment.tzinfo is None else moment - _EPOCH


def _date(found: Renderings, moment: date | datetime) -> None:
    if isinstance(moment, datetime):
        found.moments = frozenset({_key(moment)})
        if moment.tzinfo is not None:
            seconds = (moment - _EPOCH) / timedelta(seconds=1)
            if seconds == int(seconds):
                for scale in (1, 1000):
                    found.numbers[Fraction(int(seconds) * scale)] = Rendering.DATE
                    token = Token(str(int(seconds) * scale), is_number=True)
                    found.tokens.append((token, Rendering.DATE))
        return
    found.moments = frozenset({moment})
    year, month, day = moment.year, moment.month, moment.day
    suffix = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    texts = [f"{year}/{month:02}/{day:02}", f"{year}{month:02}{day:02}"]
    for first, second in ((month, day), (day, month)):
        for sign in "/.":
            texts.append(f"{first:02}{sign}{second:02}{sign}{year}")
            texts.append(f"{first}{sign}{second}{sign}{year}")
    name = _MONTHS[month - 1]
    for word in (name, name[:3]):
        for number in (f"{day}", f"{day:02}", f"{day}{suffix}"):
            texts += [f"{word} {number}", f"{number} {word}", f"{number} of {word}"]
    own = {token.text for token, _ in found.tokens}
    found.tokens += [
        (Token(text), Rendering.DATE) for text in dict.fromkeys(texts) if text not in own
    ]
