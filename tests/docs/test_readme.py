"""What the README shows of the demo is what the demo prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import unescape

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
IDS = re.compile(r"\b(run-|req-|sha256:)[0-9a-f]+")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "agenttrace", "demo"],
        cwd=tmp_path_factory.mktemp("demo"),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "100"},
    )
    return done.stdout


def without_ids(text: str) -> str:
    return IDS.sub(r"\1…", text)


@pytest.mark.parametrize("block", re.findall(r"```text\n(.*?)```", README, re.DOTALL))
def test_every_text_block_is_part_of_what_the_demo_prints(block: str, printed: str):
    assert without_ids(block) in without_ids(printed), (
        "run docs/images/draw_verdict.py, and correct the figures by hand"
    )


def test_the_picture_is_the_text_beside_it():
    text = re.search(r"```text\n(FAIL .*?)```", README, re.DOTALL)
    assert text, "the README shows no verdict"
    picture = (ROOT / "docs/images/verdict.svg").read_text("utf-8")

    drawn = [unescape(line) for line in re.findall(r"<text [^>]*>([^<]*)</text>", picture)]

    assert drawn == [line for line in text[1].splitlines() if line]
