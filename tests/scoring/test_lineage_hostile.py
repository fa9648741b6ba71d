"""Lineage of values and conversations that nobody would write by hand: bounded, and never wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.domain import (
    Conduct,
    Evidence,
    JsonValue,
    Lineage,
    Message,
    Origin,
    Outcome,
    ResultShown,
    Unseen,
)
from agenttrace.errors import UnscorableError
from agenttrace.records import at_pointer, parse_json
from agenttrace.scoring import score, trace_value
from tests.builders import adapter_call, case, due, evidence, execution, model_call
from tests.support.steps import grows_linearly

FILLER = st.text(alphabet="qwz .,-_@\u00e9\u4e2d\n", max_size=30)
VALUES = st.one_of(
    st.integers(min_value=10).map(lambda n: n * 7 + 3),
    st.integers(max_value=-10),
    st.from_regex(r"[A-Z][0-9]{2,6}(-[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"#[A-Z][0-9]{3}", fullmatch=True),
)
ROLES = st.sampled_from(["system", "user", "assistant", "tool"])


def said(role: str, content: JsonValue, turn: int = 1, **more: Any) -> Message:
    return Message(role=role, content=content, turn=turn, **more)


def conversation(messages: list[Message], value: JsonValue) -> Evidence:
    """A look-up that the tool's messages answer, and a call with the value after everything."""
    args = {"value": value}
    return evidence(
        [model_call("find", {}, call_id="f1", turn=1), model_call("use", args, turn=900)],
        [adapter_call("find", {}, call_id="f1"), adapter_call("use", args)],
        [execution("find", {}, call_id="f1", result="nothing"), execution("use", args)],
        outcome=Outcome(messages=tuple(messages)),
    )


def traced(messages: list[Message], value: JsonValue) -> Lineage:
    return trace_value(conversation(messages, value), value, "c1")


def where(origin: Origin | None) -> tuple[str, int | None, str] | None:
    return None if origin is None else (origin.place.value, origin.turn, origin.path)


@st.composite
def nested(draw: st.DrawFn, value: JsonValue) -> JsonValue:
    """A result with the value somewhere in it, also inside the JSON text of a member."""
    made: Any = value
    for _ in range(draw(st.integers(0, 4))):
        filler: Any = draw(FILLER)
        shape = draw(st.sampled_from(["object", "list", "text"]))
        if shape == "object":
            made = {draw(FILLER): filler, "the/~key": made}
        elif shape == "list":
            made = [filler, made, filler]
        elif not isinstance(made, str | int):
            made = json.dumps(made)
    return made if isinstance(made, dict | list) else {"it": made}


@st.composite
def planted(draw: st.DrawFn) -> tuple[list[Message], JsonValue, int]:
    """A conversation, the value that was put into one of its messages, and which one that is."""
    value = draw(VALUES)
    messages: list[Message] = []
    for turn in range(1, draw(st.integers(2, 6))):
        role = draw(ROLES)
        more = {"call_id": "f1"} if role == "tool" else {}
        messages.append(said(role, draw(FILLER), turn, **more))
    at = draw(st.integers(0, len(messages) - 1))
    one = messages[at]
    content: JsonValue = f"{one.content} {value} {draw(FILLER)}"
    if one.role == "tool" and draw(st.booleans()):
        content = draw(nested(value))
    messages[at] = said(one.role, content, one.turn or 1, call_id=one.call_id)
    return messages, value, at


@settings(max_examples=60)
@given(planted())
def test_a_planted_value_is_found_where_it_was_planted(given: Any):
    messages, value, at = given

    origin = traced(messages, value).observed

    assert origin is not None
    place = messages[at].role.replace("tool", "tool_result")
    assert (origin.place.value, origin.rendering) == (place, None)
    assert origin.turn == (1 if place == "tool_result" else messages[at].turn)


@given(VALUES.flatmap(lambda value: st.tuples(st.just(value), nested(value))))
def test_the_path_leads_to_the_value(given: Any):
    value, result = given

    origin = traced([said("tool", result, call_id="f1")], value).observed

    assert origin is not None
    reached: Any = result
    for part in origin.path.split("/")[1:]:
        reached = parse_json(reached).value if isinstance(reached, str) else reached
        reached = at_pointer(reached, f"/{part}", None)
    assert (type(reached), reached) == (type(value), value)


