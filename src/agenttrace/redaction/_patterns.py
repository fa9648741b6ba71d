"""Secrets that give themselves away by their shape, wherever they stand.

A pattern is tried only on texts that hold one of its literal triggers, so that ordinary text costs
some substring searches. Each default pattern is linear: bounded, or such that a match, once begun,
is used up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agenttrace._dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class SecretPattern:
    """One shape. Whoever adds a pattern answers for its running time on hostile text."""

    group: str
    """Stands in the token; lower-case letters, digits and `_`, at most 32."""

    pattern: re.Pattern[str]
    """What to mask: its group `secret` where it has one, else the whole match."""

    triggers: tuple[str, ...] = ()
    """Texts of which one must be there for a match to be possible; none: always tried."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where secrets of this shape stand; the triggers are the caller's to look for."""
        part = "secret" if "secret" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            start, end = match.span(part)
            if end > start:
                yield start, end


def _shape(group: str, pattern: str, *triggers: str) -> SecretPattern:
    return SecretPattern(group=group, pattern=re.compile(pattern, re.DOTALL), triggers=triggers)


DEFAULT_PATTERNS: Final = (
    _shape(
        "private_key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        "PRIVATE KEY",
    ),
    _shape("api_key", r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,}", "sk-"),
    _shape("api_key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}", "k_live_", "k_test_"),
    _shape("secret", r"whsec_[A-Za-z0-9+/=]{16,}", "whsec_"),
    _shape("token", r"gh[pousr]_[A-Za-z0-9]{20,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _shape("token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _shape("token", r"glpat-[A-Za-z0-9_-]{20,}", "glpat-"),
    _shape("token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _shape("token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _shape("token", r"pypi-[A-Za-z0-9_-]{32,}", "pypi-"),
    _shape("token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", *(f"xox{kind}-" for kind in "abeoprs")),
    _shape("token", r"xapp-[A-Za-z0-9-]{10,}", "xapp-"),
    _shape(
        "secret",
        r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{16,})",
        "hooks.slack.com/services/",
    ),
    _shape("api_key", r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])", "AKIA", "ASIA"),
    _shape("api_key", r"AIza[A-Za-z0-9_-]{35}", "AIza"),
    _shape("token", r"ya29\.[A-Za-z0-9_-]{20,}", "ya29."),
    _shape("api_key", r"gsk_[A-Za-z0-9]{40,}", "gsk_"),
    _shape("api_key", r"xai-[A-Za-z0-9]{40,}", "xai-"),
    _shape("api_key", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}", "SG."),
    _shape(
        "token",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]*+){0,3}",
        "eyJ",
    ),
    _shape(
        "token",
        r"(?i:bearer)[ \t]{1,8}(?P<secret>(?=[A-Za-z._~+/=-]{0,64}\d)[A-Za-z0-9._~+/=-]{8,}+)",
        "earer",
        "EARER",
    ),
    _shape(
        "password",
        r"://[^\s/:@\"'<>]{0,256}:(?P<secret>[^\s/@\"'<>]{1,256})@",
        "://",
    ),
)
"""Keys and tokens of well-known services, JWTs, PEM private keys, bearer tokens, URL passwords."""
