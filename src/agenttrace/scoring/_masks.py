"""Which texts are masks that some recorder or framework put in a value's place.

Our own tokens are keyed and keep equality; the masks of others are recognised by their usual
forms, because a mask that reached a tool is a fault of its own kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agenttrace._late import TYPE_CHECKING, late_pattern
from agenttrace.domain import JsonValue

if TYPE_CHECKING:
    from typing import Final

_MASK: Final = late_pattern(
    r"\*{3}"
    r"|^[<\[]{1,2}(?i:masked|redacted|scrubbed|filtered|secret|removed)"
    r"(?:[ :_-][^\]>\n]{0,200})?[\]>]{1,2}$"
    r"|^\[[A-Z][A-Z_]*_[0-9a-z]+\]$",
    re.MULTILINE,
)
_LONGEST: Final = 10_000


def looks_masked(text: str) -> bool:
    """Whether a text is, or holds, a mask."""
    if len(text) > _LONGEST or ("*" not in text and "[" not in text and "<" not in text):
        return False
    return _MASK.search(text) is not None


def holds_mask(value: JsonValue) -> bool:
    """Whether a mask stands anywhere in a value, at any depth."""
    waiting: list[JsonValue] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if looks_masked(one):
                return True
        elif isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, Sequence):
            waiting += one
    return False
