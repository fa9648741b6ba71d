"""Ten recorded runs with three boundaries: no false divergence through the command line."""

from __future__ import annotations

import json

import pytest

from agenttrace.artifacts import write_artifact
from agenttrace.cli import main
from tests.cases.judged import shared_folder
from tests.three_boundary.reader import read_rows, records_of

DATA = shared_folder() / "data" / "three_boundary"
RUNS = DATA / "tau2_runtime.jsonl.gz"
pytestmark = pytest.mark.skipif(not RUNS.is_file(), reason=f"no recorded runs at {RUNS}")


@pytest.fixture(scope="module")
def rows():
    return {row["case_id"]: row for row in read_rows(RUNS)}


@pytest.fixture
def scored(rows, tmp_path, capsys):
    """What `agenttrace score` prints for all runs in one evidence file, by case."""

    def score(*options, cases=()):
        evidence = tmp_path / "evidence.jsonl"
        write_artifact(evidence, [r for row in rows.values() for r in records_of(row)])
        arguments = ["score", str(evidence), "--json", *options]
        if cases:
            path = tmp_path / "cases.json"
            path.write_text(json.dumps(cases))
            arguments += ["--cases", str(path)]
        code = main(arguments)
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return code, {line["case_id"]: line for line in lines}

    return score


def test_without_a_plan_no_run_shows_a_divergence(scored, rows):
    code, said = scored()

    assert code == 0
    assert len(said) == len(rows) == 10
    assert {one["verdict"] for one in said.values()} == {"pass"}
    assert [d for one in said.values() for d in one["divergences"]] == []


def test_calls_of_set_up_and_evaluation_are_reported_as_what_they_are(scored, rows):
    _, said = scored()

    setup = {
        case: finding["detail"]
        for case, one in said.items()
        for finding in one["findings"]
        if finding["code"] == "setup-calls"
    }
    assert len(setup) == 2
    assert all("create_task" in detail for detail in setup.values())
    for case, row in rows.items():
        evaluated = sum(call["during_evaluation"] for call in row["executor"])
        codes = {finding["code"] for finding in said[case]["findings"]}
        assert ("evaluation-calls" in codes) == bool(evaluated)


def test_figures_at_the_model_are_those_of_an_independent_count(scored, rows):
    reference = {
        one["case_id"]: one
        for one in map(json.loads, (DATA / "reference_scores.jsonl").read_text().splitlines())
    }
    plans = [
        {
            "id": case,
            "intent": "the recorded task",
            "required": row["expected"],
            "forbidden": [],
            "ordered": None,
            "max_calls": None,
            "ignore_args": None,
        }
        for case, row in rows.items()
    ]

    _, said = scored(cases=plans)

    for case, one in said.items():
        counts = one["boundaries"]["model"]["counts"]
        wanted = reference[case]
        assert (counts["tp"], counts["fp"], counts["fn"]) == (
            wanted["tp"],
            wanted["fp"],
            wanted["fn"],
        )
        assert all(d["boundary"] == "model" for d in one["divergences"])
