"""Rows that other scorers get wrong are judged right, and the two scores of that name are theirs.

Our own rows are always there; the recorded ones of thirty peer configurations where the shared
material is.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenttrace.contracts import parse_case
from agenttrace.domain import Boundary, Status
from agenttrace.errors import InvalidCaseError
from agenttrace.scoring import score
from tests.builders import evidence, execution, places, said
from tests.cases.judged import shared_folder
from tests.support.peer_rows import (
    OWN_ROWS,
    Row,
    case_of,
    evidence_of,
    is_exact,
    names_are_equal,
    ragas_of,
    run_of,
    spans_evidence,
)

FILE = shared_folder() / "data" / "scorer_characterisation.json"
RECORDED = json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}
ROWS: dict[str, Row] = {row["id"]: row for row in RECORDED.get("cases", ())}
SPANS: dict[str, Row] = {row["id"]: row for row in RECORDED.get("otel_boundary", ())}
needs_rows = pytest.mark.skipif(not ROWS, reason=f"no recorded scorers at {FILE}")
decided: list[Row] = [row for row in [*OWN_ROWS, *ROWS.values()] if row["right"] != "policy"]
MODEL, ADAPTER, EXECUTOR = Boundary


def can_be_written(row: Row) -> bool:
    """Whether a case may state what the row expects: not NaN, and not null for arguments."""
    try:
        case_of(row)
    except InvalidCaseError:
        return False
    return True


writable = [row for row in [*OWN_ROWS, *ROWS.values()] if can_be_written(row)]


def answer(row: Row) -> str:
    """`pass`, `fail`, or `error` where we say that nothing can be judged."""
    try:
        case = case_of(row)
    except InvalidCaseError:
        return "error"
    status = score(case, evidence_of(row)).status
    return "error" if status is Status.INCONCLUSIVE else status.value


@pytest.mark.parametrize("row", decided, ids=lambda row: row["id"])
def test_a_row_with_one_right_answer_gets_it(row: Row):
    assert answer(row) == row["right"]


@needs_rows
def test_there_are_37_rows_with_one_right_answer_and_12_that_a_case_decides():
    rights = [row["right"] for row in ROWS.values()]

    assert (len(rights) - rights.count("policy"), rights.count("policy")) == (37, 12)


def test_a_missing_trace_is_blank_and_nobody_is_blamed():
    row = next(row for row in OWN_ROWS if row["observed"] is None)

    verdict = score(case_of(row), evidence_of(row))

    assert said(verdict) == ("inconclusive", "instrumentation", "instrumentation")
    assert [cause.code for cause in verdict.causes] == ["blank"]


def test_a_number_that_is_none_is_refused_in_a_case_and_malformed_where_the_model_wrote_it():
    row = next(row for row in OWN_ROWS if row["id"] == "no_number")

    with pytest.raises(InvalidCaseError, match="not finite"):
        case_of(row)
    verdict = score(case_of({**row, "expected": [{"name": "pay", "args": {}}]}), evidence_of(row))
    assert places(verdict) == [("model", "malformed", "", "c0")]
    assert said(verdict) == ("fail", "model", "provider")


def test_argument_text_that_ends_in_the_middle_is_a_kind_of_its_own():
    row = next(row for row in OWN_ROWS if row["id"] == "cut_off_text")

    assert places(score(case_of(row), evidence_of(row))) == [("model", "truncated", "", "c0")]


# What only the case can decide: both answers can be asked for.

TWO = [{"name": "look_up", "args": {"a": 1}}, {"name": "notify", "args": {"a": 1}}]
SWAPPED = {"id": "two", "expected": TWO, "observed": TWO[::-1]}
BETWEEN = {
    "id": "between",
    "expected": TWO,
    "observed": [TWO[0], {"name": "count", "args": {}}, TWO[1]],
}
STEPS = [{"name": "f", "args": {"a": 1}}, {"name": "f", "args": {"a": 1, "b": 2}}]
STEPS_SWAPPED = {"id": "steps", "expected": STEPS, "observed": STEPS[::-1]}
ONE_AND_TWO = [{"name": "f", "args": {"a": 1}}, {"name": "f", "args": {"a": 2}}]
ONE_AND_TWO_SWAPPED = {"id": "both", "expected": ONE_AND_TWO, "observed": ONE_AND_TWO[::-1]}


def call(name: str = "f", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def row_of(expected: Any, observed: Any) -> Row:
    return {"id": "row", "expected": [expected], "observed": [observed]}


def ruled(pointer: str, rule: Any, **args: Any) -> list[Any]:
    return [{"name": "f", "args": args, "rules": {pointer: rule}}]


def after(before: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    sides = {"before": {"name": "f", "where": before}, "after": {"name": "f", "where": later}}
    return {"sequence": [{"id": "steps", **sides}]}


POLICIES: list[tuple[str, str, Row, dict[str, Any]]] = [
    ("order_swapped", "pass", SWAPPED, {}),
    ("order_swapped", "fail", SWAPPED, {"ordered": ["look_up", "notify"]}),
    ("extra_call_between", "fail", BETWEEN, {}),
    (
        "extra_call_between",
        "pass",
        BETWEEN,
        {
            "required": None,
            "ordered": ["look_up", "notify"],
            "min_calls": {"look_up": 1, "notify": 1},
        },
    ),
    ("int_vs_float", "fail", row_of(call(n=1), call(n=1.0)), {}),
    (
        "int_vs_float",
        "pass",
        row_of(call(n=1), call(n=1.0)),
        {"required": ruled("/n", {"tolerance": {"value": 1, "abs": 0}})},
    ),
    ("null_vs_missing", "fail", row_of(call(a=1, b=None), call(a=1)), {}),
    (
        "null_vs_missing",
        "pass",
        row_of(call(a=1, b=None), call(a=1)),
        {"required": ruled("/b", {"ignore": True}, a=1)},
    ),
    ("extra_default_arg", "fail", row_of(call(a=1), call(a=1, locale="en")), {}),
    (
        "extra_default_arg",
        "pass",
        row_of(call(a=1), call(a=1, locale="en")),
        {"ignore_args": {"f": ["locale"]}},
    ),
    ("args_none_vs_empty", "pass", row_of(call(), call()), {}),
    ("args_none_vs_empty", "fail", row_of(call(), call(a=1)), {}),
    (
        "args_none_vs_empty",
        "pass",
        row_of(call(), call(a=1)),
        {"required": None, "min_calls": {"f": 1}, "max_calls": {"f": 1}},
    ),
    ("unicode_nfc_nfd", "fail", row_of(call(s="caf\u00e9"), call(s="cafe\u0301")), {}),
    (
        "unicode_nfc_nfd",
        "pass",
        row_of(call(s="caf\u00e9"), call(s="cafe\u0301")),
        {"required": ruled("/s", {"normalizer": "nfc", "value": "caf\u00e9"})},
    ),
    ("args_as_json_string", "pass", row_of(call(a=1), {"name": "f", "args": '{"a": 1}'}), {}),
    ("args_as_json_string", "fail", row_of(call(a=1), {"name": "f", "args": '"{\\"a\\": 1}"'}), {}),
    ("greedy_trap", "pass", STEPS_SWAPPED, {}),
    ("greedy_trap", "fail", STEPS_SWAPPED, after({}, {"/b": {"equals": 2}})),
    ("two_calls_same_tool_other_args", "pass", ONE_AND_TWO_SWAPPED, {}),
    (
        "two_calls_same_tool_other_args",
        "fail",
        ONE_AND_TWO_SWAPPED,
        after({"/a": {"equals": 1}}, {"/a": {"equals": 2}}),
    ),
]


@pytest.mark.parametrize(("policy", "right", "row", "fields"), POLICIES)
def test_what_a_policy_decides_can_be_asked_for_either_way(
    policy: str, right: str, row: Row, fields: dict[str, Any]
):
    verdict = score(case_of(row, **fields), evidence_of(row))

    assert verdict.status.value == right, policy


@pytest.mark.parametrize("prefix", ["functions.", "mcp__shop__"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_prefix_of_a_tools_name_is_equal_only_where_it_is_declared(prefix: str, declared: bool):
    contract = {"strip_prefix": [prefix]} if declared else {}
    asked = parse_case({"id": "c", "required": [call("f", a=1)], "contract": contract}, "here")
    made = run_of(call(f"{prefix}f", a=1), call("f", a=1))

    assert (score(asked, made).status is Status.PASS) is declared


@pytest.mark.parametrize("declared", [True, False])
def test_a_default_that_the_tool_states_is_no_difference_between_model_and_executor(declared: bool):
    contract = {"defaults": {"f": {"locale": "en", "b": None}}} if declared else {}
    asked = parse_case(
        {"id": "c", "required": [call("f", a=1)], "compare": "model", "contract": contract}, "here"
    )
    made = run_of(call("f", a=1), call("f", a=1, locale="en", b=None))

    assert (score(asked, made).status is Status.PASS) is declared


@needs_rows
def test_every_policy_of_the_recorded_rows_is_tried_both_ways():
    open_rows = {name for name, row in ROWS.items() if row["right"] == "policy"}
    tried = {(name, right) for name, right, _, _ in POLICIES}

    assert open_rows - {name for name, _ in tried} == {"name_prefix_functions", "name_prefix_mcp"}
    assert tried == {(name, right) for name, _ in tried for right in ("pass", "fail")}


# The two scores that carry other people's names.


@needs_rows
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_ragas_score_is_that_of_ragas_and_nothing_where_ragas_raises(row: Row):
    theirs = row["outcomes"]["ragas_f1"]

    assert ragas_of(row) == (None if isinstance(theirs, str) else theirs)


@pytest.mark.parametrize("row", writable, ids=lambda row: row["id"])
def test_the_ragas_score_of_a_verdict_is_the_same_number(row: Row):
    verdict = score(case_of(row), evidence_of(row), compare=MODEL)

    assert verdict.ragas_tool_call_f1 == ragas_of(row, read_text=True)


@pytest.mark.parametrize("row", writable, ids=lambda row: row["id"])
def test_the_name_score_is_one_where_the_sets_of_names_are_equal(row: Row):
    verdict = score(case_of(row), evidence_of(row), compare=MODEL)

    assert verdict.galtea_tool_correctness == names_are_equal(row)


@pytest.mark.parametrize(
    "row", [row for row in writable if row["right"] != "policy"], ids=lambda row: row["id"]
)
def test_a_row_passes_only_where_its_multisets_are_equal(row: Row):
    assert (answer(row) == "pass") == (is_exact(row) and row["observed"] is not None)


# Rows with three boundaries, where one list of calls cannot hold what happened.

PLACES: dict[str, tuple[str, str, str]] = {
    "clean": ("pass", "none", "none"),
    "adapter_changed_args": ("fail", "adapter", "adapter"),
    "model_wrong_adapter_fixed": ("fail", "model", "agent"),
    "executor_ran_twice_siblings": ("fail", "executor", "executor-retries"),
    "executor_ran_twice_inside_tool_span": ("fail", "executor", "executor-retries"),
    "executor_args_differ_inside_adapter_span": ("fail", "executor", "executor"),
    "model_called_executor_never": ("fail", "executor", "executor"),
    "executor_ran_without_model_call": ("inconclusive", "instrumentation", "instrumentation"),
    "adapter_renamed_tool": ("fail", "model", "agent"),
    "model_twice_executor_once": ("pass", "model", "agent"),
    "executor_args_not_recorded": ("inconclusive", "instrumentation", "instrumentation"),
}
GOOD = {"order": "O-1", "cents": 9800}
BAD = {"order": "O-1", "cents": 8900}


def spans_row(name: str, model: list[Any], spans: list[Any]) -> Row:
    return {
        "id": name,
        "expected": [{"name": "pay", "args": GOOD}],
        "model": [{"id": i, "name": n, "args": a} for i, n, a in model],
        "tool_spans": [
            {"id": i, "name": "pay", "args": a, "inside": "agent" if top else "first tool span"}
            for i, a, top in spans
        ],
    }


OWN_SPANS = {
    row["id"]: row
    for row in (
        spans_row("clean", [("c1", "pay", GOOD)], [("c1", GOOD, True)]),
        spans_row("adapter_changed_args", [("c1", "pay", GOOD)], [("c1", BAD, True)]),
        spans_row("model_wrong_adapter_fixed", [("c1", "pay", BAD)], [("c1", GOOD, True)]),
        spans_row("executor_ran_twice_siblings", [("c1", "pay", GOOD)], [("c1", GOOD, True)] * 2),
        spans_row(
            "executor_ran_twice_inside_tool_span",
            [("c1", "pay", GOOD)],
            [("c1", GOOD, True), ("c1", GOOD, False), ("c1", GOOD, False)],
        ),
        spans_row(
            "executor_args_differ_inside_adapter_span",
            [("c1", "pay", GOOD)],
            [("c1", GOOD, True), ("c1", BAD, False)],
        ),
        spans_row("model_called_executor_never", [("c1", "pay", GOOD)], []),
        spans_row("executor_ran_without_model_call", [], [("c9", GOOD, True)]),
        spans_row("adapter_renamed_tool", [("c1", "functions.pay", GOOD)], [("c1", GOOD, True)]),
        spans_row(
            "model_twice_executor_once",
            [("c1", "pay", GOOD), ("c2", "pay", GOOD)],
            [("c1", GOOD, True)],
        ),
        spans_row("executor_args_not_recorded", [("c1", "pay", GOOD)], [("c1", {}, True)]),
    )
}


@pytest.mark.parametrize("row", [*OWN_SPANS.values(), *SPANS.values()], ids=lambda row: row["id"])
def test_a_row_of_three_boundaries_gets_its_boundary_and_its_owner(row: Row):
    assert said(score(case_of(row), spans_evidence(row))) == PLACES[row["id"]]


@needs_rows
def test_every_recorded_row_of_three_boundaries_has_one_of_our_own_beside_it():
    assert set(SPANS) == set(OWN_SPANS) == set(PLACES)


def test_a_second_request_that_never_ran_fails_where_the_plan_is_one_for_the_model():
    row = OWN_SPANS["model_twice_executor_once"]

    verdict = score(case_of(row, compare="model"), spans_evidence(row))

    assert said(verdict) == ("fail", "model", "agent")
    assert places(verdict) == [("model", "duplicated", "", "c2")]


def test_a_renamed_tool_passes_through_a_declared_alias():
    row = OWN_SPANS["adapter_renamed_tool"]
    contract = {"name_map": {"functions.pay": "pay"}}

    assert said(score(case_of(row, contract=contract), spans_evidence(row)))[0] == "pass"


def test_arguments_that_were_not_recorded_are_never_filled_in():
    row = OWN_SPANS["executor_args_not_recorded"]

    verdict = score(case_of(row), spans_evidence(row))

    assert [cause.code for cause in verdict.causes] == ["arguments-not-recorded"]
    assert verdict.ragas_tool_call_f1 == 0.0


def test_what_a_model_asks_for_and_what_runs_are_never_one_list():
    made = evidence([], [], [execution("pay", GOOD)], responses=None)

    assert score(case_of(OWN_SPANS["clean"]), made).status is not Status.PASS
