"""Unordered matching of required against observed calls, and the figures made of it."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import Boundary
from agenttrace.errors import UnscorableError
from agenttrace.scoring import figures, fits, loose_f1, match, score
from agenttrace.scoring._forms import CallForm
from tests.builders import case, clean_run, due, rule

NAMES = st.sampled_from(["a", "b"])
ARGUMENTS = st.fixed_dictionaries({"n": st.integers(0, 2)})
observed_calls = st.lists(st.builds(CallForm, NAMES, ARGUMENTS), max_size=5)
literal = st.builds(due, NAMES, ARGUMENTS)
ruled = st.builds(
    lambda name, low, high: due(name, {}, {"/n": rule("range", {"min": low, "max": high})}),
    NAMES,
    st.integers(0, 2),
    st.integers(0, 2),
)
required_calls = st.lists(literal | ruled, max_size=5)


@given(required_calls, observed_calls)
def test_every_call_is_counted_once_on_each_side(required, observed):
    found = match(required, observed, {})

    assert len(found.taken) + len(found.missing) == len(required)
    assert len(found.taken) + len(found.extra) == len(observed)
    assert len(set(found.taken.values())) == len(found.taken)
    assert all(fits(required[i], observed[j], {}) for j, i in found.taken.items())


@given(required_calls, observed_calls)
def test_no_other_assignment_matches_more(required, observed):
    padded = [*range(len(required)), *[None] * len(observed)]
    best = max(
        (
            sum(
                i is not None and fits(required[i], seen, {})
                for i, seen in zip(order, observed, strict=False)
            )
            for order in set(permutations(padded, len(observed)))
        ),
        default=0,
    )

    assert len(match(required, observed, {}).taken) == best


@given(required_calls, observed_calls)
def test_earlier_calls_take_a_place_before_later_ones(required, observed):
    taken = set(match(required, observed, {}).taken)

    for count in range(len(observed)):
        assert len(taken & set(range(count))) == len(match(required, observed[:count], {}).taken)


def test_of_equal_calls_beyond_the_plan_the_later_ones_are_extra():
    call = CallForm("a", {"n": 1})

    assert match([due("a", {"n": 1})], [call, call, call], {}).extra == (1, 2)


def test_a_loose_rule_gives_way_to_a_pinned_one():
    required = [
        due("print", {}, {"/tray": rule("range", {"min": 1, "max": 9})}),
        due("print", {"tray": 2}),
    ]
    seen = [CallForm("print", {"tray": 2}), CallForm("print", {"tray": 7})]

    assert match(required, seen, {}).taken == {0: 1, 1: 0}


def test_the_first_observed_calls_keep_their_places_when_rules_overlap():
    anything = {"/n": rule("ignore")}
    required = [due("a", {}, anything), due("a", {"n": 1})]
    seen = [CallForm("a", {"n": 1}), CallForm("a", {"n": 7}), CallForm("a", {"n": 1})]

    assert match(required, seen, {}).extra == (2,)


@pytest.mark.parametrize(
    ("due_args", "seen_args", "equal"),
    [
        ({"n": 10}, {"n": 10.0}, False),
        ({"n": 10}, {"n": "10"}, False),
        ({"n": 1}, {"n": True}, False),
        ({"n": None}, {}, False),
        ({"n": []}, {}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"n": [1, 2]}, {"n": [2, 1]}, False),
        ({"n": 2**53 + 1}, {"n": 2**53}, False),
    ],
)
def test_arguments_are_equal_as_typed_json(due_args, seen_args, equal):
    assert fits(due("a", due_args), CallForm("a", seen_args), {}) is equal


def test_ignored_arguments_are_left_out_on_both_sides():
    ignored = {"a": frozenset({"trace"})}

    assert fits(due("a", {"trace": 1}), CallForm("a", {"trace": 2}), ignored)
    assert not fits(due("b", {"trace": 1}), CallForm("b", {"trace": 2}), ignored)


def test_text_that_is_no_object_matches_nothing():
    made = figures([due("a", {})], [CallForm("a", None, '{"n": ')], {})

    assert (made.counts.tp, made.extra) == (0, ({"name": "a", "args_raw": '{"n": '},))


def test_a_ratio_with_nothing_under_it_is_none():
    counts = figures([], [], {}).counts

    assert (counts.precision, counts.recall, counts.f1, counts.exact) == (None, None, None, True)


def test_ratios_have_four_decimals():
    counts = figures([due("a", {})] * 3, [CallForm("a", {})], {}).counts

    assert (counts.precision, counts.recall, counts.f1) == (1.0, 0.3333, 0.5)


@pytest.mark.parametrize(
    ("required", "seen", "expected"),
    [
        ([], [], 0.0),
        ([due("a", {"n": 1})] * 2, [CallForm("a", {"n": 1})], 1.0),
        ([due("a", {"n": 1})], [CallForm("a", {"n": True})], 1.0),
        ([due("a", {"n": [1, {"m": 1}]})], [CallForm("a", {"n": [1.0, {"m": True}]})], 1.0),
        ([due("a", {"n": 1})], [CallForm("a", {"n": "1"})], 0.0),
        ([due("a", {}, {"/n": rule("ignore")})], [], None),
        ([], [CallForm("a", None, "{")], None),
    ],
)
def test_the_ragas_score_has_set_semantics_and_loose_numbers(required, seen, expected):
    assert loose_f1(required, seen) == expected


def test_a_matching_that_cannot_be_bounded_is_refused():
    required = [due("a", {}, {"/n": rule("ignore")})] * 400

    with pytest.raises(UnscorableError, match="more pairs"):
        match(required, [CallForm("a", {"n": 1})] * 400, {})


def test_galtea_compares_sets_of_names():
    verdict = score(case(due("a", {}), due("a", {})), clean_run(("a", {"n": 5})))

    assert verdict.galtea_tool_correctness == 1
    assert verdict.boundaries[Boundary.EXECUTOR].counts.tp == 0


@pytest.mark.parametrize("pointers", [("/l/0", "/l/1"), ("/l/1", "/l/0"), ("/l/10", "/l/2")])
def test_rules_for_items_of_one_list_hold_in_any_order(pointers):
    items = list(range(11))
    rules = {pointer: rule("equals", int(pointer.split("/")[2])) for pointer in pointers}
    left = [n for n in items if f"/l/{n}" not in pointers]
    asked = due(args={"l": left}, rules=rules)

    assert fits(asked, CallForm("refund", {"l": items}), {})
