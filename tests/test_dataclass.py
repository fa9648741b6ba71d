"""Our dataclasses behave as the standard library's, which they stand in for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import threading
import weakref
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import domain
from agenttrace._dataclass import dataclass as light
from agenttrace._dataclass import field as light_field
from agenttrace._dataclass import replace as light_replace

OURS = sorted(
    (
        one
        for one in vars(domain).values()
        if isinstance(one, type) and dataclasses.is_dataclass(one)
    ),
    key=lambda one: one.__name__,
)


def classes(dataclass: Any, field: Any) -> tuple[type[Any], type[Any]]:
    """A class and one made from it, by either decorator."""

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Order:
        """One order."""

        name: str
        amount: Any = 1
        rules: Mapping[str, Any] = field(default_factory=dict)

        @property
        def doubled(self) -> Any:
            return self.amount * 2

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Paid(Order):
        by: str | None = None

    return Order, Paid


Order, Paid = classes(light, light_field)
StdOrder, StdPaid = classes(dataclasses.dataclass, dataclasses.field)
for _kind, _name in ((Order, "Order"), (Paid, "Paid")):
    _kind.__qualname__ = _name  # so that pickle finds them

values = st.none() | st.integers() | st.text(max_size=3) | st.tuples(st.integers())
fields = st.fixed_dictionaries(
    {"name": values}, optional={"amount": values, "rules": st.dictionaries(st.text(), values)}
)
paid = st.fixed_dictionaries({"name": values}, optional={"amount": values, "by": values})


def shown(one: object) -> str:
    return re.sub(r"^[\w.<>]*?(?=Order|Paid)", "", repr(one))


def outcome(work: Any) -> tuple[str, Any]:
    """What work gives, or the type and text of what it raises; names of classes left aside."""
    try:
        return "gave", work()
    except (TypeError, AttributeError) as error:
        return type(error).__name__, re.sub(r"\S*(?=(Order|Paid)\.)", "", str(error))


@given(one=fields, other=fields)
def test_equality_hash_and_repr_are_those_of_a_dataclass(one, other):
    mine, theirs = (Order(**one), Order(**other)), (StdOrder(**one), StdOrder(**other))

    assert (mine[0] == mine[1]) == (theirs[0] == theirs[1])
    assert mine[0] == Order(**one)
    assert outcome(lambda: hash(mine[0]) == hash(Order(**one))) == outcome(
        lambda: hash(theirs[0]) == hash(StdOrder(**one))
    )
    assert shown(mine[0]) == shown(theirs[0])


@given(given_fields=paid)
def test_a_class_made_from_another_has_its_fields_first(given_fields):
    mine, theirs = Paid(**given_fields), StdPaid(**given_fields)

    assert shown(mine) == shown(theirs)
    assert dataclasses.asdict(mine) == dataclasses.asdict(theirs)
    assert mine != Order(name=given_fields["name"])
    assert isinstance(mine, Order)


@given(one=paid, changes=paid)
def test_what_replaces_fields_takes_them(one, changes):
    expected = StdPaid(**{**one, **changes})

    for replaced in (
        dataclasses.replace(Paid(**one), **changes),
        light_replace(Paid(**one), **changes),
        Paid(**one).__replace__(**changes),
    ):
        assert type(replaced) is Paid
        assert shown(replaced) == shown(expected)


@given(one=paid)
def test_a_copy_and_a_pickle_are_equal(one):
    made = Paid(**one)

    for other in (
        copy.copy(made),
        copy.deepcopy(made),
        *(pickle.loads(pickle.dumps(made, n)) for n in range(2, pickle.HIGHEST_PROTOCOL + 1)),
    ):
        assert other == made
        assert type(other) is Paid


WRONG = [
    {},
    {"amount": 2},
    {"name": "n", "amuont": 2},
    {"name": "n", "by": 1, "at": 2},
]


@pytest.mark.parametrize("given_fields", WRONG)
@pytest.mark.parametrize("made_before", [0, 1, 5])
def test_a_missing_or_unknown_field_is_told_as_a_dataclass_tells_it(given_fields, made_before):
    (mine, _), (theirs, _) = (
        classes(light, light_field),
        classes(dataclasses.dataclass, dataclasses.field),
    )
    for kind in (mine, theirs):
        for _ in range(made_before):
            kind(name="n")

    said = outcome(lambda: mine(**given_fields))

    assert said == outcome(lambda: theirs(**given_fields))
    assert said[0] == "TypeError"
    assert outcome(lambda: mine("n")) == outcome(lambda: theirs("n"))


@pytest.mark.parametrize("name", ["name", "amount", "other"])
def test_no_field_can_be_set_or_deleted(name):
    made = Order(name="n")

    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(made, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(made, name)


def test_it_has_slots_and_no_weak_references_as_with_slots_of_a_dataclass():
    made = Paid(name="n")

    assert not hasattr(made, "__dict__")
    with pytest.raises(TypeError, match="weak reference"):
        weakref.ref(made)
    assert (Paid.__slots__, Order.__match_args__) == (StdPaid.__slots__, StdOrder.__match_args__)


def test_each_object_has_its_own_default_that_is_made_anew():
    few = [Order(name="n") for _ in range(5)]

    assert len({id(one.rules) for one in few}) == len(few)


@pytest.mark.parametrize("kind", OURS)
def test_fields_and_signature_of_our_types_are_those_of_a_dataclass(kind):
    parameters = inspect.signature(kind).parameters

    assert [one.name for one in dataclasses.fields(kind)] == list(parameters)
    assert {one.kind for one in parameters.values()} <= {inspect.Parameter.KEYWORD_ONLY}
    for one in dataclasses.fields(kind):
        has_default = one.default is not dataclasses.MISSING or (
            one.default_factory is not dataclasses.MISSING
        )
        assert has_default == (parameters[one.name].default is not inspect.Parameter.empty)


def test_a_further_class_may_add_what_it_likes():
    class Late(Order):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.note = "late"

    @dataclasses.dataclass(frozen=True)
    class Priced(Order):
        price: int = 3

    for _ in range(4):
        late = Late(name="n")
        assert (late.name, late.amount, late.doubled, late.note) == ("n", 1, 2, "late")
        assert dataclasses.asdict(Priced(name="n", price=4))["price"] == 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        late.name = "m"


def test_fields_that_a_further_dataclass_added_are_copied_with_the_others():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Priced(Order):
        price: int = 3
        """Unlike the default, so that a lost one shows."""

    Priced.__qualname__ = "PricedOrder"
    globals()["PricedOrder"] = Priced  # so that pickle finds it
    one = Priced(name="n", price=4)

    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again == one
    assert light_replace(one, name="m") == Priced(name="m", price=4)


def test_what_another_thread_has_just_made_for_a_class_is_made_again_for_that_class():
    base, kind = classes(light, light_field)
    names = ("__init__", "__eq__", "__hash__", "__dataclass_fields__")
    held = {name: inspect.getattr_static(kind, name) for name in names}
    one, *_, other = [kind(name="n", rules=None, by=number) for number in range(4)]
    assert one != other
    assert hash(one) != hash(other)
    assert len(dataclasses.fields(kind)) == 4

    held["__init__"].__get__(one, kind)(name="n", rules=None, by="late")
    assert one.by == "late"
    assert held["__eq__"].__get__(one, kind)(other) is False
    assert held["__hash__"].__get__(one, kind)() == hash(one)
    assert list(held["__dataclass_fields__"].__get__(None, kind)) == [*base.__light_fields__, "by"]


def test_the_constructor_bound_to_its_class_is_that_of_the_class():
    # As `inspect.signature` binds it from Python 3.13 on; the first ones are not compiled yet.
    for _ in range(4):
        kind, further = classes(light, light_field)
        for one in (kind, further, further):
            bound = inspect.getattr_static(one, "__init__").__get__(one, type(one))
            names = [each.name for each in dataclasses.fields(one)]
            assert list(inspect.signature(bound).parameters) == names


def test_a_class_that_is_not_frozen_can_be_changed_and_not_hashed():
    @light(slots=True)
    class Open:
        key: str = ""
        found: list[int] = light_field(default_factory=list)

    one, other = Open("a"), Open(key="a")
    other.found.append(1)

    assert (one.found, one == other) == ([], False)
    one.found = [1]
    assert one == other
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    assert Open.__match_args__ == ("key", "found")


def test_a_mutable_default_is_refused():
    with pytest.raises(ValueError, match="mutable default"):

        @light(frozen=True)
        class _Shared:
            found: list[int] = []  # noqa: RUF012


def test_many_threads_may_make_the_first_objects():
    for _ in range(20):
        kind, _ = classes(light, light_field)
        start = threading.Barrier(4)
        made: list[Any] = []

        def make(kind: type[Any] = kind, start: Any = start, made: list[Any] = made) -> None:
            start.wait()
            made.extend(kind(name="n", amount=n) for n in range(6))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(set(map(repr, made))) == 6
        assert len(made) == 24
