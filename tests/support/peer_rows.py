"""Rows on which tool-call scorers disagree, as evidence of all three boundaries.

A row is a plan and one list of observed calls, as one-list scorers take them: `expected`,
`observed` (null: there is no trace), `right` (`pass`, `fail`, `error`). A call's `args` may be
its text as the model wrote it; `turn` is the message it stood in, and `result` false that none
came back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from agenttrace.contracts import parse_case
from agenttrace.domain import (
    ALL,
    Boundary,
    Case,
    Evidence,
    Execution,
    Observed,
    RequiredCall,
    Response,
)
from agenttrace.records import parse_arguments
from agenttrace.scoring import figures, loose_f1
from agenttrace.scoring._forms import CallForm
from tests.builders import adapter_call, evidence, execution, model_call

Row = Mapping[str, Any]
MODEL, ADAPTER, EXECUTOR = Boundary


def get(order: str = "O-1", **more: Any) -> dict[str, Any]:
    """A lookup of one order."""
    return {"name": "look_up", "args": {"order": order, **more}}


def pay(cents: Any, **more: Any) -> dict[str, Any]:
    """A payment."""
    return {"name": "pay", "args": {"cents": cents, **more}}


OWN_ROWS: Sequence[Row] = (
    {"id": "nothing_due", "expected": [], "observed": [], "right": "pass"},
    {"id": "nothing_due_one_made", "expected": [], "observed": [get()], "right": "fail"},
    {"id": "one_due_none_made", "expected": [get()], "observed": [], "right": "fail"},
    {"id": "no_trace", "expected": [get()], "observed": None, "right": "error"},
    {"id": "same_calls", "expected": [get(), pay(5)], "observed": [get(), pay(5)], "right": "pass"},
    {"id": "one_due_two_made", "expected": [pay(5)], "observed": [pay(5)] * 2, "right": "fail"},
    {"id": "two_due_one_made", "expected": [pay(5)] * 2, "observed": [pay(5)], "right": "fail"},
    {"id": "two_due_two_made", "expected": [pay(5)] * 2, "observed": [pay(5)] * 2, "right": "pass"},
    {
        "id": "same_set_other_counts",
        "expected": [get(), get(), pay(5)],
        "observed": [get(), pay(5), pay(5)],
        "right": "fail",
    },
    {"id": "other_amount", "expected": [pay(9800)], "observed": [pay(8900)], "right": "fail"},
    {
        "id": "other_key_order",
        "expected": [pay(5, to={"a": 1, "b": 2})],
        "observed": [{"name": "pay", "args": {"to": {"b": 2, "a": 1}, "cents": 5}}],
        "right": "pass",
    },
    {
        "id": "other_list_order",
        "expected": [pay([1, 2, 3])],
        "observed": [pay([3, 2, 1])],
        "right": "fail",
    },
    {"id": "text_for_number", "expected": [pay(10)], "observed": [pay("10")], "right": "fail"},
    {"id": "true_for_one", "expected": [pay(1)], "observed": [pay(True)], "right": "fail"},
    {"id": "text_for_true", "expected": [pay(True)], "observed": [pay("True")], "right": "fail"},
    {
        "id": "neighbour_beyond_a_double",
        "expected": [pay(2**53 + 3)],
        "observed": [pay(2**53 + 2)],
        "right": "fail",
    },
    {
        "id": "one_argument_more",
        "expected": [pay(5)],
        "observed": [pay(5, force=True)],
        "right": "fail",
    },
    {"id": "no_number", "expected": [pay(nan)], "observed": [pay(nan)], "right": "error"},
    {
        "id": "cut_off_text",
        "expected": [pay(5)],
        "observed": [{"name": "pay", "args": '{"cents": 5'}],
        "right": "fail",
    },
    {
        "id": "name_with_a_blank",
        "expected": [pay(5)],
        "observed": [{"name": "pay ", "args": {"cents": 5}}],
        "right": "fail",
    },
    {
        "id": "one_message",
        "expected": [get(), pay(5)],
        "observed": [{**get(), "turn": 0}, {**pay(5), "turn": 0}],
        "right": "pass",
    },
    {
        "id": "no_result",
        "expected": [get()],
        "observed": [{**get(), "result": False}],
        "right": "pass",
    },
    {
        "id": "crossed_arguments",
        "expected": [pay(1, to="a"), pay(2, to="b")],
        "observed": [pay(1, to="b"), pay(2, to="a")],
        "right": "fail",
    },
)


def value_of(value: Any) -> Any:
    """A value of the file; JSON has no text for what `$float` names."""
    if isinstance(value, dict):
        return (
            float(value["$float"]) if "$float" in value else {k: value_of(value[k]) for k in value}
        )
    return [value_of(one) for one in value] if isinstance(value, list) else value


def plan_of(row: Row) -> tuple[RequiredCall, ...]:
    """The calls that a row expects, without asking whether a case may state them."""
    return tuple(
        RequiredCall(name=call["name"], arguments=value_of(call["args"] or {}))
        for call in row["expected"]
    )


def case_of(row: Row, **fields: Any) -> Case:
    """The row's expectation as a case, by the way that a case file takes.

    Raises:
        InvalidCaseError: It states a value that JSON has no text for.
    """
    required = [{"name": c["name"], "args": value_of(c["args"])} for c in row["expected"]]
    return parse_case({"id": row["id"], "required": required, **fields}, "a row")


def evidence_of(row: Row) -> Evidence:
    """A run in which every boundary saw the row's observed calls, as far as they are calls."""
    observed = row["observed"]
    if observed is None:
        return evidence(None, None, None, responses=())
    model, adapter, executor = [], [], []
    for n, call in enumerate(observed):
        args, name, call_id = value_of(call["args"]), call["name"], f"c{n}"
        raw = args if isinstance(args, str) else json.dumps(args)
        parsed = parse_arguments(raw).value
        turn = call.get("turn", n) + 1
        model.append(model_call(name, raw=raw, call_id=call_id, turn=turn))
        if parsed is None:
            adapter.append(adapter_call(name, error="no JSON object", call_id=call_id))
            continue
        adapter.append(adapter_call(name, parsed, call_id=call_id))
        executor.append(
            execution(
                name,
                parsed,
                call_id=call_id,
                result="ok",
                result_observed=call.get("result") is not False,
            )
        )
    return evidence(model, adapter, executor, responses=(Response(ref="r1", calls=len(model)),))


