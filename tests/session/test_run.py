"""`run`: leaving never raises, and a verdict is there for who asks."""

from __future__ import annotations

import asyncio
import functools
import json

import pytest

import agenttrace
from agenttrace.capture import begin_request, current_scope, record_response, recorder
from agenttrace.domain import Boundary, Case, Decision, First, Phase, RequiredCall, Status
from agenttrace.errors import (
    AgentTraceError,
    ConfigurationError,
    NoRunError,
    UnknownCaseError,
)
from agenttrace.records import RecordKind, assemble, record_from_plain, record_to_line
from agenttrace.session._cases import CaseBook
from agenttrace.session._state import session
from agenttrace.testing import isolated
from tests.support.drafts import refund, response

CASE = Case(
    case_id="refund-amount",
    revision="3",
    required=(
        RequiredCall(name="issue_refund", arguments={"order_id": "A-104", "amount_cents": 9800}),
    ),
)


@agenttrace.trace
def issue_refund(order_id: str, amount_cents: int) -> str:
    return "done"


def agent(asked: int = 9800, executed: int | None = None) -> str:
    record_response(response(refund(asked)), begin_request(None, None))
    given = asked if executed is None else executed
    with agenttrace.adapter(
        name="issue_refund",
        call_id="call_1",
        arguments={"order_id": "A-104", "amount_cents": asked},
    ):
        return issue_refund("A-104", given)


@pytest.fixture(autouse=True)
def in_memory():
    with isolated():
        yield


@pytest.fixture
def configured_cases(monkeypatch, tmp_path):
    def use(cases: object) -> None:
        monkeypatch.setattr(session, "cases", CaseBook(cases))

    return use


# Verdicts


def test_a_run_that_kept_to_its_case_passes():
    with agenttrace.run(CASE) as run:
        run.set_output(agent())

    verdict = run.verdict
    assert (verdict.status, verdict.case_id, verdict.case_revision) == (
        Status.PASS,
        "refund-amount",
        "3",
    )
    assert verdict.evidence_digest == run.evidence().digest


def test_the_boundary_that_changed_the_amount_is_named_with_and_without_a_case():
    for case in (CASE, None):
        with agenttrace.run(case) as run:
            agent(9800, executed=980000)

        assert (run.verdict.status, run.verdict.first) == (Status.FAIL, First.EXECUTOR)
        assert run.verdict.divergences[0].path == "/amount_cents"


def test_a_wrong_amount_of_the_model_is_the_models():
    with agenttrace.run(CASE) as run:
        agent(8900)

    assert (run.verdict.status, run.verdict.first) == (Status.FAIL, First.MODEL)


def test_a_run_without_any_response_is_inconclusive():
    with agenttrace.run(CASE) as run:
        pass

    assert run.verdict.status is Status.INCONCLUSIVE


def test_the_verdict_of_an_open_run_is_inconclusive():
    with agenttrace.run(CASE) as run:
        agent()
        assert run.verdict.status is Status.INCONCLUSIVE

    assert run.verdict.status is Status.PASS


def test_a_secret_that_the_case_expects_is_compared_masked():
    @agenttrace.trace
    def login(password: str) -> str:
        return "in"

    case = Case(
        case_id="c", required=(RequiredCall(name="login", arguments={"password": "hunter2-x"}),)
    )
    for password, status in (("hunter2-x", Status.PASS), ("hunter3-x", Status.FAIL)):
        from tests.support.drafts import call

        with agenttrace.run(case) as run:
            raw = json.dumps({"password": password})
            record_response(response(call("login", raw)), begin_request(None, None))
            login(password)

        assert run.verdict.status is status
        assert "hunter" not in repr(run.records())


# Cases


def test_a_case_id_is_looked_up_when_the_verdict_is_asked_for(configured_cases):
    configured_cases([CASE])
    with agenttrace.run("refund-amount") as run:
        agent()

    assert run.verdict.status is Status.PASS
    assert run.evidence().run.case_id == "refund-amount"


