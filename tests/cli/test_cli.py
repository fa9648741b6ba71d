from __future__ import annotations

import json
import os
import subprocess
import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest

from agenttrace._version import __version__
from agenttrace.artifacts import header_line, write_artifact
from agenttrace.cli import main
from agenttrace.records import Record, record_to_line
from agenttrace.redaction import load_redactor
from tests.readers.sample_run import ARGUMENTS, refund_run, write_cases

WRONG = {**ARGUMENTS, "amount_cents": 980000}


class Said:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]):
    def run(*words: object) -> Said:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(*words: str, **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "agenttrace", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def test_runs_that_pass_give_code_0_and_a_summary(cli, folder: Path):
    write_artifact("e.jsonl", [*refund_run("run-1"), *refund_run("run-2", case_id="b")])
    write_cases(Path("cases.json"), "refund", "b")

    said = cli("score", "e.jsonl", "--cases", "cases.json")

    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "PASS  refund",
        "PASS  b",
        "2 rows: 2 passed, 0 failed, 0 inconclusive",
        "exact: 2 of 2 rows with a plan · false positives 0 · false negatives 0",
    ]


def test_a_failed_run_gives_code_1_and_the_command_that_shows_it_again(cli, folder: Path):
    write_artifact("e.jsonl", [*refund_run("run-1"), *refund_run("run-2", executed=[WRONG])])
    write_cases(Path("cases.json"), "refund")

    said = cli("score", "e.jsonl", "--cases", "cases.json")
    command = next(line for line in said.out.splitlines() if line.startswith("replay: "))
    again = cli(*command.split()[2:])

    assert said.code == again.code == 1
    assert command == "replay: agenttrace show e.jsonl run-2 --cases cases.json"
    assert again.out.splitlines()[:2] == said.out.splitlines()[1:3]


def test_without_cases_the_records_are_compared_with_each_other(cli, folder: Path):
    write_artifact("e.jsonl", refund_run(executed=[WRONG]))

    (row,) = cli("score", "e.jsonl", "--json").rows

    assert (row["verdict"], row["first_divergence"], row["kind"]) == ("fail", "executor", "scaled")
    assert row["counts"]["f1"] is None


def test_json_is_one_object_a_row_on_stdout_and_all_else_is_on_stderr(cli, folder: Path):
    write_artifact("e.jsonl", [*refund_run("run-1"), *refund_run("run-2", executed=[WRONG])])
    write_cases(Path("cases.json"), "refund", "unused")

    said = cli("score", "e.jsonl", "--cases", "cases.json", "--json", "-o", "out/rows.jsonl")

    assert [row["verdict"] for row in said.rows] == ["pass", "fail"]
    assert "2 rows: 1 passed, 1 failed" in said.err
    assert "1 case has no run here, so nothing of it was judged: unused" in said.err
    assert Path("out/rows.jsonl").read_text() == said.out


def test_the_compared_boundary_can_be_chosen(cli, folder: Path):
    write_artifact("e.jsonl", refund_run(executed=[WRONG]))
    write_cases(Path("cases.json"), "refund")

    words = ("score", "e.jsonl", "--cases", "cases.json", "--json", "--compare")

    assert cli(*words, "model").rows[0]["counts"]["f1"] == 1.0
    assert cli(*words, "executor").rows[0]["counts"]["f1"] == 0.0


def test_an_inconclusive_row_fails_only_under_strict(cli, folder: Path):
    write_artifact("e.jsonl", refund_run()[:-1])

    assert cli("score", "e.jsonl", "--json").rows[0]["verdict"] == "inconclusive"
    assert cli("score", "e.jsonl").code == 0
    assert cli("score", "e.jsonl", "--strict").code == 1


