"""Rules over the calls of one boundary."""

from __future__ import annotations

import pytest

from agenttrace.domain import (
    Boundary,
    ForbiddenCall,
    LeakRule,
    Outcome,
    Phase,
    SequenceRule,
    SequenceSide,
)
from agenttrace.scoring import broken_rules, observed_calls, score
from tests.builders import (
    adapter_call,
    case,
    clean_run,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
    places,
    rule,
    said,
)

EXECUTOR = Boundary.EXECUTOR


def broken(asked, made, at=EXECUTOR):
    return broken_rules(asked, made, at)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b", "c"], ()),
        (["a", "b", "a", "b"], ()),
        (["b", "a"], ("ordered:a>b",)),
        (["b"], ("ordered:a>b",)),
        (["c", "b", "a"], ("ordered:a>b", "ordered:b>c")),
        (["a"], ()),
        ([], ()),
    ],
)
def test_each_later_name_may_first_occur_after_the_one_before_it(names, expected):
    assert (
        broken(no_plan(ordered=("a", "b", "c")), clean_run(*[(n, {}) for n in names])) == expected
    )


@pytest.mark.parametrize(
    ("forbidden", "expected"),
    [
        (ForbiddenCall(name="wipe"), ("forbidden:wipe",)),
        (ForbiddenCall(name="wipe", arguments={"all": True}), ("forbidden:wipe",)),
        (ForbiddenCall(name="wipe", arguments={"all": 1}), ()),
        (ForbiddenCall(name="Wipe"), ()),
    ],
)
def test_a_forbidden_call_is_one_of_the_tool_or_one_with_those_arguments(forbidden, expected):
    assert broken(no_plan(forbidden=(forbidden,)), clean_run(("wipe", {"all": True}))) == expected


def test_nobody_may_make_a_forbidden_call_and_counts_are_the_agents_own():
    made = evidence([], [], [execution("wipe", {}, agent="helper")])
    asked = no_plan(
        agents=frozenset({"front"}),
        forbidden=(ForbiddenCall(name="wipe"),),
        max_calls={"wipe": 0},
        min_calls={"wipe": 1},
    )

    assert broken(asked, made) == ("forbidden:wipe", "min_calls:wipe")


def test_counts_are_counts_of_runs():
    made = evidence([], [], [execution("a", {}, count=2), execution("a", {}, count=0)])

    assert broken(no_plan(max_calls={"a": 1}, min_calls={"a": 3}), made) == (
        "max_calls:a",
        "min_calls:a",
    )


@pytest.mark.parametrize(
    ("keys", "repeated"),
    [(["k1", "k2"], False), (["k1", "k1"], True), ([1, "1"], False), ([None, None], True)],
)
def test_a_key_may_be_used_once(keys, repeated):
    made = clean_run(*[("pay", {"key": key}) for key in keys])

    assert broken(no_plan(once_per={"pay": "/key"}), made) == ("once_per:pay",) * repeated


def test_a_missing_key_is_no_repeat():
    assert broken(no_plan(once_per={"pay": "/key"}), clean_run(("pay", {}), ("pay", {}))) == ()


APPROVAL = SequenceRule(
    rule_id="approved",
    before=SequenceSide(name="approve"),
    after=SequenceSide(name="wire", where={"/euros": rule("range", {"min": 1000})}),
    same=("/order",),
)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("approve", {"order": 1}), ("wire", {"order": 1, "euros": 5000})], ()),
        ([("wire", {"order": 1, "euros": 999})], ()),
        ([("wire", {"order": 1, "euros": 1000})], ("sequence:approved",)),
        (
            [("approve", {"order": 2}), ("wire", {"order": 1, "euros": 5000})],
            ("sequence:approved",),
        ),
        (
            [("wire", {"order": 1, "euros": 5000}), ("approve", {"order": 1})],
            ("sequence:approved",),
        ),
    ],
)
def test_a_guarded_call_needs_an_earlier_one_with_the_same_values(calls, expected):
    assert broken(no_plan(sequence=(APPROVAL,)), clean_run(*calls)) == expected


