"""Which records are one logical call, and how that is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from agenttrace.domain import (
    Approval,
    Boundary,
    Conduct,
    Contract,
    Decision,
    Guardrail,
    LinkedBy,
    Phase,
)
from agenttrace.scoring import score
from agenttrace.scoring._declared import Declared
from agenttrace.scoring._link import build_chains
from tests.builders import (
    ARGS,
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

A, B, C = {"n": 1}, {"n": 2}, {"n": 3}
MODEL, ADAPTER, EXECUTOR = Boundary
TWO = rule("one_of", [1, 2])


def linked(made):
    """Each chain as its records, and how every link was made."""
    chains = [one.to_chain() for one in build_chains(made, Declared(Contract()))]
    return (
        [[ref for refs in chain.records.values() for ref in refs] for chain in chains],
        {ref: how for chain in chains for ref, how in chain.linked_by.items()},
    )


def test_a_span_link_is_stronger_than_ids():
    chains, how = linked(
        evidence(
            [model_call(args=A, call_id="x"), model_call(args=B, call_id="y")],
            [
                adapter_call(args=A, call_id="y", link="model/0"),
                adapter_call(args=B, call_id="x", link="model/1"),
            ],
            None,
        )
    )

    assert chains == [["model/0", "adapter/0"], ["model/1", "adapter/1"]]
    assert set(how.values()) == {LinkedBy.SPAN}


def test_among_equal_ids_the_equal_payload_comes_first():
    chains, _ = linked(
        evidence([model_call(args=A), model_call(args=B)], [adapter_call(args=B)], None)
    )

    assert chains == [["model/0"], ["model/1", "adapter/0"]]


@pytest.mark.parametrize("response_id", [None, "resp-1"])
def test_among_equal_ids_the_same_tool_comes_before_the_order(response_id):
    def of(make, name, n):
        return make(name, {"n": n}, call_id="same", response_id=response_id)

    made = evidence(
        [of(model_call, "look", 1), of(model_call, "pay", 2)],
        None,
        [of(execution, "pay", 9), of(execution, "look", 8)],
    )

    assert linked(made)[0] == [["model/0", "executor/1"], ["model/1", "executor/0"]]
    assert [place[:3] for place in places(score(None, made))] == [
        ("executor", "value_changed", "/n"),
        ("executor", "value_changed", "/n"),
    ]


def test_more_of_the_same_under_one_id_is_a_repeat():
    chains, _ = linked(evidence([model_call()], None, [execution(), execution()]))

    assert chains == [["model/0", "executor/0", "executor/1"]]


def test_more_of_the_same_where_no_call_has_an_id_is_a_repeat():
    verdict = score(
        case(due()),
        evidence(
            [model_call(call_id=None)],
            [adapter_call(call_id=None)],
            [execution(call_id=None), execution(call_id=None)],
        ),
    )

    assert said(verdict) == ("fail", "executor", "executor-retries")


def test_a_run_without_an_id_is_no_repeat_of_a_call_that_has_one():
    verdict = score(
        no_plan(),
        evidence([model_call()], [adapter_call()], [execution(), execution(call_id=None)]),
    )

    assert places(verdict) == [("executor", "not_requested", "", "executor/1")]


def test_without_ids_an_equal_payload_links_whatever_the_order():
    chains, how = linked(
        evidence(
            [model_call(args=A, call_id=None), model_call(args=B, call_id=None)],
            [adapter_call(args=B, call_id="t1"), adapter_call(args=A, call_id="t2")],
            None,
        )
    )

    assert chains == [["model/0", "adapter/1"], ["model/1", "adapter/0"]]
    assert set(how.values()) == {LinkedBy.PAYLOAD}


def unknown(call):
    """The record of a hook that could not know the call's id."""
    return replace(call, call_id=None, call_id_known=False)


def test_where_an_id_could_not_be_known_an_equal_payload_links():
    chains, how = linked(
        evidence(
            [model_call(args=A, call_id="a"), model_call(args=B, call_id="b")],
            None,
            [unknown(execution(args=B)), unknown(execution(args=A)), unknown(execution(args=A))],
        )
    )

    assert chains == [["model/0", "executor/1", "executor/2"], ["model/1", "executor/0"]]
    assert set(how.values()) == {LinkedBy.PAYLOAD}


