"""Which plan a row is judged by, and the figures at every boundary."""

from __future__ import annotations

import pytest

from agenttrace.domain import Boundary, Conduct, Plan
from agenttrace.scoring import choose_plan, score
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
    rule,
)

MODEL, ADAPTER, EXECUTOR = Boundary
SEARCH = Plan(plan_id="search", required=(due("search", {}), due("open", {})))
LISTED = Plan(plan_id="list", required=(due("list", {}),))
NOTHING = Plan(plan_id="nothing", required=())


def any_of(*plans):
    return case(plan_by="any_of", plans=plans)


@pytest.mark.parametrize(
    ("names", "plan_id"),
    [(["list"], "list"), (["search", "open"], "search"), (["search"], "search"), ([], "search")],
)
def test_the_nearest_of_several_plans_is_used_and_the_first_of_equals(names, plan_id):
    made = evidence([], [], [execution(name, {}) for name in names])

    assert choose_plan(any_of(SEARCH, LISTED), made, EXECUTOR)[0] == plan_id


def test_a_plan_of_nothing_is_met_by_nothing():
    assert choose_plan(any_of(SEARCH, NOTHING), evidence(), EXECUTOR)[0] == "nothing"


def test_where_the_boundary_was_not_recorded_the_plan_that_the_first_recorded_one_kept_stands():
    made = evidence([model_call("list", {})], [], None)

    assert choose_plan(any_of(SEARCH, NOTHING, LISTED), made, EXECUTOR)[0] == "list"
    assert choose_plan(any_of(SEARCH, LISTED), evidence(None, None, None), EXECUTOR)[0] == "search"


@pytest.mark.parametrize(
    ("value", "plan_id"), [("card", "card"), (1, "one"), (True, None), (1.0, None), (None, None)]
)
def test_a_router_chooses_by_typed_equality(value, plan_id):
    asked = case(
        plan_by="router",
        plans=(
            Plan(plan_id="card", required=(), when="card"),
            Plan(plan_id="one", required=(), when=1),
        ),
    )
    made = clean_run(conduct=Conduct(router_value=value))

    assert choose_plan(asked, made, EXECUTOR)[0] == plan_id


def test_figures_stand_at_every_boundary_and_are_raw():
    verdict = score(
        case(due()), evidence([model_call()], [adapter_call()], [execution(args={"n": 1})])
    )

    assert [verdict.boundaries[b].counts.tp for b in Boundary] == [1, 1, 0]
    assert verdict.boundaries[EXECUTOR].missing == ({"name": "refund", "args": ARGS},)
    assert verdict.boundaries[EXECUTOR].extra == ({"name": "refund", "args": {"n": 1}},)


def test_figures_of_a_boundary_that_was_not_recorded_are_none():
    verdict = score(case(due()), evidence([model_call()], None, [execution()]))

    assert verdict.boundaries[ADAPTER] is None


def test_without_a_plan_there_are_no_figures():
    verdict = score(no_plan(), clean_run())

    assert set(verdict.boundaries.values()) == {None}
    assert (verdict.galtea_tool_correctness, verdict.ragas_tool_call_f1) == (None, None)


def test_a_missing_call_is_listed_as_it_stands_in_the_case():
    asked = case(
        due(
            args={"order": "A-104"},
            rules={
                "/cents": rule("range", {"min": 1}),
                "/to": rule("normalizer", "x", "trim"),
            },
        )
    )

    assert score(asked, evidence(executor=[execution("other")])).figures.missing == (
        {
            "name": "refund",
            "args": {"order": "A-104"},
            "rules": {
                "/cents": {"range": {"min": 1}},
                "/to": {"normalizer": "trim", "value": "x"},
            },
        },
    )


def test_a_row_with_alternatives_has_no_ragas_score():
    verdict = score(any_of(LISTED), clean_run(("list", {})))

    assert (verdict.plan, verdict.status, verdict.ragas_tool_call_f1) == ("list", "pass", None)
