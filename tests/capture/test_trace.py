"""`@trace`: what it records of a run, and that the run is what it was."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import pickle
from collections.abc import Iterator

import pytest

from agenttrace import trace
from agenttrace.domain import Ending, Execution
from agenttrace.errors import ConfigurationError
from agenttrace.testing import Recording, recording


@pytest.fixture
def recorded() -> Iterator[Recording]:
    with recording() as recorded:
        yield recorded


def executions(recorded: Recording) -> list[Execution]:
    found = [r.payload for r in recorded.records() if isinstance(r.payload, Execution)]
    return sorted(found, key=lambda one: one.seq or 0)


def only(recorded: Recording) -> Execution:
    (one,) = executions(recorded)
    return one


@trace
def refund(order_id: str, amount_cents: int, currency: str = "USD") -> dict[str, object]:
    return {"order_id": order_id, "amount_cents": amount_cents, "currency": currency}


@trace
async def look_up(order_id: str) -> str:
    await asyncio.sleep(0)
    return order_id


class Desk:
    def __init__(self, name: str = "front") -> None:
        self.name = name

    @trace
    def method(self, order_id: str) -> str:
        return f"{self.name}:{order_id}"

    @classmethod
    @trace
    def under_class(cls, order_id: str) -> str:
        return f"{cls.__name__}:{order_id}"

    @trace
    @classmethod
    def over_class(cls, order_id: str) -> str:
        return f"{cls.__name__}:{order_id}"

    @staticmethod
    @trace
    def under_static(order_id: str) -> str:
        return order_id

    @trace
    @staticmethod
    def over_static(order_id: str) -> str:
        return order_id

    @trace
    async def later(self, order_id: str) -> str:
        return f"{self.name}:{order_id}"


class LookUp:
    def __call__(self, order_id: str) -> str:
        return order_id


# What is recorded


def test_arguments_stand_under_the_functions_own_names_with_defaults_marked(recorded):
    refund("A-104", amount_cents=9800)

    one = only(recorded)
    assert one.arguments == {"order_id": "A-104", "amount_cents": 9800, "currency": "USD"}
    assert one.defaults == ("currency",)
    assert (one.ending, one.result) == (Ending.RETURNED, refund.__wrapped__("A-104", 9800))


def test_arguments_are_copied_before_the_body_can_change_them(recorded):
    @trace
    def clear(items: list[int]) -> None:
        items.clear()

    clear([1, 2])

    one = only(recorded)
    assert one.arguments == {"items": [1, 2]}
    assert one.digest != one.exit_digest


def test_unchanged_arguments_have_one_digest_at_entry_and_exit(recorded):
    @trace
    def count(items: list[int]) -> int:
        return len(items)

    count([1, 2])

    one = only(recorded)
    assert one.digest is not None
    assert one.digest == one.exit_digest


def test_the_tools_exception_passes_through_as_the_same_object(recorded):
    error = ValueError("no such order")

    @trace
    def fail() -> None:
        raise error

    with pytest.raises(ValueError, match="no such order") as caught:
        fail()

    one = only(recorded)
    assert caught.value is error
    assert (one.ending, one.error, one.error_type) == (
        Ending.RAISED,
        "ValueError: no such order",
        "ValueError",
    )
    assert not one.result_observed


def test_wrong_arguments_raise_the_functions_own_error_and_enter_no_body(recorded):
    with pytest.raises(TypeError, match=r"refund\(\) got an unexpected keyword argument 'amount'"):
        refund("A-104", amount=9800)  # type: ignore[call-arg]

    one = only(recorded)
    assert (one.count, one.ending) == (0, Ending.RAISED)
    assert one.arguments == {"args": ["A-104"], "kwargs": {"amount": 9800}}


def test_a_type_error_of_the_body_is_a_run_of_the_body(recorded):
    @trace
    def fail(order_id: str) -> None:
        raise TypeError("not that type")

    with pytest.raises(TypeError):
        fail("A-104")

    assert only(recorded).count == 1


def test_wrong_arguments_of_a_coroutine_function_raise_at_the_call(recorded):
    with pytest.raises(TypeError):
        look_up("A-104", "B-7")  # type: ignore[call-arg]

    assert only(recorded).count == 0


def test_a_cancelled_tool_is_cancelled_and_not_returned(recorded):
    @trace
    async def wait() -> None:
        await asyncio.sleep(60)

    async def cancel() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())

    assert only(recorded).ending is Ending.CANCELLED


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_ends_the_run_and_goes_on(recorded, kind):
    @trace
    def interrupted() -> None:
        raise kind

    with pytest.raises(kind):
        interrupted()

    assert only(recorded).ending is Ending.RAISED


def test_an_execution_inside_another_is_its_child(recorded):
    @trace
    def outer() -> object:
        return refund("A-104", 1)

    outer()

    parent, child = executions(recorded)
    assert (parent.parent, child.parent) == (None, parent.ref)


def test_secrets_are_masked_and_digests_are_of_the_unmasked_values(recorded):
    @trace
    def login(user: str, password: str) -> str:
        raise ValueError(f"wrong password {password}")

    for _ in range(2):
        with pytest.raises(ValueError, match="hunter2-hunter2"):
            login("lena", "hunter2-hunter2")

    first, second = executions(recorded)
    assert "hunter2" not in repr(first)
    assert (first.arguments, first.digest) == (second.arguments, second.digest)


def test_the_idempotency_key_is_the_value_of_the_named_parameter(recorded):
    @trace(idempotency_key="request_id")
    def pay(request_id: str) -> None: ...

    pay("r-1")

    assert only(recorded).idempotency_key == "r-1"


def test_further_keywords_stand_beside_the_parameters(recorded):
    @trace
    def search(query: str, *more: str, **filters: int) -> None: ...

    search("a", "b", limit=3)

    assert only(recorded).arguments == {"query": "a", "more": ["b"], "limit": 3}


def test_a_hostile_argument_changes_nothing(recorded):
    class Hostile:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

        def __repr__(self) -> str:
            raise RuntimeError

    hostile = Hostile()

    @trace
    def give_back(thing: object) -> object:
        return thing

    assert give_back(hostile) is hostile
    assert only(recorded).ending is Ending.RETURNED


# Kinds of callables


@pytest.mark.parametrize(
    ("call", "result", "name"),
    [
        (lambda: Desk().method("A"), "front:A", "method"),
        (lambda: Desk.method(Desk(), "A"), "front:A", "method"),
        (lambda: Desk.under_class("A"), "Desk:A", "under_class"),
        (lambda: Desk().over_class("A"), "Desk:A", "over_class"),
        (lambda: Desk.over_class("A"), "Desk:A", "over_class"),
        (lambda: Desk().under_static("A"), "A", "under_static"),
        (lambda: Desk.over_static("A"), "A", "over_static"),
        (lambda: asyncio.run(Desk().later("A")), "front:A", "later"),
        (lambda: trace(LookUp())("A"), "A", "LookUp"),
        (trace(functools.partial(str, "A")), "A", None),
        (lambda: trace(lambda order_id: f"{order_id}")("A"), "A", "<lambda>"),
    ],
)
def test_each_kind_of_callable_runs_as_before_without_self_or_cls(recorded, call, result, name):
    assert call() == result

    one = only(recorded)
    assert one.result == result
    if name is not None:
        assert (one.name, one.arguments) == (name, {"order_id": "A"})


def test_a_builtin_without_a_signature_runs_too(recorded):
    assert trace(dict)(a=1) == {"a": 1}

    assert only(recorded).ending is Ending.RETURNED


def test_the_span_of_a_coroutine_ends_when_the_work_ends(recorded):
    async def drive() -> None:
        pending = look_up("A-104")
        assert executions(recorded) == []
        await pending

    asyncio.run(drive())

    assert only(recorded).result == "A-104"


def test_the_kind_and_the_signature_stay(recorded):
    assert inspect.iscoroutinefunction(look_up)
    assert inspect.signature(refund) == inspect.signature(refund.__wrapped__)
    assert refund.__name__ == "refund"
    pending = look_up("A")
    assert inspect.iscoroutine(pending)
    asyncio.run(pending)


# Generators


@trace
def numbers(count: int) -> Iterator[int]:
    yield from range(count)
    return "done"  # type: ignore[return-value]


def test_a_generators_items_and_return_value_are_its_result(recorded):
    def consume():
        return (yield from numbers(2))

    consumer = consume()
    assert list(consumer) == [0, 1]

    assert only(recorded).result == [0, 1, "done"]


def test_a_generator_takes_what_is_sent_and_thrown(recorded):
    @trace
    def echo():
        got = yield "ready"
        try:
            yield got
        except KeyError:
            yield "caught"

    running = echo()
    assert [next(running), running.send("x"), running.throw(KeyError("k"))] == [
        "ready",
        "x",
        "caught",
    ]
    assert next(running, "end") == "end"


def test_an_abandoned_generator_is_cancelled_and_closed(recorded):
    closed = []

    @trace
    def held():
        try:
            yield 1
        finally:
            closed.append(True)

    running = held()
    next(running)
    del running
    gc.collect()

    assert closed == [True]
    assert only(recorded).ending is Ending.CANCELLED


def test_the_consumers_work_is_no_child_of_a_suspended_generator(recorded):
    for _ in numbers(1):
        refund("A-104", 1)

    assert [one.parent for one in executions(recorded)] == [None, None]


def test_an_async_generator_runs_and_ends_as_before(recorded):
    @trace
    async def ticks(count: int):
        for index in range(count):
            got = yield index
            if got:
                yield got

    async def consume() -> list[object]:
        running = ticks(2)
        return [await anext(running), await running.asend("x"), [item async for item in running]]

    assert asyncio.run(consume()) == [0, "x", [1]]
    assert only(recorded).result == [0, "x", 1]


# Copies


@pytest.mark.parametrize("tool", [refund, look_up], ids=["sync", "async"])
def test_a_decorated_function_copies_and_pickles_by_reference(tool):
    assert copy.copy(tool) is tool
    assert copy.deepcopy(tool) is tool


def test_a_method_pickles_with_its_object(recorded):
    bound = Desk("back").method

    assert copy.copy(bound)("A") == "back:A"
    assert copy.deepcopy(bound)("A") == "back:A"


# Misuse


def test_decorating_what_cannot_be_called_is_refused():
    with pytest.raises(ConfigurationError, match="not int"):
        trace(3)  # type: ignore[type-var]


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(ConfigurationError, match="not int"):
        trace(name=3)  # type: ignore[call-overload]


def test_nothing_is_recorded_before_anything_asked_for_it():
    from agenttrace.capture import recorder

    was, recorder.is_active = recorder.is_active, False
    try:
        assert refund("A-104", 1)["amount_cents"] == 1
    finally:
        recorder.is_active = was


def test_pickle_by_reference_across_a_module(tmp_path, monkeypatch):
    (tmp_path / "desk_module.py").write_text(
        "from agenttrace import trace\n"
        "@trace\ndef pay(x: int) -> int:\n    return x\n"
        "class Desk:\n    @trace\n    def sell(self, x: int) -> int:\n        return x + 1\n"
        "class Tool:\n    def __call__(self, x: int) -> int:\n        return x + 2\n"
        "tool = trace(Tool())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import desk_module  # type: ignore[import-not-found]

    assert pickle.loads(pickle.dumps(desk_module.pay)) is desk_module.pay
    assert pickle.loads(pickle.dumps(desk_module.Desk().sell))(1) == 2
    assert (
        pickle.loads(pickle.dumps(desk_module.Desk.__dict__["sell"]))
        is (desk_module.Desk.__dict__["sell"])
    )
    assert pickle.loads(pickle.dumps(desk_module.Desk.sell))(desk_module.Desk(), 1) == 2
    assert pickle.loads(pickle.dumps(desk_module.tool))(1) == 3