def test_an_unknown_case_is_told_to_who_asks_for_the_verdict(configured_cases):
    configured_cases([CASE])
    with agenttrace.run("refund-amuont") as run:
        agent()

    with pytest.raises(UnknownCaseError, match="Known cases: refund-amount"):
        _ = run.verdict


def test_a_case_file_that_cannot_be_read_stops_no_agent(tmp_path, monkeypatch):
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    with agenttrace.run(tmp_path / "missing.json") as run:
        assert agent() == "done"

    with pytest.raises(AgentTraceError, match=r"missing\.json"):
        _ = run.verdict


def test_no_fault_of_reading_a_case_costs_the_run_its_record(tmp_path, monkeypatch):
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    monkeypatch.setattr("agenttrace.session._run.read_case", lambda _: 10**400 / 1)
    with agenttrace.run(tmp_path / "c.json") as run:
        assert agent() == "done"

    assert len(run.evidence().executor) == 1
    with pytest.raises(AgentTraceError, match=r"c\.json.*OverflowError: integer div"):
        _ = run.verdict


def test_a_contract_that_a_tool_declares_holds_for_the_case():
    from agenttrace.domain import ToolContract

    @agenttrace.trace(name="pay", contract=ToolContract(unit={"amount": "x100"}))
    def pay(amount: int) -> str:
        return "done"

    from tests.support.drafts import call

    case = Case(case_id="c", required=(RequiredCall(name="pay", arguments={"amount": 9800}),))
    with agenttrace.run(case) as run:
        record_response(response(call("pay", '{"amount": 98}')), begin_request(None, None))
        pay(9800)

    assert run.verdict.status is Status.PASS
    assert run.verdict.divergences == ()
    lines = [record_to_line(record) for record in run.records()]
    from_file = assemble([record_from_plain(json.loads(line)) for line in lines])
    assert agenttrace.score(case, from_file) == run.verdict


# What is put on record


def test_output_state_and_events_reach_the_evidence():
    with agenttrace.run() as run:
        agent()
        run.set_output("Refunded.")
        run.set_state({"refunds": [1]})
        run.event("approval", call="call_1", decision="approve", by="lena")

    evidence = run.evidence()
    assert (evidence.outcome.final_message, evidence.outcome.final_state) == (
        "Refunded.",
        {"refunds": [1]},
    )
    assert evidence.conduct.approvals[0].decision is Decision.APPROVE


def test_an_event_that_lacks_a_field_is_left_out_and_counted(caplog):
    with agenttrace.run() as run:
        agent()
        run.event("approval", call="call_1")

    assert run.evidence().completeness.lost == {"event:approval": 1}
    assert "decision" in caplog.text


def test_an_event_of_an_unknown_name_is_kept_and_decides_nothing(caplog):
    with agenttrace.run(CASE) as run:
        agent()
        run.event("mood", value="good")

    assert [r.payload.name for r in run.records() if r.kind is RecordKind.EVENT] == ["mood"]
    assert run.verdict.status is Status.PASS


def test_phases_and_agents_mark_what_is_recorded_inside():
    with agenttrace.run(name="planner") as run:
        with run.phase("setup"):
            issue_refund("S", 1)
        with run.agent("helper"), run.phase(Phase.EVALUATION):
            issue_refund("H", 2)
        issue_refund("P", 3)

    assert [(e.phase, e.agent) for e in run.evidence().executor] == [
        (Phase.SETUP, "planner"),
        (Phase.EVALUATION, "helper"),
        (Phase.RUN, "planner"),
    ]


def test_versions_and_attempt_stand_on_every_record():
    with agenttrace.run(
        "c", agent_version="2026.11", prompt_version="7", attempt=2, case_revision="r"
    ) as run:
        agent()

    (only,) = {record.run for record in run.records()}
    assert (only.case_id, only.case_revision, only.attempt) == ("c", "r", 2)
    assert (only.agent_version, only.prompt_version) == ("2026.11", "7")


# As a decorator


