from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agenttrace.cli import main
from agenttrace.contracts import check_cases, load_cases
from agenttrace.errors import InvalidCaseError
from agenttrace.scoring import normalizer, normalizer_names


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["check-cases", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def rows(check):
    """The faults of one file with this text."""

    def run(name: str, text: str, *options: str) -> list[dict[str, Any]]:
        Path(name).write_text(text, "utf-8", errors="surrogatepass")
        return [json.loads(line) for line in check(name, "--json", *options)[1].splitlines()]

    return run


def said(row: dict[str, Any]) -> tuple[int, str | None, str]:
    return row["line"], row["field"], row["severity"]


def one_case(**fields: Any) -> str:
    return json.dumps({"id": "a", **fields})


def pay(**fields: Any) -> dict[str, Any]:
    return {"name": "pay", "args": {}, **fields}


def test_cases_without_a_fault_give_code_0_and_counts(check):
    Path("a.json").write_text(one_case(required=[pay()]))
    Path("b.jsonl").write_text('{"id": "b"}\n{"id": "c"}\n')

    code, out, err = check(".")

    assert (code, err) == (0, "")
    assert out == (
        "2 files, 3 cases: 0 faults, 0 warnings · "
        f"{len(normalizer_names())} normalizers run over their pairs\n"
    )


YAML = """\
id: refund
requierd:
  - name: gone
required:
  - name: pay
    args: {cents: 1}
    rules:
      /cents: {ignore: true}
      /x:
        range: {min: 3, max: 1}
      /y: {normalizer: soundex, value: 1}
  - name: pay
    args: 3
max_calls: {pay: 1}
min_calls:
  pay: 2
why: .nan
---
id: second
ordered: [pay]
"""


def test_every_fault_of_a_file_is_said_with_its_true_line(rows):
    pytest.importorskip("yaml")

    found = rows("c.yaml", YAML)

    assert [said(row) for row in found] == [
        (2, "requierd", "fault"),
        (8, "required[0].rules['/cents']", "fault"),
        (10, "required[0].rules['/x'].range.min", "fault"),
        (11, "required[0].rules['/y'].normalizer", "fault"),
        (13, "required[1].args", "fault"),
        (16, "min_calls.pay", "fault"),
        (17, None, "fault"),
        (20, "ordered", "fault"),
    ]
    assert [row["case_id"] for row in found] == ["refund"] * 7 + ["second"]


def test_a_fault_says_what_was_found_and_what_to_write_instead(rows):
    (kind, unknown) = rows("c.json", one_case(requierd=[], required=3))

    assert (unknown["found"], unknown["instead"]) == (
        "is an unknown field",
        "write required, or take it out",
    )
    assert (kind["found"], kind["instead"]) == ("is the number 3, not a list", "write a list")


def test_a_person_reads_place_case_field_and_remedy_on_one_line(check):
    Path("c.json").write_text('{"id": "a",\n"requierd": []}')

    code, out, _ = check("c.json")

    assert code == 1
    assert out.splitlines()[0] == (
        "c.json:2: fault: case a: requierd is an unknown field; write required, or take it out"
    )
    assert out.splitlines()[1].startswith("1 file, 1 case: 1 fault, 0 warnings")


def test_faults_of_all_files_are_said_in_one_run(check):
    Path("a.json").write_text(one_case(x=1))
    Path("b.json").write_text("{")
    Path("c.jsonl").write_text('{"id": "c"}\nnot json\n{"id": "d", "x": 1}\n')

    _, out, _ = check(".")

    places = [line.split(": ")[0] for line in out.splitlines()]
    assert places[:-1] == ["a.json:1", "b.json:1", "c.jsonl:2", "c.jsonl:3"]


def test_a_line_that_is_no_json_is_laid_to_no_case_of_another_line(rows):
    found = rows("c.jsonl", '{"id": "c"}\nnot json\n{"id": "d"}\n')

    assert [(row["line"], row["case_id"]) for row in found] == [(2, None)]


def test_an_id_that_was_given_in_another_file_names_both_places(check):
    Path("a.json").write_text('{\n"id": "x"}')
    Path("b").mkdir()
    Path("b/c.json").write_text('[\n{"id": "y"},\n{"id": "x"}]')
    found = check_cases("a.json", "b").faults

    assert [(one.file, one.line, one.found) for one in found] == [
        ("b/c.json", 3, "was already given at a.json:2")
    ]


def test_a_key_that_stands_twice_is_a_fault_and_the_case_is_checked_all_the_same(rows):
    found = rows("c.json", '{"id": "a",\n"why": "x",\n"why": "y",\n"x": 1}')

    assert [said(row) for row in found] == [(3, None, "fault"), (4, "x", "fault")]
    assert found[0]["instead"] == "keep one of them"
    assert found[0]["case_id"] == "a"


REFUSED = [
    {"required": [pay(args={"a": 1}, rules={"/a": {"equals": 1}})]},
    {"required": [pay(rules={"/a": {"one_of": []}})]},
    {"required": [pay(rules={"/a": {"range": {"min": 2, "max": 1}}})]},
    {"required": [pay(rules={"/a": {"regex": "(a+)+b"}})]},
    {"required": [pay(rules={"/a": {"normalizer": "gone", "value": "x"}})]},
    {"max_calls": {"pay": 1}, "min_calls": {"pay": 2}},
    {"ordered": ["a", "b", "a"]},
    {"contract": {"normalize": {"pay": {"a": "gone"}}}},
]


@pytest.mark.parametrize("fields", REFUSED, ids=str)
def test_what_loading_refuses_is_a_fault(check, fields: dict[str, Any]):
    Path("c.json").write_text(one_case(**fields))

    code, out, _ = check("c.json")

    assert code == 1
    assert out.count("fault:") == 1


def before(tool: str, other: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"{tool}-{other}", "before": {"name": tool}, "after": {"name": other}, **fields}


def step(source: str, name: str, target: str, **on: Any) -> dict[str, Any]:
    return {"from": source, "on": {"name": name, **on}, "to": target}


STEPS: dict[str, Any] = {
    "id": "s",
    "start": "new",
    "steps": [step("new", "open", "ready"), step("ready", "pay", "paid")],
}

AT = "required[0].rules['/a']"


def with_rule(rule: dict[str, Any], **declared: Any) -> dict[str, Any]:
    """A case of one rule, beside what its contract declares of the same argument."""
    contract = {field: {"pay": {"a": value}} for field, value in declared.items()}
    return {"required": [pay(rules={"/a": rule})], "contract": contract}


DOUBTFUL = [
    ({"required": [pay()], "forbidden": [{"name": "pay"}]}, "required[0]"),
    ({"required": [pay()], "forbidden": [{"name": "pay", "args": {}}]}, "required[0]"),
    ({"required": [pay(), pay()], "max_calls": {"pay": 1}}, "required"),
    (
        {
            "plans": [{"id": "p", "required": [pay()]}],
            "plan_by": "any_of",
            "forbidden": [{"name": "pay"}],
        },
        "plans[0].required[0]",
    ),
    ({"ordered": ["a", ["b", "c"]], "sequence": [before("c", "a")]}, "sequence[0]"),
    ({"states": [STEPS], "ordered": ["pay", "open"]}, "states[0]"),
    ({"states": [STEPS], "sequence": [before("pay", "open")]}, "states[0]"),
    (
        {"states": [{**STEPS, "steps": [*STEPS["steps"], step("far", "pay", "paid")]}]},
        "states[0].steps[2]",
    ),
    (
        {
            "states": [
                {
                    **STEPS,
                    "steps": [
                        *STEPS["steps"],
                        step("new", "open", "paid", where={"/a": {"equals": 1}}),
                    ],
                }
            ]
        },
        "states[0].steps[2]",
    ),
    ({"sequence": [before("a", "b"), before("b", "a")]}, "sequence[1]"),
    ({"sequence": [before("a", "a")]}, "sequence[0]"),
    ({"ordered": ["a", "b"], "sequence": [before("b", "a")]}, "sequence[0]"),
    (with_rule({"schema": {"type": "string"}}, coerce="integer"), f"{AT}.schema"),
    (with_rule({"default": 1}, defaults=2), f"{AT}.default"),
    (with_rule({"schema": {"type": "string", "const": 1}}), f"{AT}.schema.const"),
    (with_rule({"schema": {"maxLength": 1, "enum": ["ab", "cd"]}}), f"{AT}.schema.enum"),
    (
        with_rule({"schema": {"required": ["b"], "additionalProperties": False}}),
        f"{AT}.schema.required[0]",
    ),
    (
        {"required": [pay(rules={"/a": {"default": 1}}), pay(rules={"/a": {"default": 1.0}})]},
        "required[1].rules['/a'].default",
    ),
    ({"outcome": {"/a": {"equals": {"b": 1}}, "/a/b": {"equals": 2}}}, "outcome['/a/b']"),
    ({"outcome": {"/a": {"one_of": [[1], [2]]}, "/a/0": {"range": {"min": 3}}}}, "outcome['/a/0']"),
    (
        {
            "required": [pay(args={"a": 1})],
            "asserted_values": [{"tool": "pay", "path": "/a", "value": 2}],
        },
        "asserted_values[0]",
    ),
    (
        {"required": [pay(args={"k": 1}), pay(args={"k": 1})], "once_per": {"pay": "/k"}},
        "required[1]",
    ),
    ({"min_calls": {"pay": 1}, "forbidden": [{"name": "pay"}]}, "min_calls.pay"),
    (
        {
            "required": [pay(rules={"/cents": {"ignore": True}})],
            "contract": {"drop_unknown": {"pay": ["amount"]}},
        },
        "required[0].rules['/cents']",
    ),
    (
        {
            "required": [pay(args={"cents": 1})],
            "contract": {"drop_unknown": {"pay": ["amount"]}},
        },
        "required[0].args.cents",
    ),
]


@pytest.mark.parametrize(("fields", "field"), DOUBTFUL, ids=str)
def test_what_no_run_can_meet_is_a_warning(check, fields: dict[str, Any], field: str):
    Path("c.json").write_text(one_case(**fields))

    code, out, _ = check("c.json", "--json")

    assert code == 0
    assert [said(json.loads(line)) for line in out.splitlines()] == [(1, field, "warning")]


STAGE = {"where": {"/stage": {"equals": 1}}}

SOUND = [
    {"required": [pay()], "forbidden": [{"name": "pay", "args": {"cents": 1}}]},
    {"required": [pay(), pay()], "max_calls": {"pay": 2}},
    with_rule({"schema": {"type": ["string", "integer"], "const": 1}}, coerce="number"),
    with_rule({"default": 2}, defaults=2),
    with_rule({"schema": {"enum": ["ab", 1], "maxLength": 1}}),
    {**with_rule({"default": 1}, defaults=2), "compare": "model"},
    {"outcome": {"/a": {"equals": {"b": 1}}, "/a/b": {"range": {"min": 1}}}},
    {
        "required": [pay(rules={"/a": {"regex": "[0-9]+"}})],
        "asserted_values": [{"tool": "pay", "path": "/a", "value": "2"}],
    },
    {"asserted_values": [{"tool": "pay", "path": "/a", "value": "2"}]},
    {"required": [pay(args={"k": 1}), pay(args={"k": "1"}), pay()], "once_per": {"pay": "/k"}},
    {"min_calls": {"pay": 1}, "forbidden": [{"name": "pay", "args": {}}]},
    {"ordered": ["a", "b", "c"], "sequence": [before("a", "c")]},
    {"ordered": ["a", ["b", "c"]], "sequence": [before("c", "b")]},
    {"states": [STEPS], "ordered": ["open", "pay"]},
    {"states": [{**STEPS, "steps": [step("new", "pay", "paid", where={"/a": {"equals": 1}}),
        *STEPS["steps"], step("new", "pay", "ready")]}], "ordered": ["pay", "open"]},
    {"sequence": [{"id": "s", "before": {"name": "a", **STAGE}, "after": {"name": "a",
        "where": {"/stage": {"equals": 2}}}}]},
    {"required": [pay(args={"amount": 1})], "contract": {"drop_unknown": {"pay": ["amount"]}}},
    {
        "required": [pay(args={"cents": 1})],
        "compare": "model",
        "contract": {"drop_unknown": {"pay": ["amount"]}},
    },
]  # fmt: skip


@pytest.mark.parametrize("fields", SOUND, ids=str)
def test_what_a_run_can_meet_is_no_warning(check, fields: dict[str, Any]):
    Path("c.json").write_text(one_case(**fields))

    assert check("c.json", "--json")[1] == ""


def test_a_required_call_without_why_is_a_warning_under_strict_alone(rows):
    text = one_case(required=[pay(), pay(args={"a": 1}, why="it is due")])

    assert rows("c.json", text) == []
    assert [said(row) for row in rows("c.json", text, "--strict")] == [
        (1, "required[0]", "warning")
    ]


def test_a_warning_is_found_beside_a_fault(rows):
    text = one_case(x=1, required=[pay()], forbidden=[{"name": "pay"}])

    assert {row["severity"] for row in rows("c.json", text)} == {"fault", "warning"}


def test_a_path_that_cannot_be_read_gives_code_2_and_the_others_are_checked(check):
    Path("a.json").write_text(one_case(x=1))
    Path("notes.txt").write_text("no case")

    code, out, err = check("gone.json", "notes.txt", "a.json")

    assert code == 2
    assert "a.json:1: fault" in out
    assert "1 fault, 0 warnings, 2 paths not read" in out
    assert [line.split("]")[0] for line in err.splitlines()] == [
        "error [unreadable-file",
        "error [invalid-case",
    ]


def test_a_folder_without_a_case_gives_code_2(check):
    code, _, err = check(".")

    assert code == 2
    assert "there is no case here" in err


def test_a_normalizer_that_leaves_its_pairs_is_a_fault(check, monkeypatch):
    Path("a.json").write_text(one_case())
    broken = replace(normalizer("trim"), function=lambda _: "")
    monkeypatch.setitem(sys.modules["agenttrace.scoring._normalizers"]._known, "trim", broken)

    code, out, _ = check("a.json")

    assert code == 1
    assert out.startswith("normalizer trim: fault: does not keep 'a b' and 'ab' apart; ")


def test_bad_input_is_a_fault_in_bounded_time(rows):
    deep = "[" * 10_000 + "]" * 10_000
    digits = "9" * 4_301
    text = (
        f'{{"id": "a", "required": [\n{{"name": "x", "args": {{"v": {deep}, "n": {digits}}},\n'
        f'"z": {deep}}},\n{{"name": {digits}, "args": {{}}}},\n'
        f'{{"name": "y", "args": {{"v": "{"x" * 1_000_000}"}}}}\n], "why": "\\ud800"}}'
    )

    assert [said(row) for row in rows("c.json", text)] == [
        (3, "required[0].z", "fault"),
        (4, "required[1].name", "fault"),
    ]


def test_a_thousand_faults_of_one_file_are_found_in_one_pass_over_it(rows, monkeypatch):
    module = sys.modules["agenttrace.contracts._documents"]
    passes: list[int] = []
    original = module.places

    def counted(text: str, wanted: Any) -> Any:
        passes.append(len(wanted))
        return original(text, wanted)

    monkeypatch.setattr(module, "places", counted)
    text = json.dumps([{"id": f"c{n}", "x": 1} for n in range(1_000)], indent=0)

    assert len(rows("c.json", text)) == 1_000
    assert len(passes) == 1


@pytest.mark.parametrize("fields", [*REFUSED, *(fields for fields, _ in DOUBTFUL), *SOUND], ids=str)
def test_a_file_has_a_fault_exactly_where_loading_refuses_it(tmp_path: Path, fields):
    path = tmp_path / "c.json"
    path.write_text(one_case(**fields))
    try:
        load_cases(path)
        loads = True
    except InvalidCaseError:
        loads = False

    assert loads == all(one.is_warning for one in check_cases(path).faults)


def test_checking_cases_loads_no_tracer(tmp_path: Path):
    path = tmp_path / "c.json"
    path.write_text(one_case(x=1))
    program = (
        "import sys; from agenttrace.cli import main; main(sys.argv[1:]); "
        "sys.exit(any(name in sys.modules for name in ('opentelemetry', 'wrapt')))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, "check-cases", str(path)], capture_output=True, check=False
    )

    assert done.returncode == 0


def test_a_field_far_down_is_named_by_the_ends_of_its_way(rows):
    depth = 500
    schema = '{"items":' * depth + '{"typ": 1}' + "}" * depth
    text = f'{{"id": "a", "outcome": {{"/a": {{"schema": {schema}}}}}}}'

    (row,) = rows("c.json", text)

    assert len(row["field"]) < 400
    assert row["field"].startswith("outcome['/a'].schema.items")
    assert row["field"].endswith("….items.items.items.items.items.items.items.typ")


def test_the_place_for_editors_is_a_text(rows):
    (row,) = rows("c.json", '{"id": "a",\n"$schema": ["x"]}')

    assert (row["line"], row["found"]) == (2, "$schema is a list, not the place of a schema")


def test_an_empty_name_is_to_be_filled_in(rows):
    (row,) = rows("c.json", one_case(leak=[{"tool": "", "path": ""}]))

    assert row["instead"] == "fill it in, or take it out"


def test_a_pattern_that_leaves_case_aside_is_told_how_else(rows):
    (row,) = rows("c.json", one_case(outcome={"/a": {"regex": "(?i)yes"}}))

    assert "write [aA], or the rule normalizer" in row["found"]
