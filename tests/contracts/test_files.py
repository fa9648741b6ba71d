from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agenttrace.contracts import _yaml, load_cases
from agenttrace.errors import InvalidCaseError, MissingExtraError, UnreadableFileError
from agenttrace.records import dump_json
from agenttrace.scoring import accepts

HUGE = 10**4400


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def case_text(case_id: str, **fields: Any) -> str:
    return json.dumps({"id": case_id, **fields})


def fault(path: Path) -> tuple[str, int | None, str]:
    with pytest.raises(InvalidCaseError) as caught:
        load_cases(path)
    return caught.value.where, caught.value.line, caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        case_text("a"),
        f"[{case_text('a')}]",
        f'{{"cases": [{case_text("a")}]}}',
        f"\ufeff{case_text('a')}",
    ],
)
def test_a_json_file_holds_one_case_or_a_list(tmp_path: Path, text: str):
    assert [case.case_id for case in load_cases(write(tmp_path, "c.json", text))] == ["a"]


def test_a_folder_gives_its_cases_in_the_order_of_names(tmp_path: Path):
    pytest.importorskip("yaml")
    write(tmp_path, "b.jsonl", f"{case_text('b1')}\n\n{case_text('b2')}\n")
    write(tmp_path, "a.json", case_text("a"))
    write(tmp_path, "sub/c.yaml", "id: c1\n---\n- id: c2\n- id: c3\n")
    write(tmp_path, "README.md", "no case")
    write(tmp_path, ".hidden/d.json", "no case")

    cases = load_cases(str(tmp_path))

    assert [case.case_id for case in cases] == ["a", "b1", "b2", "c1", "c2", "c3"]


def test_the_fault_on_line_7_of_12_lines_is_said_as_line_7(tmp_path: Path):
    lines = [case_text(f"case-{number}") for number in range(1, 13)]
    lines[6] = case_text("case-7", required="none")

    where, line, reason = fault(write(tmp_path, "c.jsonl", "\n".join(lines)))

    assert (where, line) == (str(tmp_path / "c.jsonl"), 7)
    assert "required is the text 'none', not a list" in reason


def test_malformed_json_on_line_7_of_12_lines_is_said_as_line_7(tmp_path: Path):
    lines = [case_text(f"case-{number}") for number in range(1, 13)]
    lines[6] = lines[6][:-3]

    assert fault(write(tmp_path, "c.jsonl", "\n".join(lines)))[1] == 7


def test_a_line_separator_inside_a_text_is_no_line(tmp_path: Path):
    lines = ['{"id": "a", "why": "x\u2028y\u0085z"}', '{"id": "b", "x": 1}']

    assert fault(write(tmp_path, "c.jsonl", "\n".join(lines)))[1] == 2


PRETTY = """{"cases": [
  {"id": "a"},
  {
    "id": "b",
    "required": [
      {"name": "pay", "args": {"x": "}{", "y": [1, {"z": 2}]}},
      {"name": "pay",
       "args": {},
       "rules": {
         "/cents": {"range":
           {"min": "1"}}}}
    ]}
]}
"""


def test_a_fault_inside_a_json_file_is_said_with_the_line_of_its_value(tmp_path: Path):
    _, line, reason = fault(write(tmp_path, "c.json", PRETTY))

    assert line == 11
    assert "required[1].rules['/cents'].range.min is the text '1', not a number" in reason


def test_a_missing_field_is_said_with_the_line_of_what_lacks_it(tmp_path: Path):
    text = '[{"id": "a"},\n {"id": "b",\n  "required": [\n   {"name": "x"}\n]}]'

    assert fault(write(tmp_path, "c.json", text))[1] == 4


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{\n"id": "a",\n"why": nul}', 3, "is no JSON"),
        ('{\n"id": "a",\n"why": ', 3, "ends in the middle"),
        ('{"id": "a",\n"id": "b"}', 2, "the key '/id' twice"),
        ('{"id": "a",\n"required": [{"name": "x", "args": {"n": NaN}}]}', 2, "is no JSON"),
        ("", 1, "is no JSON"),
        ("7", 1, "the case is the number 7, not an object"),
        ('{"cases": {},\n"version": 1}', 2, "'version' beside cases"),
        ('{"cases":\n7}', 2, "cases is the number 7, not a list"),
    ],
)
def test_a_json_file_that_does_not_fit_is_refused(
    tmp_path: Path, text: str, line: int, reason: str
):
    found = fault(write(tmp_path, "c.json", text))

    assert found[1] == line
    assert reason in found[2]


