"""Every row of `docs/reference/situations.md` holds, and every kind of change has a row.

The rows are read from the page: one without a situation fails, and so does a situation whose row
is gone.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agenttrace.domain import Kind
from tests.builders import said
from tests.support.situations_around import SITUATIONS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "situations.md"
ROW = re.compile(r"^\| ([^|]+) \| (\w+): ([\w-]+), ([\w-]+) \| (?:`([\w-]+)` )?\|$", re.MULTILINE)
ROWS = {what: (said, kind) for what, *said, kind in ROW.findall(PAGE.read_text("utf-8"))}


@pytest.mark.parametrize("what", ROWS)
def test_a_row_of_the_page_holds(what: str):
    wanted, kind = ROWS[what]

    verdict = SITUATIONS[what]()

    assert list(said(verdict)) == wanted
    assert [one.kind.value for one in verdict.divergences[:1]] == ([kind] if kind else [])


def test_each_situation_has_a_row_and_each_row_a_situation():
    text = PAGE.read_text("utf-8")

    assert sorted(ROWS) == sorted(SITUATIONS)
    assert len(ROWS) == text.count("\n| ") - 2 * text.count("| --- |\n")


def test_each_kind_of_change_has_a_row_unless_it_is_always_declared():
    assert set(Kind) - {kind for _, kind in ROWS.values()} == {Kind.DEFAULT_APPLIED}
