from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.contracts import parse_case
from agenttrace.domain import (
    MISSING,
    Boundary,
    Case,
    Cause,
    Divergence,
    Evidence,
    First,
    Kind,
    Owner,
    Status,
    Verdict,
)
from agenttrace.records import assemble
from agenttrace.report import replay_command, terminal_verdict
from agenttrace.scoring import score
from tests.readers.sample_run import ARGUMENTS, refund_run

CALL = {"name": "issue_refund", "args": {"order_id": "A-104", "amount_cents": 9800}}


def case_of(*required: dict[str, Any]) -> Case:
    return parse_case(
        {"id": "refund", "revision": "r1", "required": list(required or [CALL])}, "here"
    )


def picture(case: Case | None = None, *, width: int = 100, **run: Any) -> str:
    evidence = assemble(refund_run(**run))
    return terminal_verdict(score(case, evidence), evidence, case, width=width)


def line_with(text: str, part: str) -> str:
    return next(line for line in text.splitlines() if part in line)


def test_the_status_line_says_what_where_and_who():
    text = picture(case_of(), executed=[{**ARGUMENTS, "amount_cents": 980000}])

    assert text.splitlines()[:3] == [
        "FAIL  refund",
        "  first divergence: executor · scaled /amount_cents · owner: executor",
        "  9800 -> 980000",
    ]


def test_the_three_records_stand_side_by_side_with_the_changed_argument_marked():
    text = picture(case_of(), executed=[{**ARGUMENTS, "amount_cents": 980000}])

    head = line_with(text, "expected").split()
    assert head == ["expected", "model", "adapter", "executor"]
    assert line_with(text, "> /amount_cents").split() == [
        ">", "/amount_cents", "9800", "9800", "9800", ">", "980000",
    ]  # fmt: skip
    assert not line_with(text, "/order_id").startswith(">")


def test_a_passing_run_marks_nothing():
    text = picture(case_of())

    assert text.startswith("PASS  refund")
    assert not any(line.lstrip().startswith(">") for line in text.splitlines())


def test_how_often_it_ran_and_what_came_out_are_shown():
    text = picture(case_of(), executed=[ARGUMENTS, ARGUMENTS])

    assert line_with(text, "ran").split() == [">", "ran", ">", "twice"]
    assert '{"ok":true}' in line_with(text, "result")


def test_an_error_stands_where_the_result_would():
    text = picture(
        None, ending="raised", error="no such order", error_type="LookupError", result=None
    )

    assert "LookupError: no such order" in line_with(text, "result")
    assert "once, raised" in line_with(text, "ran")


def test_a_call_that_never_ran_says_so_in_its_column():
    text = picture(case_of(), executed=[])

    assert "did not run" in line_with(text, "ran")
    assert "(no record)" in text


def test_unequal_executions_have_columns_of_their_own():
    text = picture(None, executed=[ARGUMENTS, {**ARGUMENTS, "amount_cents": 1}])

    assert "executor (2)" in text


def test_raw_text_that_is_not_what_was_parsed_is_shown():
    text = picture(None, raw='{"order_id":"A-104","amount_cents":98', executed=[ARGUMENTS])

    assert line_with(text, "raw text") == (
        '  raw text (37 characters): {"order_id":"A-104","amount_cents":98'
    )
    assert "raw text" not in picture(None)


def test_ids_figures_and_the_replay_command_are_there():
    text = picture(case_of())

    assert "run run-1 · attempt 1 · case refund @ r1" in text
    assert "requests req-run-1 · responses resp-run-1 · evidence sha256:" in text
    assert "executor tp 1 fp 0 fn 0 f1 1" in text
    assert text.splitlines()[-1] == "replay: agenttrace show refund"


def test_rules_are_shown_as_what_they_ask():
    rules = {
        "/amount_cents": {"range": {"min": 1, "max": 10000}},
        "/order_id": {"regex": "A-[0-9]+"},
        "/note": {"ignore": True},
        "/when": {"normalizer": "utc_instant", "value": "2026-01-01T00:00:00Z"},
        "/tags": {"length": {"max": 2}},
        "/kind": {"one_of": ["a", "b"]},
        "/rate": {"tolerance": {"value": 1.5, "abs": 0.1}},
    }
    case = case_of({"name": "issue_refund", "args": {}, "rules": rules})

    text = picture(case, width=160)

    for shown in (
        "1..10000", 'fits "A-[0-9]+"', "(anything)", "by utc_instant", "length ..2",
        'one of ["a","b"]', "1.5 ±0.1",
    ):  # fmt: skip
        assert shown in text


def test_a_plan_without_any_call_is_shown_by_what_is_missing():
    text = picture(case_of(CALL, {"name": "notify", "args": {"to": "x"}}))

    assert 'missing: notify {"to":"x"}' in text