def test_two_cases_with_one_id_are_named_with_both_places(tmp_path: Path):
    first = write(tmp_path, "a.jsonl", f"{case_text('x')}\n{case_text('y')}\n")
    second = write(tmp_path, "b.json", f"[\n{case_text('z')},\n{case_text('y')}]")

    where, line, reason = fault(tmp_path)

    assert (where, line) == (str(second), 3)
    assert f"'y' was already given at {first}:2" in reason


def test_a_path_without_any_case_is_refused(tmp_path: Path):
    write(tmp_path, "notes.txt", "no case")

    assert "there is no case here" in fault(tmp_path)[2]
    assert "no case file by its name" in fault(tmp_path / "notes.txt")[2]


def test_a_missing_file_is_unreadable(tmp_path: Path):
    with pytest.raises(UnreadableFileError, match=r"gone\.json: cannot be read"):
        load_cases(tmp_path / "gone.json")


def test_bytes_that_are_no_text_are_said_with_their_line(tmp_path: Path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(case_text("a").encode() + b'\n{"id": "\xff"}\n')

    assert fault(path)[1:] == (2, "is no UTF-8 text; save it as UTF-8")


YAML = """\
id: a
required:
  - name: book
    args:
      at: 12:30:00
      day: 2026-11-30
      on: yes
      octal: 0123
      big: 123456789012345678901234567890
      price: 1.50
      none: null
      ok: true
      quoted: "1"
"""


def test_yaml_reads_only_json_values_as_other_than_text(tmp_path: Path):
    pytest.importorskip("yaml")

    (case,) = load_cases(write(tmp_path, "c.yaml", YAML))

    assert case.required is not None
    assert case.required[0].arguments == {
        "at": "12:30:00",
        "day": "2026-11-30",
        "on": "yes",
        "octal": "0123",
        "big": 123456789012345678901234567890,
        "price": 1.5,
        "none": None,
        "ok": True,
        "quoted": "1",
    }


def test_a_case_has_one_revision_in_json_and_in_yaml(tmp_path: Path):
    pytest.importorskip("yaml")
    (in_yaml,) = load_cases(write(tmp_path, "c.yaml", YAML))
    args = dict(in_yaml.required[0].arguments)  # type: ignore[index]
    text = json.dumps({"id": "a", "required": [{"name": "book", "args": args}]})

    (in_json,) = load_cases(write(tmp_path, "c.json", text))

    assert in_json == in_yaml


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("id: a\nrequired:\n  - name: x\n    args: 3\n", 4, "required[0].args is the number 3"),
        ("id: a\nwhy: [1\n", 3, "is no YAML"),
        ("id: a\nid: b\n", 2, "the key 'id' twice"),
        ("id: a\n1: b\n", 2, "a key that is no text"),
        ("id: a\nrequired: &r\n  - *r\n", 2, "contains itself"),
        ("id: a\nwhy: !!python/name:os.system x\n", 2, "has the tag"),
        ("id: a\nwhy: !!set {x}\n", 2, "has the tag"),
        ("id: a\nwhy: .nan\n", 2, "quote it if it is text"),
        ("id: a\n<<: {why: x}\n", 2, "merges with <<"),
        ("id: a\nwhy: \x01\n", 2, "is no YAML"),
    ],
)
def test_a_yaml_file_that_does_not_fit_is_refused(
    tmp_path: Path, text: str, line: int | None, reason: str
):
    pytest.importorskip("yaml")

    found = fault(write(tmp_path, "c.yml", text))

    assert found[1] == line
    assert reason in found[2]


def test_aliases_cannot_blow_up_a_small_file(tmp_path: Path):
    pytest.importorskip("yaml")
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    assert "once aliases are resolved" in fault(write(tmp_path, "c.yaml", "\n".join(lines)))[2]


