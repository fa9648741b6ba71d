"""Whose a response is: by the request that it answers, never by its time or its tool's name.

Three rows with real clients: all records are the run's own; a record of another case's request was
put among them; another case's records stand in their place, of the same time and the same tool.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import agenttrace
from agenttrace.capture._tally import MAX_REQUESTS
from agenttrace.demo._provider import ReceivedRequest, ScriptedCall, ScriptedProvider, Turn
from agenttrace.domain import Case, Evidence, First, Owner, RequiredCall, Status, Verdict
from agenttrace.integrations import instrument, uninstrument
from agenttrace.records import Record, RecordKind, RunEnd, assemble
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.support.sdk_clients import WAYS, Way

SYNC_WAYS = [way for way in WAYS if not way.is_async]


@agenttrace.trace
def pay(order: str) -> str:
    return f"paid {order}"


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    with isolated():
        instrument("openai", "anthropic")
        yield
        uninstrument()


def echo(request: ReceivedRequest) -> Turn:
    """A call whose argument is the last message, so that a wrong owner shows."""
    messages = request.body.get("messages") or request.body["input"]
    return Turn(
        calls=(ScriptedCall(name="pay", arguments=json.dumps({"order": messages[-1]["content"]})),)
    )


def case_of(order: str, case_id: str | None = None) -> Case:
    return Case(
        case_id=case_id or f"case-{order}",
        required=(RequiredCall(name="pay", arguments={"order": order}),),
    )


def asked(way: Way, order: str) -> dict[str, Any]:
    key = "input" if way.api == "responses" else "messages"
    return {key: [{"role": "user", "content": order}]}


def agent(
    way: Way,
    provider: ScriptedProvider,
    order: str,
    *,
    case: Case | None,
    before_end: Callable[[], object] = int,
) -> AgentRun:
    """One run: the model asks for one payment, and it is made."""
    with agenttrace.run(case) as run:
        way.ask(provider, **asked(way, order))
        (call,) = run.evidence().model
        with agenttrace.adapter(
            name="pay", call_id=call.call_id, arguments={"order": order}, sees="all"
        ):
            pay(order)
        before_end()
    return run


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(echo) as one:
        yield one


def of_kind(run: AgentRun, *kinds: RecordKind) -> list[Record]:
    return [record for record in run.records() if record.kind in kinds]


def given_to(run: AgentRun, records: Sequence[Record]) -> list[Record]:
    """Records as a platform stores them that took them for this run's."""
    own = run.records()[0].run
    return [replace(record, run=own) for record in records]


def is_foreign(verdict: Verdict) -> bool:
    return (verdict.status, verdict.first, verdict.owner) == (
        Status.INCONCLUSIVE,
        First.JOIN,
        Owner.EVALUATION_PLATFORM,
    )


@pytest.mark.parametrize("way", SYNC_WAYS, ids=str)
def test_a_run_whose_records_answer_its_own_requests_is_judged(
    provider: ScriptedProvider, way: Way
) -> None:
    run = agent(way, provider, "A", case=case_of("A"))

    evidence, verdict = run.evidence(), run.verdict
    (response,) = evidence.responses or ()
    assert evidence.ownership.requests_of_case == (response.request_id,)
    assert {
        call.request_id for call in (*evidence.model, *evidence.adapter, *evidence.executor)
    } == {response.request_id}
    assert evidence.ownership.foreign_requests == ()
    assert verdict.status is Status.PASS
    assert verdict.request_ids == (response.request_id,)


@pytest.mark.parametrize(
    "kinds",
    [
        (RecordKind.RESPONSE, RecordKind.CALL),
        (RecordKind.RESPONSE,),
        (RecordKind.CALL,),
        (RecordKind.ADAPT,),
        (RecordKind.EXECUTION,),
    ],
    ids="+".join,
)
@pytest.mark.parametrize("way", SYNC_WAYS, ids=str)
def test_a_record_of_another_cases_request_breaks_the_join(
    provider: ScriptedProvider, way: Way, kinds: tuple[RecordKind, ...]
) -> None:
    own = agent(way, provider, "A", case=case_of("A"))
    other = agent(way, provider, "B", case=case_of("B"))
    mixed = assemble([*own.records(), *given_to(own, of_kind(other, *kinds))])

    foreign = other.evidence().ownership.requests_of_case or ()
    assert mixed.ownership.foreign_requests == foreign
    for case in (case_of("A"), None):
        verdict = score(case, mixed)
        assert is_foreign(verdict)
        (cause,) = verdict.causes
        assert cause.code == "foreign-request"
        assert foreign[0] in cause.detail


@pytest.mark.parametrize("way", SYNC_WAYS, ids=str)
def test_another_cases_response_of_the_same_time_and_tool_is_no_substitute(
    provider: ScriptedProvider, way: Way
) -> None:
    """The other case's response would make the row pass: its tool and arguments are the plan's."""
    own, other = _at_the_same_time(way, provider, case_of("A"), case_of("A", "other"))
    without_model = [
        record
        for record in own.records()
        if record.kind not in (RecordKind.RESPONSE, RecordKind.CALL)
    ]
    borrowed = of_kind(other, RecordKind.RESPONSE, RecordKind.CALL)
    mixed = assemble([*without_model, *given_to(own, borrowed)])

    model, executed = mixed.model[0], mixed.executor[0]
    assert (model.name, model.arguments) == (executed.name, executed.arguments)
    assert _overlap(own, other)
    assert is_foreign(score(case_of("A"), mixed))
    assert score(None, mixed).first is First.JOIN


