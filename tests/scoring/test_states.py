"""State machines and groups of names: which call may be made when."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.domain import (
    Approval,
    Boundary,
    Conduct,
    Decision,
    Integrity,
    SequenceRule,
    SequenceSide,
    StateMachine,
    StateStep,
)
from agenttrace.redaction import Redactor
from agenttrace.scoring import broken_rules, score
from agenttrace.scoring._undecided import assuming
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

KEY = Redactor(b"k" * 32)


def step(source: str, name: str, target: str, **where: Any) -> StateStep:
    guard = {f"/{at}": rule("equals", value) for at, value in where.items()}
    return StateStep(source=source, on=SequenceSide(name=name, where=guard), target=target)


def machine(*steps: StateStep, **fields: Any) -> StateMachine:
    return StateMachine(rule_id="m", start="asked", steps=steps, **fields)


DELETION = machine(
    step("asked", "approve", "approved"),
    step("approved", "delete", "gone", forever=True),
    step("approved", "archive", "gone"),
    step("approved", "approve", "approved"),
)
GONE = {"forever": True}


def calls(*made: Any) -> list[tuple[str, Any]]:
    return [(one, {}) if isinstance(one, str) else one for one in made]


def broken(rules: StateMachine, *made: Any) -> bool:
    asked = no_plan(states=(rules,))
    return broken_rules(asked, clean_run(*calls(*made)), Boundary.EXECUTOR) == ("states:m",)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (["approve", ("delete", GONE)], False),
        (["approve", "approve", "archive"], False),
        ([("delete", GONE)], True),
        (["delete"], False),
        (["other"], False),
        (["approve", ("delete", GONE), ("delete", GONE)], True),
        (["approve", "archive", "approve"], True),
        (["approve", ("delete", {"forever": 1}), "archive"], False),
    ],
)
def test_a_call_that_fits_a_step_may_be_made_in_its_state_alone(made, expected):
    assert broken(DELETION, *made) is expected


@pytest.mark.parametrize(
    ("made", "end", "expected"),
    [
        (["approve"], None, False),
        (["approve"], {"gone"}, True),
        (["approve", "archive"], {"gone"}, False),
        (["other"], {"gone"}, True),
        (["other"], {"asked"}, False),
    ],
)
def test_a_run_ends_in_one_of_the_stated_states(made, end, expected):
    ended = replace(DELETION, end=None if end is None else frozenset(end))

    assert broken(ended, *made) is expected


def test_there_is_one_machine_for_each_value_and_none_where_no_call_began_it():
    by_record = replace(DELETION, per=("/id",), end=frozenset({"gone"}))

    def on(record: Any, name: str) -> tuple[str, Any]:
        return name, {"id": record, "forever": True}

    assert not broken(
        by_record, on(1, "approve"), on(2, "approve"), on(2, "delete"), on(1, "delete")
    )
    assert broken(by_record, on(1, "approve"), on(2, "delete"))
    assert broken(by_record, on(1, "approve"), on("1", "delete"))
    assert broken(by_record, on(1, "approve"), on(1, "delete"), on(2, "approve"))
    assert not broken(by_record, "other")
    assert not broken(by_record, ("approve", {}), ("archive", {}))


def test_of_several_steps_that_fit_the_first_counts():
    rules = machine(
        step("asked", "pay", "big", sum=100),
        step("asked", "pay", "small"),
        step("big", "sign", "done"),
    )

    assert not broken(rules, ("pay", {"sum": 100}), "sign")
    assert broken(rules, ("pay", {"sum": 1}), "sign")


def test_the_stray_call_is_named_with_the_state_it_stands_in():
    made = clean_run(*calls("approve", "archive", "approve"))
    verdict = score(no_plan(states=(DELETION,)), made)

    assert said(verdict) == ("fail", "model", "agent")
    assert places(verdict) == [("model", "reordered", "", "c2")]
    assert verdict.divergences[0].before == ["approve", "delete", "archive"]
    assert verdict.divergences[0].after == ["approve", "archive", "approve"]
    assert "the state 'gone'" in (verdict.divergences[0].detail or "")


def test_a_wrong_end_names_no_call():
    verdict = score(
        no_plan(states=(replace(DELETION, end=frozenset({"gone"})),)), clean_run(("approve", {}))
    )

    assert said(verdict) == ("fail", "model", "agent")
    assert (verdict.policy, verdict.divergences) == (("states:m",), ())


ONCE = machine(step("asked", "open", "opened"), step("opened", "close", "asked"))


def test_a_call_that_was_refused_and_made_again_does_not_stray():
    made = evidence(
        [model_call("open", {}, call_id="a"), model_call("open", {}, call_id="b", turn=2)],
        [
            adapter_call(call_id="a", name="open", error="busy"),
            adapter_call("open", {}, call_id="b"),
        ],
        [execution("open", {}, call_id="b")],
    )

    assert said(score(no_plan(states=(ONCE,)), made))[0] == "pass"


def test_of_calls_that_people_stopped_none_moves_the_machine_and_the_stray_one_is_named():
    asked = [("a", "open"), ("b", "open"), ("c", "close"), ("d", "close")]
    made = evidence(
        [model_call(name, {}, call_id=at, turn=n) for n, (at, name) in enumerate(asked, start=1)],
        [adapter_call(name, {}, call_id=at) for at, name in asked],
        [execution(name, {}, call_id=at) for at, name in asked[1:]],
        conduct=Conduct(
            approvals=tuple(
                Approval(call=at, decision=Decision.REJECT if at == "a" else Decision.APPROVE)
                for at, _ in asked
            )
        ),
    )

    verdict = score(no_plan(states=(ONCE,)), made)

    assert said(verdict) == ("fail", "model", "agent")
    assert places(verdict) == [("model", "reordered", "", "d")]


def test_an_order_that_was_right_at_the_model_is_the_executors():
    made = evidence(
        [model_call("open", {}), model_call("close", {}, call_id="c2", turn=2)],
        [adapter_call("open", {}), adapter_call("close", {}, call_id="c2")],
        [execution("close", {}, call_id="c2"), execution("open", {})],
    )

    verdict = score(case(due("open", {}), due("close", {}), states=(ONCE,)), made)

    assert said(verdict) == ("fail", "executor", "executor")


def test_where_the_compared_boundary_was_not_recorded_nothing_is_said_of_states():
    verdict = score(no_plan(states=(ONCE,)), evidence([model_call("close", {})], None, None))

    assert said(verdict)[0] == "inconclusive"


def test_a_guard_over_a_value_that_was_not_kept_leaves_the_row_open():
    mask = KEY.digests_for_run()
    made = clean_run(("delete", mask.mask_arguments({"n": 5})))
    made = replace(made, integrity=Integrity(masking=mask.masking()))
    above = StateStep(
        source="approved",
        on=SequenceSide(name="delete", where={"/n": rule("range", {"min": 3})}),
        target="gone",
    )
    known = StateStep(
        source="approved",
        on=SequenceSide(name="delete", where={"/n": rule("equals", 5)}),
        target="gone",
    )
    start = step("asked", "approve", "approved")

    open_row = score(no_plan(states=(machine(start, above),)), made, redactor=KEY)
    sure = score(no_plan(states=(machine(start, known),)), made, redactor=KEY)

    assert (said(open_row)[0], open_row.causes[0].code) == ("inconclusive", "undecidable")
    assert said(sure) == ("fail", "model", "agent")


names = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@settings(max_examples=40)
@given(names)
def test_a_chain_of_states_allows_exactly_its_own_beginnings(made):
    chain = machine(step("asked", "a", "1"), step("1", "b", "2"), step("2", "c", "3"), end=None)
    own = ["a", "b", "c"]

    assert broken(chain, *made) is (made != own[: len(made)])


def ordered(*made: str) -> tuple[str, ...]:
    asked = no_plan(ordered=("look", ("stock", "credit"), "book"))
    return broken_rules(asked, clean_run(*calls(*made)), Boundary.EXECUTOR)


@pytest.mark.parametrize("middle", [*permutations(["stock", "credit"])])
def test_names_of_a_group_have_no_order_among_each_other(middle):
    assert ordered("look", *middle, "book") == ()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (["look", "stock", "book", "credit"], ("ordered:credit>book",)),
        (["look", "stock", "book"], ("ordered:credit>book",)),
        (["stock", "look", "credit", "book"], ("ordered:look>stock",)),
        (["book"], ("ordered:credit>book", "ordered:stock>book")),
        (["look", "stock"], ()),
    ],
)
def test_each_name_waits_for_every_name_of_the_group_before(made, expected):
    assert ordered(*made) == expected


def test_a_group_is_shown_as_the_case_lists_it():
    asked = no_plan(ordered=("look", ("stock", "credit")))
    (found,) = score(asked, clean_run(*calls("other", "credit", "look"))).divergences

    assert (found.call, found.before, found.after) == (
        "c1",
        ["look", ["stock", "credit"]],
        ["credit", "look"],
    )


UNORDERED = [
    {"ordered": ("a", "b")},
    {
        "sequence": (
            SequenceRule(rule_id="s", before=SequenceSide(name="a"), after=SequenceSide(name="b")),
        )
    },
    {"states": (machine(step("asked", "a", "1"), step("1", "b", "2")),)},
]


def two(first: str, second: str, *, seqs: tuple[int | None, int | None]) -> Any:
    ids = {"a": "c1", "b": "c2"}
    return evidence(
        [model_call(name, {}, call_id=ids[name], turn=1) for name in ("a", "b")],
        [adapter_call(name, {}, call_id=ids[name]) for name in ("a", "b")],
        [
            execution(name, {}, call_id=ids[name], seq=seq)
            for name, seq in zip((first, second), seqs, strict=True)
        ],
    )


@pytest.mark.parametrize("fields", UNORDERED, ids=lambda fields: next(iter(fields)))
def test_calls_of_which_nothing_says_which_came_first_leave_an_order_rule_open(fields):
    asked = case(due("a", {}), due("b", {}), **fields)

    for first, second in (("a", "b"), ("b", "a")):
        verdict = score(asked, two(first, second, seqs=(7, 7)))
        assert (said(verdict)[0], verdict.causes[0].code) == ("inconclusive", "undecidable")
        assert "which call came first" in verdict.causes[0].detail
        assert verdict.divergences == ()
    assert said(score(asked, two("a", "b", seqs=(7, 8))))[0] == "pass"
    assert said(score(asked, two("b", "a", seqs=(7, 8)))) == ("fail", "executor", "executor")


def test_an_order_that_no_rule_asks_about_stays_decided():
    asked = case(due("a", {}), due("b", {}), ordered=("c", "d"))

    assert said(score(asked, two("b", "a", seqs=(7, 7))))[0] == "pass"


def test_what_is_broken_in_every_order_is_broken():
    asked = no_plan(ordered=("c", "a"))

    assert said(score(asked, two("b", "a", seqs=(7, 7)))) == ("fail", "model", "agent")


def test_very_many_calls_without_an_order_are_judged_in_bounded_time():
    made = evidence([], [], [execution(f"n{n}", {}, seq=1) for n in range(300)])
    asked = no_plan(ordered=("n5", "n9", "gone", "n7"))
    sure = ("ordered:gone>n7",)

    assert broken_rules(asked, made, Boundary.EXECUTOR) == (*sure, "ordered:n5>n9")
    with assuming(True) as questions:
        assert broken_rules(asked, made, Boundary.EXECUTOR) == sure
    assert len(questions.asked) == 1
