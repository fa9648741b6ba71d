"""Local evidence stays within its bounds, and nothing else is ever touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import agenttrace
from agenttrace.capture import (
    clean_up,
    facts_of,
    has_ended,
    open_evidence,
    recorder,
    remove_run,
    stored_runs,
)
from agenttrace.capture._retention import Retention
from agenttrace.testing import isolated
from tests.support.old_runs import cut_end, made_old, record, work

HOUR = 3_600
DAY = 86_400


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "runs"
    with isolated(evidence=folder):
        yield folder


def clean(root: Path, **options) -> tuple[int, int]:
    options = {"keep_days": 30.0, "keep_bytes": None, "is_open": lambda folder: False} | options
    return clean_up(root, **options)


# What goes


def test_runs_beyond_their_age_go_with_their_folders(root):
    old, young = record(31 * DAY), record(29 * DAY)

    count, size = clean(root)

    assert (count, size > 300) == (1, True)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_day_without_runs_goes_too(root):
    day = record(31 * DAY).parent

    clean(root)

    assert (day.exists(), root.exists()) == (False, True)


def test_beyond_the_size_the_oldest_runs_go_first(root):
    ages = [9 * DAY, 3 * DAY, 7 * DAY, 5 * DAY]
    folders = [record(age) for age in ages]
    size = sum(path.stat().st_size for path in folders[0].iterdir())

    clean(root, keep_bytes=int(2.5 * size))

    assert [folder.exists() for folder in folders] == [False, True, False, True]


def test_without_bounds_nothing_goes(root):
    folder = record(3_000 * DAY)

    assert clean(root, keep_days=None) == (0, 0)
    assert folder.exists()


# What stays


@pytest.mark.parametrize("age_s", [0, HOUR - 60, -DAY], ids=["now", "within the hour", "future"])
def test_a_young_run_stays_whatever_the_bounds(root, age_s):
    folder = record(age_s)

    clean(root, keep_days=0.0001, keep_bytes=1)

    assert folder.exists()


def test_a_run_without_an_end_stays_for_a_day(root):
    open_one, dead = record(2 * HOUR), record(2 * DAY)
    cut_end(open_one, 2 * HOUR)
    cut_end(dead, 2 * DAY)

    clean(root, keep_days=0.01)

    assert (open_one.exists(), dead.exists()) == (True, False)


def test_a_run_that_this_process_records_stays(root):
    with agenttrace.run() as run:
        work()
        agenttrace.flush()
        made_old(run.folder, 60 * DAY)
        clean(root, is_open=lambda folder: folder in recorder._open_folders())
        work(2)

    assert [one.arguments["number"] for one in run.evidence().executor] == [0, 2]


def test_a_run_of_several_recorders_stays_while_one_of_them_has_no_end(root):
    folder = record(2 * HOUR, name="r-1")
    (file,) = folder.glob("*.jsonl")
    other = folder / "rec-abc.jsonl"
    other.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    made_old(folder, 2 * HOUR)

    clean(root, keep_days=0.01)

    assert {file, other} <= set(folder.iterdir())


def test_a_run_that_is_written_to_meanwhile_stays(root):
    folder = record(40 * DAY)
    with open_evidence(root) as opened:
        (run,) = stored_runs(opened)
        facts = facts_of(opened, run)
        (file,) = folder.glob("*.jsonl")
        with file.open("a") as late:
            late.write("{}\n")

        assert remove_run(opened, run, facts) == (0, "it was written to just now")
    assert file.exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"mine": true}\n',
        '{"agenttrace":{"version":1}}\n',
        '{"agenttrace":{"version":1,"run":{"run_id":3}}}\n',
        '{"agenttrace":[]}\n',
        "",
        "\x00" * 40,
        ' {"agenttrace":{"version":1,"run":{"run_id":"x"}}}\n',
    ],
)
def test_a_file_that_does_not_open_with_our_header_is_not_ours(root, text):
    folder = root / "2020-01-01" / "run-1"
    folder.mkdir(parents=True)
    file = folder / "notes.jsonl"
    file.write_text(text)
    made_old(folder, 90 * DAY)

    assert clean(root, keep_bytes=1) == (0, 0)
    assert file.read_text() == text


def test_what_stands_beside_our_files_stays_with_its_folder(root):
    folder = record(90 * DAY)
    (folder / "notes.txt").write_text("mine")
    (folder / "notes.jsonl").write_text('{"mine": true}\n')
    (folder / "deeper").mkdir()
    made_old(folder, 90 * DAY)

    assert clean(root)[0] == 1
    assert sorted(path.name for path in folder.iterdir()) == ["deeper", "notes.jsonl", "notes.txt"]


def test_files_that_stand_where_no_recorder_puts_them_stay(root):
    (file,) = record(90 * DAY).glob("*.jsonl")
    text = file.read_bytes()
    places = [root / "saved.jsonl", root / "2020-01-01" / "saved.jsonl", root / "mine" / "r" / "a"]
    places += [root / "2020-01-01" / "run" / "deeper" / "a.jsonl", root.parent / "a.jsonl"]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)
        made_old(place.parent, 90 * DAY)

    clean(root)

    assert all(place.read_bytes() == text for place in places)


@pytest.mark.parametrize("where", ["day", "run", "file"])
def test_links_are_not_followed(root, tmp_path, where):
    outside = tmp_path / "outside"
    inside = record(90 * DAY)
    (file,) = inside.glob("*.jsonl")
    place = {
        "day": outside / inside.name / file.name,
        "run": outside / file.name,
        "file": outside / file.name,
    }[where]
    place.parent.mkdir(parents=True)
    place.write_bytes(file.read_bytes())
    link = {
        "day": root / "2020-01-01",
        "run": inside.parent / "run-link",
        "file": inside / "rec-0.jsonl",
    }[where]
    link.symlink_to(place if where == "file" else outside)
    made_old(place.parent, 90 * DAY)

    clean(root, keep_bytes=1)

    assert place.exists()
    assert link.is_symlink()
    assert not file.exists()


def test_a_link_to_the_folder_itself_is_followed(root, tmp_path):
    old = record(90 * DAY)
    link = tmp_path / "link"
    link.symlink_to(root)

    assert clean(link)[0] == 1
    assert not old.exists()


def test_a_pipe_is_not_waited_for(root):
    folder = record(90 * DAY)
    os.mkfifo(folder / "rec-1.jsonl")

    assert clean(root)[0] == 1
    assert [path.name for path in folder.iterdir()] == ["rec-1.jsonl"]


def test_torn_and_empty_files_of_a_killed_process_are_ours(root):
    folder = root / "2020-01-01" / "run-1"
    folder.mkdir(parents=True)
    (folder / "rec-00ff.jsonl").write_text("")
    (folder / "rec-00fe.jsonl").write_text('{"agenttrace":{"recorder":"rec-0')
    made_old(folder, 90 * DAY)

    assert clean(root)[0] == 1
    assert not folder.exists()


def test_a_copy_under_a_name_of_somebodys_own_stays(root):
    folder = record(90 * DAY)
    (own,) = folder.glob("*.jsonl")
    kept = folder / "my-saved-copy.jsonl"
    kept.write_bytes(own.read_bytes())
    elsewhere = folder.parent / "my results"
    elsewhere.mkdir()
    (elsewhere / "best.jsonl").write_bytes(own.read_bytes())
    made_old(folder, 90 * DAY)
    made_old(elsewhere, 90 * DAY)

    assert clean(root)[0] == 1
    assert [path.name for path in folder.iterdir()] == ["my-saved-copy.jsonl"]
    assert [path.name for path in elsewhere.iterdir()] == ["best.jsonl"]


def test_facts_are_read_from_the_headers(root):
    record(0, name="r-1", case="refund-amount")

    with open_evidence(root) as opened:
        (run,) = stored_runs(opened)
        facts = facts_of(opened, run)
        assert (facts.run_id, facts.case_ids, len(facts.ours)) == ("r-1", ("refund-amount",), 1)
        assert has_ended(opened, run, facts)


# When it is done


def test_no_more_time_is_spent_than_there_is(root):
    folders = [record(90 * DAY) for _ in range(3)]

    assert clean(root, budget_s=-1) == (0, 0)
    assert all(folder.exists() for folder in folders)


def begun(root: Path) -> None:
    settings = replace(recorder.settings, keep_days=30.0)
    before = set(threading.enumerate())
    Retention().begin(settings, set)
    for thread in set(threading.enumerate()) - before:
        thread.join(30)


def test_a_process_looks_after_its_folder_at_its_first_run(tmp_path):
    with isolated(evidence=tmp_path / "runs"):
        old = record(90 * DAY)
    program = """
