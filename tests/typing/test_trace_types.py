"""`trace` keeps what it decorates: kind, parameters and result, as both checkers see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar, assert_type, overload

from agenttrace import trace


@trace
def plain(order_id: str, amount_cents: int = 0) -> dict[str, int]:
    return {order_id: amount_cents}


@trace(name="issue_refund")
def named(order_id: str) -> bool:
    return bool(order_id)


@trace()
def called_empty(count: int) -> float:
    return count / 2


@trace
async def awaited(order_id: str) -> int:
    return len(order_id)


@trace(name="look_up")
async def awaited_and_named(order_id: str, *, limit: int) -> list[str]:
    return [order_id] * limit


@trace
def generated(count: int) -> Iterator[int]:
    yield from range(count)


@trace
async def generated_async(count: int) -> AsyncIterator[int]:
    for index in range(count):
        yield index


ItemT = TypeVar("ItemT")


@trace
def first(items: list[ItemT], /, *more: ItemT, default: ItemT | None = None) -> ItemT | None:
    return items[0] if items else default


@overload
def parsed(text: str) -> int: ...
@overload
def parsed(text: None) -> None: ...
@trace
def parsed(text: str | None) -> int | None:
    return None if text is None else int(text)


@trace
@contextmanager
def opened(order_id: str) -> Iterator[int]:
    yield len(order_id)


@trace
def begun(order_id: str) -> asyncio.Future[int]:
    raise NotImplementedError(order_id)


class Counter:
    """A callable object."""

    def __call__(self, order_id: str) -> int:
        return len(order_id)


class Counts(Protocol):
    """What a counter can be given as."""

    def __call__(self, order_id: str) -> int: ...


counter = trace(Counter())
measured = trace(partial(len, "A-104"))


@trace
class Receipt:
    """A class that is a tool."""

    def __init__(self, order_id: str) -> None:
        self.order_id = order_id


class Desk:
    """Methods keep their binding too."""

    @trace
    def method(self, order_id: str) -> int:
        return len(order_id)

    @classmethod
    @trace
    def made(cls, order_id: str) -> str:
        return order_id

    @trace
    @staticmethod
    def counted(order_id: str) -> int:
        return len(order_id)


def test_a_traced_function_returns_what_it_returned() -> None:
    assert_type(plain("A-104", amount_cents=9800), dict[str, int])
    assert_type(named("A-104"), bool)
    assert_type(called_empty(3), float)
    assert_type(generated(2), Iterator[int])


async def test_a_traced_coroutine_function_stays_one() -> None:
    assert_type(await awaited("A-104"), int)
    assert_type(await awaited_and_named("A-104", limit=2), list[str])
    assert_type(generated_async(2), AsyncIterator[int])


def test_a_traced_method_stays_bound() -> None:
    assert_type(Desk().method("A-104"), int)
    assert_type(Desk.made("A-104"), str)
    assert_type(Desk.counted("A-104"), int)


def test_generic_and_overloaded_functions_stay_so() -> None:
    assert_type(first([1, 2], 3), int | None)
    assert_type(first(["a"], default="b"), str | None)
    assert_type(parsed("3"), int)


def test_what_a_function_gives_to_use_later_stays_typed() -> None:
    with opened("A-104") as length:
        assert_type(length, int)
    manager: AbstractContextManager[int] = opened("A-104")
    start: Callable[[str], asyncio.Future[int]] = begun

    assert manager is not None
    assert callable(start)


def test_callable_objects_partials_and_classes_stay_what_they_are() -> None:
    assert_type(counter, Counter)
    assert_type(counter("A-104"), int)
    assert_type(measured(), int)
    assert_type(Receipt("A-104"), Receipt)
    counts: Counts = counter

    assert callable(counts)


def test_a_traced_function_keeps_its_signature() -> None:
    sync: Callable[[str], bool] = named
    coroutine: Callable[[str], Coroutine[Any, Any, int]] = awaited

    assert callable(sync)
    assert callable(coroutine)
