"""One record less than a passing run never turns into blame of the product.

With a manifest, as every recorder writes one, each loss is noticed. Without one a single loss shows
nowhere: that of a run whose call nobody linked, answered or nested, for what is left is the
evidence of a call that was handed on and never ran. Where a provider gives no ids, or one of them
twice, the same is so of a request: what is left is a call that an adapter made up, or changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agenttrace.demo._scenarios import SCENARIOS
from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Case,
    Completeness,
    Evidence,
    Kind,
    Owner,
    Ownership,
    Status,
    Verdict,
)
from agenttrace.records import Record, RecordKind, assemble
from agenttrace.scoring import score
from agenttrace.testing import isolated
from tests.cases.judged import shared_folder
from tests.cases.loader import case_of, evidence_of, read_document
from tests.support.demo_runs import DEMO_WAYS, run_scenario
from tests.support.made_runs import MadeRun, made_run
from tests.three_boundary.reader import case_of as recorded_case
from tests.three_boundary.reader import read_rows, records_of

PRODUCT = {
    Owner.AGENT,
    Owner.PROVIDER,
    Owner.ADAPTER,
    Owner.EXECUTOR,
    Owner.EXECUTOR_RETRIES,
    Owner.TOOL_OWNER,
}
SEEDS = range(12 if os.environ.get("HYPOTHESIS_PROFILE") == "quick" else 48)
SHARED = shared_folder()
RUNS = SHARED / "data" / "three_boundary" / "tau2_runtime.jsonl.gz"
FIELD_CASES = sorted((SHARED / "cases").glob("*.json"))
MODEL, ADAPTER, EXECUTOR = Boundary


def blames(verdict: Verdict) -> bool:
    """Whether the row fails and somebody of the product is to act."""
    return verdict.status is Status.FAIL and verdict.owner in PRODUCT


def cases_that_pass(case: Case | None, evidence: Evidence) -> list[Case | None]:
    """Of the case and of none at all, what the evidence passes."""
    return [one for one in {id(case): case, id(None): None}.values() if passes(one, evidence)]


def passes(case: Case | None, evidence: Evidence) -> bool:
    return score(case, evidence).status is Status.PASS


def without_each(records: list[Record]) -> Iterator[tuple[Record, Evidence]]:
    """Every record that can be lost, and what is assembled of the others."""
    for n, lost in enumerate(records):
        yield lost, assemble(records[:n] + records[n + 1 :])


def without_each_call(evidence: Evidence) -> Iterator[tuple[Boundary, int, Evidence]]:
    """Evidence of which nobody counted anything, without each of its calls in turn."""
    for boundary in BOUNDARIES:
        calls = evidence.at(boundary)
        for n in range(len(calls)):
            left = {boundary.value: calls[:n] + calls[n + 1 :]}
            yield boundary, n, replace(evidence, **left)


def uncounted(evidence: Evidence) -> Evidence:
    """The same records without manifests, as other recorders make them."""
    return replace(evidence, completeness=Completeness(), ownership=Ownership())


def renumbered(evidence: Evidence, *boundaries: Boundary) -> Evidence:
    """The same run where a framework gave the calls ids of its own, and nobody linked them."""
    made = {
        boundary.value: tuple(
            replace(call, link=None, call_id=None if call.call_id is None else f"x{call.call_id}")
            for call in evidence.at(boundary)
        )
        for boundary in boundaries
    }
    return replace(evidence, **made)


def is_like_one_that_never_ran(lost: Boundary, verdict: Verdict) -> bool:
    """Whether what is left is the evidence of a call that was handed on and never ran."""
    figures = verdict.boundaries[EXECUTOR]
    kinds = {(one.boundary, one.kind) for one in verdict.divergences}
    return lost is EXECUTOR and (
        (EXECUTOR, Kind.NOT_EXECUTED) in kinds or (figures is not None and bool(figures.missing))
    )


def is_like_one_nobody_asked_for(lost: Boundary, evidence: Evidence) -> bool:
    """Whether no id tells a request that is gone from one that an adapter made up or changed."""
    ids = [call.call_id for call in evidence.model]
    return lost is MODEL and (None in ids or len(set(ids)) < len(ids))


def runs() -> Iterator[MadeRun]:
    """The runs that are tried, small ones before large ones."""
    yield from (made_run(seed, most=2) for seed in SEEDS)
    yield from (made_run(seed) for seed in SEEDS[::4])


def test_a_record_that_a_recorder_counted_is_missed():
    for made in runs():
        asked = cases_that_pass(made.case, made.evidence())
        for lost, left in without_each(made.records):
            is_superseded = lost.kind is RecordKind.RUN and left.completeness.settled
            for case in asked:
                wanted = Status.PASS if is_superseded else Status.INCONCLUSIVE
                assert score(case, left).status is wanted, (made.records[0].run, lost)


def test_what_is_tried_holds_records_of_every_kind():
    kinds = {
        record.kind
        for made in runs()
        if cases_that_pass(made.case, made.evidence())
        for record in made.records
    }

    assert kinds == set(RecordKind) - {RecordKind.SCHEMA}


def test_a_manifest_that_a_later_one_replaced_is_not_missed_and_the_later_one_is():
    made = next(m for m in runs() if sum(r.kind is RecordKind.RUN for r in m.records) > 2)
    ends = [r for r in made.records if r.kind is RecordKind.RUN and r.recorder_id == "rec-1"]

    left = {lost.seq: found for lost, found in without_each(made.records) if lost in ends}

    assert [found.completeness.settled for found in left.values()] == [True, False]


def test_a_record_that_nobody_counted_is_missed_where_another_speaks_of_it():
    tried = unseen = 0
    for made in runs():
        whole = uncounted(made.evidence())
        for case in cases_that_pass(made.case, whole):
            for lost, n, left in without_each_call(whole):
                verdict = score(case, left)
                tried += 1
                if blames(verdict):
                    unseen += 1
                    assert is_like_one_that_never_ran(lost, verdict), (whole.run, lost, n)

    assert 0 < unseen < tried / 5


def test_without_responses_of_their_own_requests_are_missed_by_their_ids():
    for made in runs():
        whole = replace(uncounted(made.evidence()), responses=None)
        for case in cases_that_pass(made.case, whole):
            for lost, n, left in without_each_call(whole):
                verdict = score(case, left)
                assert (
                    not blames(verdict)
                    or is_like_one_that_never_ran(lost, verdict)
                    or is_like_one_nobody_asked_for(lost, whole)
                ), (whole.run, lost, n)


def test_a_record_of_calls_whose_ids_changed_on_their_way_is_missed():
    tried = 0
    for seed in SEEDS[::2]:
        made = uncounted(made_run(seed, most=2).evidence())
        for boundaries in ((ADAPTER, EXECUTOR), (EXECUTOR,)):
            whole = renumbered(made, *boundaries)
            for case in cases_that_pass(None, whole):
                for lost, n, left in without_each_call(whole):
                    verdict = score(case, left)
                    tried += 1
                    assert (
                        not blames(verdict)
                        or is_like_one_that_never_ran(lost, verdict)
                        or is_like_one_nobody_asked_for(lost, whole)
                    ), (whole.run, boundaries, lost, n)

    assert tried > 10


@pytest.mark.parametrize("path", FIELD_CASES, ids=lambda path: path.stem)
def test_a_field_case_that_passes_is_failed_for_no_lost_record_that_another_speaks_of(path):
    document = read_document(path)
    whole = evidence_of(document)
    for case in cases_that_pass(case_of(document), whole):
        for lost, _, left in without_each_call(whole):
            verdict = score(case, left)
            assert (
                not blames(verdict)
                or is_like_one_that_never_ran(lost, verdict)
                or is_like_one_nobody_asked_for(lost, whole)
            )


def test_what_is_left_of_an_unseen_loss_is_equal_to_a_run_that_never_was():
    made = next(m for m in runs() if passes(m.case, uncounted(m.evidence())))
    whole = uncounted(made.evidence())
    *_, (lost, _, left) = without_each_call(whole)
    never = replace(whole, executor=tuple(call for call in whole.executor if call in left.executor))

    assert lost is EXECUTOR
    assert left == never


@pytest.fixture(scope="module")
def demo_runs():
    with isolated() as recorder:
        ran = [(one.case(), run_scenario(one, DEMO_WAYS[0])) for one in SCENARIOS]
        assert recorder.flush(5)
        made = [(case, list(run.records())) for case, run in ran]
    return made, recorder.redactor


def test_no_record_of_the_demo_is_lost_without_being_missed(demo_runs):
    recorded, redactor = demo_runs
    tried = 0
    for case, records in recorded:
        for asked in (case, None):
            if score(asked, assemble(records), redactor=redactor).status is not Status.PASS:
                continue
            for lost, left in without_each(records):
                verdict = score(asked, left, redactor=redactor)
                assert not blames(verdict), (asked, lost.kind)
                assert verdict.status is Status.INCONCLUSIVE, (asked, lost.kind)
                tried += 1

    assert tried > 20


@pytest.mark.skipif(not RUNS.is_file(), reason=f"no recorded runs at {RUNS}")
def test_no_record_of_recorded_runs_is_lost_without_being_missed():
    tried = 0
    for row in read_rows(RUNS):
        records = records_of(row)
        step = max(1, len(records) // 12)
        whole = assemble(records)
        for case in cases_that_pass(recorded_case(row), whole):
            for n in range(0, len(records), step):
                verdict = score(case, assemble(records[:n] + records[n + 1 :]))
                assert not blames(verdict), (row["case_id"], records[n].kind)
                tried += 1
            for lost, n, left in without_each_call(uncounted(whole)):
                if n % step == 0:
                    verdict = score(case, left)
                    assert not blames(verdict) or is_like_one_that_never_ran(lost, verdict)

    assert tried > 50
