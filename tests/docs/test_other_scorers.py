"""The page about other scorers says what was recorded of them, and names each row it speaks of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.peer_table import FILE, load, tables

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "other-scorers.md").read_text("utf-8")
DOCUMENT = load()
needs_rows = pytest.mark.skipif(not DOCUMENT, reason=f"no recorded scorers at {FILE}")


def under(heading: str) -> str:
    """What stands under one heading."""
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@needs_rows
def test_every_table_is_made_of_the_recorded_answers():
    for heading, made in tables().items():
        assert made in under(heading), heading


@needs_rows
def test_the_best_of_the_others_is_right_as_often_as_the_page_says():
    counts = re.findall(r"\| (\d+) \|$", under("How often each is wrong"), re.MULTILINE)
    wrong = [int(count) for count in counts]
    rows = sum(row["right"] != "policy" for row in DOCUMENT["cases"])

    assert (wrong[0], rows) == (0, 37)
    assert f"The best of them are right on {rows - min(wrong[1:])}." in PAGE


def test_each_row_that_differs_has_a_reason():
    rows = set(re.findall(r"^\| `(\w+)` \|", under("Where the answers differ"), re.MULTILINE))
    reasons = set(re.findall(r"`(\w+…?)`", under("Why agenttrace answers as it does")))
    groups = tuple(name.removesuffix("…") for name in reasons if name.endswith("…"))

    assert {row for row in rows - reasons if not row.startswith(groups)} == set()
