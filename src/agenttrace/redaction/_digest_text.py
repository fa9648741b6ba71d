"""The text of a digest: how one is told from other values, and found inside of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agenttrace._dataclass import dataclass
from agenttrace._late import TYPE_CHECKING, late_pattern

if TYPE_CHECKING:
    from typing import Final

DIGEST: Final = late_pattern(
    r"\[digest:([a-z_]{1,24}):([0-9]{1,12}|-):([0-9a-f]{8}):([0-9a-f]{32}):([0-9a-f]{32})\]"
)
WHOLE: Final = "$digest"
"""Key under which the digest of an object stands that has too many fields of its own."""


@dataclass(frozen=True, slots=True)
class Digest:
    """One digest, read."""

    type: str
    """JSON type of the leaf, `integer` apart from `number`; `text_…` for a call's own text."""
    length: int | None
    """Characters of a text, members of a container. None: a number or a truth value."""
    key_id: str
    exact: str
    loose: str

    def __str__(self) -> str:
        size = "-" if self.length is None else self.length
        return f"[digest:{self.type}:{size}:{self.key_id}:{self.exact}:{self.loose}]"


def read_digest(value: object) -> Digest | None:
    """The digest that a value is; None for any other value."""
    match = DIGEST.fullmatch(value) if isinstance(value, str) and value[:8] == "[digest:" else None
    if match is None:
        return None
    kind, size, key_id, exact, loose = match.groups()
    return Digest(kind, None if size == "-" else int(size), key_id, exact, loose)


def key_ids(value: object) -> frozenset[str]:
    """Ids of the keys of all digests inside a JSON value."""
    return frozenset(found.key_id for found in digests_in(value))


def digests_in(value: object) -> Iterator[Digest]:
    """All digests inside a JSON value, as leaves and as names."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        found = read_digest(one)
        if found is not None:
            yield found
        elif isinstance(one, Mapping):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, Sequence) and not isinstance(one, str):
            waiting.extend(one)
