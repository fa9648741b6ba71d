"""Where the model's own calls leave the plan."""

from __future__ import annotations

import pytest

from agenttrace.domain import (
    MISSING,
    Boundary,
    Conduct,
    Contract,
    Envelope,
    ForbiddenCall,
    HumanEdit,
    Outcome,
    Ownership,
    RunAttempt,
    Tools,
)
from agenttrace.scoring import score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    clean_run,
    contract,
    due,
    evidence,
    execution,
    model_call,
    places,
    rule,
    said,
)

PASS = ("pass", "none", "none")
AGENT = ("fail", "model", "agent")


def test_remaining_calls_are_paired_with_the_fewest_differing_arguments():
    verdict = score(
        case(due("a", {"x": 1, "y": 1}), due("a", {"x": 5, "y": 5})),
        clean_run(("a", {"x": 5, "y": 6}), ("a", {"x": 1, "y": 2})),
    )

    assert places(verdict) == [
        ("model", "value_changed", "/y", "c0"),
        ("model", "value_changed", "/y", "c1"),
    ]


def test_equal_arguments_under_another_name_are_a_changed_name():
    verdict = score(case(due("send", {"n": 1})), clean_run(("sent", {"n": 1})))

    assert places(verdict) == [("model", "name_changed", "", "c0")]
    assert (verdict.divergences[0].before, verdict.divergences[0].after) == ("send", "sent")


def test_what_is_left_over_is_added_or_dropped():
    verdict = score(case(due("a", {"n": 1})), clean_run(("b", {"n": 2})))

    assert said(verdict) == AGENT
    assert places(verdict) == [
        ("model", "added", "", "c0"),
        ("model", "dropped", "", "required/0"),
    ]


def test_one_more_of_a_due_call_is_a_duplicate():
    verdict = score(case(due()), clean_run(("refund", ARGS), ("refund", ARGS)))

    assert places(verdict) == [("model", "duplicated", "", "c1")]
    assert (verdict.divergences[0].before, verdict.divergences[0].after) == (1, 2)


def test_a_missing_call_comes_after_every_recorded_one():
    verdict = score(
        case(due("a", {}), due("b", {"n": 1})), clean_run(("b", {"n": 2}), ("c", {"n": 3}))
    )

    assert [place[1] for place in places(verdict)] == ["value_changed", "added", "dropped"]


def test_executed_calls_take_a_place_before_unexecuted_ones():
    verdict = score(
        case(due()),
        evidence(
            [model_call(call_id="c1"), model_call(call_id="c2", turn=2)],
            [adapter_call(call_id="c1", error="busy"), adapter_call(call_id="c2")],
            [execution(call_id="c2")],
        ),
    )

    assert verdict.status == "pass"
    assert verdict.recovered


def test_a_divergence_shows_the_recorded_value_where_the_name_is_the_tools():
    verdict = score(
        case(due(args={"state": "Active"}), contract=contract(fold_case=("state",))),
        clean_run(("refund", {"state": "PENDING"})),
    )

    assert (verdict.divergences[0].before, verdict.divergences[0].after) == ("Active", "PENDING")


def test_a_divergence_shows_the_declared_value_where_the_recorded_name_differs():
    verdict = score(
        case(
            due(args={"cents": 4200}),
            contract=contract(rename={"euros": "cents"}, unit={"euros": "x100"}),
        ),
        evidence(
            [model_call(args={"euros": 43})],
            [adapter_call(args={"cents": 4300})],
            [execution(args={"cents": 4300})],
        ),
    )

    assert places(verdict) == [("model", "value_changed", "/cents", "c1")]
    assert (verdict.divergences[0].before, verdict.divergences[0].after) == (4200, 4300)


def test_inside_an_envelope_the_inner_arguments_are_shown():
    rules = Contract(envelope=Envelope(tool="bridge", name="name", arguments="args"))
    verdict = score(
        case(due("open", {"name": "left"}), contract=rules),
        evidence(
            [model_call("bridge", {"name": "open", "args": {"name": "right"}})],
            [adapter_call("open", {"name": "right"})],
            [execution("open", {"name": "right"})],
        ),
    )

    assert places(verdict) == [("model", "value_changed", "/name", "c1")]
    assert verdict.divergences[0].after == "right"


