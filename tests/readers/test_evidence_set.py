from __future__ import annotations

import json
from pathlib import Path

import pytest

from agenttrace.artifacts import header_line, write_artifact
from agenttrace.domain import Boundary, Run
from agenttrace.errors import MalformedFileError
from agenttrace.readers import read_evidence
from agenttrace.records import record_to_line
from tests.readers.sample_run import ARGUMENTS, Recording, refund_run
from tests.readers.test_otlp import request_of, span_of


def test_a_folder_gives_its_runs_in_the_order_in_which_they_began(tmp_path: Path):
    write_artifact(tmp_path / "b" / "e.jsonl", refund_run("run-1", start=0))
    write_artifact(tmp_path / "a" / "e.jsonl", refund_run("run-2", start=100))
    (tmp_path / "notes.txt").write_text("no evidence")

    found = read_evidence(tmp_path)

    assert [evidence.run.run_id for evidence in found] == ["run-1", "run-2"]
    assert [run.case_id for run in found.runs] == ["refund", "refund"]
    assert (len(found), found.problems) == (2, ())


def test_the_recorders_of_one_run_are_put_together_over_files(tmp_path: Path):
    run = Run(run_id="run-1", case_id="refund")
    agent, server = Recording(run, "agent"), Recording(run, "server")
    link = agent.add("call", name="pay", arguments=dict(ARGUMENTS), call_id="c1", turn=1, index=0)
    agent.end({"model": None}, model=1)
    server.add("execution", name="pay", arguments=dict(ARGUMENTS), call_id="c1", link=link)
    server.end({"executor": ["pay"]}, executor=1)
    write_artifact(tmp_path / "agent.jsonl", agent.records)
    write_artifact(tmp_path / "server.jsonl", server.records)

    (evidence,) = read_evidence(tmp_path / "server.jsonl", tmp_path / "agent.jsonl")

    assert len(evidence.at(Boundary.MODEL)) == len(evidence.at(Boundary.EXECUTOR)) == 1
    assert evidence.completeness.settled is True


def test_a_file_given_twice_is_read_once(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    write_artifact(path, refund_run())

    assert len(read_evidence(path, path).records["run-1"]) == 5


def test_a_record_sent_twice_gives_the_same_evidence(tmp_path: Path):
    records = refund_run()
    write_artifact(tmp_path / "one.jsonl", records)
    write_artifact(tmp_path / "two.jsonl", [*records, records[2], records[3]])

    (once,) = read_evidence(tmp_path / "one.jsonl")
    (twice,) = read_evidence(tmp_path / "two.jsonl")

    assert once == twice


def test_local_files_and_a_collectors_file_give_equal_evidence(tmp_path: Path):
    records = refund_run()
    write_artifact(tmp_path / "e.jsonl", records)
    otlp = tmp_path / "traces.otlp.jsonl"
    otlp.write_text("".join(json.dumps(request_of(span_of(r))) + "\n" for r in records))
    pretty = tmp_path / "traces.json"
    pretty.write_text(json.dumps(request_of(*map(span_of, records)), indent=1))

    (local,) = read_evidence(tmp_path / "e.jsonl")
    (sent,) = read_evidence(otlp)
    (indented,) = read_evidence(pretty)

    assert local == sent == indented
    assert local.digest == sent.digest


def test_the_broken_line_7_of_12_of_a_collectors_file_is_named(tmp_path: Path):
    lines = [json.dumps(request_of(span_of(refund_run(f"run-{n}")[0]))) for n in range(1, 13)]
    lines[6] = lines[6][:-9]
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(lines) + "\n")

    found = read_evidence(path)

    assert len(found) == 11
    (problem,) = found.problems
    assert (problem.path, problem.line) == (str(path), 7)
    assert "is no JSON" in problem.reason


def test_a_damaged_span_is_a_problem_and_stands_in_its_runs_evidence(tmp_path: Path):
    records = refund_run()
    spans = [span_of(record) for record in records]
    spans[3]["droppedAttributesCount"] = 1
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(request_of(*spans)))

    found = read_evidence(path)

    assert [problem.line for problem in found.problems] == [1]
    (evidence,) = found
    assert [lost.boundary for lost in evidence.completeness.unusable] == [Boundary.EXECUTOR]


def test_a_torn_line_is_a_problem_and_stands_in_its_runs_evidence(tmp_path: Path):
    records = refund_run()
    path = tmp_path / "e.jsonl"
    lines = [header_line(records[0].run, "rec-1"), *map(record_to_line, records[:4])]
    path.write_text("\n".join(lines)[:-30])

    found = read_evidence(path)

    (problem,) = found.problems
    assert (problem.line, problem.code) == (5, "torn-line")
    (evidence,) = found
    assert len(evidence.completeness.unusable) == 1
    assert evidence.completeness.settled is False


def test_one_bad_file_costs_nothing_but_itself(tmp_path: Path):
    write_artifact(tmp_path / "good.jsonl", refund_run())
    (tmp_path / "newer.jsonl").write_text('{"agenttrace": {"version": 9}}\n')
    (tmp_path / "other.json").write_text('{"name": "package"}')
    (tmp_path / "empty.jsonl").write_text("")

    found = read_evidence(tmp_path, tmp_path / "gone.jsonl")

    assert [evidence.run.run_id for evidence in found] == ["run-1"]
    assert [(Path(one.path).name, one.line, one.code) for one in found.problems] == [
        ("empty.jsonl", None, "malformed-file"),
        ("newer.jsonl", None, "artifact-newer"),
        ("other.json", 1, "malformed-file"),
        ("gone.jsonl", None, "unreadable-file"),
    ]
    assert all(str(problem).count(problem.path) == 1 for problem in found.problems)


def test_a_run_of_which_nothing_was_recorded_is_a_problem(tmp_path: Path):
    (tmp_path / "e.jsonl").write_text(header_line(Run(run_id="run-1"), "rec-1") + "\n")

    found = read_evidence(tmp_path)

    assert len(found) == 0
    assert "'run-1' has a header and no readable record" in found.problems[0].reason


def test_a_folder_without_evidence_is_a_problem(tmp_path: Path):
    assert "there is no evidence in this folder" in read_evidence(tmp_path).problems[0].reason


def test_records_that_do_not_fit_together_are_refused_with_their_file(tmp_path: Path):
    made = Recording(Run(run_id="run-1"))
    made.add("event", name="approval", data={"call": "c1"})
    write_artifact(tmp_path / "e.jsonl", made.records)

    found = read_evidence(tmp_path)

    with pytest.raises(MalformedFileError, match=r"e\.jsonl: the records of run 'run-1' do not"):
        found.evidence("run-1")
