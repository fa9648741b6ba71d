"""The form of a masked value: `[masked:<group>:<key id>:<128 bits in hexadecimal>]`.

Equal values of one group under one key have equal tokens. Tokens of another key say nothing about
equality, which is why the key's id stands in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agenttrace._late import TYPE_CHECKING, late_pattern

if TYPE_CHECKING:
    from typing import Final

BITS: Final = 128
"""Of the keyed hash that a token shows."""

DROPPED: Final[str] = "[dropped:mask-error]"
"""What stands for a value whose masking failed."""

TOKEN: Final = late_pattern(r"\[masked:([a-z0-9_]{1,32}):([0-9a-f]{8}):([0-9a-f]{32})\]")


def make_token(group: str, key_id: str, digest: bytes) -> str:
    """The token of a value with this keyed hash."""
    return f"[masked:{group}:{key_id}:{digest[: BITS // 8].hex()}]"


def is_token(value: object) -> bool:
    """Whether a value is one token and nothing else."""
    return isinstance(value, str) and TOKEN.fullmatch(value) is not None


def token_key_id(value: object) -> str | None:
    """Id of the key that made a token; None for what is no token."""
    match = TOKEN.fullmatch(value) if isinstance(value, str) else None
    return match[2] if match else None


def contains_token(value: object) -> frozenset[str]:
    """Ids of the keys of all tokens inside a JSON value: in its texts, keys and deeper.

    Example:
        >>> contains_token({"a": ["Bearer [masked:token:0a1b2c3d:" + "0" * 32 + "]"]})
        frozenset({'0a1b2c3d'})
    """
    found: set[str] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if "[masked:" in item:
                found.update(match[2] for match in TOKEN.finditer(item))
        elif isinstance(item, Mapping):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, Sequence):
            stack.extend(item)
    return frozenset(found)


class SetAside:
    """A text without its tokens: a reader of broken JSON takes their brackets and colons for JSON.

    Each token becomes a number between two characters of private use; a text that has such
    characters itself is left as it is.
    """

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        self.text = text
        if "[masked:" in text and _OPEN not in text:
            self.text = TOKEN.sub(self._take, text)

    def _take(self, match: re.Match[str]) -> str:
        self._tokens.append(match[0])
        return f"{_OPEN}{len(self._tokens) - 1}{_CLOSE}"

    def restored(self, text: str) -> str:
        """A part of the text, or what was made of it, with the tokens in their places."""
        if not self._tokens or _OPEN not in text:
            return text
        return _PLACE.sub(lambda match: self._tokens[int(match[1])], text)


_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_PLACE: Final = late_pattern(f"{_OPEN}([0-9]+){_CLOSE}")
