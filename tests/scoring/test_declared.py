"""Declared changes: contract order, and how often each may be made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import Contract, Envelope, ToolContract
from agenttrace.scoring import score
from agenttrace.scoring._declared import Declared, stated_defaults, tool_name
from agenttrace.scoring._forms import CallForm
from tests.builders import (
    adapter_call,
    case,
    contract,
    due,
    evidence,
    execution,
    model_call,
    places,
    said,
)


def declared(args, **fields):
    return Declared(contract("refund", **fields))(CallForm("refund", args)).args


@pytest.mark.parametrize(
    ("fields", "before", "after"),
    [
        ({"unit": {"n": "x100"}}, {"n": 42.5}, {"n": 4250}),
        ({"unit": {"n": "/100"}}, {"n": 42}, {"n": 0.42}),
        ({"unit": {"n": "x100"}}, {"n": "42"}, {"n": "42"}),
        ({"unit": {"n": "x100"}}, {"n": True}, {"n": True}),
        ({"rename": {"n": "m"}}, {"n": 1, "o": 2}, {"m": 1, "o": 2}),
        ({"coerce": {"n": "integer"}}, {"n": "007"}, {"n": 7}),
        ({"coerce": {"n": "integer"}}, {"n": "7.5"}, {"n": "7.5"}),
        ({"coerce": {"n": "number"}}, {"n": "7.5"}, {"n": 7.5}),
        ({"coerce": {"n": "boolean"}}, {"n": "False"}, {"n": False}),
        ({"coerce": {"n": "boolean"}}, {"n": "no"}, {"n": "no"}),
        ({"coerce": {"n": "string"}}, {"n": 7}, {"n": "7"}),
        ({"drop_null_optional": ("n",)}, {"n": None, "o": None}, {"o": None}),
        ({"drop_unknown": ("n",)}, {"n": 1, "o": 2}, {"n": 1}),
        ({"defaults": {"o": 2}}, {"n": 1}, {"n": 1, "o": 2}),
        ({"defaults": {"n": 2}}, {"n": None}, {"n": None}),
        ({"normalize": {"n": "trim"}}, {"n": " a "}, {"n": "a"}),
        ({"fold_case": ("n",)}, {"n": "AB"}, {"n": "ab"}),
        ({"drop_null_optional": ("n",), "defaults": {"n": 3}}, {"n": None}, {"n": 3}),
        (
            {
                "unit": {"euros": "x100"},
                "rename": {"euros": "cents"},
                "coerce": {"cents": "string"},
            },
            {"euros": 42},
            {"cents": "4200"},
        ),
    ],
)
def test_each_part_of_a_contract_is_applied_in_its_order(fields, before, after):
    assert declared(before, **fields) == after


def test_at_most_one_prefix_is_taken_off_and_then_the_name_mapped():
    rules = Contract(strip_prefix=("mcp__", "mcp__depot__"), name_map={"find": "find_part"})

    assert tool_name("mcp__depot__find", rules) == "find_part"
    assert tool_name("mcp__mcp__find", rules) == "mcp__find"


def test_a_call_is_taken_out_of_its_envelope():
    rules = Contract(envelope=Envelope(tool="bridge", name="tool", arguments="input"))
    form = CallForm("bridge", {"tool": "refund", "input": {"n": 1}, "cwd": "x"})

    assert Declared(rules)(form).args == {"n": 1}
    assert Declared(rules).envelope_strays(form) == {"cwd": "x"}
    assert Declared(rules)(CallForm("bridge", {"tool": "refund", "input": "{}"})).name == "bridge"


def test_what_the_adapter_has_converted_is_not_converted_again():
    form = CallForm("refund", {"amount": 4200, "lat": 1, "lon": 2})
    rules = Declared(
        contract("refund", unit={"amount": "x100"}, rename={"lat": "lon", "lon": "lat"})
    )

    assert rules(form, adapted=True).args == {"amount": 4200, "lat": 1, "lon": 2}


def test_a_declared_unit_under_one_name_passes_when_converted_once():
    verdict = score(
        case(due(args={"amount": 4200}), contract=contract(unit={"amount": "x100"})),
        evidence(
            [model_call(args={"amount": 42})],
            [adapter_call(args={"amount": 4200})],
            [execution(args={"amount": 4200})],
        ),
    )

    assert said(verdict) == ("pass", "none", "none")


@pytest.mark.parametrize("handed", [42, 420_000])
def test_a_declared_unit_that_was_not_or_twice_converted_is_the_adapters(handed):
    verdict = score(
        case(due(args={"amount": 4200}), contract=contract(unit={"amount": "x100"})),
        evidence(
            [model_call(args={"amount": 42})],
            [adapter_call(args={"amount": handed})],
            [execution(args={"amount": handed})],
        ),
    )

    assert said(verdict) == ("fail", "adapter", "adapter")
    assert places(verdict) == [("adapter", "scaled", "/amount", "c1")]


def test_a_default_is_stated_by_a_schema_or_by_the_tool_that_applied_it():
    made = evidence(executor=[execution(args={"n": 1, "o": 2}, defaults=("o",))])

    assert stated_defaults(Contract(), made) == {"refund": {"o": 2}}


PARTS = st.fixed_dictionaries(
    {},
    optional={
        "coerce": st.just({"n": "integer"}),
        "drop_null_optional": st.just(("o",)),
        "drop_unknown": st.just(("n", "o")),
        "defaults": st.just({"o": "x"}),
        "normalize": st.just({"o": "trim"}),
        "fold_case": st.just(("o",)),
    },
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["n", "o", "p"]), st.none() | st.integers(0, 3) | st.sampled_from(["7", " A "])
)


@given(ARGUMENTS, PARTS)
def test_declared_changes_made_twice_are_those_made_once(args, parts):
    rules = Declared(Contract(tools={"refund": ToolContract(**parts)}))
    once = rules(CallForm("refund", args))

    assert rules(once).key == once.key


def test_another_tools_contract_says_nothing_of_a_call_that_was_sent_to_it():
    verdict = score(
        case(due("list_cards", {"n": 3}), contract=contract("list_cards", coerce={"n": "string"})),
        evidence(
            [model_call("list_cards", {"n": 3})],
            [adapter_call("link_cards", {"n": 3})],
            [execution("link_cards", {"n": 3})],
        ),
    )

    assert places(verdict) == [("adapter", "name_changed", "", "c1")]
