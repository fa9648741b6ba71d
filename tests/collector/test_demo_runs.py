"""The demo's runs through a real collector: evidence and verdicts equal to the in-process ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agenttrace.demo._scenarios import SCENARIOS
from agenttrace.demo._show import said
from agenttrace.readers import read_evidence
from agenttrace.scoring import score
from agenttrace.testing import isolated
from tests.collector.chain import (
    PATIENCE_S,
    PROTOCOLS,
    Arrived,
    Chain,
    arrived,
    exporter_to,
    until,
)
from tests.support.demo_runs import DEMO_WAYS, as_asked, run_scenario
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("way", DEMO_WAYS, ids=str)
def test_evidence_and_verdicts_are_those_of_the_process(
    collector: Chain, way: Way, protocol: str
) -> None:
    collector.receiver.clear()
    collector.tap.spans.clear()
    with isolated(exporters=[exporter_to(collector.rotel, protocol)]) as recorder:
        runs = [run_scenario(scenario, way) for scenario in SCENARIOS]
        assert recorder.flush(PATIENCE_S)
        redactor = recorder.redactor
    until(lambda: arrived(collector.receiver).is_whole(runs), "every span at the receiver")
    made = sum(len(run.records()) for run in runs)
    until(lambda: len(collector.tap.spans) >= made, "every span at oteltap")

    at_receiver, at_tap = arrived(collector.receiver), Arrived([collector.tap.records()])
    assert (at_receiver.unusable, at_tap.unusable) == ({}, {})
    for scenario, run in zip(SCENARIOS, runs, strict=True):
        for rebuilt in (at_receiver.evidence(run.id), at_tap.evidence(run.id)):
            assert rebuilt is not None
            assert rebuilt.digest == run.evidence().digest
            assert score(scenario.case(), rebuilt, redactor=redactor) == run.verdict
            assert score(None, rebuilt) == score(None, run.evidence())
        assert said(run.verdict) == as_asked(scenario, way).with_plan


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
        lambda: sum(map(len, arrived(collector.receiver).records.values())) >= made,
        "every span at the receiver",
    )

    found = arrived(collector.receiver)
    digests = {run_id: local.evidence(run_id).digest for run_id in local.records}
    assert {
        run_id: getattr(found.evidence(run_id), "digest", None) for run_id in digests
    } == digests
    assert b"refund-desk" in b"".join(collector.receiver.bodies)