def test_an_id_that_is_known_to_be_absent_is_no_unknown_one():
    chains, _ = linked(evidence([model_call()], None, [execution(call_id=None)]))

    assert chains == [["model/0"], ["executor/0"]]


@pytest.mark.parametrize("inner", [{"parent": "executor/9"}, {"phase": Phase.SETUP}])
def test_likeness_links_no_nested_and_no_set_up_run(inner):
    chains, _ = linked(evidence([model_call()], None, [unknown(execution(**inner))]))

    assert chains == [["model/0"], ["executor/0"]]


def test_without_ids_a_changed_call_is_linked_by_its_place():
    chains, how = linked(
        evidence(
            [model_call(args=a, call_id=None) for a in (A, B, C)],
            [adapter_call(args=a, call_id=None) for a in (A, {"n": 9}, C)],
            None,
        )
    )

    assert chains[1] == ["model/1", "adapter/1"]
    assert how["adapter/1"] is LinkedBy.POSITION


def unnamed(make, *arguments, name="refund", **fields):
    """Calls of one tool without ids."""
    return [make(name, args, call_id=None, **fields) for args in arguments]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_equal_calls_without_ids_one_that_changed_is_linked_for_sure(place):
    ran = [A, A, A]
    ran[place] = B
    chains, how = linked(evidence(unnamed(model_call, A, A, A), None, unnamed(execution, *ran)))

    assert [len(chain) for chain in chains] == [2, 2, 2]
    assert how[f"executor/{place}"] is LinkedBy.POSITION


@pytest.mark.parametrize("asked", list(product([A, B], repeat=3)))
@pytest.mark.parametrize("place", range(3))
def test_one_change_among_calls_without_ids_is_always_the_adapters(asked, place):
    ran = [*asked[:place], C, *asked[place + 1 :]]
    made = evidence(
        unnamed(model_call, *asked), unnamed(adapter_call, *ran), unnamed(execution, *ran)
    )

    verdict = score(None, made)

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert [place[:3] for place in places(verdict)] == [("adapter", "value_changed", "/n")]


@pytest.mark.parametrize("asked", [no_plan(), case(*[due(rules={"/n": TWO}, args={})] * 2)])
@pytest.mark.parametrize("ran", [(A, B), (B, A)])
def test_a_change_of_one_of_two_equal_calls_fails_though_the_plan_is_met(asked, ran):
    changed = score(
        asked,
        evidence(unnamed(model_call, A, A), unnamed(adapter_call, *ran), unnamed(execution, *ran)),
    )

    assert said(changed) == ("fail", "adapter", "adapter")
    assert [place[:3] for place in places(changed)] == [("adapter", "value_changed", "/n")]


def test_calls_of_one_tool_without_ids_are_an_order_of_their_own():
    model = [*unnamed(model_call, A, name="ask"), *unnamed(model_call, A, A, B)]
    ran = unnamed(execution, C, A, B)
    chains, how = linked(evidence(model, None, ran))

    assert chains == [
        ["model/0"],
        ["model/1", "executor/1"],
        ["model/2", "executor/0"],
        ["model/3", "executor/2"],
    ]
    assert how["executor/0"] is LinkedBy.POSITION


def test_the_calls_of_one_response_without_ids_are_an_order_of_their_own():
    model = [
        *unnamed(model_call, A, B, response_id="r1"),
        *unnamed(model_call, A, response_id="r2", turn=2),
    ]
    chains, how = linked(evidence(model, unnamed(adapter_call, A, C, response_id="r1"), None))

    assert chains == [["model/0", "adapter/0"], ["model/1", "adapter/1"], ["model/2"]]
    assert how["adapter/1"] is LinkedBy.POSITION


@pytest.mark.parametrize(
    ("asked", "ran"),
    [([A, B], [B, C]), ([A, B], [C]), ([A, A], [B]), ([A], [A, B])],
)
def test_where_nothing_fixes_a_place_no_place_is_taken(asked, ran):
    _, how = linked(evidence(unnamed(model_call, *asked), None, unnamed(execution, *ran)))

    assert LinkedBy.POSITION not in how.values()


def test_the_last_one_of_a_tool_on_both_sides_is_a_guess():
    _, how = linked(
        evidence(
            [model_call(args=A, call_id="c1"), model_call(args=B, call_id=None, turn=2)],
            [adapter_call(args=A), adapter_call(args={"n": 9}, call_id="other")],
            None,
        )
    )

    assert how["adapter/1"] is LinkedBy.ONLY_ONE_LEFT


