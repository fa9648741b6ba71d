"""The pages under docs/ and the README: their code runs, their links lead somewhere.

Every ```` ```python ```` block of a page runs, all of one page in order in one fresh process and
an empty folder; ```` ```python no-run ```` is shown only.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
KEPT_OUT = ("AGENTTRACE_", "ANTHROPIC_", "OPENAI_", "OTEL_")
"""Environment of the reader's machine that would change what a page does."""

page_id = {"ids": lambda path: path.relative_to(ROOT).as_posix()}


def lines(page: Path) -> Iterator[tuple[str, str | None]]:
    """Each line with the info string of the fenced block it stands in, None outside."""
    info = None
    for line in page.read_text("utf-8").splitlines():
        fence = re.match(r"\s*```(.*)", line)
        if fence and info is None:
            info = fence[1].strip()
            yield "", None
        elif fence:
            info = None
            yield "", None
        else:
            yield line, info


def program(page: Path) -> str:
    """The page with everything but its runnable code blanked, so that line numbers stay."""
    return "\n".join(line if info == "python" else "" for line, info in lines(page))


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as the common renderers make them."""
    headings = [line.lstrip("# ") for line, info in lines(page) if info is None and line[:1] == "#"]
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", [p for p in PAGES if program(p).strip()], **page_id)
def test_the_code_on_a_page_runs(page: Path, tmp_path: Path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(KEPT_OUT)}
    shown = page.relative_to(ROOT).as_posix()
    runner = "import sys; exec(compile(sys.stdin.read(), sys.argv[1], 'exec'), {'__name__': 'p'})"

    done = subprocess.run(
        [sys.executable, "-c", runner, shown],
        input=program(page),
        cwd=tmp_path,
        env=environment | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, **page_id)
def test_relative_links_lead_somewhere(page: Path):
    broken = []
    for line, info in lines(page):
        for target in re.findall(r"\]\(([^)\s]+)\)", line if info is None else ""):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (
                anchor and there.suffix == ".md" and anchor not in anchors(there)
            ):
                broken.append(target)

    assert broken == []


def test_every_page_is_of_one_of_the_four_kinds():
    kinds = {"tutorial", "how-to", "reference", "explanation"}
    stray = [
        str(page.relative_to(ROOT))
        for page in (ROOT / "docs").rglob("*.md")
        if page.relative_to(ROOT / "docs").parts[0] not in {*kinds, "index.md"}
    ]

    assert stray == []