import sys, agenttrace
@agenttrace.trace
def work() -> int: return 1
agenttrace.configure(evidence=sys.argv[1])
with agenttrace.run(): work()
import threading
for thread in threading.enumerate():
    if thread.name == "agenttrace-clean": thread.join(30)
"""

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert not old.exists()


def test_of_processes_that_start_within_the_hour_one_does_it(root):
    first = record(90 * DAY)
    begun(root)
    second = record(90 * DAY)
    begun(root)

    assert (first.exists(), second.exists()) == (False, True)

    then = time.time() - 2 * HOUR
    os.utime(root / ".cleaned", (then, then))
    begun(root)

    assert not second.exists()


def test_a_process_that_runs_for_days_does_it_once_a_day(root, monkeypatch):
    clock = [1_000.0]
    monkeypatch.setattr("agenttrace.capture._retention.time.monotonic", lambda: clock[0])
    started: list[str] = []
    monkeypatch.setattr(
        "agenttrace.capture._retention.threading.Thread",
        lambda **options: type("T", (), {"start": lambda self: started.append("clean")})(),
    )
    mine = Retention()
    for later in (0, 60, DAY - 120, DAY + 1, 60):
        clock[0] += later
        mine.begin(replace(recorder.settings, keep_days=1.0), set)

    assert len(started) == 2


def test_processes_that_clean_at_once_do_not_get_into_each_others_way(root):
    folders = [record(90 * DAY, name=f"r-{n}") for n in range(60)]
    results: list[tuple[int, int]] = []
    errors: list[BaseException] = []

    def one() -> None:
        try:
            results.append(clean(root))
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert not any(folder.exists() for folder in folders)


def test_a_folder_that_is_cleared_away_as_a_run_begins_is_made_again(root, monkeypatch):
    make = Path.mkdir
    gone: list[Path] = []

    def mkdir(self: Path, *args: object, **options: object) -> None:
        make(self, *args, **options)
        if self.name == "r-1" and not gone:
            gone.append(self)
            self.rmdir()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with agenttrace.run(run_id="r-1") as run:
        work()

    assert len(gone) == 1
    (file,) = run.folder.glob("*.jsonl")
    assert [json.loads(line).get("kind") for line in file.read_text().splitlines()] == [
        None,
        "execution",
        "run",
    ]


@pytest.mark.parametrize("how", ["link", "folder"])
def test_a_mark_that_cannot_be_set_means_nothing_is_done(root, tmp_path, how):
    old = record(90 * DAY)
    if how == "link":
        (tmp_path / "elsewhere").write_text("mine")
        (root / ".cleaned").symlink_to(tmp_path / "elsewhere")
    else:
        (root / ".cleaned").mkdir()

    begun(root)

    assert old.exists()
