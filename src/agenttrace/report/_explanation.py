"""What one code of a verdict means to a person, and how codes are found as people type them.

The sentences are data, so that the command and the pages of the reference say the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

_MOST_NEAR: Final = 3
_NEAR_ENOUGH: Final = 0.5


class Group(StrEnum):
    """Which part of a verdict a code stands in."""

    STATUS = "status"
    FIRST = "first"
    OWNER = "owner"
    KIND = "kind"
    RULE = "rule"
    CAUSE_JOIN = "cause-join"
    CAUSE_EVIDENCE = "cause-evidence"
    CAUSE_LABEL = "cause-label"
    FINDING = "finding"
    LINEAGE = "lineage"

    @property
    def heading(self) -> str:
        """The group for people."""
        return _HEADINGS[self]

    @property
    def page(self) -> str:
        """The page of the reference that has the group's codes."""
        if self is Group.KIND:
            return "docs/reference/kinds.md"
        is_cause = self is Group.FINDING or self.startswith("cause")
        return f"docs/reference/{'causes' if is_cause else 'explain'}.md"


_HEADINGS: Final = {
    Group.STATUS: "status",
    Group.FIRST: "first divergence",
    Group.OWNER: "owner",
    Group.KIND: "kind of change",
    Group.RULE: "broken rule",
    Group.CAUSE_JOIN: "cause: the records belong to another case or run",
    Group.CAUSE_EVIDENCE: "cause: the evidence is not whole",
    Group.CAUSE_LABEL: "cause: the reference does not hold",
    Group.FINDING: "finding",
    Group.LINEAGE: "lineage",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """One code in words."""

    code: str
    """As a verdict spells it; of a broken rule the part before its colon."""
    group: Group
    means: str
    causes: str
    """What usually leads to it."""
    look: str
    """What to look at, or to do."""
    declare: str
    """How a case or a contract says that it is meant."""


def matching(wanted: str, known: Iterable[Explanation]) -> tuple[Explanation, ...]:
    """The explanations of a code, without regard to case and of `_` and `-`.

    One word may stand in several groups, as `adapter` does. A broken rule may be given whole, as
    the verdict lists it: `max_calls:issue_refund`.
    """
    name = _folded(wanted)
    rule = name.partition(":")[0]
    return tuple(
        one for one in known if _folded(one.code) == (rule if one.group is Group.RULE else name)
    )


def nearest(wanted: str, known: Iterable[Explanation]) -> tuple[str, ...]:
    """Codes that look like one that is not known, the nearest first."""
    spelled = {_folded(one.code): one.code for one in known}
    near = get_close_matches(_folded(wanted), spelled, n=_MOST_NEAR, cutoff=_NEAR_ENOUGH)
    return tuple(spelled[name] for name in near)


def _folded(code: str) -> str:
    return code.strip().casefold().replace("_", "-")