def test_an_unknown_field_is_said_with_the_line_of_its_name(tmp_path: Path):
    pytest.importorskip("yaml")
    in_yaml = fault(write(tmp_path, "c.yaml", "id: a\nrequierd:\n  - name: x\n"))
    in_json = fault(write(tmp_path, "c.json", '{"id": "a",\n"requierd":\n[]}'))

    assert in_yaml[1:] == (2, "requierd is an unknown field; write required, or take it out")
    assert in_json[1:] == in_yaml[1:]


def test_yaml_without_its_extra_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_yaml(name: str) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return import_module(name)

    monkeypatch.setattr(_yaml, "import_module", no_yaml)

    with pytest.raises(MissingExtraError, match=r"agenttrace-otel\[yaml\]"):
        load_cases(write(tmp_path, "c.yaml", "id: a\n"))


@pytest.mark.parametrize(
    "bound", [{"range": {"min": 1, "max": 10**400}}, {"range": {"min": 10**400}}]
)
def test_a_bound_of_any_length_is_read_and_judges(tmp_path: Path, bound: dict[str, Any]):
    due = {"name": "t", "args": {}, "rules": {"/a": bound}}

    (case,) = load_cases(write(tmp_path, "c.json", case_text("a", required=[due])))

    (rule,) = case.required[0].rules.values()
    assert accepts(rule, 5) is (bound["range"]["min"] == 1)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"min_calls": {"t": 1}, "max_calls": {"t": 0}}, "at least 1 calls of 't'"),
        ({"min_calls": {"t": HUGE}, "max_calls": {"t": 0}}, "min_calls"),
        ({"outcome": {"/a": {"length": {"min": HUGE, "max": 1}}}}, "a min of 10**40 or more"),
        ({"outcome": {"/a": {"range": {"min": HUGE, "max": 1}}}}, "a min of 10**40 or more"),
    ],
)
def test_numbers_that_cannot_both_hold_are_said_whatever_their_length(
    tmp_path: Path, fields: dict[str, Any], said: str
):
    text = dump_json({"id": "a", **fields})

    reason = fault(write(tmp_path, "c.json", text))[2]

    assert said in reason
    assert "sys." not in reason


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('id: a\nintent: "x\\UFFFFFFFF"\n', 2, "an escape stands for no character"),
        ('id: a\nintent: "x\\U00110000"\n', 2, "an escape stands for no character"),
        ("id: a\nrequired:\n- name: t\n  args:\n    x: 1\n    y: 1e999\n", 6, "1e999"),
        ("id: a\nintent: x\x07\n", 2, "the character 0x7"),
        ("id: a\nintent: 'x\u2028y\x85z'\nfoo: 1\n", 3, "foo is an unknown field"),
        ("id: a\r\nintent: x\r\nfoo: 1\r\n", 3, "foo is an unknown field"),
        (f"id: a\nintent: {'[' * 2000}\n", 2, "nested too deeply to be read as YAML"),
    ],
)
def test_what_yaml_cannot_say_is_said_with_the_line_that_an_editor_shows(
    tmp_path: Path, text: str, line: int, reason: str
):
    pytest.importorskip("yaml")
    path = tmp_path / "c.yaml"
    path.write_bytes(text.encode())

    found = fault(path)

    assert found[1] == line
    assert reason in found[2]


def test_integers_and_lists_of_any_length_are_read_from_yaml(tmp_path: Path):
    pytest.importorskip("yaml")
    text = f"id: a\nrequired:\n- name: t\n  args: {{n: {'9' * 4400}, l: [1, 2]}}\n"

    (case,) = load_cases(write(tmp_path, "c.yaml", text))

    assert case.required[0].arguments["n"] == 10**4400 - 1


def test_only_values_that_aliases_repeat_are_bounded(tmp_path: Path, monkeypatch):
    pytest.importorskip("yaml")
    monkeypatch.setattr(_yaml, "_MOST_REPEATED", 10)
    long = f"id: a\nrequired:\n- name: t\n  args: {{l: {list(range(50))}}}\n"
    repeated = long + f"- name: t\n  args: {{k: &k [1, 2, 3], l: [{', '.join(['*k'] * 3)}]}}\n"

    assert len(load_cases(write(tmp_path, "c.yaml", long))) == 1
    assert "once aliases are resolved" in fault(write(tmp_path, "d.yaml", repeated))[2]