@pytest.mark.parametrize("way", SYNC_WAYS, ids=str)
def test_a_whole_run_of_another_case_is_not_judged_by_this_one(
    provider: ScriptedProvider, way: Way
) -> None:
    own, other = _at_the_same_time(way, provider, case_of("A"), case_of("B"))

    assert own.verdict.status is other.verdict.status is Status.PASS
    for case, run in ((case_of("A"), other), (case_of("B"), own)):
        verdict = score(case, run.evidence())
        assert is_foreign(verdict)
        assert {cause.code for cause in verdict.causes} == {"other-case"}


def test_two_runs_under_one_id_are_told_apart_by_their_cases(provider: ScriptedProvider) -> None:
    way = SYNC_WAYS[0]
    own = agent(way, provider, "A", case=case_of("A"))
    other = agent(way, provider, "B", case=case_of("B"))
    run_id = own.id
    merged = [
        replace(record, run=replace(record.run, run_id=run_id), recorder_id=recorder_id)
        for run, recorder_id in ((own, "rec-1"), (other, "rec-2"))
        for record in run.records()
    ]

    assert is_foreign(score(case_of("A"), assemble(merged)))
    assert is_foreign(score(case_of("B"), assemble(merged)))


def test_a_record_without_a_request_id_that_has_anothers_number_is_a_conflict(
    provider: ScriptedProvider,
) -> None:
    own = agent(SYNC_WAYS[0], provider, "A", case=case_of("A"))
    with agenttrace.run() as other:
        pay("A")
    (stray,) = given_to(own, of_kind(other, RecordKind.EXECUTION))

    verdict = score(case_of("A"), assemble([*own.records(), stray]))
    assert (verdict.status, verdict.first) == (Status.INCONCLUSIVE, First.INSTRUMENTATION)


# What is not known is no join


def test_a_request_that_was_made_after_the_newest_manifest_is_not_foreign(
    provider: ScriptedProvider,
) -> None:
    way = SYNC_WAYS[0]
    with agenttrace.run(case_of("A")) as run:
        way.ask(provider, **asked(way, "A"))
        scope = agenttrace.capture.current_scope()
    first_end = of_kind(run, RecordKind.RUN)
    token = agenttrace.capture.enter_scope(scope)
    way.ask(provider, **asked(way, "B"))
    agenttrace.capture.leave_scope(token)
    late = of_kind(run, RecordKind.RESPONSE, RecordKind.CALL)
    in_between = assemble([*late, *first_end])

    assert in_between.ownership.foreign_requests == ()
    assert in_between.ownership.requests_of_case is None
    assert in_between.completeness.settled is False
    assert score(case_of("A"), in_between).first is First.INSTRUMENTATION
    settled = run.evidence().ownership
    assert len(settled.requests_of_case or ()) == 2
    assert settled.foreign_requests == ()


def test_a_tool_in_a_process_whose_manifest_is_missing_is_not_foreign(
    provider: ScriptedProvider,
) -> None:
    own = agent(SYNC_WAYS[0], provider, "A", case=case_of("A"))
    elsewhere = [
        replace(record, recorder_id="rec-elsewhere", seq=1)
        if record.kind is RecordKind.EXECUTION
        else record
        for record in own.records()
    ]
    without_parents_end = [r for r in elsewhere if r.kind is not RecordKind.RUN]

    for records in (elsewhere, without_parents_end):
        evidence = assemble(records)
        assert evidence.ownership.foreign_requests == ()
        assert score(case_of("A"), evidence).first is First.INSTRUMENTATION


def test_more_requests_than_a_manifest_lists_are_not_known(provider: ScriptedProvider) -> None:
    def requests_after(count: int) -> Evidence:
        with agenttrace.run() as run:
            for _ in range(count):
                agenttrace.capture.begin_request(None, None)
        return run.evidence()

    full, over = requests_after(MAX_REQUESTS), requests_after(MAX_REQUESTS + 1)

    assert len(full.ownership.requests_of_case or ()) == MAX_REQUESTS
    assert (over.ownership.requests_of_case, over.ownership.foreign_requests) == (None, ())
    assert over.completeness.requests_made == MAX_REQUESTS + 1


def test_evidence_from_before_manifests_listed_requests_is_still_judged(
    provider: ScriptedProvider,
) -> None:
    run = agent(SYNC_WAYS[0], provider, "A", case=case_of("A"))
    older = [
        replace(r, payload=replace(r.payload, manifest=replace(r.payload.manifest, requests=None)))
        if isinstance(r.payload, RunEnd)
        else r
        for r in run.records()
    ]

    assert score(case_of("A"), assemble(older)).status is Status.PASS


def _at_the_same_time(
    way: Way, provider: ScriptedProvider, *cases: Case
) -> tuple[AgentRun, AgentRun]:
    met = threading.Barrier(2)

    def one(case: Case) -> AgentRun:
        (required,) = case.required or ()
        met.wait(60)
        return agent(
            way, provider, str(required.arguments["order"]), case=case, before_end=met.wait
        )

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(one, cases)
    return first, second


def _overlap(one: AgentRun, other: AgentRun) -> bool:
    def span(run: AgentRun) -> tuple[int, int]:
        (end,) = of_kind(run, RecordKind.RUN)
        return end.start_ns, end.end_ns

    (start, end), (begin, stop) = span(one), span(other)
    return start < stop and begin < end
