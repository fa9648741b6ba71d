"""Undeclared changes of arguments between two neighbouring records of one call."""

from __future__ import annotations

import pytest

from agenttrace.domain import Conduct, Contract, Envelope, HumanEdit, Tools
from agenttrace.scoring import score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    contract,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
    places,
    said,
)

PASS = ("pass", "none", "none")
DEEP = {"order": {"lines": [{"sku": "a", "n": 1}], "to": {"zip": "04177"}}}
DEEP_CHANGED = {"order": {"lines": [{"sku": "a", "n": 2}], "to": {"zip": 4177}}}


@pytest.mark.parametrize("asked", [case(due(args=DEEP)), no_plan(), None])
@pytest.mark.parametrize("boundary", ["adapter", "executor"])
def test_a_change_at_depth_is_found_with_and_without_a_plan(asked, boundary):
    verdict = score(
        asked,
        evidence(
            [model_call(args=DEEP)],
            [adapter_call(args=DEEP_CHANGED if boundary == "adapter" else DEEP)],
            [execution(args=DEEP_CHANGED)],
        ),
    )

    assert said(verdict) == ("fail", boundary, boundary)
    assert places(verdict) == [
        (boundary, "value_changed", "/order/lines", "c1"),
        (boundary, "type_coerced", "/order/to/zip", "c1"),
    ]


def test_each_boundary_that_changes_the_call_is_listed():
    verdict = score(
        no_plan(),
        evidence(
            [model_call(args={"n": 1})],
            [adapter_call(args={"n": 2})],
            [execution(args={"n": 3})],
        ),
    )

    assert [one.boundary.value for one in verdict.divergences] == ["adapter", "executor"]
    assert [one.value for one in verdict.also] == ["executor"]


def test_a_refused_record_takes_no_arguments_over():
    made = evidence([model_call()], [adapter_call(args={"n": 9}, error="no")], [])

    assert places(score(no_plan(), made)) == [("adapter", "rejected", "", "c1")]


def test_ignored_arguments_may_change():
    made = evidence([model_call()], [adapter_call(args={**ARGS, "cents": 1})], None)

    assert said(score(no_plan(ignore_args={"refund": frozenset({"cents"})}), made)) == PASS


def test_a_default_that_the_tools_schema_states_is_no_change():
    schema = {"properties": {"note": {"type": "string", "default": "-"}}}
    after = {**ARGS, "note": "-"}
    made = evidence(
        [model_call()],
        [adapter_call(args=after)],
        [execution(args=after)],
        tools=Tools(schemas={"refund": schema}),
    )

    assert said(score(no_plan(), made)) == PASS


def test_a_default_that_nobody_stated_is_an_addition():
    made = evidence([model_call()], [adapter_call(args={**ARGS, "note": "-"})], None)

    assert places(score(no_plan(), made)) == [("adapter", "added", "/note", "c1")]


def test_a_declared_rename_that_was_due_and_not_made_is_the_adapters():
    made = evidence(
        [model_call(args={"location": "Suhl"})],
        [adapter_call(args={"location": "Suhl"})],
        [execution(args={"location": "Suhl"}, error="unexpected", count=0)],
    )
    verdict = score(
        case(due(args={"city": "Suhl"}), contract=contract(rename={"location": "city"})), made
    )

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert places(verdict) == [("adapter", "renamed", "/city", "c1")]


def test_a_key_beside_an_envelope_is_lost():
    rules = Contract(envelope=Envelope(tool="bridge", name="tool", arguments="input"))
    made = evidence(
        [model_call("bridge", {"tool": "query", "input": {"sql": "1"}, "cwd": "x"})],
        [adapter_call("query", {"sql": "1"})],
        [execution("query", {"sql": "1"})],
    )
    verdict = score(no_plan(contract=rules), made)

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert places(verdict) == [("adapter", "dropped", "/cwd", "c1")]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (HumanEdit(call_id="c1", path="/cents", before=9800, after=100), "pass"),
        (HumanEdit(call_id="c1", path="/cents", before=9800, after=200), "fail"),
        (HumanEdit(call_id="c2", path="/cents", before=9800, after=100), "fail"),
        (HumanEdit(call_id="c1", path="/order", before=9800, after=100), "fail"),
    ],
)
def test_a_recorded_edit_is_a_declared_change_of_that_one_call(edit, expected):
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution(args={**ARGS, "cents": 100})],
        conduct=Conduct(human_edits=(edit,)),
    )

    assert score(no_plan(), made).status == expected


EDITED = {**ARGS, "cents": 100}


@pytest.mark.parametrize(
    ("handed_on", "ran", "expected"),
    [
        (EDITED, EDITED, []),
        (EDITED, ARGS, [("executor", "value_changed", "/cents", "c1")]),
        ({**ARGS, "cents": 7}, EDITED, [("adapter", "value_changed", "/cents", "c1")]),
        ({**EDITED, "order": "B"}, EDITED, [("adapter", "value_changed", "/order", "c1")]),
    ],
)
def test_an_edit_is_declared_at_the_boundary_where_it_shows(handed_on, ran, expected):
    edit = HumanEdit(call_id="c1", path="/cents", before=9800, after=100)
    made = evidence(
        [model_call()],
        [adapter_call(args=handed_on)],
        [execution(args=ran)],
        conduct=Conduct(human_edits=(edit,)),
    )

    assert places(score(no_plan(), made))[:1] == expected


def test_without_the_adapters_record_the_change_shows_at_the_executor():
    verdict = score(no_plan(), evidence([model_call()], None, [execution(args={"n": 1})]))

    assert verdict.first == "executor"
    assert "adapter-not-recorded" in [one.code for one in verdict.findings]
