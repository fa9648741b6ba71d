"""The published JSON Schema of case files takes what loads, and refuses what an editor can see."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import agenttrace
from agenttrace import load_cases
from agenttrace.contracts import case_file_schema, check_cases
from agenttrace.errors import InvalidCaseError
from agenttrace.scoring import fits_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "case.schema.json"
SHARED = Path(os.environ.get("AGENTTRACE_SHARED") or Path(__file__).parents[3] / "shared")
_NOT_ASKED = ("propertyNames", "dependentRequired", "$schema")

WHOLE: dict[str, Any] = {
    "id": "refund",
    "schema_version": 1,
    "required": [
        {
            "name": "refund",
            "args": {"order_id": "A-104"},
            "rules": {
                "/a": {"one_of": ["x"], "optional": True},
                "/b": {"normalizer": "trim", "value": "y"},
                "/c": {"schema": {"type": "string"}},
                "/d": {"range": {"min": 1}},
                "/e": {"ignore": True},
            },
        }
    ],
    "ordered": ["look", ["a", "b"]],
    "states": [
        {
            "id": "s",
            "start": "idle",
            "steps": [{"from": "idle", "on": {"name": "look"}, "to": "seen"}],
        }
    ],
    "outcome": {"/status": {"equals": None}},
    "contract": {"unit": {"refund": {"amount": "x100"}}, "schemas": {"refund": {}}},
}


def asked(value: Any) -> Any:
    """The schema in the keywords of a `schema` rule; the rest adds to what is refused."""
    if isinstance(value, list):
        return [asked(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: asked(one) for key, one in value.items() if key not in _NOT_ASKED}


SCHEMA = asked(case_file_schema())


def test_the_published_schema_is_the_one_that_is_printed():
    assert json.loads(PUBLISHED.read_text("utf-8")) == case_file_schema()


@pytest.mark.parametrize("document", [WHOLE, [WHOLE], {"cases": [WHOLE]}, {"id": "c"}])
def test_what_loads_fits(document, tmp_path):
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(document), "utf-8")

    assert load_cases(file)
    assert fits_schema(SCHEMA, document) is True


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"requierd": []},
        {"schema_version": 2},
        {"required": [{"name": "refund"}]},
        {"required": [{"name": "refund", "args": [], "rules": {}}]},
        {"outcome": {"/a": {}}},
        {"outcome": {"/a": {"equals": 1, "one_of": [1]}}},
        {"outcome": {"/a": {"normalizer": "nope", "value": 1}}},
        {"outcome": {"/a": {"ignore": False}}},
        {"max_calls": {"refund": -1}},
        {"compare": "tool"},
        {"contract": {"coerce": {"refund": {"n": "date"}}}},
        {"states": [{"id": "s", "start": "a", "steps": []}]},
    ],
)
def test_what_an_editor_can_see_is_refused(change):
    assert fits_schema(SCHEMA, {**WHOLE, **change}) is False


def test_each_field_has_a_text_that_editors_show():
    definitions = case_file_schema()["$defs"]
    bare = [
        f"{name}.{key}"
        for name, one in definitions.items()
        for key, field in one["properties"].items()
        if not field.get("description")
    ]

    assert bare == []


def test_a_file_may_say_where_its_schema_is(tmp_path):
    file = tmp_path / "cases.json"
    for document in ({**WHOLE}, {"cases": [WHOLE]}):
        file.write_text(json.dumps({"$schema": "./case.schema.json", **document}), "utf-8")
        (case,) = load_cases(file)
        assert case.case_id == "refund"
        assert check_cases(file).faults == []
    file.write_text(json.dumps({"$schema": 1, **WHOLE}), "utf-8")
    with pytest.raises(InvalidCaseError, match="schema"):
        load_cases(file)


@pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="no field cases beside the project")
def test_every_field_case_fits():
    files = sorted((SHARED / "cases").glob("*.json"))
    misfits = [
        file.name
        for file in files
        if fits_schema(SCHEMA, json.loads(file.read_text("utf-8"))["case"]) is not True
    ]

    assert files
    assert misfits == []


def test_the_command_prints_it(capsys):
    from agenttrace.cli import main

    assert main(["case-schema"]) == 0
    assert json.loads(capsys.readouterr().out) == case_file_schema()
    assert agenttrace.__version__
