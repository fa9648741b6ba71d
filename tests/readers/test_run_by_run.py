"""Runs are read from where they stand, and are what they would be if all were held in memory."""

from __future__ import annotations

import gc
import json
import os
import threading
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.artifacts import header_line, write_artifact
from agenttrace.cli._rows import Rows
from agenttrace.domain import Run
from agenttrace.errors import ChangedFileError, TemporaryFileError
from agenttrace.readers import Problem, _database, read_evidence, read_file
from agenttrace.records import Record, assemble, record_to_line
from tests.readers.sample_run import Recording, refund_run
from tests.readers.test_otlp import request_of, span_of


def two_recorders(run_id: str, start: int) -> list[Record]:
    run = Run(run_id=run_id, case_id=f"case-of-{run_id}")
    agent, server = Recording(run, "agent", start), Recording(run, "server", start + 3)
    link = agent.add("call", name="pay", arguments={"n": start}, call_id="c1", turn=1, index=0)
    agent.end({"model": None}, model=1)
    server.add("execution", name="pay", arguments={"n": start}, call_id="c1", link=link)
    server.end({"executor": ["pay"]}, executor=1)
    return [*agent.records, *server.records]


RECORDS = [
    record
    for run_id, start in (("a", 50), ("\ud800", 10), ("b", 50), ("c", 1 << 70))
    for record in two_recorders(run_id, start)
]


def write_lines(path: Path, records: Sequence[Record], torn: int) -> None:
    """An evidence file, its last line without so many characters."""
    lines = [header_line(Run(run_id="a"), "agent"), *map(record_to_line, records)]
    text = "\n".join(lines) + "\n"
    path.write_text(text[: len(text) - torn])


def write_requests(path: Path, records: Sequence[Record], size: int) -> None:
    """A collector's file, so many spans a request."""
    batches = [records[begin : begin + size] for begin in range(0, len(records), size)]
    requests = (request_of(*map(span_of, batch)) for batch in batches)
    path.write_text("".join(f"{json.dumps(request)}\n" for request in requests))


@settings(max_examples=40, deadline=None)
@given(
    placed=st.permutations(
        [(record, number % 3) for number, record in enumerate([*RECORDS, *RECORDS[::5]])]
    ),
    batch=st.integers(1, 5),
    torn=st.sampled_from([0, 1, 40]),
)
def test_runs_mixed_over_files_are_those_of_reading_all_into_memory(
    tmp_path_factory, placed, batch, torn
):
    folder = tmp_path_factory.mktemp("mixed")
    by_file = [[record for record, at in placed if at == number] for number in range(3)]
    write_lines(folder / "0.jsonl", by_file[0], torn)
    write_lines(folder / "1.jsonl", by_file[1], 0)
    write_requests(folder / "2.otlp", by_file[2], batch)
    records: dict[str, list[Record]] = {}
    places: dict[str, dict[str, None]] = {}
    problems = []
    for path in sorted(folder.iterdir()):
        for item in read_file(path):
            if isinstance(item, Record):
                records.setdefault(item.run.run_id, []).append(item)
                places.setdefault(item.run.run_id, {})[str(path)] = None
            elif isinstance(item, Problem):
                problems.append(item)
    places.setdefault("a", {}).setdefault(str(folder / "0.jsonl"))
    places["a"].setdefault(str(folder / "1.jsonl"))
    order = sorted(records, key=lambda run_id: min(one.start_ns for one in records[run_id]))

    found = read_evidence(folder)

    assert list(found.records) == order
    assert dict(found.records) == {run_id: tuple(held) for run_id, held in records.items()}
    assert {one: set(held) for one, held in found.places.items()} == {
        one: set(held) for one, held in places.items()
    }
    assert found.problems == tuple(problems)
    lost = tuple(one.record for one in problems if one.record is not None and one.run_id == "a")
    assert dict(found.unusable) == ({"a": lost} if lost else {})
    assert found.runs == tuple(records[run_id][-1].run for run_id in order)
    assert [one.digest for one in found] == [
        assemble(records[run_id], lost if run_id == "a" else ()).digest for run_id in order
    ]


def test_a_run_that_is_not_there_is_a_key_error(tmp_path: Path):
    write_artifact(tmp_path / "e.jsonl", refund_run())
    found = read_evidence(tmp_path)

    assert "run-1" in found.records
    assert "run-2" not in found.records
    assert len(found.records) == len(found.places) == 1
    assert len(found.unusable) == 0
    for held in (found.records, found.places, found.unusable):
        with pytest.raises(KeyError):
            held["run-2"]
    with pytest.raises(KeyError):
        found.evidence("run-2")


