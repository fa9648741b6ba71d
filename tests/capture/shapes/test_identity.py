"""What is asked of a decorated callable besides calling it: copies, pickles, references, names."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import pickle
import typing
import weakref
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from types import FunctionType, MethodType
from typing import Any
from unittest import mock

import pytest
from pydantic import BaseModel, TypeAdapter, create_model

from agenttrace import trace
from agenttrace.domain import Ending
from agenttrace.errors import ConfigurationError
from agenttrace.testing import Recording, recording
from tests.capture.shapes import stored
from tests.capture.shapes.shape import executions


@pytest.fixture
def recorded() -> Iterator[Recording]:
    with recording() as recorded:
        yield recorded


BY_REFERENCE = {
    "function": stored.pay,
    "async function": stored.pay_later,
    "method in its class": stored.Desk.sell,
    "method as written": stored.Desk.__dict__["sell"],
    "builtin": stored.builtin,
    "class": stored.Receipt,
}
BOUND: dict[str, Callable[[Any], Any]] = {
    "method": lambda desk: desk.sell,
    "generator method": lambda desk: desk.items,
    "cached method": lambda desk: desk.cached,
    "classmethod": lambda desk: desk.made,
    "classmethod above": lambda desk: desk.made_below,
    "staticmethod": lambda desk: desk.counted,
    "method of an inner class": lambda _: stored.Desk.Inner().deep,
}
BY_VALUE = {
    "callable object": stored.tool,
    "bound method": stored.bound,
    "partial": stored.part,
    "function under another name": stored.under_another_name,
}


def results(given: Any) -> object:
    return list(given) if inspect.isgenerator(given) else given


# Copies and pickles


@pytest.mark.parametrize("tool", BY_REFERENCE.values(), ids=list(BY_REFERENCE))
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_a_name_leads_to_is_copied_and_pickled_as_itself(tool, protocol):
    assert copy.copy(tool) is tool
    assert copy.deepcopy(tool) is tool
    if tool is not stored.builtin:
        assert pickle.loads(pickle.dumps(tool, protocol)) is tool


@pytest.mark.parametrize("get", BOUND.values(), ids=list(BOUND))
def test_a_bound_method_is_copied_and_pickled_with_its_object(get, recorded):
    tool = get(stored.Desk("back"))
    before = results(tool("A"))

    copies = [copy.copy(tool), copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))]

    assert [results(one("A")) for one in copies] == [before] * 3
    assert len(executions(recorded)) == 4
    assert [one.arguments for one in executions(recorded)] == [{"order_id": "A"}] * 4


def test_a_deep_copy_of_a_bound_method_has_a_deep_copy_of_its_object():
    desk = stored.Desk("back")

    copied = copy.deepcopy({"desk": desk, "tool": desk.sell})

    assert copied["tool"].__self__ is copied["desk"]
    assert copied["desk"] is not desk


@pytest.mark.parametrize("tool", BY_VALUE.values(), ids=list(BY_VALUE))
def test_what_has_no_name_of_its_own_is_pickled_by_value_and_still_recorded(tool, recorded):
    args = () if tool is stored.part else ("A",)
    before = tool(*args)

    copies = [copy.copy(tool), copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))]

    assert [one(*args) for one in copies] == [before] * 3
    assert len({one.name for one in executions(recorded)}) == 1
    assert len(executions(recorded)) == 4


def test_a_deep_copy_of_a_callable_object_has_a_state_of_its_own():
    copied = copy.deepcopy(stored.tool)
    copied.rates.append(3)

    assert stored.tool.rates == [2]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_cannot_be_copied_fails_as_before(make):
    def local() -> None: ...

    for tool in (local, lambda: None, iter([1]).__next__):
        assert kind_of_failure(make, trace(tool)) == kind_of_failure(make, tool)


def kind_of_failure(make: Callable[[Any], object], tool: Any) -> type | None:
    try:
        make(tool)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error)
    return None


def test_tools_go_to_worker_processes():
    with get_context("fork").Pool(1) as pool:
        found = [
            pool.apply(tool, ("A",))
            for tool in (stored.pay, stored.Desk("back").sell, stored.tool, stored.bound)
        ]

    assert found == ["A:1", "back:A", "[2]:A", "back:A"]


# References, equality, attributes


def test_methods_are_equal_hashed_and_held_weakly_as_before(recorded):
    desk = stored.Desk()

    assert desk.sell == desk.sell
    assert hash(desk.sell) == hash(desk.sell)
    assert desk.sell != stored.Desk("back").sell
    assert desk.sell.__self__ is desk
    assert desk.sell.__func__ == stored.Desk.sell
    assert type(desk.sell) is MethodType
    assert stored.Desk.sell is stored.Desk.__dict__["sell"]
    held = weakref.WeakMethod(desk.sell)
    assert held()("A") == "front:A"  # type: ignore[misc]
    del desk
    gc.collect()
    assert held() is None
    assert [one.arguments for one in executions(recorded)] == [{"order_id": "A"}]


def test_a_decorated_function_is_equal_to_and_hashed_as_the_function():
    inner = stored.pay.__wrapped__  # type: ignore[attr-defined]

    assert stored.pay == inner
    assert hash(stored.pay) == hash(inner)
    assert repr(stored.pay) == repr(inner)
    assert weakref.ref(stored.pay)() is stored.pay


@pytest.mark.parametrize("attribute", ["__closure__", "__globals__", "__code__", "__dict__"])
def test_attributes_are_the_functions_own(attribute):
    inner = stored.pay.__wrapped__  # type: ignore[attr-defined]

    assert getattr(stored.pay, attribute) == getattr(inner, attribute)


def test_attributes_that_are_set_are_set_on_the_function():
    @trace
    def tool() -> None: ...

    inner = tool.__wrapped__  # type: ignore[attr-defined]
    tool.strict = True  # type: ignore[attr-defined]
    tool.__doc__ = "Does nothing."
    tool.__name__ = "other"

    assert (inner.strict, inner.__doc__, inner.__name__) == (True, "Does nothing.", "other")
    del tool.strict  # type: ignore[attr-defined]
    assert not hasattr(inner, "strict")


def test_defaults_that_change_are_recorded_as_they_are_now(recorded):
    @trace
    def tool(amount: int = 1, *, limit: int = 2) -> int:
        return amount + limit

    tool()
    tool.__defaults__ = (5,)  # type: ignore[attr-defined]
    tool.__kwdefaults__ = {"limit": 7}  # type: ignore[attr-defined]

    assert tool() == 12
    assert [one.arguments for one in executions(recorded)] == [
        {"amount": 1, "limit": 2},
        {"amount": 5, "limit": 7},
    ]


def test_what_reads_a_function_reads_the_original():
    inner = stored.pay.__wrapped__  # type: ignore[attr-defined]

    assert inspect.unwrap(stored.pay) is inner
    assert inspect.get_annotations(stored.pay, eval_str=True) == {
        "order_id": str,
        "amount": int,
        "return": str,
    }
    assert typing.get_type_hints(stored.Desk().sell) == {"order_id": str, "return": str}
    assert inspect.getsourcefile(stored.pay) == inspect.getsourcefile(inner)
    assert str(inspect.signature(stored.Desk().sell)) == "(order_id: 'str') -> 'str'"
    assert str(inspect.signature(stored.Desk.sell)) == "(self, order_id: 'str') -> 'str'"
    assert isinstance(stored.pay, FunctionType)
    assert functools.wraps(stored.pay)(lambda: None).__name__ == "pay"


def test_a_mock_made_after_it_has_its_signature():
    made = mock.create_autospec(stored.pay)
    with mock.patch.object(stored.Desk, "sell", autospec=True) as sell:
        stored.Desk().sell("A")

    assert sell.call_args.args[1:] == ("A",)
    with pytest.raises(TypeError):
        made("A", 1, 2)


def test_no_object_lives_longer_because_its_method_was_called(recorded):
    class Own(list[int]):
        push = trace(list.append)

        @trace
        def tool(self) -> None: ...

        @trace
        @functools.lru_cache(maxsize=0)  # noqa: B019
        def cached(self) -> None: ...

        part = trace(functools.partialmethod(tool))

        def __hash__(self) -> int:  # type: ignore[override]
            return 1

    own = Own()
    for call in (own.tool, own.cached, own.part, functools.partial(own.push, 1)):
        call()
    del call
    held = weakref.ref(own)
    del own
    gc.collect()

    assert held() is None


class Loud:
    """Says when anything but its class's `__call__` is asked for."""

    heard: typing.ClassVar[list[str]] = []

    def __call__(self, order_id: str) -> str:
        return order_id

    def __getattr__(self, name: str) -> object:
        Loud.heard.append(name)
        raise RuntimeError(name)


