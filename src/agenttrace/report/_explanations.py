"""Every code that a verdict can hold, with its explanation, group by group."""

from __future__ import annotations

from typing import Final

from agenttrace.report._explained_evidence import EVIDENCE
from agenttrace.report._explained_kinds import KINDS
from agenttrace.report._explained_places import PLACES
from agenttrace.report._explained_reference import REFERENCE
from agenttrace.report._explained_words import WORDS
from agenttrace.report._explanation import Explanation, Group, matching, nearest

EXPLANATIONS: Final = tuple(
    sorted(
        (*WORDS, *KINDS, *EVIDENCE, *REFERENCE, *PLACES),
        key=lambda one: list(Group).index(one.group),
    )
)
"""In the order of the groups, and within one as the pages have them."""


def explanations_of(code: str) -> tuple[Explanation, ...]:
    """What is known of a code, without regard to case and of `_` and `-`; empty: nothing."""
    return matching(code, EXPLANATIONS)


def codes_like(code: str) -> tuple[str, ...]:
    """Known codes that look like this one, the nearest first."""
    return nearest(code, EXPLANATIONS)
