"""Whatever part of a run's records arrives, it is judged as the whole is, or not at all."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

import pytest

from agenttrace.demo._scenarios import SCENARIOS, Scenario
from agenttrace.domain import Case, Status, Verdict
from agenttrace.records import Record, assemble
from agenttrace.scoring import score
from agenttrace.testing import isolated
from tests.support.demo_runs import run_scenario
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow

WAYS = [Way(api, is_async=False, is_streamed=True) for api in ("chat", "messages")]
RANDOM_PARTS = 40


def parts(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Beginnings, ends, all without one or two, and any other; none twice."""
    seen: set[tuple[str, ...]] = set()
    for part in _parts(records):
        refs = tuple(record.ref for record in part)
        if part and refs not in seen:
            seen.add(refs)
            yield part


def _parts(records: Sequence[Record]) -> Iterator[list[Record]]:
    for cut in range(1, len(records)):
        yield list(records[:cut])
        yield list(records[cut:])
    for lost in itertools.chain(
        itertools.combinations(range(len(records)), 1),
        itertools.combinations(range(len(records)), 2),
    ):
        yield [record for place, record in enumerate(records) if place not in lost]
    chance = random.Random(7)
    for _ in range(RANDOM_PARTS):
        share = chance.choice((0.3, 0.5, 0.8, 0.9))
        yield [record for record in records if chance.random() < share]


def said(verdict: Verdict) -> tuple[object, ...]:
    return verdict.status, verdict.first, verdict.owner, verdict.divergences, verdict.policy


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_part_of_a_run_is_judged_right_or_not_at_all(scenario: Scenario, way: Way) -> None:
    with isolated():
        records = run_scenario(scenario, way).records()
    cases: list[Case | None] = [scenario.case(), None]
    whole = [said(score(case, assemble(records))) for case in cases]

    wrong = []
    for part in parts(records):
        for case, right in zip(cases, whole, strict=True):
            verdict = score(case, assemble(part))
            if verdict.status is not Status.INCONCLUSIVE and said(verdict) != right:
                lost = [str(record.kind) for record in records if record not in part]
                wrong.append((case is not None, lost, said(verdict)))
    assert wrong == []