def test_a_run_of_an_unknown_case_is_an_error_of_its_row_alone(cli, folder: Path):
    write_artifact("e.jsonl", [*refund_run("run-1", case_id="gone"), *refund_run("run-2")])
    write_cases(Path("cases.json"), "refund")

    said = cli("score", "e.jsonl", "--cases", "cases.json", "--json")

    assert said.code == 2
    assert [row["run_id"] for row in said.rows] == ["run-2"]
    assert "error [unknown-case]: run run-1 in e.jsonl: No case 'gone' was found" in said.err


def test_that_the_cases_which_runs_name_were_not_asked_is_noted(cli, folder: Path):
    write_artifact("e.jsonl", [*refund_run("run-1"), *refund_run("run-2", case_id="b")])
    write_artifact("none.jsonl", refund_run("run-3", case_id=None))
    write_cases(Path("cases.json"), "refund", "b")
    note = "note: 2 runs name their cases, and those cases were not asked"

    assert note in cli("score", "e.jsonl", "none.jsonl").err
    assert note in cli("score", "e.jsonl", "--json").err
    assert "not asked" not in cli("score", "none.jsonl").err
    assert "not asked" not in cli("score", "e.jsonl", "--cases", "cases.json").err


def test_a_run_of_another_revision_is_noted(cli, folder: Path):
    write_artifact("e.jsonl", refund_run(revision="old"))
    write_cases(Path("cases.json"), "refund")

    said = cli("score", "e.jsonl", "--cases", "cases.json")

    assert "was recorded for revision old of case refund" in said.err


def test_bad_input_is_said_with_file_and_line_and_the_other_rows_are_scored(cli, folder: Path):
    records = refund_run("run-1")
    lines = [header_line(records[0].run, "rec-1"), *map(record_to_line, records)]
    second = refund_run("run-2")
    lines += [header_line(second[0].run, "rec-1"), *map(record_to_line, second)]
    lines[6] = "{" + lines[6]
    lines = [*lines[:6], "not json", *lines[6:]]
    lines[7] = lines[7][1:]
    Path("e.jsonl").write_text("\n".join(lines))
    Path("newer.jsonl").write_text('{"agenttrace": {"version": 2}}')

    said = cli("score", "e.jsonl", "newer.jsonl", "gone.jsonl", "--json")

    assert said.code == 2
    assert {row["run_id"]: row["verdict"] for row in said.rows}["run-2"] == "pass"
    errors = [line for line in said.err.splitlines() if line.startswith("error")]
    assert len(errors) == 3
    assert errors[0].startswith("error [malformed-file]: e.jsonl:7: the line is no JSON")
    assert errors[1].startswith("error [artifact-newer]: newer.jsonl: artifact version 2 is newer")
    assert errors[2].startswith("error [unreadable-file]: gone.jsonl: cannot be read")


def test_a_broken_case_file_stops_before_anything_is_judged(cli, folder: Path):
    write_artifact("e.jsonl", refund_run())
    lines = [json.dumps({"id": f"case-{number}"}) for number in range(1, 13)]
    lines[6] = '{"id": "case-7", "requierd": []}'
    Path("cases.jsonl").write_text("\n".join(lines))

    said = cli("score", "e.jsonl", "--cases", "cases.jsonl")

    assert (said.code, said.out) == (2, "")
    assert "error [invalid-case]: cases.jsonl:7: requierd is an unknown field" in said.err


def test_nothing_to_judge_is_bad_input(cli, folder: Path):
    Path("empty").mkdir()

    said = cli("score", "empty")

    assert (said.code, said.out) == (2, "")
    assert "no run was judged" in said.err


def test_an_unwritable_output_is_one_clear_error(cli, folder: Path):
    write_artifact("e.jsonl", refund_run())
    Path("file").write_text("x")

    said = cli("score", "e.jsonl", "-o", "file/rows.jsonl")

    assert said.code == 2
    assert "error [unwritable-file]" in said.err


