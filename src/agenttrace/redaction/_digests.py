"""Digests in place of values: what a leaf was, how long, and two keyed hashes of it.

A digest stands where its leaf stood, so that a place in a record is the same pointer as in the
value: `[digest:TYPE:LENGTH:KEY:EXACT:LOOSE]`. Equal leaves have equal exact hashes. Leaves that
differ in spelling alone have equal loose ones: one number in several types and as text, one instant
in several zones, one text but for case, blanks and Unicode form, one JSON text but for its layout.

Null, an empty object and an empty list are what their type says, and stay. What has more than
`MOST_LEAVES` leaves is cut down from its deepest level up: a container there becomes one digest
over the digests of what it held, which needs no key to be made again.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from agenttrace._late import late_pattern
from agenttrace.domain import JsonValue
from agenttrace.records import JsonTextError, canonical, parse_json
from agenttrace.redaction._digest_text import Digest, read_digest

MOST_LEAVES: Final = 2_000
"""Leaves of one value that have a digest each."""

_HEX: Final = 32
_NUMBER: Final = late_pattern(r"[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")
_NAME: Final = late_pattern(r"[A-Za-z_$][A-Za-z_$.-]{0,63}[0-9]{0,2}")
_LONGEST: Final = 1_000_000
Hash = Callable[[str], str]
"""The keyed hash of a text, as 32 hexadecimal digits."""


class Digester:
    """Makes digests with one key."""

    def __init__(self, key_id: str, make_hash: Hash) -> None:
        self._key_id = key_id
        self._hash = make_hash

    def tree(self, value: JsonValue, is_secret: Callable[[str], bool]) -> JsonValue:
        """A value with a digest for each of its leaves.

        Args:
            is_secret: Whether the name of a field is to become a digest too.
        """
        if not _is_container(value):
            return self.leaf(value)
        whole: list[Any] = [None]
        kept = _kept(value)
        names: dict[str, str] = {}
        waiting: list[tuple[Any, Any, Any]] = [(value, whole, 0)]
        while waiting:
            source, place, at = waiting.pop()
            if id(source) not in kept:
                place[at] = str(self._node(source, is_secret))
                continue
            out: Any = {} if isinstance(source, Mapping) else [None] * len(source)
            place[at] = out
            pairs = source.items() if isinstance(source, Mapping) else enumerate(source)
            for key, item in pairs:
                name = key
                if isinstance(key, str):
                    if key not in names:
                        names[key] = self.name(key, is_secret)
                    name = names[key]
                if _is_container(item) and item:
                    out[name] = None  # its place among the others
                    waiting.append((item, out, name))
                else:
                    out[name] = self.leaf(item)
        made: JsonValue = whole[0]
        return made

    def leaf(self, value: JsonValue) -> JsonValue:
        """The digest of a scalar; null and what is empty stay."""
        if value is None:
            return None
        if _is_container(value):
            return {} if isinstance(value, Mapping) else []
        size = len(value) if isinstance(value, str) else None
        exact = self._hash(f"exact\0{type_of(value)}\0{canonical(value)}")
        loose = self._loose(value)
        return str(Digest(type_of(value), size, self._key_id, exact, loose))

    def name(self, key: str, is_secret: Callable[[str], bool]) -> str:
        """A field's name as it is, or its digest where it is more than a name."""
        if _NAME.fullmatch(key) is not None and not is_secret(key):
            return key
        if read_digest(key) is not None:
            return key
        return str(self.leaf(key))

    def raw(self, text: str, state: str) -> str:
        """The digest of a call's own text, which says what kind of text it was."""
        exact = self._hash(f"exact\0text\0{canonical(text)}")
        loose = self._loose(text)
        return str(Digest(f"text_{state}", len(text), self._key_id, exact, loose))

    def _node(self, value: JsonValue, is_secret: Callable[[str], bool]) -> Digest:
        return fold(_each_leaf(value, self.leaf, lambda key: self.name(key, is_secret)))

    def _loose(self, value: JsonValue) -> str:
        """The hash that values have in common which differ in spelling alone."""
        if isinstance(value, str) and value[:1] in ("{", "[") and len(value) <= _LONGEST:
            try:
                return fold(self.tree(parse_json(value).value, lambda key: False)).exact
            except JsonTextError:
                pass
        return self._hash(f"loose\0{_spelling(value)}")


