"""A request that is too long to be held gives the records of one that is."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace import semconv
from agenttrace.readers import _files, _otlp_document, read_evidence
from tests.readers.sample_run import refund_run
from tests.readers.test_otlp import span_of

RUNS = [refund_run(f"run-{n}", start=n * 10, raw='{"a": "}{][\\"\\\\"}') for n in range(4)]
SPANS = [span_of(record) for records in RUNS for record in records]


def request(groups: list[list[int]], scope: dict[str, str]) -> dict[str, object]:
    """A request whose resources hold these spans, by their numbers."""
    scopes = [{"scope": scope, "spans": [SPANS[n] for n in group]} for group in groups]
    return {"resourceSpans": [{"resource": {"x": [{}]}, "scopeSpans": [one]} for one in scopes]}


@pytest.fixture
def at_once(monkeypatch):
    def of(most: int, chunk: int) -> None:
        monkeypatch.setattr(_files, "_MOST_AT_ONCE", most)
        monkeypatch.setattr(_otlp_document, "_CHUNK", chunk)

    return of


@settings(max_examples=40, deadline=None)
@given(
    groups=st.lists(st.lists(st.integers(0, len(SPANS) - 1), max_size=6), max_size=4),
    indent=st.sampled_from([None, 0, 2]),
    most=st.integers(40, 3000),
    chunk=st.integers(1, 900),
)
def test_a_long_request_gives_the_records_of_a_short_one(
    tmp_path_factory, groups, indent, most, chunk
):
    path = tmp_path_factory.mktemp("long") / "e.json"
    made = json.dumps(request(groups, {"name": "x"}))
    path.write_text(made)
    whole = read_evidence(path)
    path.write_text(json.dumps(json.loads(made), indent=indent) + "\n" * (most % 3))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_files, "_MOST_AT_ONCE", most)
        patch.setattr(_otlp_document, "_CHUNK", chunk)
        taken_apart = read_evidence(path)

    assert taken_apart.problems == whole.problems == ()
    assert dict(taken_apart.records) == dict(whole.records)


def test_lines_that_are_too_long_stand_between_others(tmp_path: Path, at_once):
    path = tmp_path / "e.jsonl"
    lines = [json.dumps(request([[n], [n + 1]], {})) for n in range(0, 20, 2)]
    path.write_text("".join(f"{line}\n" for line in lines))
    whole = read_evidence(path)
    at_once(len(min(lines, key=len)) + 30, 100)

    assert dict(read_evidence(path).records) == dict(whole.records)


@pytest.mark.parametrize("cut", [1, 100, 700])
def test_a_long_line_that_was_cut_is_named_and_costs_no_other(tmp_path: Path, at_once, cut):
    path = tmp_path / "e.jsonl"
    lines = [json.dumps(request([list(range(n, n + 5))], {})) for n in (0, 5, 10)]
    lines[1] = lines[1][:-cut]
    path.write_text("\n".join(lines) + "\n")
    at_once(500, 100)

    found = read_evidence(path)

    assert [problem.line for problem in found.problems] == [2]
    assert {"run-0", "run-2"} <= set(found.records)


def test_a_long_line_may_be_cut_anywhere(tmp_path: Path, at_once):
    path = tmp_path / "e.jsonl"
    lines = [json.dumps(request([[n], [n + 1]], {})) for n in (0, 5)]
    at_once(400, 100)

    for cut in range(500, len(lines[0]), 61):
        path.write_text(f"{lines[0][:cut]}\n{lines[1]}\n")
        found = read_evidence(path)
        assert {problem.line for problem in found.problems} == {1}, cut
        assert "run-1" in found.records, cut


def test_a_document_that_was_cut_gives_what_stands_before(tmp_path: Path):
    path = tmp_path / "e.json"
    text = json.dumps(request([list(range(10))], {}), indent=1)
    path.write_text(text[:-200])

    found = read_evidence(path)

    (problem,) = found.problems
    assert "the request breaks off" in problem.reason
    assert problem.line == text[:-200].count("\n") + 1
    assert list(found.records) == ["run-0", "run-1"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"resource":', '"resource"', "what stands around the spans of the request is no JSON"),
        ('"spans": [', '"spans": [7,', "no OTLP: spans is no list of objects"),
        ('"resourceSpans": [', '"resourceSpans": [3,', "no OTLP: resourceSpans is no list"),
    ],
)
def test_what_is_wrong_around_the_spans_is_said(tmp_path: Path, old, new, said):
    path = tmp_path / "e.json"
    path.write_text(json.dumps(request([[0, 1]], {}), indent=1).replace(old, new, 1))

    assert said in read_evidence(path).problems[0].reason


def test_text_behind_a_document_is_said(tmp_path: Path):
    path = tmp_path / "e.json"
    path.write_text(json.dumps(request([[0, 1]], {}), indent=1) + " more\n")

    assert "more text behind the request" in read_evidence(path).problems[0].reason


def test_a_span_of_ours_without_its_kind_is_told_by_its_scope(tmp_path: Path):
    path = tmp_path / "e.json"
    bare = {**SPANS[0], "attributes": []}
    made = request([[1]], {"name": semconv.SCOPE})
    made["resourceSpans"][0]["scopeSpans"][0]["spans"].append(bare)  # type: ignore[index]
    path.write_text(json.dumps(made, indent=1))

    assert "a span cannot be read as a record" in read_evidence(path).problems[0].reason


def test_memory_does_not_grow_with_a_document(tmp_path: Path, at_once):
    at_once(100, 3000)

    def peak(groups: int) -> int:
        path = tmp_path / f"{groups}.json"
        path.write_text(json.dumps(request([list(range(len(SPANS)))] * groups, {}), indent=1))
        tracemalloc.start()
        read_evidence(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)

    assert peak(8) < 1.5 * peak(2)
