"""Each example runs by itself, offline, in an empty folder, and prints its point."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
KEPT_OUT = ("AGENTTRACE_", "OPENAI_", "OTEL_")

POINTS = {
    "openai_refund": [
        "fail: first divergence at the model, owner: agent",
        "  value_changed /amount_cents: 9800 became 8900",
        "  model: 1 of 2 calls as planned",
        "  executor: 1 of 2 calls as planned",
    ],
    "by_hand": [
        "refunded 98 for A-104",
        "fail: first divergence at the adapter, owner: adapter",
        "  precision_lost /amount: 98.75 became 98",
    ],
    "otlp_export": [
        "evidence equal to the recorded one: True",
        "fail: first divergence at the executor, owner: executor",
        "  value_changed /amount_cents: 9800 became 4900",
    ],
}
NEEDS = {"openai_refund": "openai", "otlp_export": "opentelemetry.exporter.otlp.proto.http"}


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_prints_its_point(path: Path, tmp_path: Path):
    needed = NEEDS.get(path.stem)
    if needed is not None and not is_installed(needed):
        pytest.skip(f"{needed} is not installed")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(KEPT_OUT)}

    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=environment | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [point for point in POINTS[path.stem] if point not in lines] == []


def test_an_example_without_the_exporter_says_why_it_is_skipped(tmp_path: Path):
    program = (
        "import runpy, sys; sys.modules['opentelemetry.exporter'] = None; "
        f"runpy.run_path({str(EXAMPLES / 'otlp_export.py')!r}, run_name='__main__')"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("skipped: ")
