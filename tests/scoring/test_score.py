"""One verdict from one run: the order of the questions, and the table of situations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.domain import (
    Approval,
    Boundary,
    Completeness,
    Conduct,
    Contract,
    Decision,
    Envelope,
    ForbiddenCall,
    HumanEdit,
    LeakRule,
    Outcome,
    Ownership,
    ResultShown,
    ToolContract,
)
from agenttrace.errors import AgentTraceError, UnscorableError
from agenttrace.records import to_plain
from agenttrace.scoring import records_alone, score
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
from tests.support.steps import grows_linearly, steps

MODEL, ADAPTER, EXECUTOR = Boundary
WRONG = {**ARGS, "cents": 8900}
CUT = '{"order": "A-104", "cents": 98'
PASS = ("pass", "none", "none")
HOLE = ("inconclusive", "instrumentation", "instrumentation")
HIDDEN = ResultShown(shown="done", call_id="c1", turn=1, position=0)
EDIT = HumanEdit(call_id="c1", path="/cents", before=8900, after=9800)

SITUATIONS = {
    "nothing differs": (case(due()), clean_run(), PASS),
    "a call was refused and the model repaired it": (
        case(due()),
        evidence(
            [
                model_call(args={"order": 1}, call_id="c1"),
                model_call(args=ARGS, call_id="c2", turn=2),
            ],
            [adapter_call(args=None, error="bad", call_id="c1"), adapter_call(call_id="c2")],
            [execution(call_id="c2")],
        ),
        ("pass", "model", "agent"),
    ),
    "a wrong call was never run and the executor's figures match": (
        case(forbidden=(ForbiddenCall(name="refund"),)),
        evidence(
            [model_call()],
            [adapter_call()],
            [execution(count=0, error="blocked")],
        ),
        ("pass", "model", "agent"),
    ),
    "an executed call changed on the way and ended as planned": (
        case(due()),
        evidence([model_call(args=WRONG)], [adapter_call(args=WRONG)], [execution()]),
        ("fail", "model", "agent"),
    ),
    "the text was cut off and nothing ran": (
        case(due()),
        evidence([model_call(raw=CUT)], [adapter_call(error="no JSON")], []),
        ("fail", "model", "agent"),
    ),
    "the text was cut off and something ran, with a plan": (
        case(due()),
        evidence([model_call(raw=CUT)], [adapter_call(args={})], [execution(args={})]),
        ("fail", "model", "agent"),
    ),
    "the text was cut off and something ran, without a plan": (
        no_plan(),
        evidence([model_call(raw=CUT)], [adapter_call(args={})], [execution(args={})]),
        ("fail", "adapter", "adapter"),
    ),
    "malformed text at the length limit": (
        case(due()),
        evidence(
            [model_call(raw="{order}", finish_reason="length")], [adapter_call(error="no")], []
        ),
        ("fail", "model", "agent"),
    ),
    "malformed text with another finish reason": (
        case(due()),
        evidence([model_call(raw="{order}", finish_reason="stop")], [adapter_call(error="no")], []),
        ("fail", "model", "provider"),
    ),
    "absent at the model": (
        case(due(), due("mail", {})),
        clean_run(),
        ("fail", "model", "agent"),
    ),
    "right at the model and changed at the adapter": (
        case(due()),
        evidence([model_call()], [adapter_call(args=WRONG)], [execution(args=WRONG)]),
        ("fail", "adapter", "adapter"),
    ),
    "right at the model and lost at the adapter": (
        case(due()),
        evidence([model_call()], [], []),
        ("fail", "adapter", "adapter"),
    ),
    "right at the model and refused at the adapter": (
        case(due()),
        evidence([model_call()], [adapter_call(error="unknown tool")], []),
        ("fail", "adapter", "adapter"),
    ),
    "handed on and never run": (
        case(due()),
        evidence([model_call()], [adapter_call()], []),
        ("fail", "executor", "executor"),
    ),
    "another payload in one execution": (
        case(due()),
        evidence([model_call()], [adapter_call()], [execution(args=WRONG)]),
        ("fail", "executor", "executor"),
    ),
    "the same payload and more executions": (
        case(due()),
        evidence([model_call()], [adapter_call()], [execution(count=2)]),
        ("fail", "executor", "executor-retries"),
    ),
    "an error was hidden from the model": (
        case(due()),
        evidence(
            [model_call()],
            [adapter_call()],
            [execution(result=None, error="OSError: full")],
            conduct=Conduct(results_shown=(HIDDEN,)),
        ),
        ("fail", "executor", "adapter"),
    ),
    "a person edited the call": (
        case(due()),
        evidence(
            [model_call(args=WRONG)],
            [adapter_call(args=WRONG)],
            [execution()],
            conduct=Conduct(human_edits=(EDIT,)),
        ),
        PASS,
    ),
    "executed without its own approval": (
        case(due()),
        evidence(
            [model_call()],
            [adapter_call()],
            [execution()],
            conduct=Conduct(approvals=(Approval(call="c9", decision=Decision.APPROVE),)),
        ),
        ("fail", "executor", "executor"),
    ),
    "the compared boundary was not recorded and nothing left the plan": (
        case(due()),
        evidence([model_call()], [adapter_call()], None),
        HOLE,
    ),
    "the first recorded boundary leaves the plan and one before it is unknown": (
        case(due()),
        evidence(None, [adapter_call(args=WRONG)], [execution(args=WRONG)]),
        HOLE,
    ),
    "the plan was left before the first recorded boundary and again after it": (
        case(due()),
        evidence(None, [adapter_call(args=WRONG)], [execution(args={"n": 1})]),
        HOLE,
    ),
    "a call of another agent's tool is right and the tool did another thing": (
        case(due(), outcome={"/paid": rule("equals", True)}),
        clean_run(outcome=Outcome(final_state={"paid": False})),
        ("fail", "executor", "tool-owner"),
    ),
    "a secret stands in the last message": (
        case(due(), leak=(LeakRule(tool="refund", path="/code"),)),
        evidence(
            [model_call()],
            [adapter_call()],
            [execution(result={"code": "488102"})],
            outcome=Outcome(final_message="It is 48-81-02."),
        ),
        ("fail", "model", "agent"),
    ),
    "too few calls": (
        case(due(), min_calls={"refund": 2}),
        clean_run(),
        ("fail", "model", "agent"),
    ),
    "too few calls and the model was not recorded": (
        case(due(), min_calls={"refund": 2}),
        evidence(None, [adapter_call()], [execution()]),
        HOLE,
    ),
    "an order that the first recorded boundary breaks": (
        case(due("a", {}), due("b", {}), ordered=("a", "b")),
        evidence(
            None,
            [adapter_call("b", {}, call_id="c1"), adapter_call("a", {}, call_id="c2")],
            [execution("b", {}, call_id="c1"), execution("a", {}, call_id="c2")],
        ),
        HOLE,
    ),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_has_its_verdict(situation):
    asked, made, expected = SITUATIONS[situation]

    assert said(score(asked, made)) == expected


def test_a_refused_call_that_was_repaired_is_recovered():
    asked, made, _ = SITUATIONS["a call was refused and the model repaired it"]

    assert score(asked, made).recovered


def test_a_repaired_call_beside_another_fault_is_not_recovered():
    asked, made, _ = SITUATIONS["a call was refused and the model repaired it"]
    verdict = score(replace(asked, required=(due(), due("mail", {}))), made)

    assert (verdict.status, verdict.recovered) == ("fail", False)


def test_a_call_that_left_the_plan_before_an_unrecorded_boundary_may_have_been_mended_there():
    verdict = score(case(due()), evidence([model_call(args=WRONG)], None, None))

    assert said(verdict) == ("inconclusive", "instrumentation", "instrumentation")
    assert verdict.figures is None
    (cause,) = verdict.causes
    assert cause.code == "boundary-not-recorded"
    assert cause.detail is not None
    assert "write compare: model to judge it there" in cause.detail


LOST = Completeness(settled=False)
FOREIGN = Ownership(foreign_requests=("req-9",))


@pytest.mark.parametrize(
    ("asked", "parts", "first"),
    [
        (
            case(due(), max_calls={"refund": 0}),
            {"completeness": LOST, "ownership": FOREIGN},
            "join",
        ),
        (case(due(), max_calls={"refund": 0}), {"completeness": LOST}, "instrumentation"),
        (case(due(), max_calls={"refund": 0}), {}, "label"),
        (case(due()), {}, "model"),
    ],
)
def test_the_first_question_that_fails_ends_the_search_for_blame(asked, parts, first):
    verdict = score(asked, clean_run(("refund", WRONG), **parts))

    assert verdict.first == first


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_row_is_inconclusive_without_a_cause(situation):
    verdict = score(*SITUATIONS[situation][:2])

    assert bool(verdict.causes) is (verdict.status == "inconclusive")


@pytest.mark.parametrize("situation", SITUATIONS)
def test_without_the_label_identity_and_plan_are_not_asked(situation):
    asked, made, _ = SITUATIONS[situation]
    renamed = replace(made, ownership=Ownership(scored_case_id="another"))

    assert records_alone(asked, renamed) is records_alone(None, made)


@given(st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_records_never_changes_the_verdict(random, with_plan):
    names = ["a", "b", "a", "c", "b"]
    model, adapter, executor = [], [], []
    for n, name in enumerate(names):
        seen = {"call_id": f"c{n}", "seq": 10 * n}
        model.append(model_call(name, {"n": n}, turn=n + 1, ref=f"m{n}", **seen))
        adapter.append(adapter_call(name, {"n": n}, ref=f"d{n}", **{**seen, "seq": 10 * n + 1}))
        args = {"n": 99} if n == 3 else {"n": n}
        executor.append(execution(name, args, ref=f"x{n}", **{**seen, "seq": 10 * n + 2}))
    asked = (
        case(*[due(name, {"n": n}) for n, name in enumerate(names)], ordered=("a", "b", "c"))
        if with_plan
        else no_plan()
    )
    wanted = score(asked, evidence(model, adapter, executor))
    for records in (model, adapter, executor):
        random.shuffle(records)
    got = score(asked, evidence(model, adapter, executor))

    assert said(got) == said(wanted)
    assert places(got) == places(wanted) == [("executor", "value_changed", "/n", "c3")]
    assert {b: f and f.counts for b, f in got.boundaries.items()} == {
        b: f and f.counts for b, f in wanted.boundaries.items()
    }


names = st.sampled_from(["a", "b"])
arguments = st.dictionaries(
    st.sampled_from(["n", "m"]), st.sampled_from([1, 1.0, "1", None, [1], {"x": 1}]), max_size=2
)
identity = st.sampled_from(["c1", "c2", 7, None])
models = st.lists(
    st.builds(
        lambda n, a, i, t, cut: model_call(n, a, call_id=i, turn=t, raw=CUT if cut else None),
        names,
        arguments,
        identity,
        st.integers(1, 3),
        st.booleans(),
    ),
    max_size=3,
)
adapters = st.lists(
    st.builds(
        lambda n, a, i, e: adapter_call(n, a, call_id=i, error=e),
        names,
        arguments,
        identity,
        st.sampled_from([None, "no"]),
    ),
    max_size=3,
)
executions = st.lists(
    st.builds(
        lambda n, a, i, c, e: execution(n, a, call_id=i, count=c, error=e),
        names,
        arguments,
        identity,
        st.integers(0, 2),
        st.sampled_from([None, "no"]),
    ),
    max_size=3,
)
plans = st.none() | st.lists(st.builds(due, names, arguments), max_size=3)
runs = st.builds(evidence, st.none() | models, st.none() | adapters, st.none() | executions)


@settings(max_examples=300)
@given(plans, runs, st.sampled_from([None, *Boundary]))
def test_a_verdict_holds_together_whatever_was_recorded(plan, made, compare):
    asked = no_plan(compare=compare) if plan is None else case(*plan, compare=compare)
    verdict = score(asked, made)
    refs = [ref for chain in verdict.chains for refs in chain.records.values() for ref in refs]

    assert sorted(refs) == sorted(call.ref for b in Boundary for call in made.at(b))
    assert (verdict.status == "inconclusive") is (verdict.first not in [*Boundary, "none"])
    assert (verdict.owner == "none") is (verdict.first == "none")
    if verdict.first in list(Boundary):
        assert made.is_observed(Boundary(verdict.first.value))
        assert verdict.divergences[0].boundary.value == verdict.first.value
    if verdict.first == "none":
        assert {one.owner.value for one in verdict.divergences} <= {"none"}
        assert verdict.figures is None or verdict.figures.counts.exact
    if verdict.status == "pass":
        assert verdict.figures is None or verdict.figures.counts.exact


def text_of(verdict):
    """The whole verdict as one text; what is missing stands as its name."""
    return json.dumps(to_plain(verdict), default=repr)


@given(plans, runs)
def test_judging_again_gives_the_same_bytes(plan, made):
    asked = no_plan() if plan is None else case(*plan)

    assert text_of(score(asked, made)) == text_of(score(asked, made))


PROGRAM = """
import json, sys
from agenttrace.records import to_plain
from agenttrace.scoring import score
from agenttrace.domain import ForbiddenCall
from tests.builders import *
made = evidence(
    [model_call("a", {"n": 1, "m": 2}), model_call("b", {"q": 1}, call_id=None, turn=2)],
    [adapter_call("a", {"n": 2, "m": 3}), adapter_call("b", {"p": 1}, call_id="x")],
    [execution("a", {"n": 4}), execution("c", {}, call_id=None)],
)
asked = case(due("a", {"n": 9}), due("z", {}), forbidden=(ForbiddenCall(name="c"),),
             ignore_args={"a": frozenset({"k", "l", "j"})}, max_calls={"a": 0, "b": 0})
