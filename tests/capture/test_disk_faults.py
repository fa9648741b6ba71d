"""A disk that fails while a run is recorded: the tool's result, one log line, no wrong verdict."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import agenttrace
from agenttrace.capture import check_folder, folder_problem, recorder
from agenttrace.capture._guard import forget_faults
from agenttrace.capture._lines import LineWriter
from agenttrace.domain import Run, Status
from agenttrace.errors import AgentTraceError, UnreadableFileError
from agenttrace.readers import read_evidence
from agenttrace.records import assemble
from agenttrace.testing import isolated


@agenttrace.trace
def work(number: int, text: str = "") -> int:
    return number


@pytest.fixture(autouse=True)
def nothing_said():
    forget_faults()


def executed(run: agenttrace.session.AgentRun) -> list[int]:
    return [one.arguments["number"] for one in run.evidence().executor]


@contextlib.contextmanager
def small_disk(folder: Path, size: str):
    """A disk of a few kilobytes; skips where none can be mounted."""
    folder.mkdir()
    if shutil.which("mount") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("no disk can be mounted here")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_becomes_full_costs_no_record_and_one_line_of_log(tmp_path, caplog):
    with small_disk(tmp_path / "disk", "64k") as disk, isolated(evidence=disk):
        results = []
        for _ in range(2):
            with agenttrace.run() as run:
                results += [work(n, "x" * 2_000) for n in range(40)]
            assert executed(run) == list(range(40))
            assert run.verdict.status is Status.PASS
        written = list(disk.rglob("*.jsonl"))
        texts = [path.read_text("ascii") for path in written]

    assert results == [*range(40), *range(40)]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "No space left" in caplog.records[0].message
    # What is on the disk is whole lines, and no file that not even a header fitted into.
    assert texts
    assert all(text.endswith("\n") for text in texts)
    for text in texts:
        assert [json.loads(line) for line in text.splitlines()]


def test_what_reached_a_full_disk_is_inconclusive_for_who_reads_it_later(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk, isolated(evidence=disk):
        with agenttrace.run(run_id="r-1") as run:
            for n in range(40):
                work(n, "x" * 2_000)
        (records,) = read_evidence(run.folder).records.values()

    verdict = agenttrace.score(None, assemble(records))
    assert verdict.status is Status.INCONCLUSIVE


def test_a_limit_of_file_size_is_a_full_disk(tmp_path):
    pytest.importorskip("resource")
    program = """
