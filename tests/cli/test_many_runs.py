from __future__ import annotations

import json

import pytest

from agenttrace.artifacts import header_line
from agenttrace.cli import main
from agenttrace.domain import Run
from agenttrace.readers import _database
from agenttrace.records import record_to_line
from tests.readers.sample_run import refund_run, write_cases


@pytest.fixture
def mixed(tmp_path):
    """Two files, the records of three runs in turn in each, the last run to begin first."""
    runs = [refund_run(f"run-{n}", start=100 - n) for n in range(3)]
    for part in (0, 1):
        lines = [record_to_line(one) for at in zip(*runs, strict=True) for one in at]
        half = lines[: len(lines) // 2] if part == 0 else lines[len(lines) // 2 :]
        text = "\n".join([header_line(Run(run_id="run-0"), "rec-1"), *half])
        (tmp_path / f"{part}.jsonl").write_text(f"{text}\n")
    return tmp_path


def test_runs_in_pieces_are_judged_in_the_order_in_which_they_began(mixed, capsys):
    cases = write_cases(mixed.parent / f"{mixed.name}-cases.json", "refund")

    code = main(["score", str(mixed), "--cases", str(cases), "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert code == 0
    assert [row["run_id"] for row in rows] == ["run-2", "run-1", "run-0"]
    assert {row["verdict"] for row in rows} == {"pass"}


def test_saved_rows_hold_every_piece_of_a_run(mixed, capsys):
    saved = mixed.parent / f"{mixed.name}-saved.jsonl"
    main(["score", str(mixed), "--save", str(saved), "--json"])
    before = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    main(["score", str(saved), "--json"])
    after = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [row["evidence_digest"] for row in after] == [row["evidence_digest"] for row in before]


def test_a_full_temporary_disk_ends_with_2_and_what_to_do(mixed, monkeypatch, capsys):
    monkeypatch.setattr(_database, "_SETTINGS", ("max_page_count=4",))

    assert main(["score", str(mixed)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error [temporary-file]: ")
    assert "TMPDIR" in said


def test_a_run_whose_files_are_named_from_here_and_from_the_root_is_judged(
    mixed, monkeypatch, capsys
):
    cases = write_cases(mixed / "cases.json", "refund", cents=1)
    monkeypatch.chdir(mixed)

    assert main(["score", "0.jsonl", str(mixed / "1.jsonl"), "--cases", str(cases)]) == 1
    assert f"replay: agenttrace show {mixed} " in capsys.readouterr().out
