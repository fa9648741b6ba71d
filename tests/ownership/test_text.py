"""Rows of a data set of 2,400 cases, all of one tool: bad calls told from traces of another case.

Every third row is healthy; in every third the agent carried the next case's order although it was
asked for its own; in every third the whole trace is another case's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agenttrace
from agenttrace.cli import main
from agenttrace.domain import Case, Evidence, Message, Outcome, RequiredCall, Response
from agenttrace.scoring import CaseValues, score
from agenttrace.testing import clean_run, isolated
from tests.builders import said

CASES = 2_400
STEP = 7
"""Every so many cases are judged."""
AGENT = ("fail", "model", "agent")
JOIN = ("inconclusive", "join", "evaluation-platform")


def order(number: int) -> str:
    return f"W{number * 7919 % 1_000_003:07}"


def case_of(number: int) -> Case:
    call = RequiredCall(name="get_order", arguments={"order": order(number), "lang": "en"})
    return Case(case_id=f"case-{number}", required=(call,))


def trace_of(asked: int, carried: int) -> Evidence:
    """What a request for one order led to."""
    messages = (
        Message(role="system", turn=1, content="Orders look like W0000000."),
        Message(role="user", turn=1, content=f"Where is my order #{order(asked)}?"),
    )
    return clean_run(
        ("get_order", {"order": order(carried), "lang": "en"}),
        responses=(Response(ref="r1", turn=1, calls=1, messages=messages),),
        outcome=Outcome(messages=messages),
    )


def test_each_row_has_the_owner_that_its_request_shows():
    cases = [case_of(number) for number in range(CASES)]
    others = CaseValues(cases)
    wrong = []
    for number, case in list(enumerate(cases))[::STEP]:
        other = (number + 1) % CASES
        run, right, code = (
            (trace_of(number, number), ("pass", "none", "none"), []),
            (trace_of(number, other), AGENT, ["values-of-other-case"]),
            (trace_of(other, other), JOIN, ["request-of-other-case"]),
        )[number % 3]
        verdict = score(case, run, others=others)
        told = [*verdict.causes, *verdict.findings]
        is_named = all(f"'case-{other}'" in one.detail for one in told)
        if (said(verdict), [one.code for one in told], is_named) != (right, code, True):
            wrong.append((number, said(verdict), told))

    assert wrong == []


@pytest.fixture
def recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unconfigured: None
) -> Iterator[Path]:
    """A folder of two cases; runs are recorded beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "cases"
    folder.mkdir()
    for number in (1, 2):
        one = {
            "id": f"case-{number}",
            "required": [{"name": "get_order", "args": {"order": order(number), "lang": "en"}}],
        }
        (folder / f"case-{number}.json").write_text(json.dumps(one), "utf-8")
    with isolated():
        agenttrace.configure(cases=folder, evidence=tmp_path / "evidence")
        yield folder


@agenttrace.trace
def get_order(order: str, lang: str) -> str:
    return "sent"


def answer(asked: str, case: str) -> Any:
    """One run of a case whose request asks for some order."""
    call = {"order": asked, "lang": "en"}
    response = {
        "id": "r1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "get_order", "arguments": json.dumps(call)},
                        }
                    ],
                },
            }
        ],
    }
    messages = [{"role": "user", "content": f"Where is order {asked}?"}]
    with agenttrace.run(case=case) as run:
        agenttrace.model_response(response, messages=messages)
        with agenttrace.adapter(name="get_order", call_id="c1", arguments=call, sees="all"):
            get_order(**call)
    return run


def test_a_folder_of_cases_is_enough_in_process_and_for_the_commands(
    recording: Path, capsys: pytest.CaptureFixture[str]
):
    run = answer(order(2), "case-1")

    assert said(run.verdict) == JOIN
    assert run.verdict.causes[0].code == "request-of-other-case"

    evidence = str(recording.parent / "evidence")
    for command in (
        ["score", evidence, "--cases", str(recording), "--json"],
        ["show", evidence, "case-1", "--cases", str(recording), "--json"],
    ):
        capsys.readouterr()
        main(command)
        row = json.loads(capsys.readouterr().out.splitlines()[0])
        row = row.get("verdict") if isinstance(row.get("verdict"), dict) else row
        assert (row["verdict"], row["first_divergence"]) == ("inconclusive", "join")
