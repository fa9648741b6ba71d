from __future__ import annotations

import json
import subprocess
import sys

import pytest

from agenttrace.cli import main
from agenttrace.report import EXPLANATIONS


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str]):
    def run(*words: str) -> tuple[int, str, str]:
        code = main(["explain", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_kind_is_explained_with_causes_what_to_look_at_and_how_to_declare_it(explain):
    code, out, err = explain("scaled")

    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "scaled (kind of change)"
    assert "usual causes: cents taken for whole units" in out
    assert "what to look at: the units" in out
    assert "to declare it: `unit` in the contract" in out
    assert out.splitlines()[-1] == "  page: docs/reference/kinds.md"


def test_a_broken_rule_is_explained_as_the_verdict_lists_it(explain):
    assert explain("Max-Calls:issue_refund")[1].startswith("max_calls (broken rule)\n")


def test_a_word_of_two_groups_is_explained_in_both(explain):
    out = explain("adapter")[1]

    assert "adapter (first divergence)" in out
    assert "adapter (owner)" in out


def test_without_a_code_every_code_is_listed_in_a_line(explain, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    code, out, _ = explain()
    lines = [line for line in out.splitlines() if line.startswith("  ")]

    assert code == 0
    assert [line.split()[0] for line in lines] == [one.code for one in EXPLANATIONS]
    assert max(map(len, out.splitlines())) <= 80


def test_an_unknown_code_is_an_error_that_names_the_nearest(explain):
    code, out, err = explain("type_coersed")

    assert (code, out) == (2, "")
    assert err.startswith("error [unknown-code]: 'type_coersed' is no code of a verdict")
    assert "Near to it: type_coerced" in err


def test_what_is_known_is_explained_beside_an_unknown_code(explain):
    code, out, err = explain("gone_with_the_wind", "scaled")

    assert code == 2
    assert out.startswith("scaled")
    assert "gone_with_the_wind" in err


def test_json_is_one_object_a_code(explain):
    rows = [json.loads(line) for line in explain("agent", "none", "--json")[1].splitlines()]

    assert [(row["code"], row["group"]) for row in rows] == [
        ("agent", "owner"),
        ("none", "first"),
        ("none", "owner"),
    ]
    assert {*rows[0]} == {"code", "group", "means", "causes", "look", "declare", "page"}
    assert len(explain("--json")[1].splitlines()) == len(EXPLANATIONS)


@pytest.mark.parametrize("words", [("explain", "scaled"), ("explain", "gone")])
def test_an_explanation_loads_no_tracer(words: tuple[str, ...]):
    program = (
        "import sys; from agenttrace.cli import main; main(sys.argv[1:]); "
        "sys.exit(any(name in sys.modules for name in ('opentelemetry', 'wrapt', 'pydantic')))"
    )

    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, check=False)

    assert done.returncode == 0
