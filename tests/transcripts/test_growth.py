"""Rows are read, judged and let go: ten times the rows take ten times as long and no more room."""

from __future__ import annotations

import os
import time
import tracemalloc
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from agenttrace.cli import main
from tests.transcripts.logs import chat_call, chat_row, write_log

FEW, MANY = 100, 1000


def talk(number: int):
    row = chat_row(f"case-{number}", chat_call({"order_id": f"A-{number}"}))
    row["messages"][0]["content"] = "x" * 100_000
    return row


def score(path: Path) -> None:
    words = ["score", str(path), "--format", "openai-chat", "-o", os.devnull, "--json"]
    # What is printed would otherwise be kept in memory for the test to look at.
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        assert main([*words, "--save", str(path.with_suffix(".evidence"))]) == 1


def log(tmp_path: Path, rows: int) -> Path:
    return write_log(tmp_path / f"{rows}.jsonl.gz", map(talk, range(rows)), packed=True)


@pytest.mark.slow
def test_a_thousand_rows_take_hardly_more_room_than_a_hundred(tmp_path):
    def peak(path: Path) -> int:
        tracemalloc.start()
        score(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = log(tmp_path, FEW), log(tmp_path, MANY)
    score(few)  # what is loaded and cached once is none of the growth

    assert peak(many) < 1.5 * peak(few)


@pytest.mark.slow
def test_a_thousand_rows_take_ten_times_as_long_as_a_hundred(tmp_path):
    def seconds(path: Path) -> float:
        started = time.process_time()
        score(path)
        return time.process_time() - started

    few, many = log(tmp_path, FEW), log(tmp_path, MANY)
    seconds(few)

    fast = min(seconds(few) for _ in range(3))
    assert seconds(many) < 2 * (MANY / FEW) * fast
