"""The demo's runs through a real collector: evidence and verdicts equal to the in-process ones."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agenttrace.demo._scenarios import SCENARIOS, Scenario
from agenttrace.demo._show import said
from agenttrace.domain import Evidence, Verdict
from agenttrace.readers import read_evidence
from agenttrace.redaction import Redactor
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.collector.chain import (
    PATIENCE_S,
    PROTOCOLS,
    Arrived,
    Chain,
    arrived,
    exporter_to,
    until,
    until_whole,
)
from tests.support.demo_runs import DEMO_WAYS, as_asked, run_scenario
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("way", DEMO_WAYS, ids=str)
def test_evidence_and_verdicts_are_those_of_the_process(
    collectors: dict[str, Chain], way: Way
) -> None:
    for one in collectors.values():
        one.receiver.clear()
        one.tap.spans.clear()
    exporters = [exporter_to(one.rotel, protocol) for protocol, one in collectors.items()]
    with isolated(exporters=exporters) as recorder:
        runs = [run_scenario(scenario, way) for scenario in SCENARIOS]
        assert recorder.flush(PATIENCE_S)
        redactor = recorder.redactor

    made = [
        (run.evidence().digest, _sent(run.verdict), _sent(score(None, run.evidence())))
        for run in runs
    ]
    assert [said(verdict) for _, verdict, _ in made] == [
        as_asked(scenario, way).with_plan for scenario in SCENARIOS
    ]
    for one in collectors.values():
        for found in _found(one, runs):
            assert found.unusable == {}
            assert [
                _judged(found.evidence(run.id), scenario, redactor)
                for run, scenario in zip(runs, SCENARIOS, strict=True)
            ] == made


def _found(one: Chain, runs: list[AgentRun]) -> tuple[Arrived, Arrived]:
    """What came to the receiver, and what came to oteltap."""
    at_receiver = until_whole(one.receiver, runs)
    made = sum(len(run.records()) for run in runs)
    until(lambda: len(one.tap.spans) >= made, "every span at oteltap")
    return at_receiver, Arrived([one.tap.records()])


def _judged(
    rebuilt: Evidence | None, scenario: Scenario, redactor: Redactor
) -> tuple[str, Verdict, Verdict] | None:
    if rebuilt is None:
        return None
    verdict = score(scenario.case(), rebuilt, redactor=redactor)
    return rebuilt.digest, _sent(verdict), _sent(score(None, rebuilt))


def _sent(verdict: Verdict) -> Verdict:
    """What follows from what is sent: texts of messages stay in the process, and lineage rests on
    them."""
    return replace(verdict, lineage=None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_program_that_only_sets_the_standard_variables_arrives_whole(
    collector: Chain, tmp_path: Path, protocol: str
) -> None:
    collector.receiver.clear()
    endpoint = collector.rotel.http if protocol == "http" else collector.rotel.grpc
    names = {"http": "http/protobuf", "grpc": "grpc"}
    done = subprocess.run(
        [sys.executable, "-m", "agenttrace", "demo", "--json", "--output", str(tmp_path)],
        env={
            **os.environ,
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": names[protocol],
            "OTEL_SERVICE_NAME": "refund-desk",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    local = read_evidence(tmp_path / "evidence.jsonl")
    made = sum(map(len, local.records.values()))
    until(
        lambda: len(collector.receiver.spans) >= made,
        "every span at the receiver",
    )

    found = arrived(collector.receiver)
    digests = {run_id: local.evidence(run_id).digest for run_id in local.records}
    assert {
        run_id: getattr(found.evidence(run_id), "digest", None) for run_id in digests
    } == digests
    assert b"refund-desk" in b"".join(collector.receiver.bodies)