@given(VALUES, st.lists(st.tuples(ROLES, FILLER), max_size=6))
def test_a_value_that_was_planted_nowhere_is_the_models_own(value: Any, given: Any):
    messages = [said("user", "go"), *(said(role, text, call_id="f1") for role, text in given)]

    lineage = traced(messages, value)

    assert where(lineage.observed) == ("arguments", 900, "")
    assert (lineage.observed_earlier, lineage.unseen) == (None, ())


@given(VALUES, st.sampled_from(["{}7", "7{}", "x{}", "{}_", "{}.5", "{}-b", "{},000"]))
def test_inside_a_longer_token_a_value_is_not_found(value: Any, shape: str):
    if shape.startswith("{}") and str(value).startswith("-"):
        value = -value
    if shape[0] != "{" and not str(value)[0].isalnum():
        value = str(value).strip("#-") + "0"
    if shape in ("{},000", "{}.5") and isinstance(value, str):
        value = 310

    found = traced([said("user", f"it is {shape.format(value)} now")], value).observed

    assert where(found) == ("arguments", 900, "")


@pytest.mark.parametrize(
    "value",
    [
        "\ud800\udfffK9",
        "K9\ud800",
        "K9 \u202e\x00\x1b[2J",
        10**5000,
        -(10**300) - 1,
        1.5e300,
        "K" * 200_000,
        "NaN",
        "Infinity K9",
        "[masked:",
        "[digest:",
        "{ not json",
        "\u0660\u0661\u0662",
        "1e400",
        "9" * 5000,
    ],
    ids=lambda value: repr(value)[:20] if isinstance(value, str) else "number",
)
def test_odd_values_are_found_and_break_nothing(value: Any):
    text = value if isinstance(value, str) else json_text(value)

    found = traced([said("user", "x"), said("user", f"it is {text} now", 2)], value)
    absent = traced([said("user", "x")], value)

    assert where(found.observed) == ("user", 2, "")
    assert where(absent.observed) == ("arguments", 900, "")


def json_text(value: int | float) -> str:
    return repr(value) if isinstance(value, float) else decimal(value)


def decimal(value: int) -> str:
    sign, rest, parts = "-" if value < 0 else "", abs(value), []
    while rest:
        rest, part = divmod(rest, 10**1000)
        parts.append(f"{part:01000}" if rest else str(part))
    return sign + "".join(reversed(parts))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_has_not_has_no_place(value: float):
    assert trace_value(conversation([said("user", "nan inf")], "x1"), value).too_common


def test_json_of_any_depth_is_searched():
    deep = "[" * 50_000 + '"K-99"' + "]" * 50_000
    value: Any = "K-99"
    for _ in range(50_000):
        value = [value]

    as_text = traced([said("tool", deep, call_id="f1")], "K-99").observed
    as_value = traced([said("tool", value, call_id="f1")], "K-99").observed

    assert as_text == as_value
    assert as_text is not None
    assert as_text.path == "/0" * 50_000


def test_a_deep_difference_is_narrowed_to_its_leaf():
    def at(leaf: Any) -> Any:
        for _ in range(2_000):
            leaf = {"a": leaf}
        return leaf

    run = conversation([said("user", "K-99 then K-98")], at("K-99"))
    lineage = score(case(due("find", {}), due("use", {"value": at("K-98")})), run).lineage

    assert lineage is not None
    assert (lineage.value, lineage.expected_value) == ("K-99", "K-98")
    assert where(lineage.observed) == ("user", 1, "")


def test_a_hundred_thousand_messages_are_searched():
    messages = [said("user", f"message {n} of many") for n in range(100_000)]

    lineage = traced([*messages, said("user", "K-99", 2)], "K-99")

    assert where(lineage.observed) == ("user", 2, "")
    assert lineage.unseen == ()


def test_a_value_that_stands_a_million_times_is_found_at_once():
    lineage = traced([said("user", "8900 " * 1_000_000)], 8900)

    assert where(lineage.observed) == ("user", 1, "")


@pytest.mark.parametrize(
    ("value", "text"),
    [(310, "310" * 1_000_000), ("a" * 3000, "a" * 1_000_000), ("ab", "xab" * 10**6)],
)
def test_a_million_places_that_only_look_like_the_value_end_the_search_with_a_note(
    value: Any, text: str
):
    lineage = traced([said("user", text)], value)

    assert lineage.observed is None
    assert Unseen.REST in lineage.unseen
    assert lineage.note is not None
    assert "only looked like" in lineage.note


