"""The words of a verdict are explained: every kind, owner, status, cause, event and evidence field.

An entry is what `test_reference` calls one; here it must stand on the page that is about the word.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from agenttrace.domain import (
    Completeness,
    Conduct,
    Evidence,
    Execution,
    First,
    Integrity,
    Kind,
    LinkedBy,
    Outcome,
    Owner,
    Ownership,
    Phase,
    Response,
    Status,
    Tools,
    Verdict,
)
from agenttrace.records import EVENT_NAMES
from agenttrace.report import verdict_to_json
from agenttrace.scoring import normalizer_names

ROOT = Path(__file__).parents[2]
OPENING = re.compile(r"^(?:#+ |\s*[-*] |\| *)((?:`[^`]+`(?:, )?)+)", re.MULTILINE)
CODE = re.compile(r'(?:code=|_label_owner\(\s*)(f?)"([^"]+)"')


def entries(page: str) -> set[str]:
    """Names that open a heading, list item or table row of one page."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return {name for one in OPENING.findall(text) for name in re.findall(r"`([^`]+)`", one)}


def names(*kinds: type) -> set[str]:
    """Field names of dataclasses."""
    return {field.name for kind in kinds for field in dataclasses.fields(kind)}


def scoring_sources() -> str:
    """The text of the scorer."""
    return "".join(
        path.read_text("utf-8") for path in sorted((ROOT / "src/agenttrace/scoring").glob("*.py"))
    )


def cause_codes() -> set[str]:
    """Codes that stand in the scorer's sources, those made of a phase written out."""
    phases = (Phase.SETUP, Phase.EVALUATION)
    found: set[str] = set()
    for is_template, code in CODE.findall(scoring_sources()):
        found |= {code.format(phase=one) for one in phases} if is_template else {code}
    return found


WORDS: dict[str, tuple[str, Iterable[str]]] = {
    "kind": ("reference/kinds.md", Kind),
    "status": ("reference/verdict.md", Status),
    "first": ("reference/verdict.md", First),
    "owner": ("reference/verdict.md", Owner),
    "link": ("explanation/how-blame-is-found.md", LinkedBy),
    "cause": ("reference/causes.md", cause_codes()),
    "event": ("reference/events.md", EVENT_NAMES),
    "normalizer": ("reference/normalizers.md", normalizer_names()),
    "verdict field": ("reference/verdict.md", names(Verdict)),
    "evidence field": (
        "reference/evidence-fields.md",
        names(
            Evidence,
            Execution,
            Response,
            Completeness,
            Ownership,
            Integrity,
            Conduct,
            Outcome,
            Tools,
        )
        - {"boundary", "ref"},
    ),
}


def test_no_cause_is_explained_that_the_scorer_does_not_give():
    sources = scoring_sources()
    stale = {
        code
        for code in entries("reference/causes.md") - cause_codes()
        if f'"{code}"' not in sources
    }

    assert sorted(stale) == []


@pytest.mark.parametrize("word", WORDS)
def test_every_one_of_them_has_an_entry(word: str):
    page, needed = WORDS[word]

    assert sorted({str(one) for one in needed} - entries(page)) == []


def test_every_key_of_a_printed_verdict_has_an_entry():
    printed = verdict_to_json(
        Verdict(
            case_id=None,
            case_revision=None,
            run_id="run-1",
            attempt=1,
            status=Status.PASS,
            first=First.NONE,
            owner=Owner.NONE,
        )
    )
    known = entries("reference/verdict.md")

    assert sorted({*printed, *printed["counts"]} - known) == []