def test_a_callable_object_is_asked_for_nothing(recorded):
    tool = trace(Loud())

    assert [tool("A"), tool("B")] == ["A", "B"]
    assert Loud.heard == []
    assert [one.arguments for one in executions(recorded)] == [{"order_id": "A"}, {"order_id": "B"}]
    assert executions(recorded)[0].name == "Loud"


# Classes


def test_a_decorated_class_is_still_a_class(recorded):
    receipt = stored.Receipt("A")

    class Longer(stored.Receipt):
        pass

    assert isinstance(receipt, stored.Receipt)
    assert issubclass(Longer, stored.Receipt)
    assert isinstance(Longer("B"), stored.Receipt)
    assert inspect.isclass(stored.Receipt)
    assert [one.name for one in executions(recorded)] == ["Receipt"]


# Twice, and misuse


def test_decorating_twice_records_once_and_the_outer_name_wins(recorded):
    def tool(key: str) -> str:
        return key

    trace(name="outer")(trace(name="inner", idempotency_key="key")(tool))("A")
    trace(trace(name="inner")(tool))("A")

    first, second = executions(recorded)
    assert (first.name, first.idempotency_key, second.name) == ("outer", "A", "inner")


@pytest.mark.parametrize("kind", [property, functools.cached_property])
def test_above_a_property_it_is_refused_with_what_to_do(kind):
    with pytest.raises(ConfigurationError, match=r"below @property"):
        trace(kind(lambda self: 1))


