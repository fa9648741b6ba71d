"""The cases that the pages show are cases: they load, and nothing about them is doubtful."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agenttrace.contracts import check_cases

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = [
    (page.name, number, block)
    for page in sorted(DOCS.rglob("*.md"))
    for number, block in enumerate(
        re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    )
    if re.search(r"^(?:id|states|required):", block, re.MULTILINE)
]


@pytest.mark.parametrize(
    ("page", "number", "block"), SHOWN, ids=[f"{page}-{number}" for page, number, _ in SHOWN]
)
def test_a_case_on_a_page_has_no_fault(tmp_path: Path, page: str, number: int, block: str):
    pytest.importorskip("yaml")
    path = tmp_path / "shown.yaml"
    path.write_text(block if block.startswith("id:") else f"id: shown\n{block}", "utf-8")

    assert check_cases(path).faults == []


def test_the_page_of_cases_shows_some():
    assert {"cases.md", "write-a-case.md"} <= {page for page, _, _ in SHOWN}
