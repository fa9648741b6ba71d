"""Files of rows: lines, lists, single documents, compressed or not, whole or broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.readers import Problem
from agenttrace.readers.transcripts import Transcript, TranscriptFormat, _source, read_transcripts
from agenttrace.readers.transcripts import recognise as recognise_file
from tests.transcripts.logs import chat_row, read, write_log

ROWS = [chat_row(f"case-{number}") for number in range(1, 13)]


def places(items):
    """Line and case of each row, or line and code of each problem."""
    return [
        (item.line, item.run.case_id if isinstance(item, Transcript) else item.code)
        for item in items
    ]


FORMS = {
    "lines.jsonl": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "windows.jsonl": "".join(f"{json.dumps(row)}\r\n" for row in ROWS),
    "any-name": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "lines.json": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "list.json": json.dumps(ROWS),
    "spread.json": json.dumps(ROWS, indent=2),
    "no-end.jsonl": "\n".join(json.dumps(row) for row in ROWS),
    "mark.jsonl": "\ufeff" + "\n".join(json.dumps(row) for row in ROWS),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", FORMS)
def test_rows_are_read_from_every_kind_of_file_by_what_it_holds(tmp_path, name, packed):
    data = FORMS[name].encode("utf-8")
    path = tmp_path / (f"{name}.gz" if packed and name.endswith("json") else name)
    path.write_bytes(gzip.compress(data) if packed else data)

    items = read(path)

    assert [item.run.case_id for item in items] == [row["case_id"] for row in ROWS]


def test_one_document_over_many_lines_is_one_row(tmp_path):
    path = tmp_path / "one.json"
    path.write_text("\n\n" + json.dumps(ROWS[0], indent=4))

    assert places(read(path)) == [(3, "case-1")]


def test_the_line_of_a_row_is_its_true_line(tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_text(f"\n\n{json.dumps(ROWS[0])}\n\n{json.dumps(ROWS[1])}\n")
    spread = tmp_path / "list.json"
    spread.write_text("[\n\n" + json.dumps(ROWS[0]) + "\n,\n" + json.dumps(ROWS[1]) + "\n]\n")

    assert places(read(lines)) == [(3, "case-1"), (5, "case-2")]
    assert places(read(spread)) == [(3, "case-1"), (5, "case-2")]


BROKEN = {
    "no JSON": ('{"case_id": }', "malformed-file"),
    "cut off": ('{"case_id": "case-7", "mess', "malformed-file"),
    "another shape": ('{"case_id": "case-7", "messages": 3}', "malformed-file"),
    "a list": ("[]", "malformed-file"),
    "a key twice": ('{"messages": [], "messages": []}', "malformed-file"),
    "a plan that does not fit": (json.dumps(chat_row(expected=[{}])), "invalid-case"),
    "no number": ('{"messages": [], "reward": NaN}', "malformed-file"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_on_line_7_of_12_is_named_and_the_others_are_read(tmp_path, fault, packed):
    line, code = BROKEN[fault]
    rows = [*ROWS[:6], line, *ROWS[7:]]

    items = read(write_log(tmp_path / "log.jsonl", rows, packed=packed))

    assert places(items)[6] == (7, code)
    assert str(items[6]).startswith(f"{tmp_path / 'log.jsonl'}:7: ")
    assert [item.line for item in items if isinstance(item, Transcript)] == [
        *range(1, 7),
        *range(8, 13),
    ]


def test_bytes_that_are_no_text_cost_their_row_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [json.dumps(row).encode() for row in ROWS[:3]]
    lines[1] = lines[1].replace(b"Hello", b"\xff\xfe")
    path.write_bytes(b"\n".join(lines) + b"\n")

    assert places(read(path)) == [(1, "case-1"), (2, "malformed-file"), (3, "case-3")]


def test_a_member_of_a_list_that_does_not_fit_costs_itself_alone(tmp_path):
    path = tmp_path / "log.json"
    texts = [json.dumps(row) for row in ROWS[:5]]
    texts[1], texts[3] = '{"messages": [1, tru]}', "{\n}"
    path.write_text("[" + ",\n".join(texts) + "\n]")

    assert places(read(path)) == [
        (1, "case-1"),
        (2, "malformed-file"),
        (3, "case-3"),
        (4, "malformed-file"),
        (6, "case-5"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1,\n,2]", "log.json:2: the list has a comma with no row beside it"),
        ('[{}\n,{"a": [', "log.json:2: the file ends in the middle of the list"),
        ('[{}\n,{"a": "x\\', "log.json:2: the file ends in the middle of the list"),
        ("[]\n\nmore", "log.json:3: there is more text behind the list"),
        ("[{},\n]", "log.json:2: the list has a comma with no row beside it"),
    ],
)
def test_a_broken_list_is_said_with_its_line(tmp_path, text, said):
    path = tmp_path / "log.json"
    path.write_text(text)

    assert any(said in str(item) for item in read(path))


def test_a_last_line_that_was_cut_is_said_to_be_torn(tmp_path):
    path = write_log(tmp_path / "log.jsonl", ROWS[:3])
    path.write_bytes(path.read_bytes()[:-40])

    assert places(read(path)) == [(1, "case-1"), (2, "case-2"), (3, "torn-line")]


def test_only_the_first_line_of_lines_in_a_json_file_may_be_broken(tmp_path):
    path = write_log(tmp_path / "log.json", ['{"case_id": }', *ROWS[1:3]])

    assert places(read(path)) == [(1, "malformed-file"), (2, "case-2"), (3, "case-3")]


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_broken_compression_costs_no_row_before_it(tmp_path, damage):
    many = [chat_row(f"case-{n}", note=str(n * 7919 % 104729)) for n in range(2000)]
    path = write_log(tmp_path / "log.jsonl.gz", many, packed=True)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[-len(data) // 4 :]
    else:
        data[-6] ^= 0xFF
    path.write_bytes(data)

    items = read(path)
    rows = [item for item in items if isinstance(item, Transcript)]

    assert len(rows) > 500
    assert [row.run.case_id for row in rows] == [f"case-{n}" for n in range(len(rows))]
    assert isinstance(items[-1], Problem)
    assert items[-1].line == len(rows)
    assert "the compressed data is broken behind this line" in str(items[-1])


def test_a_missing_file_and_an_empty_one_are_one_clear_problem(tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text(" \n\n")
    (missing,) = read(tmp_path / "gone.jsonl")
    (blank,) = read(empty)

    assert missing.code == "unreadable-file"
    assert "empty.jsonl: the file is empty" in str(blank)


def test_a_row_beyond_the_limit_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "MOST_BYTES", 10_000)
    long = chat_row("long", note="x" * 20_000)
    lines = write_log(tmp_path / "log.jsonl", [ROWS[0], long, ROWS[2]])
    whole = tmp_path / "log.json"
    whole.write_text(json.dumps(long, indent=1))

    assert places(read(lines)) == [(1, "case-1"), (2, "malformed-file"), (3, "case-3")]
    assert "longer than 10000 bytes" in str(read(whole)[0])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    rows=st.lists(st.dictionaries(st.text(), values, max_size=4), max_size=6),
    indent=st.none() | st.integers(0, 3),
    chunk=st.integers(1, 40),
)
def test_a_list_is_split_into_its_members_wherever_a_chunk_ends(
    tmp_path_factory, rows, indent, chunk
):
    path = tmp_path_factory.mktemp("lists") / "list.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=chunk % 2 == 0), "utf-8")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_source, "_CHUNK", chunk)
        read_back = list(_source.RowFile(path))

    assert [value for _, value in read_back] == rows
    text = path.read_text("utf-8").split("\n")
    assert all(text[line - 1].lstrip(" [,").startswith("{") for line, _ in read_back)


@given(data=st.binary(max_size=200), name=st.sampled_from(["log.json", "log.jsonl", "log.gz"]))
def test_no_file_whatever_it_holds_ends_in_an_exception(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("any") / name

    for content in (data, b"[" + data, b'{"messages": [' + data, gzip.compress(data)):
        path.write_bytes(content)
        assert all(isinstance(item, Transcript | Problem) for item in read_transcripts(path))


RECOGNISED = {
    TranscriptFormat.OPENAI_CHAT: [
        chat_row(),
        {"messages": []},
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": [{"role": "assistant", "function_call": {"name": "a"}}]},
    ],
    TranscriptFormat.ANTHROPIC_MESSAGES: [
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]},
        {"messages": [{"role": "user", "content": "hi"}], "system": "x"},
        {"messages": [], "tools": [{"name": "a", "input_schema": {}}]},
    ],
    TranscriptFormat.OPENAI_RESPONSES: [
        {"items": [{"role": "user", "content": "hi"}]},
        {"input": "hi", "output": [{"type": "function_call"}]},
        {"object": "response", "output": [{"type": "message", "role": "assistant"}]},
    ],
    None: [{}, {"items": [1]}, {"messages": "x"}, {"kind": "response", "payload": {}}],
}


@pytest.mark.parametrize(
    ("form", "row"), [(form, row) for form, rows in RECOGNISED.items() for row in rows]
)
def test_a_format_is_told_by_the_shape_of_the_first_row(tmp_path: Path, form, row):
    assert recognise_file(write_log(tmp_path / "log.jsonl", [row])) is form


def test_a_broken_first_line_does_not_hide_the_format(tmp_path):
    path = write_log(tmp_path / "log.jsonl", ["{", RECOGNISED["openai-responses"][0]])

    assert recognise_file(path) is TranscriptFormat.OPENAI_RESPONSES


@pytest.mark.parametrize("tail", ["\n", ""])
@pytest.mark.parametrize("first", ["[1]", "[]", '[{"messages": []}, 2]'])
def test_a_line_that_is_a_list_costs_no_line_after_it(tmp_path, first, tail):
    path = tmp_path / "log.jsonl"
    path.write_text(f"{first}\n7\n\n" + json.dumps(chat_row("a")) + tail)

    found = read(path)

    *_, number, last = found
    assert str(number).startswith(f"{path}:2: the row does not fit openai-chat: the row is a numb")
    assert (last.line, last.run.case_id) == (4, "a")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["openai-chat", None])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_a_file_of_wide_characters_is_one_problem_that_says_how_to_convert_it(
    cli, tmp_path, encoding, form, packed
):
    data = (json.dumps(chat_row("a")) + "\n").encode(encoding)
    Path("log.jsonl").write_bytes(gzip.compress(data) if packed else data)

    said = cli("score", "log.jsonl", *(("--format", form) if form else ()))

    first, _ = said.err.splitlines()
    assert first.startswith("error [malformed-file]: log.jsonl: the file is UTF-16 or UTF-32 text")
    assert "nothing of it was scored; convert it, as by `iconv" in first
    assert (said.code, said.out) == (2, "")


def test_compression_that_is_broken_from_the_start_is_said_without_a_format_too(cli):
    packed = gzip.compress(json.dumps(chat_row("a")).encode())
    Path("log.jsonl.gz").write_bytes(packed[:15])

    said = cli("score", "log.jsonl.gz")

    assert said.code == 2
    assert said.err.startswith("error [malformed-file]: log.jsonl.gz: the compressed data is broke")


@pytest.mark.parametrize("line", ["{", '{"a": 1, "a": 2}', "\udcff", "7", '{"messages": 7}'])
def test_whatever_is_wrong_with_a_row_it_is_said_not_to_be_scored(tmp_path, line):
    path = tmp_path / "log.jsonl"
    path.write_bytes(f"{line}\n".encode("utf-8", "surrogateescape"))

    (problem,) = read(path)

    assert str(problem).startswith(f"{path}:1: ")
    assert "the row was not scored" in str(problem)


@pytest.mark.parametrize(
    ("row", "form", "right"),
    [
        ({"output": [{"type": "message", "role": "assistant"}]}, "openai-chat", "openai-responses"),
        ({"input": [{"role": "user"}], "output": []}, "anthropic-messages", "openai-responses"),
        ({"messages": [{"role": "tool"}]}, "openai-responses", "openai-chat"),
    ],
)
def test_a_row_of_another_format_is_no_blank_row(tmp_path, row, form, right):
    """It has a plan, so that without its conversation it would be taken for a run that died."""
    path = write_log(tmp_path / "log.jsonl", [{**row, "expected": []}])

    (problem,) = read(path, form)

    assert f"read this log with --format {right}; the row was not scored" in str(problem)
