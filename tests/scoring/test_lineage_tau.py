"""Lineage on recorded conversations, beside a plain full-text search that shares no code with it.

The search here knows nothing of evidence: it reads the rows of the log as they are, message after
message, and says at which places a value may be said to stand first.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from agenttrace.domain import Boundary, Evidence, Origin, Status
from agenttrace.readers.transcripts import TranscriptFormat, read_transcripts
from agenttrace.scoring import score, trace_value
from tests.cases.judged import shared_folder

FOLDER = shared_folder() / "data" / "tau_bench"
NAMES = ("agentrx-retail", "gpt-4o-airline", "preconditions-retail", "tau2-raw")
FILES = [FOLDER / f"{name}.jsonl.gz" for name in NAMES]
pytestmark = pytest.mark.skipif(
    not all(file.is_file() for file in FILES), reason=f"no recorded chats at {FOLDER}"
)
CALLS = 220
MOST_FAILING = 80
SEED = 20261130
Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One value of one call."""

    row: int
    turn: int
    index: int
    value: Any


@cache
def rows() -> list[Row]:
    found = []
    for file in FILES:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            found += [json.loads(line) for line in lines]
    return found


@cache
def transcripts() -> list[Any]:
    return list(read_transcripts(*FILES, form=TranscriptFormat.OPENAI_CHAT))


@cache
def evidence_of(row: int) -> Evidence:
    evidence: Evidence = transcripts()[row].evidence()
    return evidence


def turns(row: Row) -> Iterator[tuple[int, Row]]:
    """Each message with the number of model answers before it, itself counted."""
    answers = 0
    for message in row["messages"]:
        answers += message["role"] == "assistant"
        yield answers, message


def calls(message: Row) -> list[Any]:
    """The arguments of a message's calls; None where they are no JSON object."""
    found = []
    for entry in message.get("tool_calls") or ():
        part = entry.get("function", entry)
        arguments = part["arguments"]
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                arguments = None
        found.append(arguments)
    return found


def flat(value: Any, at: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Pointer, value and whether it is a member's name, for every member at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
            yield here, key, True
            yield from flat(item, here)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from flat(item, f"{at}/{place}")
    else:
        yield at, value, False


def pattern(value: Any) -> re.Pattern[str]:
    """The value's own text as a whole token."""
    text = value if isinstance(value, str) else json.dumps(value)
    before = after = ""
    if re.match(r"\w", text):
        before += r"(?<!\w)(?<!\w[-.@])"
    if re.search(r"\w\Z", text):
        after += r"(?!\w)(?![-.@]\w)"
    if re.fullmatch(r"[+-]?[\d,]+(\.\d+)?", text):
        before += r"(?<![-.])(?<!\d,)" if text[0].isdigit() else ""
        after += r"(?!,\d)"
    return re.compile(before + re.escape(text) + after)


def places_in(content: Any, value: Any) -> set[str]:
    """Pointers at which the value itself stands in a tool's result."""
    token = pattern(value)
    if isinstance(content, str):
        if content.lstrip()[:1] not in ("{", "["):
            return {""} if token.search(content) else set()
        try:
            content = json.loads(content)
        except ValueError:
            return {""} if token.search(content) else set()
    found = set()
    for at, one, is_name in flat(content):
        same = type(one) is type(value) and one == value
        within = isinstance(one, str) and not is_name and token.search(one)
        if within and not isinstance(value, str) and one.strip() == json.dumps(value):
            within = None
        if same or within:
            found.add(at)
    return found


def stood_first(row: Row, asked: Asked) -> tuple[str, int, set[str]]:
    """Place, turn and pointers of the first message that holds the value."""
    for turn, message in turns(row):
        content, role = message.get("content"), message["role"]
        if role == "tool":
            found = places_in(content, asked.value)
            if found:
                return "tool_result", turn, found
            continue
        text = content if isinstance(content, str) else ""
        if pattern(asked.value).search(text):
            return role, turn if role == "assistant" else turn + 1, {""}
        if role != "assistant":
            continue
        for place, arguments in enumerate(calls(message)):
            is_own = (turn, place) == (asked.turn, asked.index)
            if is_own or places_in(arguments, asked.value):
                return "arguments", turn, {""}
    raise AssertionError("the call itself holds the value")


def says_something(value: Any) -> bool:
    """Whether a value is more than a truth value, a sign or a digit."""
    if isinstance(value, str):
        return len(value.strip()) > 1 and any(map(str.isalnum, value))
    if isinstance(value, bool) or value is None:
        return False
    return abs(value) >= 10 or value != int(value)


@cache
def all_calls() -> list[tuple[int, int, int, Any]]:
    return [
        (number, turn, index, arguments)
        for number, row in enumerate(rows())
        for turn, message in turns(row)
        if message["role"] == "assistant"
        for index, arguments in enumerate(calls(message))
        if arguments
    ]


@cache
def chosen() -> list[Asked]:
    """Every value that says something of so many calls, chosen by a fixed seed."""
    sample = random.Random(SEED).sample(all_calls(), CALLS)
    return [
        Asked(row, turn, index, value)
        for row, turn, index, arguments in sample
        for _, value, is_name in flat(arguments)
        if not is_name and says_something(value)
    ]


def ref_of(asked: Asked) -> str:
    (ref,) = (
        call.ref
        for call in evidence_of(asked.row).model
        if (call.turn, call.index) == (asked.turn, asked.index)
    )
    return ref


def differs(origin: Origin | None, row: Row, asked: Asked) -> bool:
    """Whether another place is named than the search has; a log that begins with an answer of the
    model's holds no prompt, and then nothing is the model's own for sure."""
    place, turn, paths = stood_first(row, asked)
    if place == "arguments" and row["messages"][0]["role"] == "assistant":
        return origin is not None and origin.rendering is None
    if origin is None or origin.rendering is not None:
        return True
    return (origin.place.value, origin.turn) != (place, turn) or origin.path not in paths


def test_every_place_is_that_of_a_full_text_search():
    found = [
        (one, trace_value(evidence_of(one.row), one.value, ref_of(one)), rows()[one.row])
        for one in chosen()
    ]

    wrong = [
        (one, lineage.observed, stood_first(row, one))
        for one, lineage, row in found
        if differs(lineage.observed, row, one)
    ]
    assert wrong == []
    assert len({(one.row, one.turn, one.index) for one, _, _ in found}) >= 200
    assert {lineage.observed.place.value for _, lineage, _ in found if lineage.observed} >= {
        "user",
        "tool_result",
        "arguments",
    }


def test_the_wrong_values_of_failing_rows_have_the_places_of_a_full_text_search():
    asked = 0
    for number, transcript in enumerate(transcripts()):
        if transcript.case is None:
            continue
        verdict = score(transcript.case, evidence_of(number), compare=Boundary.MODEL)
        lineage = verdict.lineage
        if verdict.status is not Status.FAIL or lineage is None or not says_something_of(lineage):
            continue
        call = next(chain for chain in verdict.chains if chain.key == verdict.divergences[0].call)
        (ref,) = call.records[Boundary.MODEL]
        own = next(one for one in evidence_of(number).model if one.ref == ref)
        assert own.turn is not None
        assert own.index is not None
        one = Asked(number, own.turn, own.index, lineage.value)
        assert not differs(lineage.observed, rows()[number], one), (one, lineage)
        asked += 1

        if asked == MOST_FAILING:
            break

    assert asked >= 50


def says_something_of(lineage: Any) -> bool:
    value = lineage.value
    return isinstance(value, str | int | float) and says_something(value)
