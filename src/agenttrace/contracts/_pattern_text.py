"""Reads the text of a pattern into its parts, as far as the safe subset goes.

Python's own parser of patterns is private to the standard library, so this small one reads what
may be accepted and says what it did not expect. It is only asked about patterns that compile.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Final, TypeAlias

_ALL_ASCII: Final = (1 << 128) - 1


class PatternTextError(ValueError):
    """The pattern uses something outside the subset; the message says what."""


@dataclass(frozen=True)
class Characters:
    """A set of characters: exact for ASCII, and whether any other may be in it."""

    ascii_bits: int
    beyond: bool

    def union(self, other: Characters) -> Characters:
        """Characters in either."""
        return Characters(self.ascii_bits | other.ascii_bits, self.beyond or other.beyond)

    def is_disjoint(self, other: Characters) -> bool:
        """Whether it is certain that no character is in both."""
        return not (self.ascii_bits & other.ascii_bits or (self.beyond and other.beyond))


@dataclass(frozen=True)
class Series:
    """Parts one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """One of several parts."""

    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A part several times; without `high`, without end."""

    part: Node
    low: int
    high: int | None


Node: TypeAlias = Characters | Series | Alternatives | Repeat

EVERYTHING: Final = Characters(_ALL_ASCII, beyond=True)


def _of(characters: str, *, beyond: bool = False) -> Characters:
    bits = 0
    for one in characters:
        if ord(one) < 128:
            bits |= 1 << ord(one)
        else:
            beyond = True
    return Characters(bits, beyond)


def _not(characters: str) -> Characters:
    return Characters(_ALL_ASCII & ~_of(characters).ascii_bits, beyond=True)


_WORD: Final = string.ascii_letters + string.digits + "_"
_SPACE: Final = " \t\n\r\f\v\x1c\x1d\x1e\x1f"
_CLASSES: Final = {
    "d": _of(string.digits, beyond=True),
    "D": _not(string.digits),
    "w": _of(_WORD, beyond=True),
    "W": _not(_WORD),
    "s": _of(_SPACE, beyond=True),
    "S": _not(_SPACE),
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_MOST_DEPTH: Final = 50


def read_pattern(pattern: str) -> Node:
    """Read the whole pattern.

    Raises:
        PatternTextError: Something in it is outside the subset.
    """
    reader = _Reader(pattern)
    node = reader.alternatives(0)
    if not reader.at_end:
        raise PatternTextError(f"has an unexpected {reader.peek!r}")
    return node


def is_anchored(pattern: str) -> tuple[bool, bool]:
    """Whether a pattern begins with `^`, and whether it ends with `$`."""
    return pattern.startswith("^"), pattern.endswith("$") and not _ends_escaped(pattern)


class _Reader:
    def __init__(self, text: str) -> None:
        # The whole text must match, so anchors at the ends say nothing; within they are refused.
        start, end_anchor = is_anchored(text)
        end = len(text) - end_anchor
        self.text = text[:end]
        self.at = min(int(start), end)

    @property
    def at_end(self) -> bool:
        return self.at >= len(self.text)

    @property
    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        one = self.peek
        self.at += 1
        return one

    def alternatives(self, depth: int) -> Node:
        if depth > _MOST_DEPTH:
            raise PatternTextError(f"nests groups deeper than {_MOST_DEPTH}")
        branches = [self.sequence(depth)]
        while self.peek == "|":
            self.take()
            branches.append(self.sequence(depth))
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while not self.at_end and self.peek not in "|)":
            parts.append(self.repeated(self.atom(depth)))
        return Series(tuple(parts))

    def atom(self, depth: int) -> Node:
        one = self.take()
        if one == "(":
            return self.group(depth)
        if one == "[":
            return self.character_class()
        if one == "\\":
            return self.escape()
        if one == ".":
            return _not("\n")
        if one in "^$":
            raise PatternTextError(f"has the anchor {one!r} inside")
        return _of(one)

    def group(self, depth: int) -> Node:
        if self.peek == "?":
            self.take()
            if self.take() != ":":
                raise PatternTextError(
                    "has a group with an extension such as lookaround or a name; for either case "
                    "of a letter write [aA], or the rule normalizer"
                )
        inner = self.alternatives(depth + 1)
        if self.take() != ")":
            raise PatternTextError("has an anchor at the end of one alternative only")
        return inner

    def escape(self) -> Characters:
        one = self.take()
        if one in _CLASSES:
            return _CLASSES[one]
        if one in _CONTROLS:
            return _of(_CONTROLS[one])
        if one and not one.isalnum():
            return _of(one)
        raise PatternTextError(f"has the escape \\{one}, such as a back-reference or a boundary")

    def character_class(self) -> Characters:
        negated = self.peek == "^"
        if negated:
            self.take()
        total = Characters(0, beyond=False)
        first = True
        while first or self.peek != "]":
            total = total.union(self.class_item())
            first = False
            if self.at_end:
                raise PatternTextError("has a character class without an end")
        self.take()
        if negated:
            return Characters(_ALL_ASCII & ~total.ascii_bits, beyond=True)
        return total

    def class_item(self) -> Characters:
        low = self.class_character()
        if isinstance(low, Characters) or self.peek != "-" or self.text[self.at + 1 :][:1] == "]":
            return low if isinstance(low, Characters) else _of(low)
        self.take()
        high = self.class_character()
        if isinstance(high, Characters):
            raise PatternTextError("has a character class with an odd range")
        bits = sum(1 << code for code in range(ord(low), min(ord(high), 127) + 1))
        return Characters(bits, beyond=ord(high) > 127)

    def class_character(self) -> Characters | str:
        one = self.take()
        if one == "[":
            raise PatternTextError("has an unescaped [ in a character class")
        if one != "\\":
            return one
        one = self.take()
        if one in _CLASSES:
            return _CLASSES[one]
        if one in _CONTROLS:
            return _CONTROLS[one]
        if one and not one.isalnum():
            return one
        raise PatternTextError(f"has the escape \\{one} in a character class")

    def repeated(self, part: Node) -> Node:
        bounds = self.bounds()
        if bounds is None:
            return part
        if self.peek == "?":
            self.take()  # a lazy repetition has as many ways as a greedy one
        elif self.peek == "+":
            raise PatternTextError("has a possessive repetition")
        return Repeat(part, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.peek in simple and self.peek:
            return simple[self.take()]
        if self.peek != "{":
            return None
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : end].partition(",")
        if end < 0 or not all(part == "" or _is_digits(part) for part in (low, high)):
            return None  # a brace that bounds nothing is a literal
        if not low and not comma:
            return None
        self.at = end + 1
        if not comma:
            return int(low), int(low)
        return int(low or 0), int(high) if high else None


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _ends_escaped(text: str) -> bool:
    body = text[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1
