from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.artifacts import (
    VERSION,
    Header,
    LineProblem,
    header_line,
    iter_artifact,
    read_artifact,
    write_artifact,
)
from agenttrace.domain import Boundary, Run
from agenttrace.errors import (
    MalformedFileError,
    UnreadableArtifactError,
    UnreadableFileError,
    UnwritableFileError,
)
from agenttrace.records import Record, record_to_line
from tests.readers.sample_run import Recording, refund_run


def lines_of(*records: Record) -> list[str]:
    return [header_line(records[0].run, records[0].recorder_id), *map(record_to_line, records)]


def twelve_lines() -> list[str]:
    made = Recording(Run(run_id="run-1", case_id="case-1"))
    for number in range(1, 12):
        made.add("adapt", name="pay", arguments={"n": number}, call_id=f"c{number}")
    return lines_of(*made.records)


def write(path: Path, *lines: str, end: str = "\n") -> Path:
    path.write_text("\n".join(lines) + end, "utf-8")
    return path


def test_what_was_written_is_read_back(tmp_path: Path):
    first, second = refund_run("run-1"), refund_run("run-2", case_id=None)
    path = tmp_path / "sub" / "e.jsonl"

    write_artifact(path, [*first, *second])
    content = read_artifact(path)

    assert content.records == (*first, *second)
    assert [(one.run_id, one.recorder) for one in content.headers] == [
        ("run-1", "rec-1"),
        ("run-2", "rec-1"),
    ]
    assert content.problems == ()


def test_interleaved_records_are_sorted_into_sections(tmp_path: Path):
    first, second = refund_run("run-1"), refund_run("run-2")

    write_artifact(tmp_path / "e.jsonl", [r for pair in zip(first, second) for r in pair])  # noqa: B905

    assert read_artifact(tmp_path / "e.jsonl").records == (*first, *second)


def test_fields_of_a_later_minor_version_are_kept_and_written_back(tmp_path: Path):
    header, *rest = lines_of(*refund_run())
    newer = json.loads(rest[1])
    newer["payload"]["mood"] = "calm"
    newer["place"] = {"x": 1}
    inside = json.loads(header)
    inside["agenttrace"]["host"] = "h"
    path = write(tmp_path / "a.jsonl", json.dumps(inside), rest[0], json.dumps(newer), *rest[2:])

    content = read_artifact(path)
    write_artifact(tmp_path / "b.jsonl", content.records)

    assert content.problems == ()
    assert content.headers[0].unknown == {"host": "h"}
    line = (tmp_path / "b.jsonl").read_text().splitlines()[2]
    assert json.loads(line) == newer


def test_the_malformed_line_7_of_12_is_named_and_the_others_are_read(tmp_path: Path):
    lines = twelve_lines()
    lines[6] = lines[6].replace(":", ";", 1)

    content = read_artifact(write(tmp_path / "e.jsonl", *lines))

    assert len(lines) == 12
    assert len(content.records) == 10
    (problem,) = content.problems
    assert (problem.path, problem.line, problem.run_id) == (str(tmp_path / "e.jsonl"), 7, "run-1")
    assert "is no JSON" in problem.reason
    assert not problem.torn


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "is no JSON object"),
        ('{"kind": "adapt"}', "lacks"),
        ('{"kind": "a", "kind": "b"}', "the key '/kind' twice"),
        ('{"kind": "dance"}', "is no record"),
        ("\x00\x00\x00", "is no JSON"),
    ],
)
def test_a_line_that_is_no_record_is_a_problem(tmp_path: Path, line: str, reason: str):
    lines = twelve_lines()
    lines[6] = line

    (problem,) = read_artifact(write(tmp_path / "e.jsonl", *lines)).problems

    assert problem.line == 7
    assert reason in problem.reason


def test_bytes_that_are_no_text_are_a_problem_of_their_line(tmp_path: Path):
    data = [line.encode() for line in twelve_lines()]
    data[6] = b'{"kind": "\xff"}'
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"\n".join(data) + b"\n")

    (problem,) = read_artifact(path).problems

    assert (problem.line, problem.torn) == (7, False)
    assert "is no UTF-8 text" in problem.reason