def test_lines_that_were_written_over_are_refused_and_the_other_runs_are_read(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    write_artifact(path, [*refund_run("run-1"), *refund_run("run-2", start=100)])
    found = read_evidence(path)
    path.write_text(path.read_text().replace('"seq":2', '"seq":3', 1))

    with pytest.raises(ChangedFileError, match=r"e\.jsonl: changed while it was being read: bytes"):
        found.evidence("run-1")
    assert found.evidence("run-2").run.run_id == "run-2"


def test_a_file_that_was_cut_or_removed_is_refused(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    write_artifact(path, refund_run())
    found = read_evidence(path)
    os.truncate(path, path.stat().st_size - 1)

    with pytest.raises(ChangedFileError, match="are not what they were"):
        found.evidence("run-1")
    path.unlink()
    with pytest.raises(ChangedFileError, match="it can no longer be opened"):
        found.evidence("run-1")


def test_a_file_that_only_grew_is_as_good_as_before(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    write_artifact(path, refund_run())
    found = read_evidence(path)
    before = found.evidence("run-1")
    with path.open("a") as file:
        file.write(record_to_line(refund_run("run-2")[0]) + "\n")

    assert found.evidence("run-1") == before


def test_the_rows_of_a_changed_file_are_errors_of_their_own(tmp_path: Path, capsys):
    write_artifact(tmp_path / "1.jsonl", refund_run("run-1"))
    write_artifact(tmp_path / "2.jsonl", refund_run("run-2", start=100))
    rows = Rows(read_evidence(tmp_path), None)
    (tmp_path / "1.jsonl").write_text("")

    judged = [row.name for row in rows]

    assert judged == ["run-2"]
    assert rows.has_errors
    assert "error [changed-file]: run run-1 in" in capsys.readouterr().err


def test_a_relative_path_is_found_again_from_another_folder(tmp_path: Path, monkeypatch):
    write_artifact(tmp_path / "e.jsonl", refund_run())
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    found = read_evidence("e.jsonl")
    monkeypatch.chdir(tmp_path / "other")

    assert found.evidence("run-1").run.run_id == "run-1"
    assert found.places["run-1"] == ("e.jsonl",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are needed")
@pytest.mark.parametrize("kind", ["lines", "requests", "document"])
def test_what_comes_through_a_pipe_is_kept(tmp_path: Path, kind):
    records = [*refund_run("run-1"), *refund_run("run-2", start=100, raw="x" * 9000)]
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    if kind == "lines":
        write_artifact(file, records)
    elif kind == "requests":
        write_requests(file, records, 3)
    else:
        file.write_text(json.dumps(request_of(*map(span_of, records)), indent=1))
    os.mkfifo(pipe)
    data = file.read_bytes()
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()

    piped = read_evidence(pipe)
    writer.join()

    assert piped.problems == ()
    assert dict(piped.records) == dict(read_evidence(file).records)


def otlp_of(path: Path, runs: int, raw: str | None = None) -> Path:
    records = [one for n in range(runs) for one in refund_run(f"run-{n}", start=n * 10, raw=raw)]
    write_requests(path, records, 7)
    return path


def test_memory_does_not_grow_with_the_runs(tmp_path: Path):
    def peak(path: Path) -> int:
        tracemalloc.start()
        for _ in read_evidence(path).records.values():
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = otlp_of(tmp_path / "few.otlp", 15), otlp_of(tmp_path / "many.otlp", 150)
    peak(few)

    assert peak(many) < 1.3 * peak(few)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted there")
def test_a_temporary_file_has_no_name_and_is_closed_with_the_runs(tmp_path: Path, monkeypatch):
    path = otlp_of(tmp_path / "e.otlp", 20, raw="x" * 100_000)
    monkeypatch.setattr(_database, "_SETTINGS", ("cache_size=4", "journal_mode=OFF"))

    def open_files() -> set[str]:
        links = Path("/proc/self/fd").iterdir()
        return {str(link.readlink()) for link in links if link.is_symlink()}

    before = open_files()
    found = read_evidence(path)
    held = open_files() - before

    assert [name.endswith("(deleted)") for name in held] == [True]
    assert len(list(found)) == 20
    del found
    gc.collect()
    assert not held & open_files()
    assert str(path) not in open_files()


def test_a_full_temporary_disk_is_said(tmp_path: Path, monkeypatch):
    path = otlp_of(tmp_path / "e.otlp", 60)
    monkeypatch.setattr(_database, "_SETTINGS", ("max_page_count=20",))

    with pytest.raises(TemporaryFileError, match=r"cannot be used \(database or disk is full\)"):
        read_evidence(path)


def test_the_first_runs_of_a_case_are_found_without_a_look_at_all_of_them(tmp_path: Path):
    def cost(count: int) -> int:
        runs = [Run(run_id=f"run-{number}", case_id="one") for number in range(count)]
        recorders = [Recording(run, "agent", start) for start, run in enumerate(runs)]
        for one in recorders:
            one.end({})
        write_artifact(tmp_path / f"{count}.jsonl", [one.records[0] for one in recorders])
        found = read_evidence(tmp_path / f"{count}.jsonl")
        steps: list[None] = []
        found._index._database.set_progress_handler(lambda: steps.append(None), 10)
        assert next(found.run_ids_of("one")) == "run-0"
        return len(steps)

    assert cost(2400) < 1.5 * cost(300)


def test_runs_can_be_read_in_another_thread(tmp_path: Path):
    write_artifact(tmp_path / "e.jsonl", refund_run())
    found = read_evidence(tmp_path)
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.extend(one.run.run_id for one in found))
    thread.start()
    thread.join()

    assert seen == ["run-1"]


@given(st.lists(st.integers() | st.integers(-(1 << 80), 1 << 80)))
def test_numbers_sort_as_bytes_as_they_do_themselves(numbers):
    assert sorted(numbers, key=_database.sortable) == sorted(numbers)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "a-2", "a-2-2", "b", "\ud800"]), max_size=12))
def test_a_name_that_was_given_gets_a_number(names):
    with _database.UniqueNames() as unique:
        made = [unique.make(name) for name in names]

    assert len(set(made)) == len(names)
    for number, name in enumerate(names):
        if name not in names[:number] and name not in made[:number]:
            assert made[number] == name
