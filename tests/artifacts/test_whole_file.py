from __future__ import annotations

import pytest

from agenttrace.artifacts import WholeFile, artifact_lines, read_artifact
from agenttrace.errors import UnwritableFileError
from tests.readers.sample_run import refund_run


def test_runs_that_come_one_by_one_make_one_evidence_file(tmp_path):
    path = tmp_path / "folder" / "e.jsonl"
    first, second = refund_run("run-1"), refund_run("run-2")

    with WholeFile(path) as file:
        file.write(artifact_lines(first))
        assert not path.exists()
        file.write(artifact_lines(second))

    content = read_artifact(path)
    assert [header.run_id for header in content.headers] == ["run-1", "run-2"]
    assert content.records == (*first, *second)


@pytest.mark.parametrize("end", ["discarded", "raised"])
def test_a_block_that_does_not_end_well_leaves_what_was_there(tmp_path, end):
    path = tmp_path / "e.jsonl"
    path.write_text("before")

    def fill() -> None:
        with WholeFile(path) as file:
            file.write(["after"])
            if end == "raised":
                raise KeyError
            file.discard()

    if end == "raised":
        with pytest.raises(KeyError):
            fill()
    else:
        fill()

    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_broken_pipe_of_the_reader_is_not_taken_for_an_unwritable_file(tmp_path):
    with pytest.raises(BrokenPipeError), WholeFile(tmp_path / "e.jsonl"):
        raise BrokenPipeError


def test_a_folder_that_is_a_file_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("x")

    with pytest.raises(UnwritableFileError):
        WholeFile(tmp_path / "file" / "e.jsonl")
