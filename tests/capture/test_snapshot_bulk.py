"""Copies made in bulk are those of the walk, and tell whether a value changed."""

from __future__ import annotations

import enum
import gc
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

import agenttrace
from agenttrace.capture import losses
from agenttrace.capture._guard import forget_faults
from agenttrace.capture._snapshot import _bulk, copied, snapshot
from agenttrace.capture._snapshot_bulk import Bulk
from agenttrace.testing import recording


@dataclass
class Line:
    sku: Any
    amount: Any


class Model(BaseModel):
    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)
    sku: Any
    amount: Any = None


class Kind(enum.Enum):
    A = 1
    LISTS = (1, 2)


def digest(text: str | bytes) -> str:
    return f"digest of {len(text)}"


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["x" * 300, 10**400, Decimal("1.10"), date(2026, 1, 2), b"ab", Kind.A, Kind])
    | st.sampled_from([Kind.LISTS, {1, 2}, deque([1]), OrderedDict(a=1), (), {1: 2}])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3) | st.just("k" * 300), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.builds(Line, inner, inner)
        | st.builds(Model, sku=inner, amount=inner)
    ),
    max_leaves=40,
)


@given(values)
def test_a_copy_in_bulk_is_that_of_the_walk(value):
    copy, _ = _bulk(value, digest)

    built = copy.build() if type(copy) is Bulk else copy
    assert repr(built) == repr(snapshot(value, digest=digest))


def large(count: int = 2_000) -> list[Any]:
    return [
        {"n": n, "line": Line(f"s{n}", n), "model": Model(sku=n), "tags": ["x", (n, 1.5)]}
        for n in range(count)
    ]


def test_a_large_value_is_copied_in_bulk():
    value = {"orders": large()}
    copy, weight = copied(value, digest)

    assert type(copy) is Bulk
    assert copy.is_unchanged()
    assert copy.build() == snapshot(value)
    assert weight > 0


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value[7].update(n=-1),
        lambda value: value[7].update(new=1),
        lambda value: value[7].pop("n"),
        lambda value: setattr(value[7]["line"], "amount", -1),
        lambda value: value[7]["line"].__dict__.clear(),
        lambda value: setattr(value[7]["model"], "sku", -1),
        lambda value: setattr(value[7]["model"], "further", -1),
        lambda value: value[7]["tags"].append("y"),
        lambda value: value[7].update(tags=[*value[7]["tags"]]),
        lambda value: value.append(1),
        lambda value: value.reverse(),
    ],
)
def test_a_change_is_seen_and_not_copied(change):
    value = large()
    before = snapshot(value)
    copy, _ = copied(value, digest)
    change(value)

    assert not copy.is_unchanged()
    assert copy.build() == before


@pytest.mark.parametrize("changes", [False, True])
def test_the_exit_of_a_large_argument_shows_whether_it_changed(changes):
    @agenttrace.trace
    def tool(orders: list[Any]) -> list[Any]:
        if changes:
            orders[3]["line"].amount = -1
        return orders

    with recording() as recorded:
        tool(large())

    (one,) = recorded.evidence().executor
    assert one.arguments["orders"][3]["line"]["amount"] == 3
    assert one.result[3]["line"]["amount"] == (-1 if changes else 3)
    assert (one.digest == one.exit_digest) is not changes


def test_the_programs_objects_are_not_kept():
    class Mine:
        def __init__(self) -> None:
            self.sku, self.amount = 1, 2

    value = [Line(n, n) for n in range(2_000)]
    seen = weakref.ref(value[5])
    copy, _ = copied({"lines": value}, digest)
    copy.let_go()
    del value
    gc.collect()

    assert seen() is None
    assert copy.build()["lines"][5] == {"sku": 5, "amount": 5}


def test_no_code_of_the_values_own_runs():
    class Meta(type):
        def __hash__(cls) -> int:
            raise AssertionError("asked")

        def __eq__(cls, other: object) -> bool:
            raise AssertionError("asked")

    class Key(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        __hash__ = str.__hash__

    class Foreign(metaclass=Meta):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("asked")

    odd = Line(1, 2)
    odd.__dict__.clear()
    odd.__dict__.update({Key("sku"): 1, Key("amount"): 2})
    value = [*large(600), Foreign(), odd]
    copy, _ = copied({"value": value}, digest)

    built = copy.build() if type(copy) is Bulk else copy
    assert len(built["value"]) == 602


def test_what_contains_itself_is_marked_as_the_walk_marks_it():
    value: list[Any] = large(600)
    value.append(value)

    copy, _ = copied(value, digest)
    assert copy == snapshot(value)
    assert copy[-1] == {"$cycle": 1}


def test_a_fault_of_the_copy_in_bulk_is_counted_and_said_once_and_the_walk_copies(
    monkeypatch, caplog
):
    class Broken:
        def __init__(self, *_args: Any, **_words: Any) -> None:
            raise ValueError("ours")

    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    monkeypatch.setattr("agenttrace.capture._snapshot.Bulk", Broken)
    forget_faults()

    copies = [copied(large(), digest) for _ in range(2)]

    assert [copy for copy, _ in copies] == [snapshot(large(), digest=digest)] * 2
    assert losses() == {"error:copying in bulk": 2}
    assert len(caplog.records) == 1
    forget_faults()
