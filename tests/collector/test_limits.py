"""Limits on the way to a collector cost evidence, never a verdict: what is cut is inconclusive."""

from __future__ import annotations

import json
from typing import Any

import pytest

import agenttrace
from agenttrace import capture
from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.demo._scenarios import SCENARIOS
from agenttrace.domain import Case, Evidence, First, RequiredCall, Status, Verdict
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.collector.chain import (
    PATIENCE_S,
    PROTOCOLS,
    Chain,
    arrived,
    exporter_to,
    until,
    until_whole,
)
from tests.support.demo_runs import run_scenario
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow

WAY = Way("chat", is_async=False, is_streamed=True)
BIG = {f"part_{n}": chr(97 + n) * 900_000 for n in range(6)}
SMALL = {"part_0": "a"}


@agenttrace.trace
def store(**parts: str) -> int:
    return len(parts)


def case_of(*arguments: dict[str, Any]) -> Case:
    calls = tuple(RequiredCall(name="store", arguments=each) for each in arguments)
    return Case(case_id="store", required=calls)


def storing(*arguments: dict[str, Any]) -> AgentRun:
    """A run in which the model asks for each of these, and each runs as asked."""
    with agenttrace.run(case_of(*arguments)) as run:
        for number, given in enumerate(arguments):
            call = CallDraft("store", f"call_{number}", 0, json.dumps(given), complete=True)
            stamp = capture.begin_request(None, [{"role": "user", "content": "Store it"}])
            answer = ResponseDraft(
                f"resp_{number}", None, "openai", "m", "tool_calls", None, (call,)
            )
            capture.record_response(answer, stamp)
            with agenttrace.adapter(name="store", call_id=f"call_{number}", arguments=given):
                store(**given)
    return run


def verdict_at(collector: Chain, run: AgentRun, case: Case) -> tuple[Verdict, Evidence]:
    evidence = arrived(collector.receiver).evidence(run.id)
    assert evidence is not None
    return score(case, evidence), evidence


def has_end(collector: Chain, run: AgentRun) -> bool:
    """Whether the span of the run itself is there."""
    found = arrived(collector.receiver).records.get(run.id, ())
    return any(record.kind == "run" for record in found)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_many_records_with_long_arguments_arrive_in_batches_that_every_server_takes(
    collector: Chain, protocol: str
) -> None:
    collector.receiver.clear()
    many = [{"part_0": chr(97 + n) * 300_000} for n in range(20)]
    with isolated(exporters=[exporter_to(collector.rotel, protocol)]) as recorder:
        run = storing(*many)
        assert recorder.flush(PATIENCE_S)
    until_whole(collector.receiver, [run])

    verdict, evidence = verdict_at(collector, run, case_of(*many))
    assert (verdict.status, evidence.digest) == (Status.PASS, run.evidence().digest)


def test_a_record_that_is_too_large_for_grpc_is_missed_and_takes_no_other_with_it(
    collector: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.receiver.clear()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with isolated(exporters=[exporter_to(collector.rotel, "grpc")]) as recorder:
        run = storing(SMALL, BIG)
        assert not recorder.flush(3 * PATIENCE_S)
    until(lambda: has_end(collector, run), "the run's own span")

    verdict, evidence = verdict_at(collector, run, case_of(SMALL, BIG))
    assert (verdict.status, verdict.first) == (Status.INCONCLUSIVE, First.INSTRUMENTATION)
    assert {cause.code for cause in verdict.causes} == {"record-absent", "records-missing"}
    assert [call.arguments for call in evidence.executor] == [SMALL]
    assert run.verdict.status is Status.PASS


def test_a_record_of_several_mebibytes_arrives_by_http(collector: Chain) -> None:
    collector.receiver.clear()
    with isolated(exporters=[exporter_to(collector.rotel, "http")]) as recorder:
        run = storing(SMALL, BIG)
        assert recorder.flush(PATIENCE_S)
    until_whole(collector.receiver, [run])

    verdict, evidence = verdict_at(collector, run, case_of(SMALL, BIG))
    assert (verdict.status, evidence.digest) == (Status.PASS, run.evidence().digest)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "12"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "5"),
        ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "400"),
        ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "20"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "8"),
    ],
)
def test_what_a_limit_of_the_sdk_cuts_is_judged_right_or_not_at_all(
    collector: Chain, monkeypatch: pytest.MonkeyPatch, limit: str, value: str
) -> None:
    collector.receiver.clear()
    monkeypatch.setenv(limit, value)
    with isolated(exporters=[exporter_to(collector.rotel, "http")]) as recorder:
        runs = [run_scenario(scenario, WAY) for scenario in SCENARIOS]
        assert recorder.flush(PATIENCE_S)
        redactor = recorder.redactor
    made = sum(len(run.records()) for run in runs)

    until(lambda: len(collector.receiver.spans) >= made, "every span at the receiver")
    found = arrived(collector.receiver)
    wrong = []
    for scenario, run in zip(SCENARIOS, runs, strict=True):
        evidence = found.evidence(run.id)
        for case in (scenario.case(), None):
            said = None if evidence is None else score(case, evidence, redactor=redactor)
            right = score(case, run.evidence(), redactor=redactor)
            if said is not None and said.status is not Status.INCONCLUSIVE:
                same = (said.status, said.first, said.owner, said.divergences)
                if same != (right.status, right.first, right.owner, right.divergences):
                    wrong.append((scenario.name, said))
    assert wrong == []
