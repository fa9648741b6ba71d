"""What `score` writes beside the verdicts, and what it must never write over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenttrace.artifacts import WholeFile
from agenttrace.cli import _kept
from agenttrace.errors import UnwritableFileError
from tests.transcripts.logs import chat_row, write_log

NEEDS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")


@pytest.mark.parametrize("option", ["--save", "-o"])
@pytest.mark.parametrize("name", ["log.jsonl", "./sub/../log.jsonl", "soft.jsonl", "hard.jsonl"])
@pytest.mark.parametrize("given", ["log.jsonl", "."])
def test_a_file_that_is_read_is_not_written_over_by_any_name(cli, option, name, given):
    log = write_log(Path("log.jsonl"), [chat_row("a")])
    Path("sub").mkdir()
    Path("soft.jsonl").symlink_to(log)
    Path("hard.jsonl").hardlink_to(log)
    before = log.read_bytes()

    said = cli("score", "--format", "openai-chat", given, option, name)

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error [unwritable-file]: {Path(name)}: cannot be written (it is")
    assert "Nothing was scored and no file was changed. Name another file." in said.err
    assert log.read_bytes() == before


@pytest.mark.parametrize("option", ["--save", "-o"])
@pytest.mark.parametrize("given", [("--families", "more.json"), ("--cases", "more.json")])
def test_cases_and_families_are_not_written_over(cli, option, given):
    write_log(Path("log.jsonl"), [chat_row("a")])
    Path("more.json").write_text('{"id": "a"}')

    said = cli("score", "--format", "openai-chat", "log.jsonl", *given, option, "more.json")

    assert (said.code, Path("more.json").read_text()) == (2, '{"id": "a"}')
    assert "it is one of the files to be read" in said.err


def test_rows_and_evidence_do_not_go_into_one_file(cli):
    write_log(Path("log.jsonl"), [chat_row("a")])

    said = cli("score", "--format", "openai-chat", "log.jsonl", "--save", "new", "-o", "new")

    assert (said.code, said.out, Path("new").exists()) == (2, "", False)


@pytest.mark.parametrize("option", ["--save", "-o"])
def test_a_folder_is_refused_before_anything_is_judged(cli, option):
    write_log(Path("log.jsonl"), [chat_row("a")])
    Path("sub").mkdir()

    said = cli("score", "--format", "openai-chat", "log.jsonl", option, "sub")

    assert (said.code, said.out) == (2, "")
    assert "error [unwritable-file]: sub: cannot be written" in said.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
def test_a_pipe_or_a_device_keeps_its_name(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(UnwritableFileError, match="it is no regular file"):
        WholeFile(pipe)

    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@NEEDS_FULL
def test_a_disk_that_is_full_costs_no_verdict(cli):
    write_log(Path("log.jsonl"), [chat_row("a"), chat_row("b")])

    said = cli("score", "--format", "openai-chat", "log.jsonl", "-o", "/dev/full")

    assert said.code == 2
    assert said.out.startswith("PASS  a\nPASS  b\n2 rows: 2 passed")
    assert "error [unwritable-file]: /dev/full: cannot be written" in said.err


def test_evidence_that_cannot_be_saved_costs_no_verdict(cli, monkeypatch):
    write_log(Path("log.jsonl"), [chat_row("a"), chat_row("b")])
    Path("saved.jsonl").write_text("before")

    class Full(WholeFile):
        def write(self, lines):
            raise UnwritableFileError("saved.jsonl", "No space left on device")

    monkeypatch.setattr(_kept, "WholeFile", Full)
    said = cli("score", "--format", "openai-chat", "log.jsonl", "--save", "saved.jsonl")

    assert said.code == 2
    assert said.out.startswith("PASS  a\nPASS  b\n2 rows: 2 passed")
    assert said.err.count("No space left on device") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["log.jsonl", "saved.jsonl"]
    assert Path("saved.jsonl").read_text() == "before"
