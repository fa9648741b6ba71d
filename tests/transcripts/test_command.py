"""`agenttrace score` and `agenttrace show` on chat logs."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agenttrace.artifacts import write_artifact
from agenttrace.cli import main
from agenttrace.redaction import load_redactor
from tests.readers.sample_run import refund_run
from tests.transcripts.logs import ARGUMENTS, PLAN, chat_call, chat_row, write_log
from tests.transcripts.test_other_formats import BLOCKS, ITEMS

WRONG = {**ARGUMENTS, "amount_cents": 980000}


def write_cases(path: Path, *documents) -> Path:
    path.write_text(json.dumps(list(documents)))
    return path


def test_rows_are_judged_by_the_plan_they_carry(cli):
    write_log(Path("log.jsonl"), [chat_row("a"), chat_row("b", chat_call(WRONG))])

    said = cli("score", "--format", "openai-chat", "log.jsonl")

    assert (said.code, said.err) == (1, "")
    lines = said.out.splitlines()
    assert lines[0] == "PASS  a"
    assert lines[1:3] == [
        "FAIL  b",
        "  first divergence: model · scaled /amount_cents · owner: agent",
    ]
    assert lines[-4:] == [
        "2 rows: 1 passed, 1 failed, 0 inconclusive",
        "exact: 1 of 2 rows with a plan · false positives 1 · false negatives 1",
        "first divergence: model 1",
        "owner: agent 1",
    ]


def test_the_picture_ends_with_the_command_that_shows_the_row_again(cli):
    write_log(Path("log.jsonl"), [chat_row("b", chat_call(WRONG)), chat_row("b")])

    for words in (("--format", "openai-chat"), ()):
        said = cli("score", "log.jsonl", *words)
        command = next(line for line in said.out.splitlines() if line.startswith("replay: "))
        again = cli(*command.split()[2:])

        assert again.code == 1
        assert again.out.splitlines() == said.out.splitlines()[: len(again.out.splitlines())]
        assert ("--format openai-chat" in command) == bool(words)


def test_json_rows_say_where_each_row_stands(cli):
    write_log(Path("log.jsonl"), ["", chat_row("a")])

    (row,) = cli("score", "log.jsonl", "--json").rows

    assert row["place"] == "log.jsonl:2"
    assert (row["verdict"], row["compare"], row["counts"]["exact"]) == ("pass", "model", True)
    assert row["case_revision"].startswith("sha256:")


@pytest.mark.parametrize(
    ("row", "form"),
    [
        (chat_row("refund"), "openai-chat"),
        (
            {
                "case_id": "refund",
                "expected": [*PLAN, {"name": "ping", "args": {}}],
                "items": ITEMS,
            },
            "openai-responses",
        ),
        (BLOCKS, "anthropic-messages"),
    ],
)
def test_each_format_is_recognised_said_on_stderr_and_judged_alike(cli, row, form):
    write_log(Path("log.jsonl"), [row])

    told, recognised = (
        cli("score", "log.jsonl", "--json", "--format", form),
        cli("score", "log.jsonl", "--json"),
    )

    assert told.rows == recognised.rows
    assert told.rows[0]["verdict"] == "pass"
    assert f"note: log.jsonl is read as {form}, told by its first row; --format" in recognised.err
    assert "note:" not in told.err


def test_a_file_of_no_known_shape_is_one_error_that_names_the_option(cli):
    write_log(Path("other.jsonl"), [{"question": "?", "answer": "!"}])
    write_log(Path("log.jsonl"), [chat_row("a")])

    said = cli("score", "other.jsonl", "log.jsonl")

    assert said.code == 2
    assert "error [malformed-file]: other.jsonl: is neither evidence nor a chat log" in said.err
    assert "an object with 'question', 'answer'" in said.err
    assert "--format: openai-chat, openai-responses, anthropic-messages" in said.err
    assert said.out.startswith("PASS  a\n")


def test_a_blank_row_is_inconclusive_and_never_exact(cli):
    rows = [
        chat_row("died", messages=[]),
        chat_row("null", messages=None),
        chat_row("nothing-due", messages=[], expected=[]),
        {"case_id": "absent", "expected": []},
        chat_row("user-only", messages=[{"role": "user", "content": "hi"}], expected=[]),
    ]
    write_log(Path("log.jsonl"), rows)

    said = cli("score", "log.jsonl", "--json", "--format", "openai-chat")

    assert said.code == 0
    assert len(said.rows) == 5
    for row in said.rows:
        assert (row["verdict"], row["first_divergence"]) == ("inconclusive", "instrumentation")
        assert [cause["code"] for cause in row["causes"]] == ["blank"]
        assert row["counts"]["exact"] is False
        assert row["boundaries"]["model"]["exact"] is False
    assert cli("score", "log.jsonl", "--format", "openai-chat", "--strict").code == 1


def test_a_run_that_rightly_called_nothing_passes(cli):
    talk = [{"role": "assistant", "content": "I cannot do that."}]
    write_log(Path("log.jsonl"), [chat_row("refusal", messages=talk, expected=[])])

    (row,) = cli("score", "log.jsonl", "--json").rows

    assert (row["verdict"], row["counts"]["exact"], row["counts"]["f1"]) == ("pass", True, None)


def test_text_that_is_no_json_matches_nothing_and_is_shown_as_it_is(cli):
    text = "{'order_id': 'A-104', 'amount_cents': 9800}"
    write_log(Path("log.jsonl"), [chat_row("repr", chat_call(text))])

    (row,) = cli("score", "log.jsonl", "--json").rows

    assert (row["verdict"], row["kind"], row["owner"]) == ("fail", "malformed", "provider")
    assert row["extra"] == [{"name": "issue_refund", "args_raw": text}]
    assert (row["counts"]["tp"], row["counts"]["fp"], row["counts"]["fn"]) == (0, 1, 1)


def test_bad_rows_are_said_with_file_and_line_and_the_others_are_judged(cli):
    rows = [chat_row(f"case-{n}") for n in range(1, 13)]
    write_log(Path("log.jsonl.gz"), [*rows[:6], '{"messages": 3}', *rows[7:]], packed=True)

    said = cli("score", "log.jsonl.gz", "--json")

    assert said.code == 2
    assert len(said.rows) == 11
    assert {row["verdict"] for row in said.rows} == {"pass"}
    (error,) = [line for line in said.err.splitlines() if line.startswith("error")]
    assert error.startswith(
        "error [malformed-file]: log.jsonl.gz:7: the row does not fit openai-chat"
    )


def test_a_row_without_a_plan_and_a_case_is_judged_by_itself(cli):
    row = chat_row("a")
    del row["expected"], row["case_id"]
    write_log(Path("log.jsonl"), [row])

    (found,) = cli("score", "log.jsonl", "--json").rows

    assert (found["verdict"], found["case_id"], found["counts"]["tp"]) == ("pass", None, None)
    assert found["run_id"].startswith("row@")


def test_a_given_case_replaces_the_rows_own_plan(cli):
    write_log(Path("log.jsonl"), [chat_row("a"), chat_row("b", chat_call(WRONG))])
    calls = [{"name": "issue_refund", "args": WRONG}]
    cases = write_cases(
        Path("cases.json"),
        {"id": "a", "required": calls},
        {"id": "b", "required": calls},
        {"id": "c", "required": calls},
    )

    said = cli("score", "log.jsonl", "--json", "--cases", cases)

    assert [row["verdict"] for row in said.rows] == ["fail", "pass"]
    assert "1 case has no run here, so nothing of it was judged: c" in said.err


def test_a_row_of_an_unknown_case_is_an_error_of_itself_alone(cli):
    write_log(Path("log.jsonl"), [chat_row("gone"), chat_row("a")])
    cases = write_cases(Path("cases.json"), {"id": "a", "required": PLAN})

    said = cli("score", "log.jsonl", "--json", "--cases", cases)

    assert said.code == 2
    assert [row["case_id"] for row in said.rows] == ["a"]
    assert "error [unknown-case]: log.jsonl:1: No case 'gone' was found" in said.err


def test_a_case_or_an_option_that_asks_for_the_executor_cannot_be_decided(cli):
    write_log(Path("log.jsonl"), [chat_row("a")])
    cases = write_cases(Path("cases.json"), {"id": "a", "required": PLAN, "compare": "executor"})

    for words in (("--cases", cases), ("--compare", "executor")):
        (row,) = cli("score", "log.jsonl", "--json", *words).rows

        assert (row["verdict"], row["counts"]["f1"]) == ("inconclusive", None)
        assert [cause["code"] for cause in row["causes"]] == ["boundary-not-recorded"]


def test_evidence_and_logs_are_judged_in_one_go_each_at_its_own_boundary(cli):
    write_artifact("runs/e.jsonl", refund_run())
    write_log(Path("runs/log.jsonl.gz"), [chat_row("refund")], packed=True)
    cases = write_cases(Path("cases.json"), {"id": "refund", "required": PLAN})

    for paths in (["runs"], ["runs/log.jsonl.gz", "runs/e.jsonl"]):
        rows = cli("score", *paths, "--json", "--cases", cases).rows

        assert [(row["compare"], row["verdict"]) for row in rows] == [
            ("executor", "pass"),
            ("model", "pass"),
        ]


def test_a_folder_without_a_log_is_said_to_have_none(cli):
    Path("empty").mkdir()

    said = cli("score", "empty", "--format", "openai-chat")

    assert said.code == 2
    assert "error [unreadable-file]: empty: there is no chat log in this folder" in said.err


def test_trials_of_one_case_keep_apart_and_show_takes_either(cli):
    rows = [chat_row("a", trial=0), chat_row("a", chat_call(WRONG), trial=1)]
    write_log(Path("log.jsonl"), rows)

    said = cli("score", "log.jsonl", "--json")
    first, second = said.rows
    latest = cli("show", "log.jsonl", "a")
    named = cli("show", "log.jsonl", first["run_id"], "--json")

    assert [first["attempt"], second["attempt"]] == [1, 2]
    assert latest.code == 1
    assert "2 rows carry a; the last" in latest.err
    (shown,) = named.rows
    assert shown["verdict"]["run_id"] == first["run_id"]
    assert [r["kind"] for r in shown["records"]] == [
        "response",
        "response",
        "call",
        "response",
        "run",
    ]
    assert "error [no-run]: log.jsonl: no row is called 'b'" in cli("show", "log.jsonl", "b").err


def test_saved_evidence_gives_the_same_verdicts_and_digests(cli):
    rows = [chat_row("a"), chat_row("b", chat_call(WRONG)), chat_row("c", messages=[])]
    write_log(Path("log.jsonl"), rows)
    plans = {"a": PLAN, "b": PLAN, "c": []}
    cases = write_cases(
        Path("cases.json"),
        *({"id": one, "required": plan, "compare": "model"} for one, plan in plans.items()),
    )

    first = cli("score", "log.jsonl", "--json", "--cases", cases, "--save", "kept/e.jsonl")
    again = cli("score", "kept/e.jsonl", "--json", "--cases", cases)

    def told(row):
        return {key: value for key, value in row.items() if key != "place"}

    assert [told(row) for row in first.rows] == again.rows
    assert [row["verdict"] for row in again.rows] == ["pass", "fail", "inconclusive"]
    assert [row["counts"]["exact"] for row in again.rows] == [True, False, False]


def test_nothing_is_saved_where_nothing_was_judged(cli):
    write_log(Path("log.jsonl"), ['{"messages": 3}'])
    Path("e.jsonl").write_text("before")

    said = cli("score", "log.jsonl", "--save", "e.jsonl", "-o", "rows.jsonl")

    assert said.code == 2
    assert "no run was judged" in said.err
    assert Path("e.jsonl").read_text() == "before"
    assert sorted(one.name for one in Path().iterdir()) == ["e.jsonl", "log.jsonl"]


def test_a_place_that_cannot_be_written_is_one_clear_error(cli):
    write_log(Path("log.jsonl"), [chat_row("a")])
    Path("file").write_text("x")

    for option in ("--save", "-o"):
        said = cli("score", "log.jsonl", option, "file/out.jsonl")

        assert said.code == 2
        assert "error [unwritable-file]: file/out.jsonl" in said.err


def test_a_log_is_not_masked_so_neither_are_expected_values(cli, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_KEY", "k" * 32)
    arguments = {"user": "ada", "password": "hunter2"}
    assert load_redactor("k" * 32).mask_expected(arguments) != arguments
    plan = [{"name": "log_in", "args": arguments}]
    write_log(
        Path("log.jsonl"), [chat_row("a", chat_call(arguments, name="log_in"), expected=plan)]
    )
    cases = write_cases(Path("cases.json"), {"id": "a", "required": plan, "compare": "model"})

    said = cli("score", "log.jsonl", "--json", "--save", "e.jsonl")
    again = cli("score", "e.jsonl", "--json", "--cases", cases)

    assert [said.rows[0]["verdict"], again.rows[0]["verdict"]] == ["pass", "pass"]


def test_show_looks_into_logs_and_evidence_alike(cli):
    write_artifact("runs/e.jsonl", refund_run("run-1"))
    write_log(Path("runs/log.jsonl"), [chat_row("a")])
    write_log(Path("other.jsonl"), [{"question": "?"}])

    assert [cli("show", "runs", name).code for name in ("a", "run-1")] == [0, 0]
    lost = cli("show", "other.jsonl", "a")
    assert lost.code == 2
    assert "Say what a chat log holds with --format" in lost.err


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no such file here")
def test_a_log_may_come_through_a_pipe(tmp_path, name):
    write_log(tmp_path / "log.jsonl.gz", [chat_row("a"), chat_row("b")], packed=True)
    words = [sys.executable, "-m", "agenttrace", "score", "--format", "openai-chat", name]

    done = subprocess.run(
        words,
        input=(tmp_path / "log.jsonl.gz").read_bytes(),
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"PASS  a\nPASS  b\n")


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no such file here")
def test_without_a_format_a_pipe_is_not_read(tmp_path, name):
    words = [sys.executable, "-m", "agenttrace", "score", name]

    done = subprocess.run(
        words,
        input=json.dumps(chat_row("a")).encode(),
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (2, b"")
    said = f"error [unreadable-file]: {name}: comes through a pipe, so what it holds cannot be told"
    assert done.stderr.decode().startswith(said)
    assert "Say what a chat log holds with --format: openai-chat," in done.stderr.decode()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_how_far_it_is_to_a_person_alone(cli, monkeypatch):
    write_log(Path("log.jsonl"), [chat_row(f"case-{n}") for n in range(250)])
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    main(["score", "log.jsonl", "--format", "openai-chat"])

    shown = screen.getvalue()
    assert "\rjudged 100 rows, " in shown
    assert shown.endswith("\rjudged 250 rows, all of the files\n")


def test_hostile_text_of_a_log_reaches_neither_stream_unescaped(cli):
    hostile = "\x1b[2J\x07\u202e"
    row = chat_row(hostile, chat_call({hostile: hostile}, name=hostile), expected=[])
    write_log(Path("log.jsonl"), [row, chat_row("b", messages=[{"role": hostile}])])

    for words in ((), ("--json",)):
        said = cli("score", "log.jsonl", "--format", "openai-chat", *words)

        assert (said.out + said.err).replace("\n", "").isprintable()