def test_calls_that_carried_the_value_are_listed_up_to_a_number():
    run = evidence(
        [model_call("use", {"v": "K-99"}, call_id=f"c{n}", turn=n) for n in range(1, 500)],
        None,
        None,
        outcome=Outcome(messages=(said("user", "K-99"),)),
    )

    lineage = trace_value(run, "K-99", "c7")

    assert lineage.carried_by == tuple(f"c{n}" for n in range(1, 51))
    assert lineage.note == "449 more calls carried the value"


def test_text_that_is_nearly_json_is_searched_as_text():
    for text in ('{"v": K-99', "[K-99", '{"v": NaN, "w": "K-99"}', "[INFO] K-99"):
        assert where(traced([said("tool", text, call_id="f1")], "K-99").observed) == (
            "tool_result",
            1,
            "",
        )


@pytest.mark.parametrize("odd", [float("nan"), {1, 2}, b"x", object()])
def test_evidence_with_a_value_that_is_no_json_is_refused(odd: Any):
    run = evidence([model_call("use", {})], None, [execution("use", {"v": odd})])

    with pytest.raises(UnscorableError):
        trace_value(run, 310, "c1")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-310, "order A-310"),
        (-310, "from 200-310"),
        (-11, "on 2024-05-11"),
        ("-310", "order A-310"),
        ("@john", "write to bob@john"),
        ("A-", "order A-104"),
        (310, "a change of \u2212310"),
        (310, "pay 1\u00a0310"),
        (310, "pay 310\u202f000"),
        (310, "pay 1'310"),
        (104, "order A\u2011104"),
    ],
)
def test_a_part_of_a_longer_word_or_number_is_no_place(value: JsonValue, text: str):
    lineage = traced([said("user", text)], value)

    assert where(lineage.observed) == ("arguments", 900, "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-310, "book -310 there"),
        (-310, "x=-310"),
        ("@john", "tell @john"),
        (310, "the ids '310','320'"),
        (2024, "May\u00a011\u00a02024"),
        (11, "May\u00a011\u00a02024"),
    ],
)
def test_a_sign_or_a_blank_beside_a_value_leaves_it_whole(value: JsonValue, text: str):
    assert where(traced([said("user", text)], value).observed) == ("user", 1, "")


@pytest.mark.parametrize("text", ['{"v": 310, "v": 5}', '{"w": {"v": 5, "v": 310}}'])
def test_a_repeated_key_hides_none_of_its_values(text: str):
    assert where(traced([said("tool", text, call_id="f1")], 310).observed) == ("tool_result", 1, "")


def one_id(count: int) -> Evidence:
    """Calls that all have one id, as of a program that counts anew in every turn."""
    made = [execution("find", {"q": n}, call_id="call_0", result=n) for n in range(count)]
    return evidence(
        [model_call("find", {"q": n}, call_id="call_0", turn=n + 1) for n in range(count)],
        None,
        [*made[:-1], replace(made[-1], result_observed=False)],
        outcome=Outcome(
            messages=tuple(said("tool", f"row {n}", n + 2, call_id="call_0") for n in range(count))
        ),
        conduct=Conduct(
            results_shown=tuple(
                ResultShown(shown=f"item {n}", call_id="call_0", turn=n + 1) for n in range(count)
            )
        ),
    )


def test_an_answer_under_an_id_of_many_calls_is_that_of_its_turn():
    run = one_id(40)

    assert where(trace_value(run, "row 17").observed) == ("tool_result", 18, "")
    assert where(trace_value(run, "item 17").observed) == ("tool_result", 18, "")


def test_many_calls_under_one_id_cost_no_more_than_others():
    assert grows_linearly(lambda count: trace_value(one_id(count), "nothing"), 200)


@pytest.mark.parametrize("position", [-1, 1, 5])
def test_a_result_at_a_position_that_no_call_has_is_of_no_call(position: int):
    shown = ResultShown(shown="K-99", turn=1, position=position)
    run = evidence([model_call("use", {})], None, None, conduct=Conduct(results_shown=(shown,)))

    origin = trace_value(run, "K-99").observed

    assert origin is not None
    assert (where(origin), origin.call) == (("tool_result", 1, ""), None)


def test_a_result_that_nobody_kept_is_missed_under_any_id():
    asked: Any = [model_call("find", {}, turn=1), model_call("use", {}, turn=2)]
    for call_id in (0, "", "c1"):
        calls = [replace(one, call_id=call_id) for one in asked[:1]]
        ran = replace(execution("find", {}), call_id=call_id, result_observed=False)
        run = evidence([*calls, replace(asked[1], call_id="c2")], None, [ran])

        assert Unseen.RESULTS in trace_value(run, "K-99").unseen