def test_causes_findings_and_broken_rules_are_shown():
    verdict = replace(
        score(None, assemble(refund_run())),
        status=Status.INCONCLUSIVE,
        causes=(Cause(code="hole", detail="record 3 never came"),),
        findings=(Cause(code="late", detail="a call came late"),),
        policy=("forbidden:purge",),
    )

    text = terminal_verdict(verdict, None)

    assert text.startswith("INCONCLUSIVE")
    assert "cause: hole: record 3 never came" in text
    assert "finding: late: a call came late" in text
    assert "broken rule: forbidden:purge" in text


def test_a_verdict_without_records_is_still_shown():
    evidence = assemble(refund_run(executed=[{**ARGUMENTS, "amount_cents": 1}]))
    verdict = score(case_of(), evidence)

    text = terminal_verdict(verdict, None)

    assert "9800 -> 1" in text
    assert "its records are not here" in text


def bare(**fields: Any) -> Verdict:
    return Verdict(
        **{
            "case_id": None,
            "case_revision": None,
            "run_id": "run-1",
            "attempt": 1,
            "status": Status.FAIL,
            "first": First.EXECUTOR,
            "owner": Owner.EXECUTOR,
            **fields,
        }
    )


def divergence(before: Any, after: Any, kind: Kind = Kind.VALUE_CHANGED) -> Divergence:
    return Divergence(
        boundary=Boundary.EXECUTOR,
        kind=kind,
        path="/a",
        call="c1",
        before=before,
        after=after,
        owner=Owner.EXECUTOR,
    )


def test_the_first_difference_of_two_long_values_is_within_sight():
    before, after = "x" * 500 + "A" + "y" * 500, "x" * 500 + "B" + "y" * 500

    text = terminal_verdict(bare(divergences=(divergence(before, after),)), None, width=60)

    assert re.search(r"before .*…x+Ay+…", text)
    assert re.search(r"after  .*…x+By+…", text)


def test_values_that_look_alike_are_told_apart_by_their_numbers():
    change = divergence("caf\u00e9", "cafe\u0301", Kind.UNICODE_NORMALIZED)

    text = terminal_verdict(bare(divergences=(change,)), None)

    assert r'"caf\u00e9" -> "cafe\u0301"' in text


def test_null_and_nothing_are_told_apart():
    assert "null -> -" in terminal_verdict(bare(divergences=(divergence(None, MISSING),)), None)
    assert '"-" -> null' in terminal_verdict(bare(divergences=(divergence("-", None),)), None)


HOSTILE = "\x1b[2J\x1b]0;t\x07\r\n\u202ePASS\x9b31m\u2028"


def hostile_evidence() -> Evidence:
    return assemble(
        refund_run(
            "run" + HOSTILE,
            case_id="case" + HOSTILE,
            tool="tool" + HOSTILE,
            raw=HOSTILE,
            executed=[{HOSTILE: HOSTILE, "list": [HOSTILE]}],
            error=HOSTILE,
            error_type=HOSTILE,
            ending="raised",
        )
    )


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_escape_sequence_of_a_name_or_value_reaches_the_terminal(width: int):
    evidence = hostile_evidence()
    case = replace(case_of(), case_id="case" + HOSTILE)

    for verdict in (score(None, evidence), score(case, evidence)):
        text = terminal_verdict(verdict, evidence, case, width=width)

        assert "\\x1b" in text
        assert all(char.isprintable() for char in text.replace("\n", ""))


def test_colour_is_only_the_status():
    plain = terminal_verdict(bare(), None)
    coloured = terminal_verdict(bare(), None, colour=True)

    assert coloured == plain.replace("FAIL", "\x1b[1;31mFAIL\x1b[0m")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_line_fits_the_width(width: int):
    text = picture(
        case_of(),
        width=width,
        executed=[{**ARGUMENTS, "amount_cents": 980000, "note": "n" * 300, "漢字" * 30: "漢" * 90}],
    )
    body = [line for line in text.splitlines() if not line.startswith("replay: ")]

    from agenttrace.report._text import cells

    assert max(map(cells, body)) <= width


def test_on_a_narrow_terminal_the_records_stand_one_below_the_other():
    text = picture(case_of(), width=40, executed=[{**ARGUMENTS, "order_id": "B-" + "7" * 30}])

    assert re.search(r"> /order_id\n {6}expected +\"A-104\"\n", text)
    assert re.search(r"    > executor +\"B-7+…7+\"", text)


def test_the_replay_command_can_be_pasted_into_a_shell():
    command = replay_command("a b'c", source="my runs/e.jsonl", cases="cases")

    assert command == "agenttrace show 'my runs/e.jsonl' 'a b'\"'\"'c' --cases cases"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(before=values, after=values, path=st.text(max_size=9), width=st.integers(0, 130))
def test_any_values_are_shown_on_printable_lines(before: Any, after: Any, path: str, width: int):
    change = replace(divergence(before, after), path=path)
    evidence = assemble(refund_run(executed=[{"a": after, path: before}]))
    verdict = replace(score(None, evidence), divergences=(change,))

    text = terminal_verdict(verdict, evidence, width=width)

    assert all(char.isprintable() for char in text.replace("\n", ""))
