"""The line of lineage at the terminal and its keys in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenttrace.domain import Evidence, JsonValue, Message, Outcome, Verdict
from agenttrace.report import terminal_verdict, verdict_to_json
from agenttrace.scoring import score
from tests.builders import case, clean_run, due


def judged(
    *messages: Message, wrong: JsonValue = 8900, right: JsonValue = 9800
) -> tuple[Verdict, Evidence]:
    run = clean_run(
        ("get_order", {"id": "A-104"}),
        ("refund", {"cents": wrong}),
        outcome=Outcome(messages=messages),
    )
    return score(case(due("get_order", {"id": "A-104"}), due("refund", {"cents": right})), run), run


def said(content: JsonValue, role: str = "user", turn: int = 1, **more: Any) -> Message:
    return Message(role=role, content=content, turn=turn, **more)


def line(*messages: Message, **values: JsonValue) -> str:
    """The line of lineage in one piece, empty where there is none."""
    text = terminal_verdict(*judged(*messages, **values), width=400)
    return next((one.strip() for one in text.splitlines() if "lineage: " in one), "")


ROWS = said({"rows": [{"id": 1}, {"id": 8900}]}, "tool", call_id="c0")


def test_both_values_and_the_calls_are_named():
    assert line(said("It was 9800."), ROWS) == (
        "lineage: 8900 first in tool_result of get_order (turn 1) /rows/1/id; "
        "expected 9800 first in user message (turn 1); carried by c1"
    )


def test_another_rendering_is_named_beside_the_value():
    assert "8900 first in the model's own arguments of c1 (turn 2) (before that scaled in user" in (
        line(said("It was $89, not 9800."))
    )


def test_an_expected_value_that_stands_nowhere_is_said_to():
    assert "expected 9800 nowhere in the run" in line(said("Go on."))


def test_what_was_not_recorded_is_said():
    assert "expected 9800 cannot be placed: some messages" in line(
        said(None, length=12), said("8900")
    )


def test_a_value_that_means_nothing_is_said_to():
    assert "lineage: 1 is too common to have a place" in line(said("1 or 2"), wrong=1)


def test_nothing_is_said_where_nothing_is_known():
    assert line() == ""


def test_values_of_messages_cannot_fake_a_line():
    assert "\x1b" not in line(said("K\x1b[2J9 x"), wrong="K\x1b[2J9")


def test_json_has_every_field():
    verdict, _ = judged(said("It was $89, not 9800."), ROWS)

    plain = json.loads(json.dumps(verdict_to_json(verdict)["lineage"]))

    place = {"place": "tool_result", "turn": 1, "path": "/rows/1/id", "call": "c0"}
    assert plain == {
        "path": "/cents",
        "value": 8900,
        "expected_value": 9800,
        "observed": {**place, "tool": "get_order", "match": "exact", "rendering": None},
        "observed_earlier": {
            "place": "user",
            "turn": 1,
            "path": "",
            "call": None,
            "tool": None,
            "match": "rendered",
            "rendering": "scaled",
        },
        "expected": {
            "place": "user",
            "turn": 1,
            "path": "",
            "call": None,
            "tool": None,
            "match": "exact",
            "rendering": None,
        },
        "expected_earlier": None,
        "carried_by": ["c1"],
        "too_common": False,
        "expected_too_common": False,
        "unseen": [],
        "expected_unseen": [],
        "note": None,
    }


@pytest.mark.parametrize("right", [8900])
def test_a_row_that_passes_has_none(right: JsonValue):
    verdict, _ = judged(said("8900"), right=right)

    assert verdict_to_json(verdict)["lineage"] is None
