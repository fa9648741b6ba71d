"""The forms in which a text may stand in a message: as it is, respelled, encoded.

A message is turned into each form once, and a value is then looked for by the standard library's
own linear search. Blanks and hyphens are left aside on both sides. A match may not be part of a
longer run of letters and digits, so that a short value raises no alarm inside a long word.
"""

from __future__ import annotations

import html
import re
import unicodedata
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from functools import cached_property
from urllib.parse import unquote_plus

from agenttrace._late import TYPE_CHECKING, late_pattern

if TYPE_CHECKING:
    from typing import Final

SEPARATORS: Final = late_pattern("[\\s\\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+")
"""Blanks, and hyphens and dashes of every kind: models write the typographic ones."""
_UNSEEN: Final = late_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
_RUN: Final = late_pattern(r"[^\W_]+|[\W_]")
_FEW: Final = 8
_OPENING: Final = 4
_JSON_ESCAPE: Final = late_pattern(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HTML_ENTITY: Final = late_pattern(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?"
)


class View:
    """A message in one form, without blanks and hyphens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._asked = 0

    @cached_property
    def bare(self) -> str:
        """The text that is searched."""
        return SEPARATORS.sub("", self.text)

    @cached_property
    def _begins(self) -> bytearray:
        """1 where a blank or a hyphen stood before the character."""
        marks = bytearray(len(self.bare) + 1)
        place = 0
        for part in SEPARATORS.split(self.text):
            marks[place] = 1
            place += len(part)
        return marks

    @cached_property
    def _openings(self) -> set[str]:
        """The first characters at every place where a text may begin."""
        found = set()
        place = 0
        for part in SEPARATORS.split(self.text):
            for run in _RUN.finditer(part):
                at = place + run.start()
                found.add(self.bare[at : at + _OPENING])
            place += len(part)
        return found

    def may_hold(self, bare: str) -> bool:
        """Whether a search is worth its time, where there are many.

        Args:
            bare: Four characters or more.
        """
        self._asked += 1
        return self._asked <= _FEW or bare[:_OPENING] in self._openings

    def holds(self, bare: str) -> bool:
        """Whether a text without blanks and hyphens stands there by itself."""
        place = self.bare.find(bare) if bare else -1
        while place >= 0:
            if self._is_end(place) and self._is_end(place + len(bare)):
                return True
            place = self.bare.find(bare, place + 1)
        return False

    def _is_end(self, place: int) -> bool:
        """Whether no run of letters and digits goes on over a place."""
        if place in (0, len(self.bare)) or self._begins[place]:
            return True
        return not (self.bare[place - 1].isalnum() and self.bare[place].isalnum())


def _seen(text: str) -> str:
    return _UNSEEN.sub("", text)


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", _seen(text))


def _folded(text: str) -> str:
    return _compatible(text).casefold()


_SPELLINGS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("as it is", str),
    ("with invisible characters in it", _seen),
    ("in full-width or other compatible characters", _compatible),
    ("in another case", _folded),
)
"""Each form does what the one before does, and more."""


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] is not None:
            return chr(int(found[1], 16))
        return _SHORT_ESCAPES.get(found[2], found[2])

    halves = _JSON_ESCAPE.sub(plain, text)
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _without_entities(text: str) -> str:
    return _HTML_ENTITY.sub(lambda found: html.unescape(found[0]), text)


_DECODINGS: Final[tuple[tuple[str, str, Callable[[str], str]], ...]] = (
    ("percent-encoded", "%+", unquote_plus),
    ("as HTML entities", "&", _without_entities),
    ("with JSON escapes", "\\", _unescaped),
)


class Message:
    """A message in all its forms, each made when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        """The text in small compatible letters, as numbers and dates are read from."""
        return _folded(self.text)

    @cached_property
    def _spelled(self) -> list[tuple[str, Callable[[str], str], View]]:
        made: list[tuple[str, Callable[[str], str], View]] = []
        last = None
        for name, spell in _SPELLINGS:
            text = spell(self.text)
            # A value may be the one that is respelled, so the text need not change.
            view = View(text) if last is None or text != last.text else last
            made.append((name, spell, view))
            last = view
        return made

    @cached_property
    def _decoded(self) -> list[tuple[str, View]]:
        return [
            (name, View(_folded(decode(self.text))))
            for name, signs, decode in _DECODINGS
            if any(sign in self.text for sign in signs)
        ]

    def searches(self, text: str) -> Iterator[tuple[str, View, str]]:
        """Every form with the view to search and what to search it for, the plainest first."""
        last: tuple[View, str] | None = None
        for name, spell, view in self._spelled:
            wanted = SEPARATORS.sub("", spell(text))
            if last != (view, wanted):
                last = view, wanted
                yield name, view, wanted
        folded = SEPARATORS.sub("", _folded(text))
        for name, view in self._decoded:
            yield name, view, folded
        plain, small = self._spelled[0][2], self._spelled[-1][2]
        data = text.encode("utf-8", "surrogatepass")
        for encode in (b64encode, urlsafe_b64encode):
            encoded = encode(data).decode("ascii").rstrip("=")
            yield "in base64", plain, SEPARATORS.sub("", encoded)
        for sign in ("", "0x"):
            yield "in hexadecimal", small, f"{sign}{data.hex()}"
