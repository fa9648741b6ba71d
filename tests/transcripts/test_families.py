"""False calls by the family of their tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.transcripts.logs import ARGUMENTS, chat_call, chat_row, write_log

WRONG = {**ARGUMENTS, "amount_cents": 980000}

FAMILIES = {
    "tools": {"issue_refund": "writes", "get_order": "reads", "get_user": "reads"},
    "families": {"writes": ["issue_refund"], "reads": ["get_order", "get_user"]},
    "groups": {
        "shop": {"writes": ["issue_refund"], "reads": ["get_order"]},
        "people": {"reads": ["get_user"]},
    },
}


@pytest.mark.parametrize("form", FAMILIES)
def test_false_calls_are_counted_by_the_family_of_their_tool(cli, form):
    Path("families.json").write_text(json.dumps(FAMILIES[form]))
    get = chat_call({"id": 1}, name="get_order")
    ping = chat_call({}, name="ping")
    rows = [
        chat_row("a"),
        chat_row("b", chat_call(), get, get, ping),
        chat_row("c", chat_call(WRONG)),
        chat_row("d", messages=[]),
    ]
    write_log(Path("log.jsonl"), rows)

    said = cli("score", "log.jsonl", "--json", "--families", "families.json")

    assert [row["families"] for row in said.rows] == [
        {},
        {"reads": {"fp": 2, "fn": 0}, "unlisted": {"fp": 1, "fn": 0}},
        {"writes": {"fp": 1, "fn": 1}},
        {"writes": {"fp": 0, "fn": 1}},
    ]
    assert said.err.splitlines()[-3:] == [
        "family writes: right in 2 of 4 rows with a plan · false positives 1 · false negatives 2",
        "family reads: right in 2 of 4 rows with a plan · false positives 2 · false negatives 0",
        "family unlisted: right in 2 of 4 rows with a plan · false positives 1 · false negatives 0",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "families.json: holds no object."),
        ("{", "families.json:1: is no JSON (column 2"),
        ('{"a": {"b": 3}}', "families.json: holds no object, text or list of texts under 'b'"),
        ('{"a": ["t"], "b": ["t"]}', "puts the tool 't' into two families, 'a' and 'b'"),
    ],
)
def test_families_of_another_form_stop_before_anything_is_judged(cli, text, said):
    Path("families.json").write_text(text)
    write_log(Path("log.jsonl"), [chat_row("a")])

    found = cli("score", "log.jsonl", "--families", "families.json")

    assert (found.code, found.out) == (2, "")
    assert said in found.err
