"""What carries records to the scorer changes no verdict: order, copies, delay, batches, processes.

The schedules are many and the runs few, all in one process; a failure names its run's seed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from agenttrace.artifacts import write_artifact
from agenttrace.domain import Case, Evidence, Execution, Status
from agenttrace.readers import read_evidence, records_from_otlp_spans
from agenttrace.records import Record, assemble, dump_json
from agenttrace.report import verdict_to_json
from agenttrace.scoring import score
from tests.cases.judged import shared_folder
from tests.cases.loader import case_of, evidence_of, read_documents
from tests.support.made_runs import MadeRun, made_run, otlp_request, otlp_span

IS_QUICK = os.environ.get("HYPOTHESIS_PROFILE") == "quick"
SCHEDULES = 1_000 if IS_QUICK else 10_000
RUNS = 50 if IS_QUICK else 200
CASES = shared_folder() / "cases"
ROOT = Path(__file__).parents[2]


def verdict_bytes(case: Case | None, evidence: Evidence) -> bytes:
    """Everything that a verdict says, as the bytes that a machine reads of it."""
    return dump_json(verdict_to_json(score(case, evidence))).encode()


def shuffled(records: list[Record], random: Random) -> list[Record]:
    """The records in any order, some of them sent twice or three times."""
    sent = records + random.choices(records, k=random.randint(0, 3))
    random.shuffle(sent)
    return sent


def in_batches(records: list[Record], random: Random) -> list[list[Record]]:
    """The records cut into batches of any size, empty ones too."""
    cuts = sorted(random.choices(range(len(records) + 1), k=random.randint(0, 4)))
    return [records[a:b] for a, b in zip([0, *cuts], [*cuts, len(records)], strict=True)]


def test_no_order_and_no_copy_of_records_changes_a_verdict():
    """What is put together alike, to the order of every mapping, is judged at every fifth time."""
    for seed in range(RUNS):
        made, random = made_run(seed, most=1 + seed % 2), Random(seed)
        whole = made.evidence()
        verdict, text = verdict_bytes(made.case, whole), repr(whole)

        for number in range(SCHEDULES // RUNS):
            arrived = assemble(shuffled(made.records, random))
            if number % 5 == 0 or repr(arrived) != text:
                assert verdict_bytes(made.case, arrived) == verdict, seed


def test_no_batching_by_a_collector_changes_a_verdict():
    for seed in range(RUNS):
        made, random = made_run(seed, most=2), Random(seed)
        whole = verdict_bytes(made.case, made.evidence())
        batches = in_batches(shuffled(made.records, random), random)
        arrived: list[Record] = []
        for batch in batches:
            found = records_from_otlp_spans(otlp_request(*map(otlp_span, batch)))
            assert not found.unusable
            arrived += found.records

        assert verdict_bytes(made.case, assemble(arrived)) == whole, seed


def test_no_splitting_into_files_changes_a_verdict(tmp_path: Path):
    runs = {f"run-{seed}": made_run(seed, most=2) for seed in range(RUNS)}
    files: list[list[Record]] = [[], [], []]
    random = Random(0)
    for made in runs.values():
        for record in shuffled(made.records, random):
            files[random.randrange(3)].append(record)
    for number, records in enumerate(files):
        write_artifact(tmp_path / f"{number}.jsonl", records)

    found = read_evidence(tmp_path)

    assert not found.problems
    assert set(found.records) == set(runs)
    for run_id, made in runs.items():
        whole = verdict_bytes(made.case, made.evidence())
        assert verdict_bytes(made.case, found.evidence(run_id)) == whole, run_id


def test_while_records_are_still_on_their_way_nobody_is_blamed():
    """Whatever came so far: a passing run is not failed for what comes later."""
    tried = 0
    for seed in range(RUNS):
        made, random = made_run(seed, most=2), Random(seed)
        if score(made.case, made.evidence()).status is not Status.PASS:
            continue
        sent = shuffled(made.records, random)
        for length in random.sample(range(1, len(sent)), k=min(4, len(sent) - 1)):
            arrived = assemble(sent[:length])
            assert score(made.case, arrived).status is not Status.FAIL, (seed, length)
            tried += 1

    assert tried > RUNS


def test_runs_of_every_sort_are_among_them():
    judged = [(made, score(made.case, made.evidence())) for made in map(made_run, range(60))]

    assert {verdict.first.value for _, verdict in judged} == {
        "none",
        "model",
        "adapter",
        "executor",
    }
    assert all(verdict.status is Status.PASS for made, verdict in judged if made.fault is None)
    assert {made.case is None for made, _ in judged} == {True, False}
    assert {len({record.recorder_id for record in made.records}) for made, _ in judged} == {1, 2}


def all_verdicts() -> str:
    """Digest of the verdicts of all made runs and of all shared cases, with case and without."""
    digest = hashlib.sha256()
    for made in map(made_run, range(RUNS)):
        digest.update(verdict_bytes(made.case, made.evidence()))
    if CASES.is_dir():
        for document in read_documents(CASES):
            case, evidence = case_of(document), evidence_of(document)
            digest.update(verdict_bytes(case, evidence) + verdict_bytes(None, evidence))
    return digest.hexdigest()


@pytest.mark.slow
def test_processes_with_other_hash_seeds_give_the_same_bytes():
    program = "from tests.scoring.test_schedules import all_verdicts; print(all_verdicts())"
    shared = {"AGENTTRACE_SHARED": str(CASES.parent)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, **shared, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    said = [process.communicate()[0].strip() for process in running]

    assert [process.returncode for process in running] == [0, 0]
    assert said == [all_verdicts()] * 2


def test_a_copy_that_lost_its_texts_on_the_way_takes_nothing_from_the_local_one():
    made: MadeRun = next(
        made for made in map(made_run, range(99)) if made.evidence().outcome.final_message
    )
    carried = records_from_otlp_spans(otlp_request(*map(otlp_span, made.records))).records

    both = [assemble([*carried, *made.records]), assemble([*made.records, *carried])]

    assert [one.outcome.final_message for one in both] == ["Done.", "Done."]


def test_of_unequal_copies_the_verdict_is_the_same_whichever_came_first():
    made = made_run(1)
    ran = next(record for record in made.records if isinstance(record.payload, Execution))
    other = replace(ran, payload=replace(ran.payload, result="another"))

    verdicts = [
        score(made.case, assemble(records))
        for records in ([*made.records, other], [other, *made.records])
    ]

    assert [cause.code for cause in verdicts[0].causes] == ["conflict"]
    assert verdicts[0] == verdicts[1]