def test_a_divergence_that_rests_on_a_guess_owns_nobody_and_fails_nothing():
    verdict = score(
        None,
        evidence(
            [model_call(args=A, call_id="c1"), model_call(args=B, call_id=None, turn=2)],
            [adapter_call(args=A), adapter_call(args={"n": 9}, call_id="other")],
            None,
        ),
    )

    assert said(verdict) == ("inconclusive", "instrumentation", "instrumentation")
    assert [one.owner.value for one in verdict.divergences] == ["none"]


def guessed(executed):
    """A second call that is linked at the adapter by nothing but its tool's name."""
    return evidence(
        [model_call(args=A, call_id="c1"), model_call(args=B, call_id=None, turn=2)],
        [adapter_call(args=A), adapter_call(args={"n": 9}, call_id="c2")],
        [execution(args=A), execution(args=executed, call_id="c2")],
    )


def test_a_guess_beside_a_plan_that_is_met_is_shown_and_decides_nothing():
    verdict = score(case(due(args=A), due(args=B), ignore_args={}), guessed({"n": 9}))
    met = score(case(due(args=A), due(args=B), compare=Boundary.MODEL), guessed({"n": 9}))

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert said(met) == ("pass", "none", "none")
    assert [one.kind.value for one in met.divergences] == ["value_changed"]


def test_what_is_known_comes_before_what_is_guessed_where_no_figure_decides():
    verdict = score(
        no_plan(),
        evidence(
            [
                model_call(args=A, call_id=None),
                model_call(args=B, call_id="c2", turn=2),
            ],
            [adapter_call(args={"n": 9}, call_id="x"), adapter_call(args=B, call_id="c2")],
            [execution(args={"n": 9}, call_id="x"), execution(args=C, call_id="c2")],
        ),
    )

    assert said(verdict) == ("fail", "executor", "executor")
    assert verdict.divergences[0].call == "c2"


def test_what_stands_above_a_guessed_record_is_known_without_it():
    verdict = score(
        None,
        evidence(
            [model_call("look", A)],
            [adapter_call("look", A), adapter_call(args=B, call_id=None)],
            [execution("look", A), execution(args=C, call_id=None)],
        ),
    )

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert [(one.kind.value, one.owner.value) for one in verdict.divergences] == [
        ("added", "adapter")
    ]


def test_what_stands_below_a_guessed_record_rests_on_the_guess():
    made = replace(guessed(C), executor=(execution(args=A), execution(args=C, call_id="c2")))
    verdict = score(None, made)

    assert said(verdict) == ("inconclusive", "instrumentation", "instrumentation")
    assert [one.owner.value for one in verdict.divergences] == ["none", "none"]


def renumbered(made, *boundaries, of=lambda call_id: f"own-{call_id}"):
    """The same run with ids of the framework's own at some boundaries."""
    changed = {
        boundary.value: tuple(
            replace(call, call_id=of(call.call_id), link=None) for call in made.at(boundary)
        )
        for boundary in boundaries
    }
    return replace(made, **changed)


RUN = clean_run(("pay", A), ("pay", A), ("look", B))


@pytest.mark.parametrize("boundaries", [(EXECUTOR,), (ADAPTER, EXECUTOR), (ADAPTER,), (MODEL,)])
def test_ids_that_change_on_the_way_part_no_calls_whose_payloads_agree_one_to_one(boundaries):
    assert said(score(None, renumbered(RUN, *boundaries))) == ("pass", "none", "none")


def test_a_number_that_became_text_is_an_id_that_changed():
    made = renumbered(evidence([model_call(call_id=7)], [adapter_call()], None), ADAPTER, of=str)

    assert said(score(None, made)) == ("pass", "none", "none")


def test_what_is_changed_below_ids_that_were_renumbered_is_blamed_where_it_shows():
    made = renumbered(
        evidence([model_call(args=A)], [adapter_call(args=A)], [execution(args=B)]),
        ADAPTER,
        EXECUTOR,
    )

    assert places(score(None, made)) == [("executor", "value_changed", "/n", "c1")]