def test_at_the_edge_of_the_stack_a_tool_that_ran_gives_its_result(recorded):
    ran: list[int] = []

    @trace
    def tool(number: int) -> int:
        ran.append(number)
        return number

    def at_depth(left: int, number: int) -> int:
        return tool(number) if left == 0 else at_depth(left - 1, number)

    outcomes = []
    room = _room()
    for number in range(80):
        ran.clear()
        try:
            outcomes.append((at_depth(room - number, number) == number, bool(ran)))
        except RecursionError:
            outcomes.append((False, bool(ran)))

    assert {(True, True), (False, False)} == set(outcomes)


def _room() -> int:
    def dive(depth: int) -> int:
        try:
            return dive(depth + 1)
        except RecursionError:
            return depth

    return dive(0) - 2


# Schemas


class Model(BaseModel):
    order_id: str
    amount: int = 1


def test_schemas_made_of_it_are_the_originals():
    inner = stored.pay.__wrapped__  # type: ignore[attr-defined]

    assert TypeAdapter(stored.pay).json_schema() == TypeAdapter(inner).json_schema()
    assert TypeAdapter(stored.Desk().sell).json_schema()["required"] == ["order_id"]
    fields = {
        name: (parameter.annotation, ... if parameter.default is parameter.empty else 1)
        for name, parameter in inspect.signature(stored.pay, eval_str=True).parameters.items()
    }
    made = create_model("Model", **fields)
    assert made.model_json_schema() == Model.model_json_schema()


def test_a_traced_coroutine_function_is_taken_as_one_by_asyncio(recorded):
    assert asyncio.iscoroutinefunction(stored.pay_later)
    assert asyncio.run(stored.pay_later("A")) == "A"
    assert [one.ending for one in executions(recorded)] == [Ending.RETURNED]
