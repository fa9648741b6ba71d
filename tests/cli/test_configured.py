"""Commands read the folder that recording writes to, where no path is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenttrace.artifacts import write_artifact
from agenttrace.cli import main
from tests.readers.sample_run import ARGUMENTS, refund_run

WRONG = {**ARGUMENTS, "amount_cents": 980000}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.agenttrace]\nevidence = "kept/runs"\n')
    folder = tmp_path / "kept" / "runs"
    folder.mkdir(parents=True)
    write_artifact(folder / "e.jsonl", refund_run("run-1"))
    return folder


@pytest.mark.parametrize("words", [("score",), ("show", "run-1"), ("show", "refund")], ids=str)
def test_the_configured_folder_is_read(words, kept, capsys):
    assert main([*words]) == 0
    assert "PASS" in capsys.readouterr().out


def test_the_command_that_shows_a_failed_run_again_needs_no_path_either(kept, capsys):
    write_artifact(kept / "e.jsonl", refund_run("run-2", executed=[WRONG]))

    assert main(["score"]) == 1
    command = capsys.readouterr().out.split("replay: agenttrace ")[1].splitlines()[0]
    assert command == "show refund"
    assert main(command.split()) == 1


def test_from_a_folder_below_it_is_found_too(kept, capsys, monkeypatch):
    (kept / "deep").mkdir()
    monkeypatch.chdir(kept / "deep")

    assert main(["score"]) == 0


@pytest.mark.parametrize("words", [("score",), ("show", "run-1")], ids=str)
def test_a_folder_that_is_not_there_is_named(words, kept, capsys, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_EVIDENCE", "elsewhere")

    assert main([*words]) == 2
    assert "elsewhere" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("score",), ("show", "run-1")], ids=str)
@pytest.mark.parametrize("is_there", [True, False])
def test_before_anything_was_recorded_that_is_what_is_said(
    words, is_there, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    if is_there:
        (tmp_path / ".agenttrace" / "runs").mkdir(parents=True)

    assert main([*words]) == 2
    said = capsys.readouterr().err
    assert "[no-run]" in said
    assert "nothing was recorded yet in" in said
    assert "permission" not in said


@pytest.mark.parametrize("words", [("score",), ("show", "run-1")], ids=str)
def test_without_a_folder_a_path_is_asked_for(words, kept, capsys, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_EVIDENCE", "off")

    assert main([*words]) == 2
    said = capsys.readouterr().err
    assert "AGENTTRACE_EVIDENCE" in said
    assert "Name a file or folder" in said