def test_show_finds_the_latest_run_of_a_case_in_the_default_folder(cli, folder: Path):
    runs = folder / ".agenttrace" / "runs" / "2026-11-30"
    write_artifact(runs / "run-1" / "rec.jsonl", refund_run("run-1", executed=[WRONG], start=0))
    write_artifact(runs / "run-2" / "rec.jsonl", refund_run("run-2", start=100))

    latest, first = cli("show", "refund"), cli("show", "run-1")

    assert (latest.code, first.code) == (0, 1)
    assert "run run-2" in latest.out
    assert "2 runs carry refund; the latest, run-2, is shown" in latest.err
    assert "scaled /amount_cents" in first.out
    assert first.out.splitlines()[-1] == "replay: agenttrace show run-1"


def test_show_gives_the_records_as_json(cli, folder: Path):
    write_artifact("e.jsonl", refund_run())
    write_cases(Path("cases.json"), "refund")

    (found,) = cli("show", "e.jsonl", "refund", "--cases", "cases.json", "--json").rows

    assert found["verdict"]["counts"]["exact"] is True
    kinds = [record["kind"] for record in found["records"]]
    assert kinds == ["response", "call", "adapt", "execution", "run"]


def test_show_of_what_is_not_there_lists_what_is(cli, folder: Path):
    write_artifact("e.jsonl", refund_run())

    said = cli("show", "e.jsonl", "refnud")

    assert said.code == 2
    assert "error [no-run]: e.jsonl: no run is called 'refnud'" in said.err
    assert "Cases and runs there: refund, run-1." in said.err


def test_show_reports_only_the_problems_of_the_runs_own_files(cli, folder: Path):
    write_artifact("runs/good.jsonl", refund_run())
    Path("runs/broken.jsonl").write_text("?")

    assert (cli("show", "runs", "run-1").code, cli("score", "runs").code) == (0, 2)


def test_hostile_text_reaches_neither_stream_unescaped(cli, folder: Path):
    hostile = "\x1b[2J\x07\u202e"
    write_artifact("e.jsonl", refund_run(hostile, case_id=hostile, executed=[{hostile: hostile}]))
    write_cases(Path("cases.json"), "refund")

    for words in (
        ("score", "e.jsonl"),
        ("score", "e.jsonl", "--json"),
        ("score", "e.jsonl", "--cases", "cases.json"),
        ("show", "e.jsonl", hostile),
        ("show", "e.jsonl", f"no{hostile}"),
    ):
        said = cli(*words)
        text = (said.out + said.err).replace("\n", "")
        assert text.isprintable()


def test_integers_beyond_any_float_are_printed_exactly(cli, folder: Path):
    big = 2**80 + 1
    write_artifact("e.jsonl", refund_run(executed=[{**ARGUMENTS, "amount_cents": big}]))

    assert cli("score", "e.jsonl", "--json").rows[0]["after"] == big


def test_no_command_prints_help_and_is_bad_input(cli):
    said = cli()

    assert said.code == 2
    assert "score" in said.err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])

    assert caught.value.code == 0
    assert capsys.readouterr().out == f"agenttrace {__version__}\n"


def test_an_unknown_option_is_bad_input(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["score", "e.jsonl", "--nonsense"])

    assert caught.value.code == 2


def test_python_m_agenttrace_is_the_command(folder: Path):
    write_artifact("e.jsonl", refund_run(executed=[WRONG]))

    with program("score", "e.jsonl", "--json") as running:
        out, err = running.communicate(timeout=60)

    assert running.returncode == 1, err
    assert json.loads(out)["owner"] == "executor"


def test_a_terminal_without_the_characters_still_shows_the_row(folder: Path):
    write_artifact("e.jsonl", refund_run(executed=[{**ARGUMENTS, "order_id": "Ä"}]))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}

    with program("score", "e.jsonl", env=environment) as running:
        out, err = running.communicate(timeout=60)

    assert running.returncode == 1, err
    assert b"\\xc4" in out


