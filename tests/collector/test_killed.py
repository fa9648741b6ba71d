"""A collector that is killed while runs go on: what arrived is judged right, or not at all."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from agenttrace.demo._provider import ReceivedRequest, Turn
from agenttrace.demo._scenarios import SCENARIOS, Scenario
from agenttrace.domain import Status, Verdict
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.collector.chain import Chain, Rotel, arrived, chain, exporter_to
from tests.support.demo_runs import run_scenario, turns_of
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow

POINTS = range(3)
"""A run's request at whose arrival the collector is killed."""
QUIET_S = 0.4
NO_RETRY_S, ONE_RETRY_S = "0.7", "1.5"
"""An exporter waits about a second before it tries again, and not at all beyond its timeout."""


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each span is sent at once, so that a run is at the collector in parts; no retries."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", NO_RETRY_S)


def script_with(scenario: Scenario, way: Way, at: dict[int, Any], *, wait_s: float) -> Any:
    """The scenario's script, with something done a moment after some of its requests arrive."""
    turns = turns_of(scenario, way)

    def turn(request: ReceivedRequest) -> Turn:
        done = at.get(request.number - 1)
        if done is not None:
            time.sleep(wait_s)
            done()
        return turns[request.number - 1]

    return turn


def said(verdict: Verdict) -> tuple[object, ...]:
    return verdict.status, verdict.first, verdict.owner, verdict.divergences, verdict.policy


def judged(found: Chain, runs: dict[str, tuple[Scenario, AgentRun]]) -> dict[str, int]:
    """How many verdicts are right, open, wrong; and of how many runs nothing arrived."""
    counts = dict.fromkeys(("right", "inconclusive", "wrong", "nothing", "partial"), 0)
    here = arrived(found.receiver)
    for scenario, run in runs.values():
        evidence = here.evidence(run.id)
        if evidence is None:
            counts["nothing"] += 1
            continue
        counts["partial"] += len(here.records[run.id]) < len(run.records())
        for case in (scenario.case(), None):
            verdict, right = score(case, evidence), score(case, run.evidence())
            if said(verdict) == said(right):
                counts["right"] += 1
            elif verdict.status is Status.INCONCLUSIVE:
                counts["inconclusive"] += 1
            else:
                print(f"{scenario.name}: {said(verdict)} in place of {said(right)}")
                counts["wrong"] += 1
    return counts


def wait_for_quiet(found: Chain) -> None:
    """Until nothing more arrives."""
    count, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET_S:
        if len(found.receiver.spans) != count:
            count, since = len(found.receiver.spans), time.monotonic()
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("protocol", "point"), [*(("http", point) for point in POINTS), ("grpc", 0), ("grpc", 1)]
)
def test_killed_within_each_run_and_back_for_the_next(
    tmp_path: Path, protocol: str, point: int
) -> None:
    way = Way("chat", is_async=False, is_streamed=True)
    runs: dict[str, tuple[Scenario, AgentRun]] = {}
    with chain(tmp_path) as found:
        for scenario in SCENARIOS if protocol == "http" else SCENARIOS[point::2]:
            at = {min(point, len(scenario.script) - 1): found.rotel.kill}
            # An exporter for each: retries of one must not hold up the spans of the next.
            with isolated(exporters=[exporter_to(found.rotel, protocol)]):
                # What was sent so far has time to get to the receiver.
                script = script_with(scenario, way, at, wait_s=0.12)
                run = run_scenario(scenario, way, script=script)
            runs[run.id] = (scenario, run)
            found.rotel.start()
        wait_for_quiet(found)
        counts = judged(found, runs)

    print(protocol, point, counts)
    assert counts["wrong"] == 0
    assert counts["inconclusive"] + counts["nothing"] > 0


@pytest.mark.parametrize(
    ("protocol", "seed", "timeout_s"),
    [
        ("http", 0, NO_RETRY_S),
        ("http", 1, NO_RETRY_S),
        ("grpc", 2, NO_RETRY_S),
        ("http", 3, ONE_RETRY_S),
        ("grpc", 3, ONE_RETRY_S),
    ],
)
def test_killed_with_what_it_had_taken_and_started_again_within_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, seed: int, timeout_s: str
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", timeout_s)
    chance = random.Random(seed)
    way = Way("messages", is_async=False, is_streamed=True)
    runs: dict[str, tuple[Scenario, AgentRun]] = {}
    with chain(tmp_path) as found:
        for scenario in SCENARIOS:
            at = {
                number: lambda: _kill_and_start(found.rotel)
                for number in range(len(scenario.script))
                if chance.random() < 0.5
            }
            with isolated(exporters=[exporter_to(found.rotel, protocol)]) as recorder:
                # The collector has what was sent, said so, and has not sent it on.
                script = script_with(scenario, way, at, wait_s=0.02)
                run = run_scenario(scenario, way, script=script)
                recorder.flush(5)
            runs[run.id] = (scenario, run)
        wait_for_quiet(found)
        counts = judged(found, runs)

    print(protocol, seed, counts)
    assert counts["wrong"] == 0
    assert counts["partial"] > 0


def _kill_and_start(rotel: Rotel) -> None:
    rotel.kill()
    time.sleep(0.05)
    rotel.start()