@pytest.mark.parametrize(
    ("model", "ran"),
    [
        ([A], [A, A]),
        ([A, A], [A]),
        ([A], [B]),
    ],
)
def test_likeness_under_other_ids_is_no_link_unless_both_sides_hold_as_many(model, ran):
    made = evidence(
        [model_call(args=args, call_id=f"m{n}") for n, args in enumerate(model)],
        None,
        [execution(args=args, call_id=f"x{n}") for n, args in enumerate(ran)],
    )

    assert linked(made)[1] == {}


@pytest.mark.parametrize(
    "conduct",
    [
        Conduct(approvals=(Approval(call="m1", decision=Decision.REJECT),)),
        Conduct(guardrail=Guardrail(blocked=True, call="m1")),
    ],
)
def test_a_call_that_was_decided_on_is_told_by_its_id_alone(conduct):
    """Of two equal calls the one that ran is not on record, and the other was stopped."""
    made = evidence([model_call(call_id="m1")], None, [execution(call_id="m0")], conduct=conduct)

    assert linked(made)[1] == {}
    assert said(score(None, made)) == ("inconclusive", "instrumentation", "instrumentation")


def test_a_refusal_is_no_request_of_a_run_under_another_id():
    made = evidence(
        [model_call(call_id="m1")],
        [adapter_call(args=ARGS, call_id="m1", error="no")],
        [execution(call_id="x1")],
    )

    assert linked(made)[0] == [["model/0", "adapter/0"], ["executor/0"]]


def test_two_ids_that_differ_are_two_calls():
    chains, _ = linked(
        evidence([model_call(call_id="a")], [adapter_call(args=B, call_id="b")], None)
    )

    assert chains == [["model/0"], ["adapter/0"]]


@pytest.mark.parametrize(
    ("ids", "keys"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a"], ["model/0", "model/1"]),
        ([None, None], ["model/0", "model/1"]),
        ([7, "b"], ["model/0", "b"]),
    ],
)
def test_a_call_is_named_by_its_id_or_by_its_place(ids, keys):
    made = evidence([model_call(call_id=one) for one in ids], None, None)

    assert [c.key for c in build_chains(made, Declared(Contract()))] == keys


def test_calls_of_set_up_and_evaluation_are_linked_to_none_of_the_agents():
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution(), execution(phase=Phase.SETUP), execution(phase=Phase.EVALUATION)],
    )

    assert said(score(case(due()), made)) == ("pass", "none", "none")


def test_an_execution_inside_another_is_no_run_of_the_agents_call():
    made = evidence(
        [model_call()],
        [adapter_call()],
        [
            execution(),
            execution("geocode", A, call_id=None, parent="executor/0"),
            execution(parent="executor/0"),
        ],
    )

    assert said(score(case(due()), made)) == ("pass", "none", "none")


def test_an_agent_used_as_a_tool_runs_what_its_own_model_asked_for():
    made = evidence(
        [model_call("ask", A), model_call("look", B, call_id="c2", turn=2)],
        [adapter_call("ask", A), adapter_call("look", B, call_id="c2")],
        [execution("ask", A), execution("look", B, call_id="c2", parent="executor/0")],
    )

    assert said(score(no_plan(), made)) == ("pass", "none", "none")


def test_a_record_that_skips_a_boundary_joins_the_first_one():
    chains, _ = linked(evidence([model_call()], [], [execution()]))

    assert chains == [["model/0", "executor/0"]]


def test_every_record_stands_in_one_chain():
    made = evidence(
        [model_call(call_id=None), model_call(args=A, call_id=4)],
        [adapter_call(args=A, call_id=4), adapter_call(args=B, call_id=4)],
        [execution(args=C), execution(args=A, call_id=None)],
    )
    refs = [ref for chain in linked(made)[0] for ref in chain]

    assert sorted(refs) == sorted(c.ref for b in Boundary for c in made.at(b))


def test_what_was_refused_is_no_candidate_for_a_run_that_nothing_links():
    made = evidence(
        [model_call(call_id=None, raw='{"n": "text"}'), model_call(call_id=None, turn=2)],
        [adapter_call(error="n is no number", link="model/0", call_id=None)],
        [execution(call_id="made-1", call_id_known=False)],
    )

    chains = score(None, made).chains

    assert [dict(chain.linked_by) for chain in chains] == [
        {"adapter/0": "span"},
        {"executor/0": "payload"},
    ]
