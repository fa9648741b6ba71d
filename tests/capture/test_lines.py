"""Local evidence: where it is written, in what form, and what happens when it cannot be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import agenttrace
from agenttrace.capture import recorder
from agenttrace.capture._lines import file_name
from agenttrace.domain import Run
from agenttrace.errors import UnreadableFileError
from agenttrace.records import RunEnd, record_to_line
from agenttrace.testing import fixed_ids_and_clock, isolated
from tests.support.waiting import until


@agenttrace.trace
def work(number: int = 0) -> int:
    return number


def lines(run: agenttrace.session.AgentRun) -> list[dict[str, object]]:
    (file,) = run.folder.glob("*.jsonl")
    return [json.loads(line) for line in file.read_text("ascii").splitlines()]


def test_a_run_has_a_folder_by_day_and_id_and_a_file_by_recorder(tmp_path):
    with fixed_ids_and_clock(), isolated(evidence=tmp_path), agenttrace.run(run_id="r-1") as run:
        work()

    (file,) = tmp_path.rglob("*.jsonl")
    assert file.relative_to(tmp_path).parts == (
        "2027-01-15",
        "r-1",
        f"{run.records()[0].recorder_id}.jsonl",
    )


def test_the_first_line_says_whose_the_others_are(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run("case-1", run_id="r-1") as run:
        pass

    assert lines(run)[0] == {
        "agenttrace": {
            "version": 1,
            "run": {"run_id": "r-1", "case_id": "case-1"},
            "recorder": run.records()[0].recorder_id,
        }
    }


def test_each_line_is_its_record_and_the_end_comes_last(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        work()
        run.set_output("done")

    (file,) = run.folder.glob("*.jsonl")
    written = file.read_text("ascii").splitlines()[1:]
    assert written == [record_to_line(record) for record in run.records()]
    assert isinstance(run.records()[-1].payload, RunEnd)


def test_a_line_is_written_a_moment_after_its_record_is_made(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        work()
        until(lambda: run.folder.exists() and len(lines(run)) == 2)


def test_a_flush_waits_for_the_lines(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        for number in range(1, 200):
            work(number)
            if number % 20 == 0:
                assert agenttrace.flush()
                assert len(lines(run)) == number + 1


def test_nobody_else_can_read_the_evidence(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        work()

    (file,) = run.folder.glob("*.jsonl")
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc/passwd", "x" * 500, "é\ud800", "  "])
def test_any_run_id_is_one_part_of_a_path(name, tmp_path):
    part = file_name(name)

    assert (tmp_path / part).parent == tmp_path
    assert part not in ("", ".", "..")
    (tmp_path / part).mkdir()


def test_records_of_another_recorder_in_the_folder_belong_to_the_run(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run(run_id="r-1") as run:
        work(1)
        program = """
import sys, agenttrace
from agenttrace.testing import isolated
@agenttrace.trace
def elsewhere() -> str: return "there"
with isolated(evidence=sys.argv[1]), agenttrace.run(run_id="r-1"): elsewhere()
"""
        subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=60)

    assert {one.name for one in run.evidence().executor} == {"work", "elsewhere"}


def test_many_open_runs_need_few_open_files(tmp_path):
    with isolated(evidence=tmp_path):
        states = [recorder.open_run(Run(run_id=f"r-{n}")) for n in range(200)]
        before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
        for state in states:
            recorder.settle(state)

    assert before < 150
    assert len(list(tmp_path.rglob("*.jsonl"))) == 200


@pytest.fixture
def unwritable(tmp_path):
    # A file where a folder should be: unwritable for the superuser too.
    (tmp_path / "taken").write_text("")
    return tmp_path / "taken" / "runs"


def test_an_unwritable_folder_is_one_warning_and_evidence_in_memory(unwritable, caplog):
    from agenttrace.capture._guard import forget_faults

    forget_faults()
    with isolated(evidence=unwritable):
        for _ in range(2):
            with agenttrace.run() as run:
                work()

    assert [len(run.records()), run.evidence().executor[0].result] == [2, 0]
    (warning,) = caplog.records
    assert "configure(evidence=...)" in warning.message


def test_a_folder_that_vanishes_takes_no_record_with_it(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        work(1)
        agenttrace.flush()
        state = run._begun()
        state.writer.close()
        state.writer.folder = tmp_path / "taken" / "x"
        state.writer.path = state.writer.folder / "r.jsonl"
        (tmp_path / "taken").write_text("")
        work(2)

    assert [one.arguments for one in run.evidence().executor] == [{"number": 1}, {"number": 2}]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_goes_on_as_another_recorder_of_the_run(tmp_path):
    program = """