def forms_of(row: Row, *, read_text: bool = False) -> list[CallForm]:
    """The observed calls as the pure scores take them, with or without those that are text."""
    made = []
    for call in row["observed"] or ():
        args = value_of(call["args"])
        if isinstance(args, str):
            args = parse_arguments(args).value if read_text else None
        made.append(CallForm(call["name"], args))
    return made


def ragas_of(row: Row, *, read_text: bool = False) -> float | None:
    """Our score of that name; None where a row cannot be asked."""
    if row["observed"] is None or any(call["args"] is None for call in row["expected"]):
        return None
    return loose_f1(plan_of(row), forms_of(row, read_text=read_text))


def names_are_equal(row: Row) -> int | None:
    """The rule of a score over names: 1 where the sets are equal, None without a trace."""
    if row["observed"] is None:
        return None
    expected, observed = ({call["name"] for call in row[side]} for side in ("expected", "observed"))
    return int(expected == observed)


def run_of(asked: Row, ran: Row) -> Evidence:
    """One call of the model, and what adapter and tool were handed of it."""
    handed = adapter_call(ran["name"], ran["args"])
    return evidence(
        [model_call(asked["name"], asked["args"])],
        [handed],
        [execution(ran["name"], ran["args"])],
    )


def is_exact(row: Row) -> bool:
    """Whether the default multiset scores find the observed calls to be the expected ones."""
    return figures(plan_of(row), forms_of(row, read_text=True), {}).counts.exact


def spans_evidence(row: Row) -> Evidence:
    """A row of model calls and tool spans as evidence of three boundaries.

    A tool span directly in the agent's is what its framework dispatched: the adapter's record, once
    a call. What ran are the spans inside it, or where there are none that span itself. A span
    without arguments did not record them. The adapter was seen where it made a span.
    """
    spans = row["tool_spans"]
    outer = [span for span in spans if span["inside"] == "agent"]
    inner = [span for span in spans if span["inside"] != "agent"]
    handed: dict[str, Row] = {}
    for span in outer:
        handed.setdefault(span["id"], span)
    model = [model_call(c["name"], c["args"], call_id=c["id"]) for c in row["model"]]
    seen = frozenset(span["name"] for span in outer if span["args"])
    return evidence(
        model,
        [
            adapter_call(span["name"], span["args"], call_id=call_id)
            for call_id, span in handed.items()
            if span["args"]
        ],
        [_ran(span) for span in inner or outer],
        responses=(Response(ref="r1", calls=len(model)),) if model else (),
        observed={MODEL: ALL, ADAPTER: Observed(tools=seen), EXECUTOR: ALL},
    )


def _ran(span: Row) -> Execution:
    ran = execution(span["name"], span["args"], call_id=span["id"])
    return ran if span["args"] else replace(ran, arguments=None)