def test_each_call_of_a_decorated_function_is_a_run_of_its_own():
    seen = []

    @agenttrace.run(agent_version="1")
    def answer(cents: int) -> str:
        seen.append(agenttrace.capture.current_scope().run)
        return agent(cents)

    assert [answer(1), answer(2)] == ["done", "done"]
    assert len({state.run.run_id for state in seen}) == 2
    assert all(state.is_closed for state in seen)


def test_a_decorated_coroutine_function_stays_one():
    @agenttrace.run()
    async def answer() -> str:
        await asyncio.sleep(0)
        return agent()

    assert asyncio.iscoroutinefunction(answer)
    assert asyncio.run(answer()) == "done"


def test_a_generator_is_refused_as_a_run():
    def answers():
        yield 1

    with pytest.raises(ConfigurationError, match="with run"):
        agenttrace.run()(answers)


def test_a_run_works_in_asynchronous_code():
    async def main() -> agenttrace.session.AgentRun:
        async with agenttrace.run() as run:
            agent()
        return run

    assert len(asyncio.run(main()).evidence().executor) == 1


# Never harm


def test_the_programs_exception_leaves_the_run_as_it_is():
    error = RuntimeError("the agent's own")

    with pytest.raises(RuntimeError) as caught, agenttrace.run() as run:
        raise error

    assert caught.value is error
    assert run.evidence().completeness.settled


def test_asking_before_the_run_began_says_so():
    with pytest.raises(NoRunError, match="has not begun"):
        agenttrace.run().records()


def test_a_phase_that_does_not_exist_is_refused_where_it_is_written():
    with pytest.raises(ConfigurationError, match="setup, run, evaluation"):
        agenttrace.run(phase="teardown")


def test_a_run_inside_a_run_takes_only_its_own_work():
    with agenttrace.run() as outer:
        issue_refund("outer", 1)
        with agenttrace.run() as inner:
            issue_refund("inner", 2)
        issue_refund("outer", 3)

    assert [e.arguments["order_id"] for e in inner.evidence().executor] == ["inner"]
    assert [e.arguments["amount_cents"] for e in outer.evidence().executor] == [1, 3]


def test_evidence_observes_the_boundaries_that_were_recorded():
    with agenttrace.run() as run:
        agent()

    evidence = run.evidence()
    assert evidence.observed[Boundary.MODEL].everything
    assert "issue_refund" in evidence.observed[Boundary.EXECUTOR].tools
    assert evidence.observed[Boundary.ADAPTER].tools == {"issue_refund"}


def test_a_run_that_is_entered_inside_itself_is_two_runs_and_leaves_nothing_behind():
    run = agenttrace.run()
    with run:
        outer = run.id
        issue_refund("A-1", 1)
        with run:
            issue_refund("A-2", 2)
            inner = run.evidence()
        issue_refund("A-3", 3)

    assert outer != inner.run.run_id
    assert [call.arguments["order_id"] for call in inner.executor] == ["A-2"]
    assert current_scope() is None


class AsyncAgent:
    async def __call__(self, order_id: str) -> str:
        await asyncio.sleep(0)
        return issue_refund(order_id, 1)


class Desk:
    @agenttrace.run()
    @classmethod
    def of_class(cls, order_id: str) -> str:
        return issue_refund(order_id, 1)

    @agenttrace.run()
    @staticmethod
    def of_none(order_id: str) -> str:
        return issue_refund(order_id, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Desk.of_class("A-1"),
        lambda: Desk().of_class("A-1"),
        lambda: Desk().of_none("A-1"),
        lambda: asyncio.run(agenttrace.run()(AsyncAgent())("A-1")),
        lambda: agenttrace.run()(functools.partial(issue_refund, "A-1"))(1),
    ],
)
def test_any_kind_of_callable_can_be_made_a_run_of_its_own(call):
    settled = []
    recorder.listeners.append(settled.append)

    assert call() == "done"

    (state,) = settled
    assert [str(record.kind) for record in state.records()] == ["execution", "run"]


@pytest.mark.parametrize("what", [5, property(len), functools.partial(lambda: (yield))])
def test_what_cannot_be_a_run_of_its_own_is_refused(what):
    with pytest.raises(ConfigurationError, match="run decorates functions"):
        agenttrace.run()(what)
