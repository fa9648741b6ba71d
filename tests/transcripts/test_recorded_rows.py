"""310 recorded runs of agents with plans: every figure is that of an independent count."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import pytest

from agenttrace.cli import main
from tests.cases.judged import shared_folder

DATA = shared_folder() / "data" / "tau_bench"
LOGS = sorted(DATA.glob("*.jsonl.gz"))
pytestmark = pytest.mark.skipif(not LOGS, reason=f"no recorded chats at {DATA}")


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def reference():
    text = (DATA / "reference_scores.jsonl").read_text("utf-8")
    return {one["case_id"]: one for one in lines(text)}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What `agenttrace score` says of each row, by case."""
    rows = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    with redirect_stdout(io.StringIO()):
        code = main(
            ["score", "--format", "openai-chat", *map(str, LOGS), "--json", "-o", str(rows)]
        )
    assert code == 1
    return {one["case_id"]: one for one in lines(rows.read_text("ascii"))}


def test_each_row_is_judged_once(said, reference):
    assert len(said) == 310
    assert said.keys() == reference.keys()


def test_tp_fp_fn_f1_and_exact_are_those_of_the_reference_on_every_row(said, reference):
    def figures(one, f1):
        counts = {name: one[name] for name in ("tp", "fp", "fn", "exact")}
        # Ratios are given to four digits; the counts behind them are equal, so they are too.
        return {**counts, "f1": f1 if f1 is None else round(f1, 4)}

    different = {
        case: (figures(row["counts"], row["counts"]["f1"]), wanted)
        for case, row in said.items()
        if (wanted := figures(reference[case], reference[case]["f1"]))
        != figures(row["counts"], row["counts"]["f1"])
    }

    assert different == {}
    assert {row["compare"] for row in said.values()} == {"model"}


def test_rows_without_messages_are_inconclusive_and_no_others(said, reference):
    blank = {case for case, one in reference.items() if one["blank_observation"]}

    assert len(blank) == 19
    assert {case for case, row in said.items() if row["verdict"] == "inconclusive"} == blank
    for case in blank:
        row = said[case]
        assert (row["first_divergence"], row["owner"]) == ("instrumentation", "instrumentation")
        assert [cause["code"] for cause in row["causes"]] == ["blank"]


def test_no_other_boundary_than_the_models_has_figures_or_a_divergence(said):
    for row in said.values():
        assert (row["boundaries"]["adapter"], row["boundaries"]["executor"]) == (None, None)
        assert {one["boundary"] for one in row["divergences"]} <= {"model"}


def test_missing_and_extra_calls_are_those_of_the_reference(said, reference):
    def texts(calls):
        # A text that is no JSON stands in the reference under a key of its own.
        plain = [
            call
            if "args" in call
            else {"name": call["name"], "args": {"__unparsed__": call["args_raw"]}}
            for call in calls
        ]
        return sorted(json.dumps(call, sort_keys=True) for call in plain)

    for case, row in said.items():
        assert texts(row["missing"]) == texts(reference[case]["missing"]), case
        assert texts(row["extra"]) == texts(reference[case]["extra"]), case


def test_rows_with_the_providers_own_response_carry_its_ids(said):
    rows = [row for case, row in said.items() if case.startswith("tau2-")]

    assert len(rows) == 10
    for row in rows:
        assert row["response_ids"]
        assert all(one.startswith("chatcmpl-") for one in row["response_ids"])