import json, resource, sys, agenttrace
@agenttrace.trace
def work(n: int, text: str) -> int: return n
agenttrace.configure(evidence=sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with agenttrace.run() as run:
    results = [work(n, "x" * 1_000) for n in range(50)]
assert results == list(range(50))
assert [one.result for one in run.evidence().executor] == results
print(run.verdict.status, run.folder)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    status, folder = done.stdout.split()
    assert status == "pass"
    assert done.stderr.count("agenttrace cannot write") == 1
    (file,) = Path(folder).glob("*.jsonl")
    assert file.read_bytes().endswith(b"\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_header_that_cannot_be_written_leaves_no_file(tmp_path):
    writer = LineWriter(tmp_path / "day" / "run", Run(run_id="r"), "rec")
    writer.folder.mkdir(parents=True)
    writer.path.symlink_to("/dev/full")

    assert not writer.write("{}")

    assert writer.is_broken
    assert list(tmp_path.rglob("*")) == [tmp_path / "day"]
    assert Path("/dev/full").exists()


@pytest.mark.parametrize("most_open", [64, 0], ids=["open", "opened for each line"])
def test_a_folder_that_is_deleted_in_a_run_takes_no_record_with_it(
    tmp_path, caplog, monkeypatch, most_open
):
    monkeypatch.setattr("agenttrace.capture._lines.MAX_OPEN_FILES", most_open)
    root = tmp_path / "runs"
    with isolated(evidence=root):
        with agenttrace.run() as run:
            assert [work(n) for n in range(5)] == list(range(5))
            agenttrace.flush()
            shutil.rmtree(root)
            assert [work(n) for n in range(5, 9)] == list(range(5, 9))
        assert executed(run) == list(range(9))
        assert run.verdict.status is Status.PASS
        # Nothing is put back that somebody removed.
        assert not root.exists()

    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_records_that_were_in_a_deleted_file_alone_are_counted_and_refused(tmp_path):
    root = tmp_path / "runs"
    with isolated(evidence=root):
        recorder.settings = replace(recorder.settings, memory_records=3)
        with agenttrace.run() as run:
            for n in range(10):
                work(n)
            agenttrace.flush()
            shutil.rmtree(root)
            assert work(10) == 10
        end = run._state._kept._plains[-1]

        with pytest.raises(UnreadableFileError):
            _ = run.verdict

    assert end["payload"]["manifest"]["lost"] == {"evidence-file": 1}


def test_a_file_that_is_emptied_is_not_begun_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("agenttrace.capture._lines.MAX_OPEN_FILES", 0)
    with isolated(evidence=tmp_path):
        with agenttrace.run() as run:
            work(1)
            agenttrace.flush()
            (file,) = run.folder.glob("*.jsonl")
            file.write_text("")
            work(2)
        assert executed(run) == [1, 2]

    assert file.read_text() == ""


@contextlib.contextmanager
def as_nobody():
    """As a user whom rights are asked of: the superuser is let through everywhere."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder():
    """A folder that every user can write into, and reach: not below one of this user's alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_rights_to_a_file_that_are_taken_away_in_a_run_cost_no_record(
    open_folder, caplog, monkeypatch
):
    monkeypatch.setattr("agenttrace.capture._lines.MAX_OPEN_FILES", 0)
    with isolated(evidence=open_folder), as_nobody():
        with agenttrace.run() as run:
            work(1)
            agenttrace.flush()
            (file,) = run.folder.glob("*.jsonl")
            file.chmod(0)
            assert work(2) == 2
        assert executed(run) == [1, 2]
        assert run.verdict.status is Status.PASS
        file.chmod(0o600)
        assert file.read_text().count('"kind":"execution"') == 1

    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_rights_to_the_folder_that_are_taken_away_keep_the_next_runs_in_memory(open_folder, caplog):
    with isolated(evidence=open_folder), as_nobody():
        with agenttrace.run() as first:
            work(1)
        (day,) = (path for path in open_folder.iterdir() if path.is_dir())
        day.chmod(0o500)
        for _ in range(2):
            with agenttrace.run() as later:
                assert work(2) == 2
            assert executed(later) == [2]
            assert later.verdict.status is Status.PASS
        assert first.verdict.status is Status.PASS
        day.chmod(0o700)

    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_read_only_disk_keeps_everything_in_memory(tmp_path, caplog):
    with small_disk(tmp_path / "disk", "64k") as disk:
        remount = ["mount", "-o", "remount,ro", str(disk)]
        subprocess.run(remount, check=True)
        assert "Read-only" in str(folder_problem(disk))
        with isolated(evidence=disk):
            for _ in range(3):
                with agenttrace.run() as run:
                    assert work(1) == 1
                assert run.verdict.status is Status.PASS

    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_disk_that_becomes_read_only_in_a_run_costs_no_record(tmp_path, caplog):
    with small_disk(tmp_path / "disk", "64k") as disk, isolated(evidence=disk):
        recorder.settings = replace(recorder.settings, memory_records=3)
        with agenttrace.run() as run:
            for n in range(5):
                work(n)
            agenttrace.flush()
            run._state.writer.close()  # a disk with an open file is not made read-only
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            assert work(5) == 5
        assert executed(run) == [0, 1, 2, 3, 4, 5] or sorted(executed(run)) == list(range(6))
        assert run.verdict.status is Status.PASS

    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("limits", "kept"),
    [({"memory_records_without_file": 5}, 5), ({"memory_bytes": 6_000}, None)],
    ids=["records", "bytes"],
)
def test_what_does_not_fit_into_memory_is_counted_and_the_verdict_is_open(tmp_path, limits, kept):
    (tmp_path / "taken").write_text("")
    with isolated(evidence=tmp_path / "taken" / "runs"):
        recorder.settings = replace(recorder.settings, **limits)
        with agenttrace.run() as run:
            results = [work(n, "x" * 500) for n in range(30)]

        evidence = run.evidence()
        lost = evidence.completeness.lost["memory"]
        assert results == list(range(30))
        assert lost + len(evidence.executor) == 30
        assert 0 < len(evidence.executor) < 30
        assert kept is None or len(evidence.executor) == kept
        assert run.verdict.status is Status.INCONCLUSIVE


def test_text_beyond_the_memory_of_a_run_is_read_back_from_its_file(tmp_path):
    with isolated(evidence=tmp_path):
        recorder.settings = replace(recorder.settings, memory_bytes=5_000)
        with agenttrace.run() as run:
            for n in range(30):
                work(n, "x" * 500)
            agenttrace.flush()
            assert run._state._kept._plains == []
        assert executed(run) == list(range(30))
        assert run.verdict.status is Status.PASS


def test_a_check_leaves_nothing_behind(tmp_path):
    assert check_folder(tmp_path / "new")
    assert folder_problem(tmp_path / "new") is None

    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.usefixtures("unconfigured")
def test_a_full_disk_is_known_before_the_first_run(tmp_path):
    with small_disk(tmp_path / "disk", "8k") as disk:
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(1 << 16))

        assert "No space left" in str(folder_problem(disk))
        with pytest.raises(AgentTraceError, match="No space left"):
            agenttrace.configure(evidence=disk / "runs")