def test_a_broken_rule_has_no_value_before():
    asked = case(due(args={"order": "A-104"}, rules={"/cents": rule("range", {"max": 5000})}))
    verdict = score(asked, clean_run())

    assert places(verdict) == [("model", "value_changed", "/cents", "c0")]
    assert (verdict.divergences[0].before, verdict.divergences[0].after) == (MISSING, 9800)


def test_a_field_that_a_rule_needs_and_nobody_gave_is_dropped():
    asked = case(due(args={"order": "A-104"}, rules={"/why": rule("length", {"min": 1})}))
    verdict = score(asked, clean_run(("refund", {"order": "A-104"})))

    assert places(verdict) == [("model", "dropped", "/why", "c0")]


@pytest.mark.parametrize(
    ("rules", "model_value", "tool_value", "asked"),
    [
        ({"fold_case": ("t",)}, "K-44", "K-44", rule("regex", "K-[0-9]+")),
        ({"normalize": {"t": "trim"}}, " K-44", "K-44", rule("regex", "K-[0-9]+")),
        (
            {"normalize": {"t": "utc_instant"}},
            "2026-01-01T12:00:00+01:00",
            "2026-01-01T11:00:00Z",
            rule("regex", ".*Z"),
        ),
    ],
)
def test_a_rule_is_written_for_the_compared_boundary(rules, model_value, tool_value, asked):
    made = evidence(
        [model_call(args={"t": model_value})],
        [adapter_call(args={"t": tool_value})],
        [execution(args={"t": tool_value})],
    )

    assert said(
        score(case(due(args={}, rules={"/t": asked}), contract=contract(**rules)), made)
    ) == (PASS)


def test_a_default_that_a_rule_covers_is_not_a_literal():
    asked = case(
        due(args={"n": 1}, rules={"/depth": rule("range", {"max": 3})}),
        contract=contract(defaults={"depth": 2}),
    )
    made = evidence(
        [model_call(args={"n": 1})],
        [adapter_call(args={"n": 1, "depth": 2})],
        [execution(args={"n": 1, "depth": 2})],
    )

    assert said(score(asked, made)) == PASS


@pytest.mark.parametrize(
    ("raw", "finish", "kind", "owner"),
    [
        ('{"order": "A-1', "length", "truncated", "agent"),
        ('{"order": "A-1', "stop", "truncated", "agent"),
        ('{"order": A}', "length", "malformed", "agent"),
        ('{"order": A}', "max_tokens", "malformed", "agent"),
        ('{"order": A}', "stop", "malformed", "provider"),
        ("[1, 2]", "stop", "malformed", "provider"),
        ('{"n": 1, "n": 2}', None, "malformed", "provider"),
        ('{"n": NaN}', None, "malformed", "provider"),
    ],
)
def test_text_that_is_no_object_is_cut_off_or_malformed(raw, finish, kind, owner):
    made = evidence([model_call(raw=raw, finish_reason=finish)], [adapter_call(error="bad")], [])
    verdict = score(case(due()), made)

    assert said(verdict) == ("fail", "model", owner)
    assert places(verdict) == [("model", kind, "", "c1")]


@pytest.mark.parametrize("raw", ["", "  ", "{}"])
def test_absent_blank_and_empty_text_are_no_arguments(raw):
    made = evidence([model_call(raw=raw)], [adapter_call(args={})], [execution(args={})])

    assert said(score(case(due(args={})), made)) == PASS


def test_a_reused_response_that_was_executed_is_the_clients():
    made = clean_run(
        ("refund", {"n": 2}), ownership=Ownership(response_first_seen_with="req-of-another")
    )

    assert said(score(case(due(args={"n": 1})), made)) == ("fail", "model", "adapter")


def test_text_in_an_objects_place_is_the_providers():
    made = clean_run(("refund", {"items": '[{"n": 1}]'}))

    assert said(score(case(due(args={"items": [{"n": 1}]})), made)) == ("fail", "model", "provider")


def test_a_field_of_the_schema_that_was_offered_is_not_the_agents_fault():
    made = clean_run(("refund", {"span": "2h"}), tools=Tools(versions={"model": 3, "executor": 4}))

    assert said(score(case(due(args={"window": "2h"})), made)) == ("fail", "model", "adapter")


