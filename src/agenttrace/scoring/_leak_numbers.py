"""Numbers and dates as people write them in a message: grouped, with other decimals, in words.

Each text is read once for all values that are looked for, and nothing in it is read as a number
that would not fit a machine's: digits stay text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import date
from decimal import Decimal

from agenttrace._late import TYPE_CHECKING, late_pattern
from agenttrace.domain import JsonValue
from agenttrace.records import dump_json

if TYPE_CHECKING:
    from typing import Final

SHORTEST: Final = 4
"""What stands in a message in another form counts from so many characters on."""

_BLANK: Final = " \u00a0\u2009\u202f"
_NUMBER_TEXT: Final = late_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_MARKED: Final = late_pattern(r"(?<!\w)[0-9](?:[.,'\u2019]?[0-9])*+")
_BLANKED: Final = late_pattern(
    rf"(?<![\w.,])[0-9]{{1,3}}(?:[{_BLANK}][0-9]{{3}}(?![0-9]))++(?:[.,][0-9]++)?"
)
_GROUPED: Final = late_pattern(
    r"([0-9]{1,3}(?:,[0-9]{3})++)(?:\.([0-9]+))?|([0-9]{1,3}(?:\.[0-9]{3})++)(?:,([0-9]+))?"
    r"|([0-9]{1,3}(?:['\u2019][0-9]{3})++)(?:[.,]([0-9]+))?"
)
_DECIMAL: Final = late_pattern(r"([0-9]+)(?:[.,]([0-9]+))?")
_NOT_DIGITS: Final = late_pattern(r"[^0-9]")

_ISO: Final = late_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH_OF: Final = {
    word: number
    for number, name in enumerate(_MONTHS, start=1)
    for word in (name, name[:3], *(["sept"] if name == "september" else []))
}
_WORD: Final = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_GAP: Final = rf"[{_BLANK}]{{1,2}}"
_SUFFIX: Final = r"(?:st|nd|rd|th)?"
_DATES: Final = late_pattern(
    rf"""(?<!\w)(?:
      (?P<a>[0-9]{{1,4}}) (?P<sep>[./-]) (?P<b>[0-9]{{1,2}}) (?P=sep) (?P<c>[0-9]{{1,4}})
    | (?P<day>[0-9]{{1,2}}){_SUFFIX}\.?{_GAP}(?P<month>{_WORD})\.?,?{_GAP}(?P<year>[0-9]{{4}})
    | (?P<month2>{_WORD})\.?{_GAP}(?P<day2>[0-9]{{1,2}}){_SUFFIX},?{_GAP}(?P<year2>[0-9]{{4}})
    )(?!\w)""",
    re.VERBOSE,
)


def number_key(value: JsonValue) -> str | None:
    """Equal for numbers that are equal but for their sign, also where a text holds one."""
    if value.__class__ is int:
        return dump_json(value).lstrip("-")
    if value.__class__ is float:
        return _key(*f"{abs(Decimal(repr(value))):f}".partition(".")[::2])
    if isinstance(value, str) and len(value) >= SHORTEST and _NUMBER_TEXT.fullmatch(value):
        return _key(*value.lstrip("-").partition(".")[::2])
    return None


def numbers_in(text: str, wanted: Collection[str]) -> set[str]:
    """Which numbers stand in a text, in whatever grouping, by their keys."""
    return {key for key in _numbers(text) if key in wanted} if wanted else set()


def dates_in(text: str, wanted: Collection[str]) -> set[str]:
    """Which dates stand in a text in small letters, as `2026-11-30`."""
    if not wanted:
        return set()
    return {key for found in _DATES.finditer(text) for key in _readings(found) if key in wanted}


def is_date(value: object) -> bool:
    """Whether a value is the text of a calendar date."""
    if not isinstance(value, str) or _ISO.fullmatch(value) is None:
        return False
    return _iso(value[:4], value[5:7], value[8:]) is not None


def _key(whole: str, fraction: str | None) -> str:
    rest = (fraction or "").rstrip("0")
    return f"{whole}.{rest}" if rest else whole


def _numbers(text: str) -> Iterator[str]:
    for found in _MARKED.finditer(text):
        token = _kept(text, found, ".,'\u2019")
        if len(token) >= SHORTEST:
            yield from _as_numbers(token)
    for found in _BLANKED.finditer(text):
        token = _kept(text, found, f"{_BLANK}.,")
        groups = _DECIMAL.fullmatch("".join(token.split()))
        if groups is not None:
            yield _key(groups[1], groups[2])


def _kept(text: str, found: re.Match[str], marks: str) -> str:
    """What was found, without a last part that goes on in letters."""
    token, after = found[0], text[found.end() : found.end() + 1]
    if not (after.isalnum() or after == "_"):
        return token
    return token[: max(token.rfind(mark) for mark in marks) + 1].rstrip(marks)


def _as_numbers(token: str) -> Iterator[str]:
    decimal = _DECIMAL.fullmatch(token)
    if decimal is not None:
        yield _key(decimal[1], decimal[2])
    grouped = _GROUPED.fullmatch(token)
    if grouped is not None:
        for whole, fraction in ((1, 2), (3, 4), (5, 6)):
            if grouped[whole] is not None:
                yield _key(_NOT_DIGITS.sub("", grouped[whole]), grouped[fraction])


def _readings(found: re.Match[str]) -> Iterator[str]:
    """The dates that one place may mean: with slashes the day stands first, or the month."""
    part = found.groupdict()
    if part["sep"] is None:
        day, month = part["day"] or part["day2"], part["month"] or part["month2"]
        orders = [(part["year"] or part["year2"], str(_MONTH_OF[month]), day)]
    elif len(part["a"]) == 4:
        orders = [(part["a"], part["b"], part["c"])]
    elif len(part["c"]) == 4:
        orders = [(part["c"], part["b"], part["a"])]
        if part["sep"] == "/":
            orders.append((part["c"], part["a"], part["b"]))
    else:
        return
    for order in orders:
        made = _iso(*order)
        if made is not None:
            yield made


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