sys.stdout.write(json.dumps(to_plain(score(asked, made)), default=repr))
"""


def test_another_hash_seed_gives_the_same_bytes():
    texts = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }

    assert len(texts) == 1
    assert texts.pop()


def test_importing_the_scorer_loads_no_tracer_and_no_validator():
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import agenttrace.scoring"],
        capture_output=True,
        check=True,
        text=True,
    ).stderr
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in told.splitlines()}

    assert "agenttrace" in loaded
    assert loaded.isdisjoint({"opentelemetry", "wrapt", "pydantic", "pydantic_core", "yaml"})


def deep(leaf, levels=3_000):
    value = leaf
    for n in range(levels):
        value = {"v": value} if n % 2 else [value]
    return value


BIG = 10**4301 + 7


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (deep(1), deep(2)),
        (BIG, BIG + 1),
        (BIG, str(BIG.bit_length())),
        ("\ud800", "\ud800x"),
        ("x" * 10_000_000, "x" * 9_999_999),
        ("a\x00b", "a\x00c"),
        (1e308, 5e-324),
        ({"~/": {"": 1}}, {"~/": {"": 2}}),
        ("*" * 20_000, "[" * 20_000),
        ([], {}),
    ],
    ids=[
        "deep",
        "big",
        "big text",
        "surrogate",
        "long",
        "nul",
        "float",
        "pointer",
        "mask",
        "empty",
    ],
)
def test_hostile_values_are_judged_like_any_other(before, after):
    name = "t\ud800~/\n"
    made = evidence(
        [replace(model_call(name, {}), arguments={"x": before}, raw=None)],
        [adapter_call(name, {"x": before})],
        [execution(name, {"x": after})],
    )

    assert said(score(case(due(name, {"x": before})), made)) == ("fail", "executor", "executor")
    assert said(score(None, made)) == ("fail", "executor", "executor")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_value_that_is_no_json_is_refused_by_name(number):
    made = evidence(executor=[execution(args={"n": number})])

    with pytest.raises(UnscorableError, match="no JSON"):
        score(case(due()), made)


@pytest.mark.parametrize(
    "asked",
    [
        case(due(args={}, rules={"/order": rule("regex", "(")})),
        case(due(args={}, rules={"order": rule("ignore")})),
        case(due(args={}, rules={"/cents": rule("range", {"min": "a"})})),
        case(due(args={}, rules={"/order": rule("normalizer", "x", "unknown")})),
        case(due(), contract=Contract(tools={"refund": ToolContract(normalize={"order": "no"})})),
        no_plan(once_per={"refund": "order"}),
    ],
)
def test_nothing_but_this_packages_errors_leaves_the_scorer(asked):
    with pytest.raises(AgentTraceError):
        score(asked, clean_run())


def test_work_grows_with_the_calls_and_not_with_their_square():
    def judged(count):
        calls = [("refund", {"n": n}) for n in range(count)]
        return score(case(*[due(*call) for call in calls]), clean_run(*calls))

    assert grows_linearly(judged, 100)


def test_thousands_of_required_calls_with_rules_are_refused_at_once():
    anything = due(args={}, rules={"/n": rule("ignore")})
    asked, made = case(*[anything] * 1000), clean_run(*[("refund", {"n": n}) for n in range(1000)])

    def refused():
        with pytest.raises(UnscorableError):
            score(asked, made)

    assert steps(refused) < 1000 * 1000 / 4


def test_a_call_whose_arguments_are_no_object_is_refused():
    unpacks = Contract(envelope=Envelope(tool="call", name="tool", arguments="args"))
    odd: object = "A-104"
    made = evidence([replace(model_call("call"), arguments=odd)], None, None)  # type: ignore[arg-type]

    with pytest.raises(UnscorableError):
        score(no_plan(contract=unpacks), made)