@pytest.mark.skipif(os.name == "nt", reason="pipes end differently there")
def test_a_reader_that_goes_away_ends_the_command_quietly(folder: Path):
    many = [r for n in range(300) for r in refund_run(f"run-{n}", executed=[WRONG])]
    write_artifact("e.jsonl", many)

    with program("score", "e.jsonl", "--json") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        err = running.stderr.read()
        code = running.wait(60)

    assert (code, err) == (141, b"")


@pytest.mark.parametrize("command", ["score", "show"])
def test_judging_saved_evidence_loads_no_tracer(folder: Path, command: str):
    write_artifact("e.jsonl", refund_run())
    code = (
        "import sys; from agenttrace.cli import main\n"
        f"main({[command, 'e.jsonl', *(['refund'] if command == 'show' else [])]!r})\n"
        "print(*(n for n in sys.modules if n.split('.')[0] in ('opentelemetry', 'wrapt')),"
        " file=sys.stderr)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stderr.splitlines()[-1] == ""


def masked_run(key: str) -> tuple[Record, ...]:
    redactor = load_redactor(key)
    masked = dict(redactor.mask_expected({**ARGUMENTS, "password": "hunter2"}))
    assert masked["password"] != "hunter2"
    return refund_run(raw=json.dumps(masked), executed=[masked])


def test_masked_values_are_judged_with_the_key_and_scoring_makes_none(
    cli, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    call = {"name": "issue_refund", "args": {**ARGUMENTS, "password": "hunter2"}}
    Path("cases.json").write_text(json.dumps({"id": "refund", "required": [call]}))
    write_artifact("e.jsonl", masked_run("k" * 32))
    words = ("score", "e.jsonl", "--cases", "cases.json", "--json")

    monkeypatch.setenv("AGENTTRACE_KEY", "k" * 32)
    with_key = cli(*words)
    monkeypatch.delenv("AGENTTRACE_KEY")
    without = cli(*words)

    assert with_key.rows[0]["verdict"] == "pass"
    assert without.rows[0]["verdict"] != "pass"
    assert sorted(one.name for one in folder.iterdir()) == ["cases.json", "e.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize(
    "words",
    [
        ("score",),
        ("score", "--json"),
        ("show",),
        pytest.param(("doctor",), marks=pytest.mark.slow),  # it imports every library
    ],
)
def test_a_full_disk_under_the_results_is_an_error_and_no_traceback(words, folder: Path):
    write_artifact("e.jsonl", refund_run())
    more = {"score": ["e.jsonl"], "show": ["e.jsonl", "run-1"]}.get(words[0], [])
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "agenttrace", *words, *more],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr.startswith(b"error [unwritable-file]: stdout: cannot be written")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("closed", [1, 2])
@pytest.mark.parametrize(("path", "code"), [("e.jsonl", 0), ("gone.jsonl", 2)])
def test_a_closed_stream_leaves_the_exit_code(closed, path, code, folder: Path):
    write_artifact("e.jsonl", refund_run())
    program = [sys.executable, "-m", "agenttrace", "score", path]
    shell = f'exec "$@" {closed}>&-'

    assert subprocess.run(["sh", "-c", shell, "sh", *program], check=False).returncode == code


def test_a_byte_order_mark_before_evidence_is_passed_over(cli, folder: Path):
    write_artifact("e.jsonl", refund_run(case_id=None))
    Path("e.jsonl").write_bytes(BOM_UTF8 + Path("e.jsonl").read_bytes())

    said = cli("score", "e.jsonl")
    assert (said.code, said.err) == (0, "")


def test_cases_that_are_not_there_are_said_to_be_so(cli, folder: Path):
    write_artifact("e.jsonl", refund_run())

    said = cli("score", "e.jsonl", "--cases", "cases")
    assert said.code == 2
    assert said.err.startswith("error [unreadable-file]: cases: cannot be read (No such file")
