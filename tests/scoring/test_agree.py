"""What is not asked of calls that agree would have had no other answer.

Every row is judged as usual and once more with every question asked of every call; the two
verdicts are one, to the last word and in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import (
    ALL,
    NOTHING,
    Approval,
    Boundary,
    Case,
    Conduct,
    Decision,
    Evidence,
    ForbiddenCall,
    Guardrail,
    HumanEdit,
    Phase,
    RequiredCall,
    ResultShown,
    Tools,
)
from agenttrace.errors import UnscorableError
from agenttrace.records import assemble
from agenttrace.scoring import score
from agenttrace.scoring._lineage import with_lineage
from agenttrace.scoring._score import _settled
from agenttrace.scoring._sight import Sight
from tests.builders import case, clean_run, contract, due, rule
from tests.cases.judged import shared_folder
from tests.cases.loader import case_of, evidence_of, read_documents
from tests.support import situations
from tests.support.made_runs import made_run
from tests.support.steps import grows_linearly
from tests.three_boundary.reader import case_of as case_of_row
from tests.three_boundary.reader import read_rows, records_of

MODEL, ADAPTER, EXECUTOR = Boundary
CASES = shared_folder() / "cases"
RUNS = shared_folder() / "data" / "three_boundary" / "tau2_runtime.jsonl.gz"


def answer(judge: Callable[[], object]) -> str:
    """The verdict with all that it holds, or that there is none."""
    try:
        return repr(judge())
    except (UnscorableError, ValueError, TypeError, LookupError) as error:
        return f"none: {type(error.__cause__ or error).__name__}"


def is_the_same_verdict(
    asked: Case | None, made: Evidence, compare: Boundary | None = None
) -> bool:
    """Whether asking everything of every call comes to the same."""
    thorough = answer(
        lambda: with_lineage(_settled(asked, made, compare, None, thorough=True), made)
    )
    return answer(lambda: score(asked, made, compare=compare)) == thorough


VALUES = st.sampled_from(
    [0, 1, 1.0, True, -0.0, None, "", "1", 2**60, [], [1], {}, {"a": 1}, "[REDACTED]"]
)
NAMES = st.sampled_from(["a", "b", "~/"])
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=3)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "arguments": ARGUMENTS | st.none() | st.dictionaries(NAMES, st.just(float("nan")), max_size=1),
    "name": st.sampled_from(["a", "b", "x_a"]),
    "call_id": st.sampled_from([None, "c0", "c1", "1", 1, "other"]),
    "call_id_known": st.booleans(),
    "turn": st.sampled_from([None, 0, 1, 2]),
    "seq": st.sampled_from([None, 1, 2, 3]),
    "error": st.sampled_from([None, "no"]),
    "phase": st.sampled_from(Phase),
    "parent": st.sampled_from([None, "executor/0", "elsewhere"]),
    "link": st.sampled_from([None, "model/0", "adapter/1", "elsewhere"]),
    "agent": st.sampled_from([None, "helper"]),
    "inferred": st.booleans(),
    "digest": st.sampled_from([None, "d1", "d2"]),
    "response_id": st.sampled_from([None, "r1"]),
}
RAN: dict[str, st.SearchStrategy[Any]] = {
    "count": st.sampled_from([0, 1, 2]),
    "exit_digest": st.sampled_from([None, "d1", "d3"]),
    "result": VALUES,
}


@st.composite
def runs(draw: st.DrawFn) -> Evidence:
    """A clean run of a few calls in which some things are otherwise."""
    calls = draw(st.lists(st.tuples(st.sampled_from(["a", "b"]), ARGUMENTS), max_size=3))
    made = clean_run(*calls) if calls else clean_run(("a", {"a": 1}))
    for _ in range(draw(st.integers(0, 3))):
        boundary = draw(st.sampled_from(Boundary))
        records: list[Any] = list(made.at(boundary))
        what = draw(st.sampled_from(["field", "field", "field", "drop", "twice", "turn round"]))
        if what == "turn round":
            records.reverse()
        elif records:
            at = draw(st.integers(0, len(records) - 1))
            known = {**FIELDS, **RAN} if boundary is EXECUTOR else FIELDS
            name = draw(st.sampled_from(sorted(known)))
            if what == "field":
                records[at] = replace(records[at], **{name: draw(known[name])})
            elif what == "twice":
                records.insert(at, replace(records[at], ref=f"{records[at].ref}+"))
            else:
                del records[at]
        made = replace(made, **{boundary.value: tuple(records)})
    if draw(st.booleans()):
        return made
    blind = draw(st.sampled_from([None, *Boundary]))
    return replace(
        made if blind is None else replace(made, **{blind.value: ()}),
        observed={b: NOTHING if b is blind else ALL for b in Boundary},
        conduct=draw(st.sampled_from(CONDUCTS)),
        tools=draw(st.sampled_from(TOOLS)),
    )


CONDUCTS = (
    Conduct(),
    Conduct(approvals=(Approval(call="c0", decision=Decision.REJECT),)),
    Conduct(guardrail=Guardrail(blocked=True, call="c0")),
    Conduct(human_edits=(HumanEdit(call_id="c0", path="/a", before=1, after=0),)),
    Conduct(results_shown=(ResultShown(shown="other", call_id="c0"),)),
)
NUMBER = {"type": "object", "properties": {"a": {"type": "number", "default": 1}}}
TOOLS = (Tools(), Tools(schemas={"a": NUMBER}), Tools(offered=("b",)))
CONTRACTS = (
    contract("a"),
    contract("a", rename={"a": "b"}),
    contract("a", defaults={"b": 1}, coerce={"a": "integer"}),
)


@st.composite
def cases(draw: st.DrawFn) -> Case | None:
    """A case that asks for some calls, and perhaps more."""
    if draw(st.integers(0, 5)) == 0:
        return None
    calls = draw(st.lists(st.tuples(st.sampled_from(["a", "b"]), ARGUMENTS), max_size=3))
    rules = {"/c": rule("ignore")} if draw(st.integers(0, 4)) == 0 else None
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields = draw(
            st.sampled_from(
                [
                    {"ignore_args": {"a": frozenset({"a"})}},
                    {"forbidden": (ForbiddenCall(name="b"),)},
                    {"agents": frozenset({"helper"})},
                    {"compare": MODEL},
                    *({"contract": one} for one in CONTRACTS),
                ]
            )
        )
    return case(*[due(name, args, rules) for name, args in calls], **fields)


def touched(made: Evidence, *boundaries: Boundary, at: int = 0, **fields: Any) -> Evidence:
    """The run with other fields of one record, at some of its boundaries."""
    for boundary in boundaries:
        records: list[Any] = list(made.at(boundary))
        records[at] = replace(records[at], **fields)
        made = replace(made, **{boundary.value: tuple(records)})
    return made


ONE, OTHER = ("a", {"a": 98}), ("b", {"a": 1})
CLEAN = clean_run(ONE)
TWO = clean_run(ONE, OTHER)
ROWS: dict[str, tuple[Case | None, Evidence]] = {
    "equal digests of arguments that only a unit makes equal": (
        case(due(*ONE), contract=contract("a", unit={"a": "x100"})),
        touched(
            touched(CLEAN, MODEL, ADAPTER, digest="d"), ADAPTER, EXECUTOR, arguments={"a": 9800}
        ),
    ),
    "arguments that changed while the tool ran": (
        case(due(*ONE)),
        touched(CLEAN, EXECUTOR, digest="d", exit_digest="e"),
    ),
    "one id for two calls that ran in the other order": (
        case(due(*ONE), due("a", {"a": 1})),
        touched(
            touched(
                touched(clean_run(ONE, ("a", {"a": 1})), *Boundary, at=1, call_id="c0"),
                EXECUTOR,
                arguments={"a": 1},
            ),
            EXECUTOR,
            at=1,
            arguments={"a": 98},
        ),
    ),
    "an edit that leads away from a plan that was kept": (
        case(due(*ONE)),
        replace(CLEAN, conduct=CONDUCTS[3]),
    ),
    "a forbidden call of an agent that the plan does not speak of": (
        case(due(*ONE), agents=frozenset({"helper"}), forbidden=(ForbiddenCall(name="b"),)),
        touched(TWO, *Boundary, agent="helper"),
    ),
    "a plan that is met but for an argument that does not count": (
        case(due("a", {"a": 1}), ignore_args={"a": frozenset({"a"})}),
        CLEAN,
    ),
    "text that is no object beside a rule": (
        case(due("a", {}, {"/a": rule("range", {"min": 0})})),
        touched(CLEAN, MODEL, arguments=None, raw="[98]"),
    ),
}


@pytest.mark.parametrize("what", ROWS)
def test_the_verdict_is_the_same_of(what):
    assert is_the_same_verdict(*ROWS[what])


@given(cases(), runs())
def test_a_verdict_is_that_of_asking_everything(asked, made):
    assert is_the_same_verdict(asked, made)


@given(runs())
def test_a_plan_of_what_was_done_is_judged_as_by_asking_everything(made):
    plan = [RequiredCall(name=c.name, arguments=c.arguments or {}) for c in made.model]

    assert is_the_same_verdict(case(*plan), made)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_so_are_made_runs_with_their_ids_links_and_faults(first):
    for seed in range(first, first + 20):
        made = made_run(seed)

        assert is_the_same_verdict(made.case, made.evidence())


def test_so_is_every_situation(monkeypatch):
    def same(asked: Case | None, made: Evidence) -> object:
        assert is_the_same_verdict(asked, made)

    monkeypatch.setattr(situations, "score", same)

    for judge in situations.SITUATIONS.values():
        judge()


@pytest.mark.skipif(not CASES.is_dir(), reason=f"no field cases at {CASES}")
def test_so_is_every_field_case():
    for document in read_documents(CASES):
        assert is_the_same_verdict(case_of(document), evidence_of(document)), document["id"]
        assert is_the_same_verdict(None, evidence_of(document)), document["id"]


@pytest.mark.skipif(not RUNS.is_file(), reason=f"no recorded runs at {RUNS}")
def test_so_is_every_recorded_run():
    for row in read_rows(RUNS):
        made = assemble(records_of(row))

        assert all(is_the_same_verdict(case_of_row(row), made, at) for at in Boundary)
        assert is_the_same_verdict(None, made)


def test_usual_records_are_those_that_say_nothing_but_name_arguments_and_id():
    made = clean_run(("a", {"n": 1}))

    assert all(Sight(made).is_usual(boundary) for boundary in Boundary)
    assert not any(Sight(made, thorough=True).is_usual(boundary) for boundary in Boundary)


@pytest.mark.parametrize("order", ["as planned", "turned round"])
@pytest.mark.parametrize("fault", [None, "one call less", "one value"])
def test_many_calls_of_one_tool_cost_no_square(order, fault):
    def judged(count: int) -> object:
        calls = [("a", {"n": n}) for n in range(count)]
        made = clean_run(*calls)
        ran = list(made.executor)
        if fault == "one call less":
            del ran[count // 2]
        if fault == "one value":
            ran[count // 2] = replace(ran[count // 2], arguments={"n": -1})
        if order == "turned round":
            calls.reverse()
            ran.reverse()
        return score(case(*[due(*call) for call in calls]), replace(made, executor=tuple(ran)))

    assert grows_linearly(judged, 40)
