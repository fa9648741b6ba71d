"""Recorded beside executed arguments of somebody else's tools: each change is found, and no other.

Where the source did not report what a tool was handed, that stays unknown.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agenttrace.contracts import parse_case
from agenttrace.domain import Boundary, Evidence, Kind, Missing, Verdict
from agenttrace.records import canonical
from agenttrace.scoring import score
from tests.builders import adapter_call, evidence, execution, model_call, places, said
from tests.cases.judged import shared_folder

FILE = shared_folder() / "data" / "api_bank" / "executed_calls.jsonl.gz"
needs_file = pytest.mark.skipif(not FILE.is_file(), reason=f"no recorded calls at {FILE}")
Calls = list[dict[str, Any]]
OWN_DIALOGUE: Calls = [
    {"name": "set_up", "recorded_args": {"n": "7"}, "executed_args": {"n": 7}},
    {"name": "set_up", "recorded_args": {"n": 7}, "executed_args": {"n": 7}},
    {"name": "invite", "recorded_args": {"who": "['A']"}, "executed_args": {"who": ["A"]}},
    {"name": "invite", "recorded_args": {"who": '["A"]'}, "executed_args": {"who": ["A"]}},
    {"name": "today", "recorded_args": {}, "executed_args": None},
]


def dialogues() -> Iterator[Calls]:
    """Our own calls, and those of every recorded dialogue that has any."""
    yield OWN_DIALOGUE
    if FILE.is_file():
        with gzip.open(FILE, "rt", encoding="utf-8") as lines:
            found = (json.loads(line)["calls"] for line in lines)
            yield from (calls for calls in found if calls)


def is_changed(call: dict[str, Any]) -> bool:
    ran = call["executed_args"]
    return ran is not None and canonical(ran) != canonical(call["recorded_args"])


def kind_of(before: Any, after: Any) -> str:
    """The stated kind of a text that became a value: its JSON text, or another type."""
    try:
        return "nested" if canonical(json.loads(before)) == canonical(after) else "type_coerced"
    except ValueError:
        return "type_coerced"


def expected(calls: Calls, boundary: str) -> list[tuple[str, str, str, str]]:
    """Where each change should be found: boundary, kind, path, call."""
    found = []
    for n, call in enumerate(calls):
        for name, before in call["recorded_args"].items():
            after = (call["executed_args"] or call["recorded_args"])[name]
            if is_changed(call) and canonical(before) != canonical(after):
                kind = "type_coerced" if type(after) is int else kind_of(before, after)
                found.append((boundary, kind, f"/{name}", f"c{n}"))
    return found


def run_of(calls: Calls, *, adapted: str | None) -> Evidence:
    """The dialogue's calls; the adapter shows `recorded` or `executed` arguments, or nothing."""
    ids = [f"c{n}" for n in range(len(calls))]
    pairs = list(zip(ids, calls, strict=True))
    ran = [execution(c["name"], c["executed_args"] or {}, call_id=i) for i, c in pairs]
    return evidence(
        [
            model_call(c["name"], c["recorded_args"], call_id=i, turn=n + 1)
            for n, (i, c) in enumerate(pairs)
        ],
        None
        if adapted is None
        else [
            adapter_call(c["name"], c[f"{adapted}_args"] or c["recorded_args"], call_id=i)
            for i, c in pairs
        ],
        [
            one if c["executed_args"] is not None else replace(one, arguments=None)
            for one, c in zip(ran, calls, strict=True)
        ],
    )


@needs_file
def test_the_recorded_calls_are_those_that_were_counted():
    calls = [call for dialogue in list(dialogues())[1:] for call in dialogue]

    assert (len(calls), sum(map(is_changed, calls))) == (296, 24)


@pytest.mark.parametrize(
    ("adapted", "boundary", "owner"),
    [
        (None, "executor", "executor"),
        ("recorded", "executor", "executor"),
        ("executed", "adapter", "adapter"),
    ],
)
def test_every_changed_argument_is_found_where_it_changed_and_no_other(
    adapted: str | None, boundary: str, owner: str
):
    for calls in dialogues():
        verdict = score(None, run_of(calls, adapted=adapted))
        right = expected(calls, boundary)

        assert sorted(places(verdict)) == sorted(right)
        assert said(verdict) == (("fail", boundary, owner) if right else ("pass", "none", "none"))
        if right and adapted is None:
            assert "adapter-not-recorded" in [finding.code for finding in verdict.findings]


def test_a_plan_of_the_recorded_calls_blames_no_model_for_them():
    for calls in dialogues():
        required = [{"name": c["name"], "args": c["recorded_args"]} for c in calls]
        plan = {"id": "c", "required": required, "compare": "model"}
        verdict = score(parse_case(plan, "here"), run_of(calls, adapted="executed"))

        assert sorted(places(verdict)) == sorted(expected(calls, "adapter"))
        assert verdict.figures is not None
        assert verdict.figures.counts.exact


def test_before_and_after_are_the_recorded_and_the_executed_value():
    for calls in dialogues():
        for found in score(None, run_of(calls, adapted="executed")).divergences:
            call = calls[int(found.call[1:])]
            name = found.path[1:]
            assert not isinstance(found.before, Missing)
            assert not isinstance(found.after, Missing)
            assert canonical(found.before) == canonical(call["recorded_args"][name])
            assert canonical(found.after) == canonical(call["executed_args"][name])


def declared(calls: Calls) -> Verdict:
    """The dialogue judged with each number declared as one, and other changes left out."""
    coerce: dict[str, dict[str, str]] = {}
    ignored: dict[str, list[str]] = {}
    for _, _, path, call_id in expected(calls, "adapter"):
        call = calls[int(call_id[1:])]
        if type(call["executed_args"][path[1:]]) is int:
            coerce.setdefault(call["name"], {})[path[1:]] = "integer"
        else:
            ignored.setdefault(call["name"], []).append(path[1:])
    document = {
        "id": "c",
        "required": None,
        "contract": {"coerce": coerce},
        "ignore_args": {tool: sorted(set(names)) for tool, names in ignored.items()},
    }
    return score(parse_case(document, "here"), run_of(calls, adapted="executed"))


def test_a_change_that_is_declared_is_none():
    for calls in dialogues():
        assert said(declared(calls)) == ("pass", "none", "none")
        assert declared(calls).divergences == ()


def test_text_in_the_spelling_of_another_language_is_no_nesting():
    found = {
        one.call: one.kind for one in score(None, run_of(OWN_DIALOGUE, adapted=None)).divergences
    }

    assert found == {"c0": Kind.TYPE_COERCED, "c2": Kind.TYPE_COERCED, "c3": Kind.NESTED}


def test_a_call_whose_arguments_the_source_does_not_report_leaves_its_plan_open():
    calls = OWN_DIALOGUE[-1:]
    plan = {"id": "c", "required": [{"name": "today", "args": {}}]}

    verdict = score(parse_case(plan, "here"), run_of(calls, adapted=None))

    assert said(verdict) == ("inconclusive", "instrumentation", "instrumentation")
    assert verdict.compare is Boundary.EXECUTOR