def test_a_torn_last_line_is_said_to_be_torn(tmp_path: Path):
    lines = lines_of(*refund_run()[:4])
    lines[-1] = lines[-1][: len(lines[-1]) * 3 // 4]

    content = read_artifact(write(tmp_path / "e.jsonl", *lines, end=""))

    assert len(content.records) == 3
    (problem,) = content.problems
    assert (problem.line, problem.torn) == (5, True)
    assert "ends in the middle, after" in problem.reason
    assert problem.record is not None
    assert problem.record.boundary is Boundary.EXECUTOR
    assert problem.record.call_id == "c1"


def test_a_whole_last_line_without_an_end_is_a_record(tmp_path: Path):
    records = refund_run()

    content = read_artifact(write(tmp_path / "e.jsonl", *lines_of(*records), end=""))

    assert (content.records, content.problems) == (records, ())


def test_a_record_that_stands_twice_is_read_twice(tmp_path: Path):
    records = refund_run()
    lines = lines_of(*records)

    assert len(read_artifact(write(tmp_path / "e.jsonl", *lines, lines[2])).records) == 6


def test_a_newer_version_is_refused_before_its_fields_are_looked_at(tmp_path: Path):
    path = write(tmp_path / "e.jsonl", '{"agenttrace": {"version": 2, "format": "columns"}}', "?")

    with pytest.raises(UnreadableArtifactError, match=f"version 2 is newer than {VERSION}"):
        read_artifact(path)


def test_a_newer_section_costs_only_itself(tmp_path: Path):
    first, last = refund_run("run-1"), refund_run("run-3")
    newer = ['{"agenttrace": {"version": 2}}', '{"columns": []}']

    content = read_artifact(
        write(tmp_path / "e.jsonl", *lines_of(*first), *newer, *lines_of(*last))
    )

    assert content.records == (*first, *last)
    (problem,) = content.problems
    assert problem.line == 7
    assert "version 2 of this section is newer" in problem.reason


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("hello", "the first line is no JSON"),
        ('{"agenttrace": {"vers', "the first line ends in the middle, after 21 bytes"),
        ('{"resourceLogs": []}', "an object with 'resourceLogs', not the header"),
        ("[1]\n", "is no JSON object"),
        ('{"agenttrace": {"version": "1"}}', "whose version is '1'"),
        ('{"agenttrace": {"version": 1, "recorder": "r"}}', "without run.run_id"),
        ('{"agenttrace": {"version": 1, "run": {"run_id": "x"}}}', "without recorder"),
    ],
)
def test_a_file_that_is_not_ours_is_refused_with_what_was_found(
    tmp_path: Path, text: str, found: str
):
    path = tmp_path / "e.jsonl"
    path.write_text(text)

    with pytest.raises(MalformedFileError) as caught:
        read_artifact(path)

    assert found in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_unreadable(tmp_path: Path):
    for path in (tmp_path / "gone.jsonl", tmp_path):
        with pytest.raises(UnreadableFileError, match="cannot be read"):
            read_artifact(path)


def test_a_file_is_read_line_by_line(tmp_path: Path):
    path = write(tmp_path / "e.jsonl", *twelve_lines())

    items = iter_artifact(path)

    assert isinstance(next(items), Header)
    assert isinstance(next(items), Record)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    write_artifact(path, refund_run("old"))
    before = path.read_bytes()

    def stops():
        yield from refund_run("new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_artifact(path, stops())

    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["e.jsonl"]


def test_an_unwritable_place_is_one_clear_error(tmp_path: Path):
    (tmp_path / "file").write_text("x")

    with pytest.raises(UnwritableFileError, match="cannot be written"):
        write_artifact(tmp_path / "file" / "e.jsonl", refund_run())


@pytest.mark.skipif(os.name == "nt", reason="permissions are a matter of POSIX")
def test_evidence_is_readable_by_its_owner_alone(tmp_path: Path):
    write_artifact(tmp_path / "e.jsonl", refund_run())

    assert stat.S_IMODE((tmp_path / "e.jsonl").stat().st_mode) == 0o600


@given(cut=st.integers(min_value=1), junk=st.binary(max_size=8), at=st.integers(min_value=0))
def test_no_damage_costs_more_than_the_lines_it_touches(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes, at: int
):
    whole = ("\n".join(twelve_lines()) + "\n").encode()
    first = whole.index(b"\n") + 1
    place = first + at % (len(whole) - first)
    length = cut % 30
    damaged = whole[:place] + junk + whole[place + length :]
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(damaged)

    content = read_artifact(path)

    # At most: the two lines that a cut joins, and the lines that the junk splits off.
    assert len(content.records) >= 11 - 2
    assert all(isinstance(problem, LineProblem) for problem in content.problems)
    assert len(content.problems) <= 2 + junk.count(b"\n")
