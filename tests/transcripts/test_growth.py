"""Rows are read, judged and let go: more rows take no more room, and steps in proportion."""

from __future__ import annotations

import os
import tracemalloc
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from agenttrace.cli import main
from tests.support.steps import grows_linearly
from tests.transcripts.logs import chat_call, chat_row, write_log

FEW, MANY = 30, 300


def talk(number: int):
    row = chat_row(f"case-{number}", chat_call({"order_id": f"A-{number}"}))
    row["messages"][0]["content"] = "x" * 20_000
    return row


def score(path: Path) -> None:
    words = ["score", str(path), "--format", "openai-chat", "-o", os.devnull, "--json"]
    # What is printed would otherwise be kept in memory for the test to look at.
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        assert main([*words, "--save", str(path.with_suffix(".evidence"))]) == 1


def log(tmp_path: Path, rows: int) -> Path:
    return write_log(tmp_path / f"{rows}.jsonl.gz", map(talk, range(rows)), packed=True)


@pytest.mark.slow
def test_ten_times_the_rows_take_hardly_more_room(tmp_path):
    def peak(path: Path) -> int:
        tracemalloc.start()
        score(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = log(tmp_path, FEW), log(tmp_path, MANY)
    score(few)  # what is loaded and cached once is none of the growth

    assert peak(many) < 1.5 * peak(few)


def test_eight_times_the_rows_take_eight_times_the_steps(tmp_path):
    logs = {rows: log(tmp_path, rows) for rows in (5, 40)}

    assert grows_linearly(lambda rows: score(logs[rows]), 5)
