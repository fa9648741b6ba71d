"""Draws one verdict of the demo: into verdict.svg beside this file, and as text into the README.

Run it from the project's folder when the demo or the terminal report has changed:
`.venv/bin/python docs/images/draw_verdict.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

PICTURE = Path(__file__).with_name("verdict.svg")
README = Path(__file__).parents[2] / "README.md"
SCENARIO = "wrong-at-adapter"
VERDICT = re.compile(rf"^FAIL  {SCENARIO}\n.*?^replay: [^\n]*\n", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(rf"(```text\n)FAIL  {SCENARIO}\n.*?(```\n)", re.DOTALL)

CELL, LINE, PADDING = 8.4, 19, 18
STYLE = (
    "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d4d4d4;"
    "white-space:pre}.status{fill:#f47067;font-weight:bold}.mark{fill:#f0c674}.dim{fill:#8b949e}"
)
DIM = re.compile(
    r"figures: |executor tp|run run-|requests |responses |  chatcmpl|evidence |replay:"
)


def verdict_text() -> str:
    """The scenario's verdict, as `agenttrace demo` prints it."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "agenttrace", "demo"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"COLUMNS": "100"},
        )
    found = VERDICT.search(done.stdout)
    if found is None:
        raise SystemExit(f"the demo printed no verdict of {SCENARIO}")
    return found[0]


def drawn(text: str) -> str:
    """The text as a picture."""
    lines = text.rstrip("\n").split("\n")
    width = max(map(len, lines)) * CELL + 2 * PADDING
    height = len(lines) * LINE + 2 * PADDING
    body = "\n".join(
        f'<text x="{PADDING}" y="{PADDING + (n + 1) * LINE - 5}"{_class(line)}>'
        f"{escape(line)}</text>"
        for n, line in enumerate(lines)
        if line
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" role="img" '
        f'viewBox="0 0 {width:.0f} {height}">\n'
        f"<title>A verdict of agenttrace in a terminal</title>\n<style>{STYLE}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#161b22"/>\n{body}\n</svg>\n'
    )


def _class(line: str) -> str:
    if line.startswith("FAIL"):
        return ' class="status"'
    if line.startswith(">") or " -> " in line:
        return ' class="mark"'
    return ' class="dim"' if DIM.match(line) else ""


if __name__ == "__main__":
    fresh = verdict_text()
    PICTURE.write_text(drawn(fresh), "utf-8")
    README.write_text(
        BLOCK.sub(lambda old: old[1] + fresh + old[2], README.read_text("utf-8")), "utf-8"
    )
