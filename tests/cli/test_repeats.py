"""`agenttrace repeats` on recorded evidence and on chat logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.artifacts import write_artifact
from agenttrace.cli import main
from tests.readers.sample_run import refund_run


def row(case_id: str, cents: int, **fields: Any) -> str:
    """One try of a case as a chat log keeps it."""
    arguments = json.dumps({"order": "A-104", "cents": cents})
    call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": arguments}}
    return json.dumps(
        {
            "case_id": case_id,
            "expected": [{"name": "refund", "args": {"order": "A-104", "cents": 9800}}],
            "messages": [
                {"role": "user", "content": "Refund A-104."},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            ],
            **fields,
        }
    )


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four tries of one case, of which one is wrong, and one of another case."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "log.jsonl"
    tries = [row("refund", cents, trial=n) for n, cents in enumerate((9800, 98, 9800, 9800))]
    path.write_text("\n".join([*tries, row("other", 9800)]) + "\n")
    return path


def test_each_case_is_said_with_its_rate_and_what_varies(log: Path, capsys):
    assert main(["repeats", str(log)]) == 0

    said = capsys.readouterr().out
    assert "UNSTABLE  refund" in said
    assert "4 runs: 3 passed, 1 failed" in said
    assert "pass rate 0.750, 95% interval 0.301 to 0.954 of 4 counted" in said
    assert "pass^k  1: 0.750  2: 0.500  3: 0.250  4: 0.000" in said
    assert "varies at the model: refund (call 1) /cents: 9800 in 3 runs, 98 in 1 run" in said
    assert "PASS  other" in said
    assert "2 cases, 5 runs: 1 unstable" in said
    assert "mean pass^k over cases  1: 0.875 (2 cases)  2: 0.500 (1 case)" in said


def test_json_has_a_line_a_case_and_the_same_in_the_output_file(log: Path, tmp_path, capsys):
    target = tmp_path / "out.jsonl"
    assert main(["repeats", str(log), "--json", "-o", str(target)]) == 0

    printed = capsys.readouterr().out
    first, other = map(json.loads, printed.splitlines())
    assert target.read_text() == printed
    assert (first["case_id"], first["passed"], first["failed"]) == ("refund", 3, 1)
    assert (first["unstable"], other["unstable"]) == (True, False)
    assert first["pass_hat_k"] == {"1": 0.75, "2": 0.5, "3": 0.25, "4": 0.0}
    (varies,) = first["variations"]
    assert varies["boundary"] == "model"
    assert varies["values"] == [{"value": 9800, "runs": 3}, {"value": 98, "runs": 1}]


def test_a_part_of_the_case_id_may_number_the_try(tmp_path: Path, capsys):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(row(f"refund/trial-{n}", 9800) + "\n" for n in range(3)))

    assert main(["repeats", str(path), "-t", "/trial-[0-9]+$", "--json"]) == 0
    (case,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (case["case_id"], case["runs"]) == ("refund", 3)


def test_only_unstable_cases_are_shown_where_that_is_asked(log: Path, capsys):
    assert main(["repeats", str(log), "--unstable"]) == 0

    said = capsys.readouterr().out
    assert "UNSTABLE  refund" in said
    assert "PASS  other" not in said


def test_strict_fails_where_a_case_is_unstable(log: Path, tmp_path: Path):
    steady = tmp_path / "steady.jsonl"
    steady.write_text(row("refund", 9800) + "\n" + row("refund", 9800) + "\n")

    assert main(["repeats", str(log), "--strict"]) == 1
    assert main(["repeats", str(steady), "--strict"]) == 0


def test_runs_without_a_case_are_an_error_that_says_what_to_do(tmp_path: Path, capsys):
    path = tmp_path / "log.jsonl"
    bare = json.loads(row("x", 1))
    del bare["case_id"]
    path.write_text(json.dumps(bare) + "\n")

    assert main(["repeats", str(path)]) == 2
    assert "agenttrace.run(case=...)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "note: 1 run names no case, so it is a repeat of nothing known"),
        (2, "note: 2 runs name no case, so they are repeats of nothing known"),
    ],
)
def test_runs_without_a_case_beside_others_are_counted(
    tmp_path: Path, count: int, said: str, capsys
):
    records = [one for n in range(count) for one in refund_run(f"bare-{n}", case_id=None)]
    write_artifact(tmp_path / "e.jsonl", [*refund_run(), *records])

    assert main(["repeats", str(tmp_path)]) == 0
    assert said in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--confidence", "1.5"], "is no share between 0 and 1"),
        (["--confidence", "much"], "is no share between 0 and 1"),
        (["--trial", "("], "is no regular expression"),
        (["--by", "weather"], "invalid choice"),
    ],
)
def test_an_option_that_says_nothing_is_refused(words: list[str], part: str, log: Path, capsys):
    with pytest.raises(SystemExit) as left:
        main(["repeats", str(log), *words])

    assert left.value.code == 2
    assert part in capsys.readouterr().err


def test_a_file_that_is_read_is_not_written_over(log: Path, capsys):
    before = log.read_text()

    assert main(["repeats", str(log), "-o", str(log)]) == 2
    assert log.read_text() == before
