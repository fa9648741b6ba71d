"""Where the values of a first divergence came from, place by place."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agenttrace.domain import (
    MISSING,
    JsonValue,
    Lineage,
    Message,
    Origin,
    Outcome,
    Phase,
    Place,
    Rendering,
    Response,
    ResultShown,
    Unseen,
)
from agenttrace.domain import Conduct as ConductOf
from agenttrace.scoring import score, trace_value
from tests.builders import adapter_call, case, clean_run, due, evidence, execution, model_call


def said(role: str, content: JsonValue, turn: int = 1, **more: Any) -> Message:
    return Message(role=role, content=content, turn=turn, **more)


def run_with(*messages: Message, value: JsonValue = 8900, turn: int = 1) -> Any:
    """One call with one value, after some messages."""
    args = {"value": value}
    return evidence(
        [model_call("refund", args, turn=turn)],
        [adapter_call("refund", args)],
        [execution("refund", args)],
        outcome=Outcome(messages=messages),
    )


def traced(*messages: Message, value: JsonValue = 8900, turn: int = 1) -> Lineage:
    return trace_value(run_with(*messages, value=value, turn=turn), value, "c1")


def where(origin: Origin | None) -> tuple[str, int | None, str] | None:
    return None if origin is None else (origin.place.value, origin.turn, origin.path)


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_a_message_that_holds_the_value_is_its_place(role: str):
    lineage = traced(said(role, "It was 8900."), said("user", "8900", turn=2), turn=2)

    assert where(lineage.observed) == (role, 1, "")
    assert lineage.observed is not None
    assert lineage.observed.rendering is None


def test_a_value_in_no_message_is_the_models_own_where_all_is_on_record():
    lineage = traced(said("user", "Refund it."))

    assert where(lineage.observed) == ("arguments", 1, "")
    assert lineage.carried_by == ("c1",)


def test_a_value_in_no_recorded_message_has_no_place():
    lineage = traced()

    assert (lineage.observed, lineage.unseen) == (None, (Unseen.MESSAGES,))
    assert lineage.carried_by == ("c1",)


def test_a_text_that_was_kept_out_of_this_copy_may_hold_the_value():
    lineage = traced(said("user", None, digest="hmac:1", length=12))

    assert (lineage.observed, lineage.unseen) == (None, (Unseen.MESSAGES,))


@pytest.mark.parametrize(
    "text", ["3100", "1310", "310.5", "-310", "1,310", "310,000", "x310", "310-b", "a_310", "0.310"]
)
def test_a_number_is_not_found_inside_a_longer_one(text: str):
    assert where(traced(said("user", f"It is {text} now"), value=310).observed) == (
        "arguments",
        1,
        "",
    )


@pytest.mark.parametrize("text", ["310", "310.", "(310)", "$310", "310, 311", "is 310", "310%"])
def test_a_number_is_found_as_a_whole_token(text: str):
    assert where(traced(said("user", text), value=310).observed) == ("user", 1, "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("v-131", "close v-1312"),
        ("v-131", "close v-131-b"),
        ("v-131", "close rv-131"),
        ("john", "write to john@example.com"),
        ("cafe", "the cafe\u0301 there"),
        ("2024-05-11", "2024-05-11T10:00:00Z"),
    ],
)
def test_a_text_is_not_found_inside_a_longer_one(value: str, text: str):
    found = traced(said("user", text), value=value).observed

    assert found is None or found.place is not Place.USER or found.rendering is not None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("v-131", "close v-131, please"),
        ("W123", "order #W123"),
        ("#W123", "order #W123."),
        ("T2", "the T2's mast"),
        ("Jo Li", "I am Jo Li."),
        ("\ud800x", "odd \ud800x"),
    ],
)
def test_a_text_is_found_as_a_whole(value: str, text: str):
    assert where(traced(said("user", text), value=value).observed) == ("user", 1, "")


RESULT = {"rows": [{"id": "v-118"}, {"id": "v-131", "cost": 8900, "note": "see K-7 first"}]}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("v-131", "/rows/1/id"),
        (8900, "/rows/1/cost"),
        ("K-7", "/rows/1/note"),
        (RESULT["rows"][0], "/rows/0"),
        ([*RESULT["rows"]], "/rows"),
    ],
)
@pytest.mark.parametrize("as_text", [False, True], ids=["json", "text"])
def test_a_result_has_a_path(value: JsonValue, path: str, as_text: bool):
    content: Any = json.dumps(RESULT) if as_text else RESULT
    run = evidence(
        [
            model_call("find", {}, call_id="f1"),
            model_call("use", {"v": value}, call_id="u1", turn=2),
        ],
        None,
        None,
        outcome=Outcome(messages=(said("user", "go"), said("tool", content, turn=2, call_id="f1"))),
    )

    found = trace_value(run, value, "u1").observed

    assert where(found) == ("tool_result", 1, path)
    assert found is not None
    assert (found.call, found.tool) == ("f1", "find")


def test_a_path_leads_through_json_texts_inside_results():
    shown = [{"type": "text", "text": json.dumps({"order": json.dumps({"id": "W\u00e9-77"})})}]
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("use", {"v": "W\u00e9-77"}, turn=2)],
        None,
        None,
        outcome=Outcome(messages=(said("user", "go"), said("tool", shown, call_id="f1"))),
    )

    assert where(trace_value(run, "W\u00e9-77", "c1").observed) == (
        "tool_result",
        1,
        "/0/text/order/id",
    )


def test_a_key_of_a_result_is_a_place():
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("use", {"v": "W-77"}, turn=2)],
        None,
        [execution("find", {}, call_id="f1", result={"variants": {"W-77": {"stock": 1}}})],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    assert where(trace_value(run, "W-77", "c1").observed) == ("tool_result", 1, "/variants/W-77")


def test_a_number_in_a_result_has_its_own_type():
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("use", {"v": 310}, turn=2)],
        None,
        [execution("find", {}, call_id="f1", result={"cost": "310"})],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    lineage = trace_value(run, 310, "c1")

    assert where(lineage.observed) == ("arguments", 2, "")
    assert where(lineage.observed_earlier) == ("tool_result", 1, "/cost")
    assert lineage.observed_earlier is not None
    assert lineage.observed_earlier.rendering is Rendering.RETYPED


@pytest.mark.parametrize(
    ("value", "text", "rendering"),
    [
        (9800, "pay $98.00 back", Rendering.SCALED),
        (9800, "pay 98 back", Rendering.SCALED),
        (9800, "it is 9,800 cents", Rendering.FORMATTED),
        (98, "pay 98.00 back", Rendering.FORMATTED),
        ("98.00", "pay 9800 cents", Rendering.SCALED),
        ("98.00", "pay $98 back", Rendering.FORMATTED),
        (98.5, "pay 9850 cents", Rendering.SCALED),
        (98.5, "pay 98.50", Rendering.FORMATTED),
        (1234567, "1,234,567.00 in all", Rendering.FORMATTED),
        ("Jo  Li", "i am jo li", Rendering.FOLDED),
        ("Caf\u00e9", "at cafe\u0301 now", Rendering.FOLDED),
        ("#W-123", "my order W123", Rendering.PUNCTUATION),
        ("W123", "my order W-123", Rendering.PUNCTUATION),
        ("555-0101", "call 5550101", Rendering.PUNCTUATION),
        ("2024-05-11", "on May 11th, please", Rendering.DATE),
        ("2024-05-11", "on 11 May 2024", Rendering.DATE),
        ("2024-05-11", "on 05/11/2024", Rendering.DATE),
        ("2024-05-11", "at 2024-05-11T10:00:00Z", Rendering.DATE),
        ("May 11, 2024", "on 2024-05-11", Rendering.DATE),
        ("11th of May 2024", "on 2024-05-11", Rendering.DATE),
        ("2024/05/11", "on 2024-05-11", Rendering.DATE),
        ("05/11/2024", "on 2024-05-11", Rendering.DATE),
        ("31.05.2024", "on 2024-05-31", Rendering.DATE),
        ("2024-05-11T12:00:00+02:00", "at 2024-05-11T10:00:00Z", Rendering.DATE),
        ("2024-05-11T10:00:00Z", "at 1715421600", Rendering.DATE),
    ],
)
def test_another_rendering_is_reported_as_one(value: JsonValue, text: str, rendering: Rendering):
    lineage = traced(said("user", text), value=value)

    assert where(lineage.observed) == ("arguments", 1, "")
    assert where(lineage.observed_earlier) == ("user", 1, "")
    assert lineage.observed_earlier is not None
    assert lineage.observed_earlier.rendering is rendering


def test_the_value_itself_wins_over_an_earlier_rendering():
    lineage = traced(
        said("user", "about $89.00"), said("user", "I mean 8900 cents", turn=2), turn=2
    )

    assert where(lineage.observed) == ("user", 2, "")
    assert where(lineage.observed_earlier) == ("user", 1, "")


@pytest.mark.parametrize("value", [True, False, None, "", " ", "A", "-", 0, 7, -7, 1.0, [], {}])
def test_what_stands_in_every_run_has_no_place(value: JsonValue):
    lineage = traced(said("user", f"{value} A 7 true null"), value=value)

    assert (lineage.observed, lineage.too_common, lineage.carried_by) == (None, True, ())
    assert lineage.note


def test_what_came_after_the_call_is_no_source_of_its_value():
    lineage = traced(said("user", "Refund it."), said("user", "8900?", turn=2))

    assert where(lineage.observed) == ("arguments", 1, "")


def test_the_expected_value_is_looked_for_everywhere():
    run = run_with(said("user", "Refund it."), said("user", "9800 was due", turn=2))

    lineage = score(case(due("refund", {"value": 9800})), run).lineage

    assert lineage is not None
    assert where(lineage.expected) == ("user", 2, "")
    assert (lineage.value, lineage.expected_value) == (8900, 9800)


def test_an_expected_value_that_stands_nowhere_is_said_to():
    lineage = score(case(due("refund", {"value": 9800})), run_with(said("user", "89.00"))).lineage

    assert lineage is not None
    assert (lineage.expected, lineage.expected_unseen) == (None, ())


def test_an_expected_value_may_stand_where_nothing_was_recorded():
    lineage = score(case(due("refund", {"value": 9800})), run_with()).lineage

    assert lineage is not None
    assert (lineage.expected, lineage.expected_unseen) == (None, (Unseen.MESSAGES,))


def test_a_value_that_the_adapter_made_has_the_adapter_as_its_place():
    handed_on = {"value": 8900}
    run = evidence(
        [model_call("refund", {"value": 9800}, turn=1)],
        [adapter_call("refund", handed_on)],
        [execution("refund", handed_on)],
        outcome=Outcome(messages=(said("user", "Refund 9800."),)),
    )

    lineage = score(None, run).lineage

    assert lineage is not None
    assert where(lineage.observed) == ("adapter", 1, "")
    assert where(lineage.expected) == ("user", 1, "")
    assert lineage.carried_by == ("c1",)


def test_a_value_that_the_executor_was_handed_otherwise_may_be_another_results():
    first, second = {"id": "A-77"}, {"id": "B-78"}
    run = evidence(
        [
            model_call("find", {}, call_id="f1", turn=1),
            model_call("close", first, call_id="k1", turn=2),
        ],
        [adapter_call("find", {}, call_id="f1"), adapter_call("close", first, call_id="k1")],
        [
            execution("find", {}, call_id="f1", result=[first, second]),
            execution("close", second, call_id="k1"),
        ],
    )

    lineage = score(None, run).lineage

    assert lineage is not None
    assert where(lineage.observed) == ("tool_result", 1, "/1/id")
    assert where(lineage.expected) == ("tool_result", 1, "/0/id")


def test_the_calls_that_carried_the_value_are_listed_in_order():
    wrong = {"order": "B-209"}
    run = clean_run(
        ("find", {"order": "A-104"}),
        ("find", wrong),
        ("close", wrong),
        outcome=Outcome(messages=(said("user", "A-104, like B-209"),)),
    )

    lineage = score(
        case(due("find", {"order": "A-104"}), due("find", {"order": "A-105"}), due("close", wrong)),
        run,
    ).lineage

    assert lineage is not None
    assert (lineage.value, lineage.carried_by) == ("B-209", ("c1", "c2"))


def test_an_earlier_calls_own_value_is_where_a_later_one_has_it_from():
    run = clean_run(
        ("find", {"order": "B-209"}),
        ("close", {"order": "B-209"}),
        outcome=Outcome(messages=(said("user", "Close it."),)),
    )

    found = trace_value(run, "B-209", "c1").observed

    assert found == Origin(place=Place.ARGUMENTS, turn=1, call="c0", tool="find")


def test_of_an_object_the_first_member_that_differs_is_asked_about():
    wrong, right = (
        {"to": {"street": "Low 7", "zip": "10115"}},
        {"to": {"street": "High 8", "zip": "10115"}},
    )
    run = run_with(said("user", "High 8, no: Low 7"), value=[wrong])

    lineage = score(case(due("refund", {"value": [right]})), run).lineage

    assert lineage is not None
    assert (lineage.path, lineage.value, lineage.expected_value) == (
        "/value/0/to/street",
        "Low 7",
        "High 8",
    )
    assert where(lineage.observed) == ("user", 1, "")


def test_of_a_call_too_many_the_argument_that_no_other_call_holds_is_asked_about():
    run = clean_run(
        ("find", {"by": "user-1", "order": "A-104"}),
        ("find", {"by": "user-1", "order": "B-209"}),
        outcome=Outcome(messages=(said("user", "A-104, like B-209"),)),
    )

    lineage = score(case(due("find", {"by": "user-1", "order": "A-104"})), run).lineage

    assert lineage is not None
    assert (lineage.path, lineage.value, lineage.expected_value) == ("/order", "B-209", MISSING)
    assert where(lineage.observed) == ("user", 1, "")


def test_of_a_missing_call_the_argument_that_stands_nowhere_is_asked_about():
    run = clean_run(
        ("find", {"q": "boats"}), outcome=Outcome(messages=(said("user", "T2, boats"),))
    )

    lineage = score(
        case(due("find", {"q": "boats"}), due("offer", {"boat": "T2", "key": "K-9"})), run
    ).lineage

    assert lineage is not None
    assert (lineage.path, lineage.expected_value, lineage.expected) == ("/key", "K-9", None)


def test_a_changed_name_has_no_lineage():
    run = clean_run(("find", {"q": "boats"}), outcome=Outcome(messages=(said("user", "boats"),)))

    verdict = score(case(due("search", {"q": "boats"})), run)

    assert (verdict.divergences[0].kind.value, verdict.lineage) == ("name_changed", None)


def test_a_row_that_passes_has_no_lineage():
    assert score(None, clean_run()).lineage is None


def test_a_swapped_result_is_found_at_the_call_it_belongs_to():
    run = evidence(
        [
            model_call("get", {"n": "a1"}, call_id="a1", index=0),
            model_call("get", {"n": "b1"}, call_id="b1", index=1),
        ],
        None,
        [
            execution("get", {"n": "a1"}, call_id="a1", result={"cost": 410}),
            execution("get", {"n": "b1"}, call_id="b1", result={"cost": 920}),
        ],
        conduct=ConductOf(results_shown=(ResultShown(call_id="a1", turn=1, shown={"cost": 920}),)),
    )

    verdict = score(None, run)

    assert verdict.divergences[0].kind.value == "result_swapped"
    assert verdict.lineage is not None
    assert (verdict.lineage.path, where(verdict.lineage.observed)) == (
        "/cost",
        ("tool_result", 1, "/cost"),
    )
    assert verdict.lineage.observed is not None
    assert verdict.lineage.observed.call == "b1"


def test_history_that_is_sent_again_changes_no_place():
    """A result as it was returned, as it was shown, and echoed in what the model then says."""
    asked = said("user", "Which order?")
    result = {"order": "B-209"}
    calls = [
        model_call("find", {}, call_id="f1", turn=1),
        model_call("close", result, call_id="k1", turn=2),
    ]
    shown = said("tool", json.dumps(result), turn=2, call_id="f1")
    echoed = said("assistant", "It is B-209", turn=3)
    responses = (
        Response(ref="r1", turn=1, calls=1, messages=(asked,)),
        Response(ref="r2", turn=2, calls=1, messages=(shown,)),
        Response(ref="r3", turn=3, messages=(echoed,)),
    )
    run = evidence(
        calls,
        None,
        [execution("find", {}, call_id="f1", result=result)],
        responses=responses,
        outcome=Outcome(messages=(asked, shown, echoed)),
    )

    lineage = trace_value(run, "B-209", "k1")

    assert where(lineage.observed) == ("tool_result", 1, "/order")
    assert lineage.unseen == ()


def test_a_request_without_messages_after_calls_was_not_recorded():
    responses = (
        Response(ref="r1", turn=1, calls=1, messages=(said("user", "go"),)),
        Response(ref="r2", turn=2, calls=1),
    )
    run = evidence(
        [
            model_call("find", {}, call_id="f1", turn=1),
            model_call("close", {"v": "B-209"}, call_id="k1", turn=2),
        ],
        None,
        None,
        responses=responses,
        outcome=Outcome(messages=responses[0].messages),
    )

    assert Unseen.MESSAGES in trace_value(run, "B-209", "k1").unseen


@pytest.mark.parametrize(
    ("value", "is_found"), [(310, True), ("Jo Li", True), ("text", False), ("cache", False)]
)
def test_of_a_message_in_blocks_the_texts_are_searched(value: JsonValue, is_found: bool):
    blocks = [
        {"type": "text", "text": "310", "cache": {}},
        {"type": "text", "text": "I am Jo Li"},
    ]

    found = traced(said("user", blocks), value=value).observed

    assert where(found) == (("user", 1, "") if is_found else ("arguments", 1, ""))


def test_a_number_alone_in_a_result_of_blocks_is_the_number():
    shown = said("tool", [{"type": "text", "text": "310"}], call_id="f1")
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("use", {"v": 310}, turn=2)],
        None,
        None,
        outcome=Outcome(messages=(said("user", "go"), shown)),
    )

    assert where(trace_value(run, 310, "c1").observed) == ("tool_result", 1, "/0/text")


def test_what_a_judge_was_asked_after_the_run_is_no_source():
    asked, judge = said("user", "Refund it."), said("user", "8900 is wrong: 9800 was due", turn=2)
    responses = (
        Response(ref="r1", turn=1, calls=1, messages=(asked,)),
        Response(ref="r2", turn=2, messages=(judge,), text="9800!", phase=Phase.EVALUATION),
    )
    run = replace(run_with(asked, judge), responses=responses)

    lineage = score(case(due("refund", {"value": 9800})), run).lineage

    assert lineage is not None
    assert (lineage.expected, lineage.expected_unseen) == (None, ())


def test_the_answer_to_the_last_call_was_handed_to_nobody():
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("close", {"v": "B-209"}, turn=2)],
        None,
        None,
        outcome=Outcome(messages=(said("user", "go"), said("tool", "no", call_id="f1"))),
    )

    lineage = trace_value(run, "B-209", "c1", expected="A-104")

    assert (lineage.unseen, lineage.expected_unseen) == ((), ())


def test_an_answer_that_is_not_on_record_may_hold_the_value():
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("close", {"v": "B-209"}, turn=2)],
        None,
        None,
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    lineage = trace_value(run, "B-209", "c1")

    assert (lineage.observed, lineage.unseen) == (None, (Unseen.RESULTS,))


@pytest.mark.parametrize("text", ["card ***", "card <redacted>"])
def test_a_mask_of_somebodys_own_may_hide_the_value(text: str):
    assert traced(said("user", text)).unseen == ((Unseen.MASKS,) if "***" in text else ())


def test_a_text_of_the_models_comes_before_the_call_it_was_written_with():
    responses = (
        Response(ref="r1", turn=1, calls=1, messages=(said("user", "go"),), text="I refund 8900."),
    )
    run = evidence([model_call("refund", {"cents": 8900})], None, None, responses=responses)

    assert where(trace_value(run, 8900, "c1").observed) == ("assistant", 1, "")


def test_a_call_that_is_not_there_is_refused():
    with pytest.raises(LookupError, match="no such call"):
        trace_value(clean_run(), 8900, "c9")


def test_a_value_of_an_earlier_call_is_nobodys_own_where_messages_are_missing():
    wrong = {"order": "B-209"}
    run = clean_run(("find", wrong), ("close", wrong))

    lineage = trace_value(run, "B-209", "c1", expected="B-209")

    assert (lineage.observed, lineage.expected) == (None, None)
    assert Unseen.MESSAGES in lineage.unseen
    assert Unseen.MESSAGES in lineage.expected_unseen


def test_of_a_missing_call_nothing_is_said_to_stand_nowhere_where_messages_are_missing():
    args = {"q": "boats"}
    run = evidence([model_call("find", args)], None, [execution("find", args, result="the T2")])

    lineage = score(case(due("find", args), due("offer", {"a": "T2", "b": "K-9"})), run).lineage

    assert lineage is not None
    assert (lineage.path, where(lineage.expected)) == ("/a", ("tool_result", 1, ""))


def test_the_calls_own_arguments_are_no_rendering_of_its_value():
    run = evidence(
        [model_call("refund", {"cents": "9800"})],
        [adapter_call("refund", {"cents": 9800})],
        [execution("refund", {"cents": 9800})],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    lineage = score(None, run).lineage

    assert lineage is not None
    assert (where(lineage.observed), lineage.observed_earlier) == (("adapter", 1, ""), None)


def test_of_calls_without_ids_the_one_before_the_message_was_answered():
    shown = said("tool", {"id": "B-209"}, turn=2)
    responses = (
        Response(ref="r1", turn=1, calls=1, messages=(said("user", "go"),)),
        Response(ref="r2", turn=2, calls=1, messages=(shown,)),
    )
    run = evidence(
        [
            model_call("find", {}, call_id=None, turn=1),
            model_call("close", {"v": "B-209"}, call_id=None, turn=2),
        ],
        None,
        None,
        responses=responses,
        outcome=Outcome(messages=(*responses[0].messages, shown)),
    )

    found = trace_value(run, "B-209", "model/1").observed

    assert where(found) == ("tool_result", 1, "/id")
    assert found is not None
    assert (found.call, found.tool) == ("model/0", "find")


def test_of_calls_under_one_id_the_last_before_the_message_was_answered():
    messages = (
        said("user", "go"),
        said("tool", "no", turn=2, call_id="x"),
        said("tool", "B-209", turn=3, call_id="x"),
    )
    run = evidence(
        [
            model_call("find", {"n": 1}, call_id="x", turn=1),
            model_call("find", {"n": 2}, call_id="x", turn=2),
            model_call("close", {"v": "B-209"}, call_id="k1", turn=3),
        ],
        None,
        None,
        responses=tuple(
            Response(ref=f"r{n}", turn=n, calls=1, messages=(message,))
            for n, message in enumerate(messages, 1)
        ),
        outcome=Outcome(messages=messages),
    )

    assert where(trace_value(run, "B-209", "k1").observed) == ("tool_result", 2, "")


def test_a_text_of_the_models_that_was_kept_out_may_hold_the_value():
    responses = (
        Response(ref="r1", turn=1, calls=1, messages=(said("user", "go"),), text_length=20),
    )
    run = evidence([model_call("refund", {"cents": 8900})], None, None, responses=responses)

    assert trace_value(run, 8900, "c1").unseen == (Unseen.TEXTS,)


def test_a_result_that_was_not_recorded_may_hold_the_value():
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("close", {"v": "B-209"}, turn=2)],
        None,
        [execution("find", {}, call_id="f1", result_observed=False)],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    assert trace_value(run, "B-209", "c1").unseen == (Unseen.RESULTS,)


@pytest.mark.parametrize("boundary", ["adapter", "executor"])
def test_an_error_is_a_result(boundary: str):
    error = "ValueError: did you mean B-209?"
    refused = boundary == "adapter"
    run = evidence(
        [model_call("find", {}, call_id="f1"), model_call("close", {"v": "B-209"}, turn=2)],
        [adapter_call("find", {}, call_id="f1", error=error if refused else None)],
        [] if refused else [execution("find", {}, call_id="f1", error=error)],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    assert where(trace_value(run, "B-209", "c1").observed) == ("tool_result", 1, "")


def test_executions_alone_stand_in_their_own_order():
    run = evidence(
        None,
        None,
        [
            execution("find", {}, call_id="f1", result={"id": "B-209"}),
            execution("close", {"v": "B-209"}, call_id="k1"),
            execution("later", {}, call_id="l1", result="C-300"),
        ],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    assert where(trace_value(run, "B-209", "k1").observed) == ("tool_result", None, "/id")
    assert where(trace_value(run, "C-300", "k1").observed) == ("arguments", None, "")


def test_calls_without_turns_stand_in_their_own_order():
    run = evidence(
        [
            replace(model_call("find", {}, call_id="f1"), turn=None),
            replace(model_call("close", {"v": "B-209"}), turn=None),
        ],
        None,
        [execution("find", {}, call_id="f1", result={"id": "B-209"})],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    assert where(trace_value(run, "B-209", "c1").observed) == ("tool_result", None, "/id")


def test_an_execution_that_nobody_asked_for_stands_where_its_number_says():
    run = evidence(
        [
            model_call("find", {}, call_id="f1", turn=1, seq=1),
            model_call("close", {"v": "B-209"}, call_id="k1", turn=2, seq=5),
        ],
        None,
        [
            execution("find", {}, call_id="f1", seq=2),
            execution("spare", {}, call_id=None, result="B-209", seq=3),
        ],
        outcome=Outcome(messages=(said("user", "go"),)),
    )

    found = trace_value(run, "B-209", "k1").observed

    assert found is not None
    assert (found.place, found.tool, found.turn) == (Place.TOOL_RESULT, "spare", None)


def test_a_single_digit_is_no_rendering_of_an_amount():
    assert traced(said("user", "take 3 of them"), value=300).observed_earlier is None


def test_a_tools_message_without_an_id_answers_the_call_before_the_response_it_led_to():
    run = evidence(
        [model_call("find", {}, call_id=None, turn=1), model_call("use", {"v": 777}, turn=2)],
        None,
        None,
        outcome=Outcome(
            messages=(
                Message(role="user", turn=1, content="go"),
                Message(role="tool", turn=2, content={"k": 777}),
            )
        ),
    )

    origin = trace_value(run, 777, "c1").observed

    assert origin is not None
    assert (origin.place, origin.turn, origin.path) == (Place.TOOL_RESULT, 1, "/k")
    assert origin.tool == "find"
