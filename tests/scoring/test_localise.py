"""The bench of blame on a small fixed sample: bounds kept, no false alarm, no help from within."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases.judged import shared_folder

ROOT = Path(__file__).parents[2]
DATA = shared_folder() / "data"
RUNS = DATA / "tau_bench" / "gpt-4o-airline.jsonl.gz"

localise = pytest.importorskip("bench.localise", reason="the benches are no part of this copy")
sample = pytest.importorskip("bench._localise_sample", reason="the same")
has_runs = pytest.mark.skipif(not RUNS.is_file(), reason=f"no recorded runs at {RUNS}")


@pytest.fixture(scope="module")
def found():
    """Verdicts on one fault of each kind, boundary and way, some pairs, and some untouched runs."""
    return localise.judged(1, pairs=8, runs=10, longest=3)


@has_runs
def test_nothing_is_found_where_nothing_is_wrong(found):
    nothing = [one for one in found if not one.asked]

    assert [one.seed for one in nothing if one.is_alarm] == []
    assert len(nothing) > 40


@has_runs
def test_a_fault_is_named_as_it_was_put_in(found):
    wrong = [f"{one.seed} {one.mode}: {one.said}, due {one.due}" for one in found if one.wrong]

    assert wrong == []
    assert len({one.kind for one in found}) > 35


@has_runs
def test_every_fault_is_tried_and_every_figure_keeps_its_bound(found):
    tried = {one.seed.rpartition("#")[0] for one in found}

    assert set(sample.names()) <= tried
    assert [figure.name for figure in localise.figures(found) if not figure.ok] == []


def test_the_page_has_a_row_for_every_kind_that_is_tried():
    page = (ROOT / "docs" / "explanation" / "how-good-is-the-blame.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| \d+ \|", page, re.MULTILINE)

    tried = {name.partition("@")[0] for name in sample.names()}

    assert sorted(rows) == sorted({*tried, "untouched"})


def test_a_wrong_verdict_is_a_wrong_figure():
    right = localise.Judged(
        seed="scaled@model/value#1",
        kind="scaled",
        mode="plan",
        asked=("boundary", "kind"),
        wrong=(),
    )
    wrong = replace(right, wrong=("kind",))
    alarm = replace(right, asked=(), is_alarm=True)

    figures = {one.name: one for one in localise.figures([right, wrong, alarm])}

    assert figures["localise.boundary_wrong"].value == 0
    assert figures["localise.kind_wrong"].value == 50
    assert not figures["localise.kind_wrong"].ok
    assert not figures["localise.false_alarms"].ok


def test_what_puts_faults_in_knows_nothing_of_the_scorer():
    parts = [f"bench.{path.stem}" for path in localise.injector()]
    program = f"import sys, {', '.join(parts)}; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert "bench._localise_faults" in done.stdout.split()
    assert [name for name in done.stdout.split() if name.startswith("agenttrace.scoring")] == []
    localise.assert_apart()


def test_an_injector_that_asks_the_scorer_is_refused(monkeypatch):
    monkeypatch.setattr(localise, "imported", lambda source: ["agenttrace.scoring._changes"])

    with pytest.raises(RuntimeError, match=r"imports agenttrace\.scoring"):
        localise.assert_apart()


def test_without_the_recorded_runs_it_says_what_to_set(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("AGENTTRACE_SHARED", str(tmp_path))

    assert localise.main(["--limit", "1"]) == 2
    assert "Set AGENTTRACE_SHARED" in capsys.readouterr().err
