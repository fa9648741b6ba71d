"""One value that is looked for: what is the value itself, and what is another rendering of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from agenttrace.domain import JsonValue, Rendering
from agenttrace.records import canonical
from agenttrace.redaction import Digest
from agenttrace.scoring._lineage_forms import Renderings, folded, number_of, renderings
from agenttrace.scoring._lineage_tokens import Budget, Token
from agenttrace.scoring._numbers import exact, is_number
from agenttrace.scoring._opaque import digest_of

_LONGEST_RENDERED: Final = 400
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class Needle:
    """A value, ready to be found."""

    def __init__(self, value: JsonValue) -> None:
        self.value = value
        self.budget = Budget()
        self._digest = digest_of(value)
        self.is_whole = self._digest is not None or is_container(value)
        """Whether an object or a list may be the value itself."""
        self._is_text = isinstance(value, str)
        own = "" if self.is_whole else text_of(value)
        self._token = Token(own, is_number=self._is_number_text(own)) if own else None

    @cached_property
    def _others(self) -> Renderings:
        own = "" if self._token is None else self._token.text
        if not own or "[masked:" in own or len(own) > _LONGEST_RENDERED:
            return Renderings()
        return renderings(self.value, own)

    def _is_number_text(self, own: str) -> bool:
        return not self._is_text or number_of(own) is not None

    def may_stand_in(self, text: str) -> bool:
        """Whether a JSON text may hold the value: asked before it is read."""
        if self._token is None or self._token.text in text or "\\" in text:
            return True
        return is_number(self.value)  # 100.0 may be written 1e2

    @cached_property
    def _in_canonical(self) -> str:
        """What stands in the canonical text of everything that holds the value."""
        if self._token is None:
            return ""
        text = canonical(self.value)
        return text[1:-1] if self._is_text else text

    def may_stand_in_object(self, text: str) -> bool:
        """Whether an object may hold the value, by its canonical text.

        Behind a backslash a text of its own may stand, with the value in another spelling.
        """
        return self._in_canonical in text or "\\" in text

    def is_same(self, leaf: JsonValue) -> bool:
        """Whether a JSON value is the value itself."""
        value = self.value
        if not self.is_whole:
            return leaf.__class__ is value.__class__ and leaf == value
        if self._digest is not None:
            found = digest_of(leaf)
            return found is not None and _is_equal(found, self._digest)
        return is_container(leaf) and same_json(value, leaf)

    def in_prose(self, text: str) -> bool:
        """Whether the value's own text stands in a text, as a whole token."""
        return self._token is not None and self._token.stands_in(text, self.budget)

    def in_member(self, text: str) -> bool:
        """As `in_prose`, of a text inside a JSON value: one that is nothing but a number is none.

        A type counts there: the text "310" is not the number 310.
        """
        token = self._token
        if token is None or token.text not in text:
            return False
        if not self._is_text and text.strip() == token.text:
            return False
        return token.stands_in(text, self.budget)

    def rendered(self, leaf: JsonValue) -> Rendering | None:
        """How a scalar renders the value otherwise; None where it does not."""
        if self._digest is not None:
            found = digest_of(leaf)
            is_loose = found is not None and (found.key_id, found.loose) == (
                self._digest.key_id,
                self._digest.loose,
            )
            return Rendering.LOOSE_DIGEST if is_loose else None
        if isinstance(leaf, str):
            if self._token is None:
                return None
            if not self._is_text and leaf.strip() == self._token.text:
                return Rendering.RETYPED
            return self._others.in_text(folded(leaf), self.budget)
        if leaf.__class__ is int or leaf.__class__ is float:
            return self._of_number(leaf)
        return None

    def _of_number(self, leaf: Any) -> Rendering | None:
        try:
            return self._others.of_number(leaf)
        except (ValueError, OverflowError):
            return None  # no JSON number: it is not finite


def text_of(value: JsonValue) -> str:
    """A scalar's own text; empty where it has none."""
    if isinstance(value, str):
        return value
    try:
        return canonical(value)
    except (ValueError, TypeError):
        return ""


def is_container(value: object) -> bool:
    """Whether a value is an object or a list."""
    kind = value.__class__
    if kind in _SCALARS:
        return False
    if kind is dict or kind is list:
        return True
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str | bytes)


def is_too_common(value: JsonValue) -> bool:
    """Whether a value means nothing by itself: a truth value, one sign, one digit, nothing."""
    if value is None or isinstance(value, bool):
        return True
    found = digest_of(value)
    if found is not None and found.type in ("boolean", "string"):
        return found.type == "boolean" or (found.length or 0) < 2
    if isinstance(value, str):
        bare = value.strip()
        return len(bare) < 2 or not any(map(str.isalnum, bare))
    if isinstance(value, int | float):
        try:
            number = exact(value)
        except (ValueError, OverflowError):
            return True  # no JSON number
        return abs(number) < 10 and number.denominator == 1
    return not is_container(value) or not value


def same_json(left: Any, right: Any) -> bool:
    """Typed equality of two JSON values, whatever their depth; it ends at the first difference."""
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if one is other:
            continue
        if isinstance(one, Mapping):
            if not isinstance(other, Mapping) or one.keys() != other.keys():
                return False
            waiting += ((item, other[key]) for key, item in one.items())
        elif is_container(one):
            if isinstance(other, Mapping) or not is_container(other) or len(one) != len(other):
                return False
            waiting += zip(one, other, strict=True)
        elif one.__class__ is not other.__class__ or one != other:
            return False
    return True


def _is_equal(one: Digest, other: Digest) -> bool:
    return (one.type, one.key_id, one.exact) == (other.type, other.key_id, other.exact)
