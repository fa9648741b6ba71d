"""Finding a value's text in prose, as a whole token and nowhere inside a longer one.

310 does not stand in 3100, 1310, 310.5, 1,310 or -310, nor `v-131` in `v-131-b`, nor `john` in
`john@example.com`. The standard library's own search finds the places, and what stands beside
each is looked at by hand: no pattern that could go astray on a long text.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from agenttrace._dataclass import dataclass

MOST_PLACES: Final = 100_000
"""Places inside longer tokens that one search passes over before it gives up."""
_MOST_CHARACTERS: Final = 50_000_000
_JOINTS: Final = "-.@\u2010\u2011"
"""What joins two words to one name: dashes of ids, dots and signs of addresses."""
_SIGNS: Final = "-.\u2212\ufe63\uff0d"
"""What makes another number of the digits after it: minus signs, and a decimal point."""
_THIN: Final = "'\u2019\u00a0\u2007\u2009\u202f"
"""What stands between groups of three digits, and elsewhere too: apostrophes and narrow blanks."""


@dataclass(slots=True)
class Budget:
    """How many places that only look like the value may still be passed over."""

    places: int = MOST_PLACES
    characters: int = _MOST_CHARACTERS

    @property
    def is_spent(self) -> bool:
        """Whether some place was not looked at."""
        return self.places < 0 or self.characters < 0

    def spend(self, length: int) -> bool:
        """Pass over one place; false where that is one too many."""
        self.places -= 1
        self.characters -= length
        return not self.is_spent


@dataclass(frozen=True, slots=True)
class Token:
    """A text that is looked for as a whole."""

    text: str
    is_number: bool = False
    """Whether it is made of digits, so that a sign or a decimal part beside it changes it."""

    def stands_in(self, text: str, budget: Budget) -> bool:
        """Whether the token stands anywhere in a text by itself."""
        token = self.text
        at = text.find(token)
        while at >= 0:
            if self._begins(text, at) and self._ends(text, at + len(token)):
                return True
            if not budget.spend(len(token)):
                return False
            at = text.find(token, at + 1)
        return False

    def _begins(self, text: str, at: int) -> bool:
        if at == 0:
            return True
        beside, beyond = text[at - 1], text[at - 2 : at - 1] if at > 1 else ""
        if not is_word(self.text[0]):
            # The dash of A-310 and of 2024-05-11 is no minus sign.
            return self.text[0] not in _JOINTS or not is_word(beside)
        if is_word(beside) or (beside in _JOINTS and beyond and is_word(beyond)):
            return False
        if not self.is_number:
            return True
        if beside in _SIGNS or (beside == "," and beyond.isdigit()):
            return False
        return not (beside in _THIN and beyond.isdigit() and _is_group(self.text, 0))

    def _ends(self, text: str, end: int) -> bool:
        if end == len(text):
            return True
        beside, beyond = text[end], text[end + 1 : end + 2]
        if not is_word(self.text[-1]):
            return self.text[-1] not in _JOINTS or not is_word(beside)
        if is_word(beside) or (beside in _JOINTS and beyond and is_word(beyond)):
            return False
        if not self.is_number or not beyond.isdigit():
            return True
        return not (beside == "," or (beside in _THIN and _is_group(text, end + 1)))


def _is_group(text: str, at: int) -> bool:
    """Whether just three digits stand there, as between the separators of a long number."""
    return text[at : at + 3].isdigit() and not text[at + 3 : at + 4].isdigit()


def is_word(char: str) -> bool:
    """Whether a character is part of a word: a letter, a digit, `_`, or a mark above one."""
    return char.isalnum() or char == "_" or unicodedata.combining(char) != 0
