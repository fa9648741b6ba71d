"""`agenttrace clean`: what it removes, what it leaves, and that it asks."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import agenttrace
from agenttrace.cli import main
from agenttrace.testing import isolated

HOUR = 3_600
DAY = 86_400


@agenttrace.trace
def work() -> int:
    return 1


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / ".agenttrace" / "runs"


def record(root: Path, age_s: float, *, run: str, case: str | None = None) -> Path:
    with isolated(evidence=root), agenttrace.run(case, run_id=run) as made:
        work()
    then = time.time() - age_s
    for path in made.folder.iterdir():
        os.utime(path, (then, then))
    return made.folder


def without_end(folder: Path, age_s: float) -> None:
    (file,) = folder.glob("*.jsonl")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    then = time.time() - age_s
    os.utime(file, (then, then))


@pytest.fixture
def clean(capsys: pytest.CaptureFixture[str]):
    def run(*options: str) -> tuple[int, dict[str, Any]]:
        code = main(["clean", *options, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["run_id"] for row in rows]


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


# What is chosen


@pytest.fixture
def four(root: Path) -> dict[str, Path]:
    return {
        "a-old": record(root, 8 * DAY, run="a-old", case="a"),
        "a-new": record(root, 10, run="a-new", case="a"),
        "b-old": record(root, 9 * DAY, run="b-old", case="b"),
        "none": record(root, 50 * DAY, run="none"),
    }


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (["--case", "a"], ["a-old", "a-new"]),
        (["--case", "a", "--case", "b"], ["b-old", "a-old", "a-new"]),
        (["--case", "a", "--older-than", "7d"], ["a-old"]),
        (["--run", "b-old"], ["b-old"]),
        (["--run", "b-old", "--case", "a"], []),
        (["--older-than", "8.5d"], ["none", "b-old"]),
        (["--older-than", "2w"], ["none"]),
        (["--all"], ["none", "b-old", "a-old", "a-new"]),
        ([], ["none"]),
        (["--case", "nobody"], []),
    ],
    ids=" ".join,
)
def test_options_choose_runs(four, clean, options, gone):
    code, found = clean(*options, "--yes")

    assert (code, ids(found["removed"])) == (0, gone)
    assert [name for name, folder in four.items() if not folder.exists()] == [
        name for name in four if name in gone
    ]


def test_a_row_says_what_was_removed(root, clean):
    folder = record(root, 3 * DAY, run="r-1", case="refund-amount")
    size = sum(path.stat().st_size for path in folder.iterdir())

    _, found = clean("--all", "--yes")

    written = found["removed"][0].pop("written")
    assert written.endswith("Z")
    assert found == {
        "folder": str(root),
        "dry_run": False,
        "bytes": size,
        "left": [],
        "removed": [
            {
                "run_id": "r-1",
                "case_ids": ["refund-amount"],
                "folder": folder.relative_to(root).as_posix(),
                "files": 1,
                "bytes": size,
            }
        ],
    }


def test_without_options_the_configured_bounds_count(four, clean, place):
    (place / "pyproject.toml").write_text("[tool.agenttrace]\nkeep_days = 8.5\n")

    _, found = clean("--yes")

    assert ids(found["removed"]) == ["none", "b-old"]


def test_without_options_the_configured_size_counts(four, clean, monkeypatch):
    size = sum(path.stat().st_size for path in four["none"].iterdir())
    monkeypatch.setenv("AGENTTRACE_KEEP_BYTES", str(int(2.8 * size)))
    monkeypatch.setenv("AGENTTRACE_KEEP_DAYS", "false")

    _, found = clean("--yes")

    assert ids(found["removed"]) == ["none", "b-old"]


def test_the_configured_folder_is_the_one_that_is_cleaned(place, clean, monkeypatch):
    folder = record(place / "kept", DAY, run="r-1")
    monkeypatch.setenv("AGENTTRACE_EVIDENCE", "kept")

    code, found = clean("--all", "--yes")

    assert (code, ids(found["removed"]), folder.exists()) == (0, ["r-1"], False)


def test_another_folder_can_be_named(place, four, clean):
    record(place / "other", DAY, run="there")

    assert ids(clean(str(place / "other"), "--all", "--yes")[1]["removed"]) == ["there"]
    assert all(folder.exists() for folder in four.values())


# What is left


def test_a_run_that_may_be_open_is_left_and_said(root, clean):
    folder = record(root, 60, run="r-1", case="a")
    without_end(folder, 60)

    code, found = clean("--case", "a", "--yes")

    assert (code, ids(found["left"]), found["removed"]) == (1, ["r-1"], [])
    assert "may be open" in found["left"][0]["left"]
    assert folder.exists()


def test_a_run_that_was_killed_an_hour_ago_is_removed(root, clean):
    folder = record(root, 60, run="r-1", case="a")
    without_end(folder, 2 * HOUR)

    assert clean("--case", "a", "--yes")[0] == 0
    assert not folder.exists()


def test_files_of_others_stay(root, clean):
    folder = record(root, DAY, run="r-1")
    (folder / "notes.txt").write_text("mine")
    (root / "saved.jsonl").write_text("{}\n")

    clean("--all", "--yes")

    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert (root / "saved.jsonl").exists()


def test_a_dry_run_removes_nothing(four, clean):
    code, found = clean("--all", "--dry-run")

    assert (code, len(found["removed"]), found["dry_run"]) == (0, 4, True)
    assert all(folder.exists() for folder in four.values())


# It asks


@pytest.mark.parametrize(
    ("typed", "code"),
    [("y\n", 0), ("YES\n", 0), ("n\n", 1), ("\n", 1), ("", 2)],
    ids=["y", "yes", "n", "empty line", "nobody"],
)
def test_it_asks_before_it_removes(root, capsys, monkeypatch, typed, code):
    is_gone = code == 0
    folder = record(root, DAY, run="r-1", case="a")
    answer(monkeypatch, typed)

    assert main(["clean", "--case", "a"]) == code

    captured = capsys.readouterr()
    assert folder.exists() is not is_gone
    assert "r-1  case a" in captured.err
    assert "Remove 1 run, " in captured.err
    assert captured.out.startswith("removed 1 run, ") is is_gone
    assert ("--yes" in captured.err) is (typed == "")


def test_a_long_list_is_cut_where_it_asks(root, capsys, monkeypatch):
    for n in range(23):
        record(root, DAY, run=f"r-{n}")
    answer(monkeypatch, "n\n")

    main(["clean", "--all"])

    err = capsys.readouterr().err
    assert err.count("  202") == 20
    assert "and 3 more" in err


def test_it_does_not_ask_where_there_is_nothing_to_remove(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)

    assert main(["clean", "--all"]) == 0
    assert capsys.readouterr().out.startswith("removed 0 runs, 0 B, from ")


def test_for_people_each_run_is_a_line(root, capsys):
    record(root, DAY, run="r-1\x1b[31m", case="a")

    main(["clean", "-n", "--all"])

    row, summary = capsys.readouterr().out.splitlines()
    assert "\x1b" not in row
    assert row.startswith("r-1\\x1b[31m  case a  20")
    assert row.endswith(" kB")
    assert summary.startswith("would remove 1 run, ")


# Bad input


@pytest.mark.parametrize("options", [["--older-than", "soon"], ["--older-than", "7"]], ids=" ".join)
def test_an_age_that_is_none_is_refused(options, capsys):
    with pytest.raises(SystemExit) as refused:
        main(["clean", *options])

    assert refused.value.code == 2
    assert "write 7d" in capsys.readouterr().err


def test_all_goes_with_no_choice(four, capsys):
    assert main(["clean", "--all", "--case", "a", "--yes"]) == 2
    assert all(folder.exists() for folder in four.values())


def test_a_named_folder_that_is_not_there_is_refused(place, capsys):
    assert main(["clean", str(place / "nowhere"), "--all", "--yes"]) == 2
    assert "[unreadable-file]" in capsys.readouterr().err


def test_where_evidence_is_off_there_is_nothing_to_clean(clean, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_EVIDENCE", "false")

    assert clean("--all", "--yes")[1]["removed"] == []


@pytest.mark.parametrize("case", ["alice", "bob"])
def test_a_run_of_two_recorders_is_found_by_the_case_of_either(case, root, clean):
    folder = record(root, 3 * DAY, run="run-1", case="alice")
    (first,) = folder.iterdir()
    second = folder / "rec-0000.jsonl"
    second.write_bytes(first.read_bytes().replace(b'"alice"', b'"bob"'))
    os.utime(second, (time.time() - 3 * DAY,) * 2)

    code, said = clean("--case", case, "--yes")

    assert code == 0
    assert sorted(said["removed"][0]["case_ids"]) == ["alice", "bob"]
    assert not folder.exists()
