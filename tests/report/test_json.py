from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agenttrace.contracts import parse_case
from agenttrace.domain import MISSING, Status
from agenttrace.records import assemble, dump_json
from agenttrace.report import summary, summary_to_json, verdict_to_json
from agenttrace.scoring import score
from tests.readers.sample_run import ARGUMENTS, refund_run

CASE = parse_case(
    {"id": "refund", "revision": "r1", "required": [{"name": "issue_refund", "args": ARGUMENTS}]},
    "here",
)


def row(case: Any = CASE, **run: Any) -> dict[str, Any]:
    made = verdict_to_json(score(case, assemble(refund_run(**run))))
    return json.loads(dump_json(made))


def test_a_row_has_the_documented_keys():
    found = row(executed=[{**ARGUMENTS, "amount_cents": 980000}])

    expected = {
        "case_id": "refund",
        "case_revision": "r1",
        "run_id": "run-1",
        "attempt": 1,
        "request_ids": ["req-run-1"],
        "response_ids": ["resp-run-1"],
        "verdict": "fail",
        "first_divergence": "executor",
        "owner": "executor",
        "kind": "scaled",
        "path": "/amount_cents",
        "before": 9800,
        "after": 980000,
        "compare": "executor",
        "also": [],
        "recovered": False,
        "plan": None,
        "policy": [],
        "causes": [],
        "galtea_tool_correctness": 1,
    }
    assert {key: found[key] for key in expected} == expected
    assert found["evidence_digest"].startswith("sha256:")
    assert found["counts"] == {
        "tp": 0, "fp": 1, "fn": 1, "precision": 0.0, "recall": 0.0, "f1": 0.0,
        "exact": False, "expected": 1, "observed": 1,
    }  # fmt: skip
    assert found["missing"] == [{"name": "issue_refund", "args": ARGUMENTS}]
    assert found["extra"][0]["args"]["amount_cents"] == 980000
    assert found["boundaries"]["model"]["exact"] is True
    assert found["boundaries"]["model"]["missing"] == []
    assert found["divergences"][0]["boundary"] == "executor"
    (chain,) = found["chains"]
    assert set(chain["records"]) == {"model", "adapter", "executor"}
    assert set(chain["linked_by"].values()) == {"span"}


def test_figures_are_null_without_a_plan_and_no_divergence_has_no_kind():
    found = row(None)

    assert set(found["counts"].values()) == {None}
    assert (found["missing"], found["extra"]) == (None, None)
    assert found["boundaries"] == {"model": None, "adapter": None, "executor": None}
    assert (found["kind"], found["path"], found["before"]) == (None, None, None)


def test_a_side_that_is_not_there_is_left_out_of_a_divergence():
    verdict = score(CASE, assemble(refund_run(executed=[{**ARGUMENTS, "note": None}])))

    (change,) = verdict_to_json(verdict)["divergences"]

    assert verdict.divergences[0].before is MISSING
    assert "before" not in change
    assert change["after"] is None


def test_a_summary_counts_rows_by_status_boundary_and_owner():
    passed = score(CASE, assemble(refund_run()))
    failed = score(CASE, assemble(refund_run(executed=[ARGUMENTS, ARGUMENTS])))
    unknown = replace(passed, status=Status.INCONCLUSIVE)
    alone = score(None, assemble(refund_run()))

    assert summary_to_json([passed, failed, unknown, alone]) == {
        "rows": 4,
        "pass": 2,
        "fail": 1,
        "inconclusive": 1,
        "planned": 3,
        "exact": 2,
        "fp": 1,
        "fn": 0,
        "first_divergence": {"none": 3, "executor": 1},
        "owner": {"none": 3, "executor-retries": 1},
    }
    assert summary([passed, failed, unknown, alone]).splitlines() == [
        "4 rows: 2 passed, 1 failed, 1 inconclusive",
        "exact: 2 of 3 rows with a plan · false positives 1 · false negatives 0",
        "first divergence: executor 1",
        "owner: executor-retries 1",
    ]


def test_a_summary_of_nothing_is_one_line():
    assert summary([]) == "0 rows: 0 passed, 0 failed, 0 inconclusive"
