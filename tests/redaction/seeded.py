"""Two hundred seeded secrets of many shapes, and every spelling in which one could be found."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

WORD: Final = string.ascii_letters + string.digits
FIELDS: Final = ("password", "api_key", "accessToken", "client_secret", "card_number", "iban")
PATH: Final = "/profile/*/answer"
"""A place of our own choosing, whose field has an ordinary name."""


@dataclass(frozen=True)
class Secret:
    """One secret value, and what gives it away."""

    text: str
    field: str | None
    """Field under which it is a secret. None: its shape says so wherever it stands."""

    @property
    def has_shape(self) -> bool:
        """Whether it is known without any field's name."""
        return self.field is None

    def spellings(self) -> set[bytes]:
        """The secret as it would stand in files, spans and logs: as it is, escaped and encoded."""
        once = {json.dumps(self.text)[1:-1], json.dumps(self.text, ensure_ascii=False)[1:-1]}
        twice = {json.dumps(each)[1:-1] for each in once}
        quoted = {quote(self.text), quote(self.text, safe=""), repr(self.text)[1:-1]}
        texts = {self.text, self.text[::-1], *once, *twice, *quoted}
        data = self.text.encode()
        encoded = {data.hex().encode(), *_in_base64(data)}
        return {text.encode("utf-8", "surrogatepass") for text in texts} | encoded


def _in_base64(data: bytes) -> Iterator[bytes]:
    """What of the base64 of any text is the secret's alone, wherever it begins in the text."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * before + data)
            start = (before * 8 + 5) // 6
            yield text[start : (before + len(data)) * 8 // 6]


def _word(source: random.Random, low: int, high: int, letters: str = WORD) -> str:
    return "".join(source.choices(letters, k=source.randint(low, high)))


def _jwt(source: random.Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(_word(source, 12, 30).encode()).decode().rstrip("=")
    return f"{head}.{body}.{_word(source, 43, 43)}"


def _pem(source: random.Random) -> str:
    lines = "\n".join(_word(source, 64, 64) for _ in range(3))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"


SHAPES: Final[tuple[Callable[[random.Random], str], ...]] = (
    lambda s: f"sk-proj-{_word(s, 24, 40)}7",
    lambda s: f"ghp_{_word(s, 36, 36)}",
    lambda s: f"AKIA{_word(s, 16, 16, string.ascii_uppercase + string.digits)}",
    lambda s: f"xoxb-{_word(s, 12, 12, string.digits)}-{_word(s, 24, 24)}",
    lambda s: f"AIza{_word(s, 35, 35)}",
    lambda s: f"sk_live_{_word(s, 24, 24)}",
    _jwt,
    _pem,
)
VALUES: Final[tuple[Callable[[random.Random], str], ...]] = (
    lambda s: _word(s, 8, 30),
    lambda s: _word(s, 12, 30) + s.choice(['"q', "\\b", "ä€", "/+=", " two words", "\n2nd"]),
    lambda s: f"{_word(s, 4, 6, string.ascii_lowercase)}{s.randrange(10, 99)}",
    lambda s: str(s.randrange(10**9, 10**15)),
    lambda s: f"{_word(s, 7, 9)} {_word(s, 7, 9)} {_word(s, 7, 9)}",
)


def seeded(count: int = 200) -> list[Secret]:
    """So many secrets, each its own text; half are known by shape, half by where they stand."""
    made = []
    for seed in range(count):
        source = random.Random(seed)
        if seed % 2:
            made.append(Secret(SHAPES[seed // 2 % len(SHAPES)](source), None))
        else:
            field = (*FIELDS, "answer")[seed // 2 % (len(FIELDS) + 1)]
            made.append(Secret(VALUES[seed // 2 % len(VALUES)](source), field))
    assert len({one.text for one in made}) == count
    return made


def found(secrets: list[Secret], data: bytes) -> list[str]:
    """The secrets that stand in what was written, in any spelling."""
    return [one.text for one in secrets if any(each in data for each in one.spellings())]
