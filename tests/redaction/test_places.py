"""What is expected where every observed value is a token becomes a token too, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.domain import Status
from agenttrace.redaction import Redactor
from agenttrace.redaction._places import MaskedPlaces
from agenttrace.scoring import score
from tests.builders import case, clean_run, due, rule

KEY = b"0123456789abcdef0123456789abcdef"
WIDE, NARROW = Redactor(KEY, fields=["account_ref", "lines"]), Redactor(KEY)
OTHER = Redactor(b"another key, of sixteen bytes or more", fields=["account_ref"])


def masked(arguments: dict[str, Any], by: Redactor = WIDE) -> Any:
    return by.for_run().mask_arguments(arguments)


@pytest.mark.parametrize("value", ["A-1", "7", 7, 7.5, {"x": ["q", 1]}, ["q", {"y": 2}]], ids=str)
def test_a_case_is_decided_with_the_key_alone(value):
    seen = clean_run(("refund", masked({"account_ref": value, "n": 1})))

    right = score(case(due("refund", {"account_ref": value, "n": 1})), seen, redactor=NARROW)
    wrong = score(case(due("refund", {"account_ref": "B-2", "n": 1})), seen, redactor=NARROW)

    assert right.status is Status.PASS
    assert wrong.status is Status.FAIL


def test_rules_are_decided_with_the_key_alone():
    seen = clean_run(("refund", masked({"account_ref": "A-1"})))

    def judged(kind: str, operand: Any) -> Status:
        asked = due("refund", {}, rules={"/account_ref": rule(kind, operand)})
        return score(case(asked), seen, redactor=NARROW).status

    assert judged("equals", "A-1") is Status.PASS
    assert judged("equals", "A-2") is Status.FAIL
    assert judged("one_of", ["A-0", "A-1"]) is Status.PASS
    assert judged("one_of", ["A-0", "A-2"]) is Status.FAIL


def test_where_one_call_shows_its_value_none_is_masked_for_its_place():
    places = MaskedPlaces(
        [("pay", masked({"account_ref": "A-1"})), ("pay", {"account_ref": "plain"})],
        NARROW.key_id,
        NARROW.token,
    )

    assert places.mask("pay", (), {"account_ref": "plain"}) == {"account_ref": "plain"}


def test_another_tool_another_place_and_another_key_mask_nothing():
    seen = masked({"account_ref": "A-1"})
    places = MaskedPlaces([("pay", seen)], NARROW.key_id, NARROW.token)
    foreign = MaskedPlaces([("pay", masked({"account_ref": "A-1"}, OTHER))], NARROW.key_id, str)

    for where in (
        places.mask("refund", (), {"account_ref": "A-1"}),
        foreign.mask("pay", (), {"account_ref": "A-1"}),
    ):
        assert where == {"account_ref": "A-1"}
    assert places.mask("pay", (), {"account": "A-1"}) == {"account": "A-1"}


@pytest.mark.parametrize("value", [None, True, False, "", [], {}, masked({"account_ref": "A-1"})])
def test_what_hides_nothing_and_what_is_a_token_stays(value):
    places = MaskedPlaces([("pay", masked({"account_ref": "A-1"}))], NARROW.key_id, NARROW.token)

    assert places.mask("pay", ("account_ref",), value) == value


def test_places_in_lists_are_found_by_their_index():
    seen = masked({"lines": [{"ref": "A-1"}, {"ref": "A-2"}]})
    places = MaskedPlaces([("pay", seen)], NARROW.key_id, NARROW.token)

    assert places.mask("pay", (), {"lines": [{"ref": "A-1"}, {"ref": "A-2"}]}) == seen
    assert places.mask("pay", ("lines", "1", "ref"), "A-2") == seen["lines"][1]["ref"]
    short = places.mask("pay", (), {"lines": [{"ref": "A-1"}]})
    assert short == {"lines": [seen["lines"][0]]}


def test_any_depth_is_masked():
    deep: Any = {"account_ref": "A-1"}
    for _ in range(5_000):
        deep = {"a": [deep]}
    seen = masked(deep)
    places = MaskedPlaces([("pay", seen)], NARROW.key_id, NARROW.token)

    value = places.mask("pay", (), deep)
    for _ in range(5_000):
        value = value["a"][0]
    assert value["account_ref"].startswith("[masked:account_ref:")
