"""What a JSON text may look like when it is not JSON: keys, strings and words of broken text.

Read by masking alone, where missing a value is worse than finding one that is none. Each pattern is
bounded or linear, and each string is found from its own quote, so that hostile text costs no more
than a fixed number of readings.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Final

from agenttrace._dataclass import dataclass
from agenttrace._late import late_pattern
from agenttrace.records._json_lex import decode_scalar

MAX_KEY_LENGTH: Final = 200
"""Longest key that is recognised behind a syntax error."""

# A key in double, single or escaped quotes, or bare, and its `:`, `=` or `=>`. The quote that ends
# a bare key is that of `lost its first quote"`. A word starts where no word goes on, so that long
# words are tried once.
_ANY_KEY = late_pattern(
    r"""
    (?: (?<!\\)(?P<double>\\{0,7}") (?P<in_double>[^"\n]{1,200}?) (?<!\\)(?P=double)
      | (?<!\\)(?P<single>\\{0,7}') (?P<in_single>[^'\n]{1,200}?) (?<!\\)(?P=single)
      | (?<![\w$.\-]) (?P<bare>[^\W\d][\w$.\-]{0,199}) (?:\\{0,7}["'])?
    )
    \s{0,100} (?: :(?!//) | =>? )
    """,
    re.VERBOSE,
)
_COLON = late_pattern(r"\s*+(?::|=>?)")
_QUOTE = late_pattern(r"""(?:[bBrRuU]{1,2}(?=["']))?(?<!\\)(\\{0,7}["'])""")
# The first word may hold colons (`https://x`); a further word is left out when it is a key.
_BARE = late_pattern(
    r"""
    (?: (?![:=][\s"'{\[]) [^\s,}\]{\["'] )++
    (?: [ \t]{1,20} [^\s,:=}\]{\["']++ (?!\\{0,7}["']?\s{0,20}[:=]) ){0,50}
    """,
    re.VERBOSE,
)
_FOLLOWS = late_pattern(r"""\s*+(?:[,}\]:]|\Z)|[ \t]*+\n""")
_PLAUSIBLE_END = late_pattern(r"""["'](?=\s{0,100}(?:[,}\]]|\Z)|[ \t]{0,100}\n)""")
_MAX_RAGGED: Final = 4_096
_HALF_ESCAPE = late_pattern(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_BRACKET = late_pattern(r"""[{}\[\]]|(?<!\\)\\{0,7}"|(?<![^\s:,{\[(])'""")
_LOOSE_STRINGS: Final = json.JSONDecoder(strict=False)  # control characters as they are
_OPENING: Final = {"}": "{", "]": "["}


@dataclass(frozen=True, slots=True)
class LooseString:
    """Where a string of broken text starts and ends, quotes included."""

    start: int
    end: int
    is_sound: bool
    """It is closed, and what follows is what follows a value."""


class LooseText:
    """One text and the cursors that keep repeated questions about it linear."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._plausible_from = 0
        self._plausible_end = -1
        self._closing: dict[int, int] = {}
        self._budget = 8 * len(text) + 10_000

    def key_at(self, pos: int) -> tuple[str, int] | None:
        """Return the key that starts exactly here and the offset behind its colon.

        Here, other than behind a fault, a key in double quotes may be of any length and hold
        escaped quotes.
        """
        if self.text.startswith('"', pos):
            end = _close(self.text, '"', pos + 1)
            colon = _COLON.match(self.text, end) if end is not None else None
            if colon is not None:
                source = self.text[pos:end]
                key = decode_loose(source)
                return (key if isinstance(key, str) else source[1:-1]), colon.end()
        return _key_of(_ANY_KEY.match(self.text, pos))

    def key_after(self, pos: int) -> tuple[str, int] | None:
        """Return the next thing that looks like a key, and the offset behind its colon."""
        return _key_of(_ANY_KEY.search(self.text, pos))

    def bare_at(self, pos: int) -> tuple[int, int] | None:
        """Return where the unquoted value that starts here ends, and where a key in it may start.

        Only its last part may be a key: the others are followed by their values.
        """
        match = _BARE.match(self.text, pos)
        if match is None:
            return None
        end = match.end()
        colon, equals = (self.text.rfind(sign, pos, end) + 1 for sign in ":=")
        return end, max(pos, colon, equals)

    def string_at(self, pos: int) -> LooseString | None:
        """Return the string that starts here, in any quotes.

        An unterminated string goes to the end of the text. One that is closed where no value can
        end holds a quote that was not escaped: it goes to the next quote where one can.
        """
        match = _QUOTE.match(self.text, pos)
        if match is None:
            return None
        end = _close(self.text, match[1], match.end())
        if end is None:
            return LooseString(pos, len(self.text), False)
        if len(match[1]) > 1 or _FOLLOWS.match(self.text, end):
            return LooseString(pos, end, True)
        plausible = self._plausible(end)
        return LooseString(pos, plausible if plausible - end <= _MAX_RAGGED else end, False)

    def container_end(self, start: int) -> int:
        """Return the offset behind the bracket that closes the one at `start`, or of the end.

        Brackets that were passed on the way are remembered. Text that makes this read it over and
        over is taken as unclosed.
        """
        known = self._closing.get(start)
        if known is not None:
            return known
        text, pos = self.text, start
        opened: list[int] = []
        while self._budget > 0 and (match := _BRACKET.search(text, pos)) is not None:
            pos = match.end()
            found = match[0]
            if found[-1] in "\"'":
                pos = _close(text, found, pos) or len(text)
            elif found in "{[":
                opened.append(match.start())
            elif text[opened[-1]] == _OPENING[found]:
                self._closing[opened.pop()] = pos
            if not opened:
                self._budget -= pos - start
                return pos
        self._budget -= len(text) - start
        self._closing.update((each, len(text)) for each in opened)
        return len(text)

    def _plausible(self, pos: int) -> int:
        if not self._plausible_from <= pos <= self._plausible_end - 1:
            match = _PLAUSIBLE_END.search(self.text, pos)
            self._plausible_from = pos
            far = len(self.text) + _MAX_RAGGED + 1
            self._plausible_end = far if match is None else match.end()
        return self._plausible_end


def decode_loose(source: str) -> object | None:
    """Return the value of a scalar's source as far as it can be told; None when it cannot.

    An unterminated string is decoded as far as it goes.
    """
    try:
        if not source.startswith('"'):
            quote = _QUOTE.match(source)
            return decode_scalar(source) if quote is None else _in_other_quotes(source, quote)
        if _close(source, '"', 1) is None:
            source = _HALF_ESCAPE.sub("", source) + '"'
        value, end = _LOOSE_STRINGS.raw_decode(source)
    except ValueError:
        return None
    return str(value) if end == len(source) else None


def _in_other_quotes(source: str, quote: re.Match[str]) -> str | None:
    inner = source[quote.end() :].removesuffix(quote[1])
    return inner if "\\" not in inner else None


def _key_of(match: re.Match[str] | None) -> tuple[str, int] | None:
    if match is None:
        return None
    key = match["in_double"] or match["in_single"] or match["bare"]
    if match["double"] == '"' and "\\" in key:
        decoded = decode_loose(f'"{key}"')
        key = decoded if isinstance(decoded, str) else key
    return key, match.end()


def _close(text: str, quote: str, pos: int) -> int | None:
    """Return the offset behind the end of a string whose content starts at `pos`.

    A string in escaped quotes also ends, before them, at quotes that are escaped less: these end
    the string that it stands in.
    """
    if len(quote) > 1:
        match = _closing_pattern(quote).search(text, pos)
        if match is None:
            return None
        return match.end() if match[0] == quote else match.start()
    while (at := text.find(quote, pos)) >= 0:
        before = text[pos:at]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return at + 1
        pos = at + 1
    return None


@cache
def _closing_pattern(quote: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\\)\\{{0,{len(quote) - 1}}}{quote[-1]}")
