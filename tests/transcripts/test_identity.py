"""Ids and digests of rows: made of what happened, and of nothing else."""

from __future__ import annotations

from pathlib import Path

from agenttrace.records import evidence_digest
from tests.transcripts.logs import chat_row, read, write_log


def test_a_row_that_stands_twice_is_judged_twice(cli):
    write_log(Path("log.jsonl"), [chat_row("a")] * 3)

    ids = [row["run_id"] for row in cli("score", "log.jsonl", "--json").rows]

    assert ids[1:] == [f"{ids[0]}-2", f"{ids[0]}-3"]


def test_the_digest_is_that_of_the_rows_content_wherever_it_stands(cli):
    plain = chat_row("a")
    turned = dict(reversed(list(chat_row("a", reward=1.0, expected=[]).items())))
    other = chat_row("a")
    other["messages"][4]["content"] = "refused"
    write_log(Path("one.jsonl"), [plain])
    write_log(Path("two.jsonl.gz"), ["", turned], packed=True)
    write_log(Path("three.jsonl"), [other])

    one, two, three = (
        cli("score", name, "--json").rows[0]
        for name in ("one.jsonl", "two.jsonl.gz", "three.jsonl")
    )

    assert one["evidence_digest"] == two["evidence_digest"] != three["evidence_digest"]
    assert one["run_id"] == two["run_id"] != three["run_id"]
    (read_back,) = read(Path("one.jsonl"))
    assert one["evidence_digest"] == evidence_digest(read_back.records)