@pytest.mark.parametrize("ids", [("c1", "c2"), (None, None), (7, 8)])
@pytest.mark.parametrize("effect", [True, False, None])
def test_a_repeat_after_a_failure_report_is_the_retries_where_it_had_its_effect(effect, ids):
    one, two = ids
    made = evidence(
        [model_call(call_id=one), model_call(call_id=two, turn=2)],
        [adapter_call(call_id=one), adapter_call(call_id=two)],
        [execution(call_id=one, error="timed out", effect=effect), execution(call_id=two)],
    )

    assert said(score(case(due()), made)) == (
        ("fail", "executor", "executor-retries") if effect else AGENT
    )


@pytest.mark.parametrize("remembered", [True, False])
def test_a_restart_without_its_history_is_the_retries(remembered):
    made = evidence(
        [model_call(call_id="c1"), model_call(call_id="c2", turn=2, attempt=2)],
        [adapter_call(call_id="c1"), adapter_call(call_id="c2", attempt=2)],
        [execution(call_id="c1"), execution(call_id="c2", attempt=2)],
        conduct=Conduct(
            attempts=(
                RunAttempt(number=1),
                RunAttempt(number=2, history_has_first_result=remembered),
            )
        ),
    )

    assert said(score(case(due()), made)) == (
        AGENT if remembered else ("fail", "executor", "executor-retries")
    )


def test_the_plan_speaks_of_its_agents_and_forbidden_of_all():
    asked = case(
        due("ask", {}), agents=frozenset({"front"}), forbidden=(ForbiddenCall(name="wipe"),)
    )
    made = evidence(
        [
            model_call("ask", {}, agent="front"),
            model_call("look", {}, call_id="c2", turn=2, agent="helper"),
            model_call("wipe", {}, call_id="c3", turn=3, agent="helper"),
        ],
        [
            adapter_call("ask", {}, agent="front"),
            adapter_call("look", {}, call_id="c2", agent="helper"),
            adapter_call("wipe", {}, call_id="c3", agent="helper"),
        ],
        [
            execution("ask", {}, agent="front"),
            execution("look", {}, call_id="c2", agent="helper"),
            execution("wipe", {}, call_id="c3", agent="helper"),
        ],
    )
    verdict = score(asked, made)

    assert said(verdict) == AGENT
    assert places(verdict) == [("model", "added", "", "c3")]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("ledger", [("model", "added", "", "c2")]), ("log", [])],
)
def test_a_helpers_call_is_forbidden_by_the_arguments_that_the_rule_names(path, expected):
    asked = case(
        due("ask", {}),
        agents=frozenset({"front"}),
        forbidden=(ForbiddenCall(name="wipe", arguments={"path": "ledger"}),),
    )
    made = evidence(
        [
            model_call("ask", {}, agent="front"),
            model_call("wipe", {"path": path}, call_id="c2", agent="helper"),
        ],
        [
            adapter_call("ask", {}, agent="front"),
            adapter_call("wipe", {"path": path}, call_id="c2", agent="helper"),
        ],
        [
            execution("ask", {}, agent="front"),
            execution("wipe", {"path": path}, call_id="c2", agent="helper"),
        ],
    )
    verdict = score(asked, made)

    assert places(verdict) == expected
    assert said(verdict) == (AGENT if expected else PASS)


def test_a_persons_edit_towards_the_plan_is_a_declared_change():
    edit = HumanEdit(call_id="c1", path="/to/zip", before=1, after=2)
    made = evidence(
        [model_call(args={"to": {"zip": 1}})],
        [adapter_call(args={"to": {"zip": 1}})],
        [execution(args={"to": {"zip": 2}})],
        conduct=Conduct(human_edits=(edit,)),
        outcome=Outcome(),
    )

    assert said(score(case(due(args={"to": {"zip": 2}})), made)) == PASS


def test_compared_at_the_model_nothing_of_the_contract_counts():
    made = clean_run(("refund", {"n": "1"}))
    asked = case(
        due(args={"n": 1}), compare=Boundary.MODEL, contract=contract(coerce={"n": "integer"})
    )

    assert places(score(asked, made))[0] == ("model", "type_coerced", "/n", "c0")
