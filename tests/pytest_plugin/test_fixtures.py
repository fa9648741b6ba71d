"""The fixtures of the plugin, in a pytest of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

SUITE = """
import agenttrace
from agenttrace.testing import fixed_ids_and_clock


@agenttrace.trace
def look_up(order_id: str) -> str:
    return "shipped"


@agenttrace.trace
async def look_up_later(order_id: str) -> str:
    return "shipped"


def test_a_call_is_recorded(agenttrace_recording):
    look_up("A-104")
    (made,) = agenttrace_recording.evidence().executor
    assert (made.arguments, made.result) == ({"order_id": "A-104"}, "shipped")


def test_the_next_test_has_a_run_of_its_own(agenttrace_recording):
    assert agenttrace_recording.records() == ()


async def test_a_call_of_a_coroutine_is_recorded(agenttrace_recording):
    await look_up_later("A-105")
    (made,) = agenttrace_recording.evidence().executor
    assert made.arguments == {"order_id": "A-105"}


def test_ids_are_fixed(agenttrace_fixed, agenttrace_recording):
    assert agenttrace_recording.run.run_id == "run-1"
    look_up("A-104")
    (made,) = agenttrace_recording.records()
    assert made.span_id == f"{2:016x}"
"""


def run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path
    )


def test_the_fixtures_are_there_without_a_word(tmp_path: Path):
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(SUITE), "utf-8")

    done = run(tmp_path, "-o", "asyncio_mode=auto")

    assert "4 passed" in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / ".agenttrace").exists()


def test_a_suite_that_uses_none_loads_no_tracer(tmp_path: Path):
    (tmp_path / "test_mine.py").write_text(
        "import json, sys\n"
        "def test_it(): open('loaded.json', 'w').write(json.dumps(sorted(sys.modules)))\n",
        "utf-8",
    )

    done = run(tmp_path)

    assert "1 passed" in done.stdout, done.stdout + done.stderr
    loaded = json.loads((tmp_path / "loaded.json").read_text("utf-8"))
    assert "agenttrace.pytest_plugin" in loaded
    assert not [name for name in loaded if name.startswith(("opentelemetry", "wrapt", "pydantic"))]