def _number(value: Fraction) -> str:
    whole = value.denominator == 1
    return f"number {value.numerator:x}" if whole else f"number {value}"


def _spelling(value: JsonValue) -> str:
    """The text that values have in common which differ in spelling alone."""
    if isinstance(value, bool):
        return f"boolean {'true' if value else 'false'}"
    if isinstance(value, int):
        return f"number {value:x}"
    if isinstance(value, float):
        return _number(Fraction(repr(value)))
    text = str(value)
    if len(text) > _LONGEST:
        return f"text {text}"
    bare = text.strip()
    if _NUMBER.fullmatch(bare) is not None:
        return _number(Fraction(bare))
    if bare.lower() in ("true", "false"):
        return f"boolean {bare.lower()}"
    if "T" in bare and 10 < len(bare) < 48:
        try:
            when = datetime.fromisoformat(bare)
            if when.tzinfo is not None:
                return f"instant {when.astimezone(UTC).isoformat()}"
        except (ValueError, OverflowError):
            pass
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return f"text {' '.join(folded.split())}"


def fold(value: JsonValue) -> Digest:
    """One digest over a container whose leaves are digests, made without any key.

    Of a container that was cut down it is the same as of the whole one. A digest is its own.
    """
    done: dict[int, Digest] = {}
    waiting: list[tuple[JsonValue, bool]] = [(value, False)]
    while waiting:
        one, is_open = waiting.pop()
        if not _is_container(one):
            continue
        members = _members(one)
        if not is_open:
            waiting.append((one, True))
            waiting += [(item, False) for _, item in members if _is_container(item)]
            continue
        exact, loose, keys = sha256(), sha256(), {""}
        for key, item in members:
            inner = done[id(item)] if id(item) in done else _as_digest(item)
            keys.add(inner.key_id)
            for state, part in ((exact, inner.exact), (loose, inner.loose)):
                state.update(f"{canonical(key)}:{inner.type}:{part}\n".encode())
        kind = "object" if isinstance(one, Mapping) else "array"
        made = [f"{kind}\n".encode() + state.digest() for state in (exact, loose)]
        done[id(one)] = Digest(
            kind,
            len(members),
            max(keys) or "0" * 8,
            *(sha256(text).hexdigest()[:_HEX] for text in made),
        )
    return done[id(value)] if id(value) in done else _as_digest(value)


def _as_digest(value: JsonValue) -> Digest:
    found = read_digest(value)
    if found is not None:
        return found
    text = sha256(canonical(value).encode()).hexdigest()[:_HEX]
    return Digest(type_of(value), None, "", text, text)


def _members(value: Any) -> list[tuple[str | int, JsonValue]]:
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in sorted(value)]
    return list(enumerate(value))


def _each_leaf(
    value: JsonValue, leaf: Callable[[JsonValue], JsonValue], name: Callable[[str], str]
) -> JsonValue:
    """A copy with each leaf and each name replaced; its depth costs no stack."""
    whole: list[Any] = [value]
    waiting: list[tuple[Any, Any]] = [(whole, 0)]
    while waiting:
        place, at = waiting.pop()
        one = place[at]
        if not _is_container(one):
            place[at] = leaf(one)
        elif isinstance(one, Mapping):
            place[at] = {name(key): item for key, item in one.items()}
            waiting += [(place[at], key) for key in place[at]]
        else:
            place[at] = list(one)
            waiting += [(place[at], index) for index in range(len(one))]
    made: JsonValue = whole[0]
    return made


def _kept(value: JsonValue) -> set[int]:
    """Which containers keep their members: level by level, as far as the leaves reach."""
    kept: set[int] = set()
    left = MOST_LEAVES
    level: deque[Any] = deque([value])
    while level:
        one = level.popleft()
        if len(one) > left:
            continue
        left -= len(one)
        kept.add(id(one))
        items = one.values() if isinstance(one, Mapping) else one
        level.extend(item for item in items if _is_container(item) and item)
    return kept


def type_of(value: object) -> str:
    """The JSON type of a value; whole numbers are `integer` where they are written so."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"


def _is_container(value: object) -> bool:
    kind = type(value)
    if kind is str or kind is int or value is None or kind is bool or kind is float:
        return False
    if kind is dict or kind is list:
        return True
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str)