def test_no_call_is_earlier_than_itself():
    twice = SequenceRule(
        rule_id="twice", before=SequenceSide(name="a"), after=SequenceSide(name="a")
    )

    assert broken(no_plan(sequence=(twice,)), clean_run(("a", {}))) == ("sequence:twice",)


def test_the_final_state_is_asked_by_argument_rules():
    made = clean_run(outcome=Outcome(final_state={"orders": [{"state": "open"}]}))
    asked = no_plan(
        outcome={"/orders/0/state": rule("equals", "open"), "/orders/1": rule("ignore")}
    )

    assert broken(asked, made) == ()
    assert broken(no_plan(outcome={"/orders/1": rule("equals", 1)}), made) == ("outcome:/orders/1",)


@pytest.mark.parametrize(
    ("message", "value", "leaked"),
    [
        ("The code is 48-81 02.", "488102", True),
        ("The code is 488102.", 488102, True),
        ("No code for you.", "488102", False),
        ("true", True, False),
        ("anything", "", False),
    ],
)
def test_a_leak_is_found_behind_blanks_and_hyphens(message, value, leaked):
    made = evidence(
        [], [], [execution(result={"code": value})], outcome=Outcome(final_message=message)
    )
    asked = no_plan(leak=(LeakRule(tool="refund", path="/code"),))

    assert broken(asked, made) == (("leak:refund:/code",) if leaked else ())


def test_at_a_boundary_that_was_not_recorded_no_rule_is_broken():
    asked = no_plan(min_calls={"a": 1}, ordered=("a", "b"))

    assert broken(asked, evidence([], [], None)) == ()
    assert said(score(asked, evidence([model_call("a", {})], None, None)))[0] == "inconclusive"


def test_refused_blocked_nested_and_foreign_phase_calls_are_not_counted():
    made = evidence(
        [model_call(raw='{"n": ', call_id="cut")],
        [adapter_call(error="refused"), adapter_call(call_id="c2")],
        [
            execution(count=0),
            execution(parent="executor/3"),
            execution(phase=Phase.SETUP),
            execution(call_id="c2", count=2),
        ],
    )

    assert [len(observed_calls(made, b) or []) for b in Boundary] == [1, 1, 2]


def test_executions_are_ordered_by_proven_sequence():
    made = evidence([], [], [execution("b", {}, seq=9), execution("a", {}, seq=3)])

    assert [one.form.name for one in observed_calls(made, EXECUTOR) or []] == ["a", "b"]


def test_the_call_that_breaks_a_rule_is_named_without_a_plan():
    asked = no_plan(
        forbidden=(ForbiddenCall(name="wipe"),), max_calls={"a": 1}, once_per={"a": "/n"}
    )

    assert places(score(asked, clean_run(("a", {}), ("wipe", {})))) == [
        ("model", "added", "", "c1")
    ]
    assert places(score(asked, clean_run(("a", {"n": 1}), ("a", {"n": 2})))) == [
        ("model", "added", "", "c1")
    ]
    assert said(score(asked, clean_run(("wipe", {})))) == ("fail", "model", "agent")


def test_the_earliest_call_out_of_order_is_the_first_divergence():
    verdict = score(
        case(due("a", {}), due("b", {}), due("c", {}), ordered=("a", "b", "c")),
        clean_run(("c", {}), ("b", {}), ("a", {})),
    )

    assert said(verdict) == ("fail", "model", "agent")
    assert places(verdict) == [("model", "reordered", "", "c0")]
    assert verdict.divergences[0].before == ["a", "b", "c"]


def test_an_order_that_was_right_at_the_model_is_the_executors():
    made = evidence(
        [model_call("a", {}), model_call("b", {}, call_id="c2", turn=2)],
        [adapter_call("a", {}), adapter_call("b", {}, call_id="c2")],
        [execution("b", {}, call_id="c2"), execution("a", {})],
    )
    verdict = score(case(due("a", {}), due("b", {}), ordered=("a", "b")), made)

    assert said(verdict) == ("fail", "executor", "executor")
