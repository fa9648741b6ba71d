"""What the model was told about each run, against what the run gave."""

from __future__ import annotations

import pytest

from agenttrace.domain import Conduct, ResultShown
from agenttrace.scoring import score
from agenttrace.scoring._results import is_same_result
from tests.builders import (
    adapter_call,
    evidence,
    execution,
    model_call,
    no_plan,
    places,
    said,
)

PASS = ("pass", "none", "none")


def told(shown, *, result="ok", error=None, runs=None, **fields):
    answer = ResultShown(shown=shown, call_id="c1", turn=1, position=0, **fields)
    return score(
        no_plan(),
        evidence(
            [model_call()],
            [adapter_call()],
            runs or [execution(result=result, error=error)],
            conduct=Conduct(results_shown=(answer,)),
        ),
    )


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        ({"n": 1}, {"n": 1}),
        ({"n": 1, "m": 2}, '{"m": 2,"n": 1}'),
        ({"n": 1}, "{'n': 1}"),
        (5, "5"),
        (True, "True"),
        (True, "true"),
        (None, "None"),
        (None, "null"),
        ("ok", "ok\n"),
        ("ok", '"ok"'),
        ("ok", [{"type": "text", "text": "ok"}]),
        ({"n": 1}, [{"type": "text", "text": '{"n": 1}'}]),
        ([1, 2], [1, 2]),
        ("a b", [{"type": "output_text", "text": "a "}, {"type": "text", "text": "b"}]),
        ('{"m": 2, "n": 1}', {"n": 1, "m": 2}),
        ('{"m": 2, "n": 1}', '{"n":1,"m":2}'),
        ("[1, 2]", [{"type": "text", "text": "[1,2]"}]),
        ("a long answer", "a long\u2026"),
        ("a long answer", "a long ..."),
        ("a long answer", "a lo... [truncated, 9 more]"),
        ("a long answer", [{"type": "text", "text": "a long (7 more characters)"}]),
        ("a long answer", "a [8 characters omitted] wer"),
        ({"n": 1, "m": [1, 2, 3]}, '{"n": 1, "m": [1,... <output truncated>'),
        ({"m": [1, 2, 3], "n": "a b"}, '{"n":"a b","m":[1,...'),
        ({"a": "caf\u00e9", "b": 12, "c": 1}, '{"c":1,"a":"caf\u00e9","b":1\u2026'),
        ('{"a": "caf\u00e9", "b": 12, "c": 1}', '{"c":1,"a":"caf\\u00e9","b":1 [cut off]'),
    ],
)
def test_a_known_rendering_of_a_result_is_the_result(returned, shown):
    assert is_same_result(returned, shown)


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        ({"n": 1}, {"n": 2}),
        (5, 5.0),
        ("ok", "done"),
        (None, ""),
        ({"n": 1}, [{"type": "image", "data": "…"}]),
        ([], {}),
        ('{"n": 1}', {"n": 2}),
        ('{"n": 1}', '{"n": 1.0}'),
        ("12", 12),
        ("a long answer", "a long"),
        ("a long answer", "another..."),
        ("a long answer", "..."),
        ("a long answer", "a long answer..."),
        ("a long answer", "a [8 characters omitted] word"),
        ("a long answer", "[truncated]"),
        ({"m": [1, 2, 3], "n": "a b"}, '{"n":"a c","m":[1,...'),
        ({"m": [1, 2, 3], "n": "a b"}, '{"n":"a b","m":[1, 1, 2...'),
        ({"m": [1, 2, 3], "n": "a b"}, "m is a b..."),
    ],
)
def test_anything_else_is_another_result(returned, shown):
    assert not is_same_result(returned, shown)


def test_a_result_that_cannot_be_written_as_text_is_compared_as_json():
    assert not is_same_result(10**5000, "1")


def test_another_result_is_the_executors_fault_and_the_adapters_to_mend():
    verdict = told("stock 9", result="stock 10")

    assert said(verdict) == ("fail", "executor", "adapter")
    assert places(verdict) == [("executor", "result_changed", "", "c1")]
    assert (verdict.divergences[0].before, verdict.divergences[0].after) == ("stock 10", "stock 9")


def test_the_result_of_another_call_is_swapped():
    shown = tuple(
        ResultShown(shown=text, call_id=None, turn=1, position=n) for n, text in enumerate("ba")
    )
    made = evidence(
        [model_call(args={"n": 1}), model_call(args={"n": 2}, call_id="c2")],
        [adapter_call(args={"n": 1}), adapter_call(args={"n": 2}, call_id="c2")],
        [execution(args={"n": 1}, result="a"), execution(args={"n": 2}, call_id="c2", result="b")],
        conduct=Conduct(results_shown=shown),
    )

    assert places(score(no_plan(), made)) == [
        ("executor", "result_swapped", "", "c1"),
        ("executor", "result_swapped", "", "c2"),
    ]


@pytest.mark.parametrize(
    ("shown", "hidden"),
    [
        ("done", True),
        ({"status": "ok", "error": None}, True),
        ('{"ok": true, "errors": []}', True),
        ("Finished without errors.", True),
        ("Error: disk full", False),
        ("the disk full condition: Disk Full", False),
        ({"error": "disk full"}, False),
        ('{"status": "failed"}', False),
        ({"ok": False}, False),
        ("It timed out.", False),
    ],
)
def test_a_failure_that_the_model_was_not_told_of_is_hidden(shown, hidden):
    verdict = told(shown, result=None, error="OSError: disk full")

    assert [place[1] for place in places(verdict)] == (["error_hidden"] if hidden else [])


def test_a_failed_runs_own_record_handed_back_hides_nothing():
    assert said(told(None, result=None, error="OSError: disk full")) == PASS
    assert told("null", result=None, error="OSError: disk full").first == "executor"


def test_an_answer_marked_as_error_tells_of_the_failure():
    assert said(told("see log", result=None, error="OSError: disk full", is_error=True)) == PASS


def test_a_success_told_as_an_error_is_hidden_too():
    assert told("no such order", is_error=True).divergences[0].kind == "error_hidden"


def test_what_the_tool_is_known_to_have_returned_counts_before_the_record():
    assert said(told("a", result="b", returned="a", returned_observed=True)) == PASS
    assert told("b", result="b", returned="a", returned_observed=True).first == "executor"


def test_the_result_of_a_later_run_of_the_call_is_no_hidden_error():
    verdict = told("ok", runs=[execution(error="busy", result=None), execution()])

    assert [place[1] for place in places(verdict)] == ["duplicated"]


def test_a_result_that_was_not_recorded_is_compared_with_nothing():
    assert said(told("anything", runs=[execution(result_observed=False)])) == PASS


def test_an_answer_to_no_recorded_call_says_nothing():
    answer = ResultShown(shown="x", call_id="c9", turn=4, position=0)
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution()],
        conduct=Conduct(results_shown=(answer,)),
    )

    assert said(score(no_plan(), made)) == PASS