import os, sys, agenttrace, json
from agenttrace.testing import isolated
@agenttrace.trace
def work(who: str) -> str: return who
with isolated(evidence=sys.argv[1]), agenttrace.run(run_id="r-1") as run:
    work("parent")
    child = os.fork()
    if child == 0:
        work("child")
        agenttrace.capture.recorder.end_process()
        os._exit(0)
    os.waitpid(child, 0)
    work("parent again")
evidence = run.evidence()
results = [one.result for one in evidence.executor]
assert results[0] == "parent" and set(results[1:]) == {"child", "parent again"}, results
assert evidence.completeness.missing_seqs == (), evidence.completeness
assert evidence.completeness.settled, evidence.completeness
assert len({r.recorder_id for r in run.records()}) == 2
"""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)], check=True, timeout=60
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_worker_of_multiprocessing_writes_its_part_before_it_leaves(tmp_path):
    program = """
import sys, agenttrace, multiprocessing
from agenttrace.testing import isolated
@agenttrace.trace
def work(who: str) -> str: return who
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with isolated(evidence=sys.argv[1]), agenttrace.run(run_id="r-1") as run:
        worker = context.Process(target=work, args=("worker",))
        worker.start()
        worker.join()
    evidence = run.evidence()
    assert [one.result for one in evidence.executor] == ["worker"], evidence
    assert evidence.completeness.settled, evidence.completeness
"""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)], check=True, timeout=60
    )


def test_a_process_that_is_killed_leaves_every_acknowledged_record_readable(tmp_path):
    program = """
import os, signal, sys, agenttrace
from agenttrace.testing import isolated
@agenttrace.trace
def work(n: int) -> int: return n
with isolated(evidence=sys.argv[1]), agenttrace.run():
    for n in range(10): work(n)
    agenttrace.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)

    (file,) = tmp_path.rglob("*.jsonl")
    assert len([json.loads(line) for line in file.read_text("ascii").splitlines()]) == 11


def test_ids_that_differ_late_or_in_blanks_alone_have_folders_of_their_own():
    names = ["x" * 300, "x" * 301, "退款" * 20, "退款" * 21, "a", " a", "a ", ".", "..", "%2E"]

    assert len({file_name(name) for name in names}) == len(names)
    assert max(len(file_name(name)) for name in names) <= 200


@pytest.mark.parametrize("folder", ["a\0b", "a\ud800", "x" * 300])
def test_a_folder_that_no_system_can_have_keeps_the_run_in_memory(folder, tmp_path):
    with isolated(evidence=tmp_path / folder), agenttrace.run() as run:
        assert work(1) == 1

    assert [str(record.kind) for record in run.records()] == ["execution", "run"]
    assert run.verdict.status == "pass"


def test_evidence_that_is_gone_is_said_in_our_own_words(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        recorder.settings = replace(recorder.settings, memory_records=2)
        run._state._kept._settings = recorder.settings
        for number in range(5):
            work(number)
        agenttrace.flush()
        shutil.rmtree(run.folder)

    with pytest.raises(UnreadableFileError, match="cannot be read"):
        _ = run.verdict


def test_a_folder_among_the_files_is_passed_over(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        work()
        agenttrace.flush()
        (run.folder / "other.jsonl").mkdir()

    assert run.verdict.status == "pass"
