"""Callables whose work goes on after the call: coroutines, generators, tasks, context managers."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import types
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

from tests.capture.shapes.plain_shapes import Desk, passing
from tests.capture.shapes.shape import Decorator, Job, Table

table = Table()
shape = table.shape


# Coroutines


@shape()
def async_function(decorate: Decorator) -> Any:
    @decorate
    async def tool(job: Job) -> object:
        return await job.act_later()

    return tool


@shape()
def async_method(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        async def tool(self, job: Job) -> object:
            return await job.act_later()

    return Own().tool


@shape()
def async_above_classmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @classmethod
        async def tool(cls, job: Job) -> object:
            return await job.act_later()

    return Own.tool


@shape()
def async_below_classmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @classmethod
        @decorate
        async def tool(cls, job: Job) -> object:
            return await job.act_later()

    return Own().tool


@shape()
def async_above_staticmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @staticmethod
        async def tool(job: Job) -> object:
            return await job.act_later()

    return Own().tool


@shape()
def async_below_staticmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @staticmethod
        @decorate
        async def tool(job: Job) -> object:
            return await job.act_later()

    return Own().tool


@shape()
def async_callable_object(decorate: Decorator) -> Any:
    class Acting:
        async def __call__(self, job: Job) -> object:
            return await job.act_later()

    return decorate(Acting())


@shape()
def async_call_of_a_class(decorate: Decorator) -> Any:
    class Acting:
        @decorate
        async def __call__(self, job: Job) -> object:
            return await job.act_later()

    return Acting()


@shape()
def async_above_partial(decorate: Decorator) -> Any:
    async def tool(first: int, job: Job) -> object:
        return await job.act_later()

    return decorate(functools.partial(tool, 1))


@shape("first", "job")
def async_below_partial(decorate: Decorator) -> Any:
    @decorate
    async def tool(first: int, job: Job) -> object:
        return await job.act_later()

    return functools.partial(tool, 1)


@shape()
def async_above_wraps(decorate: Decorator) -> Any:
    @decorate
    @passing
    async def tool(job: Job) -> object:
        return await job.act_later()

    return tool


@shape()
def async_below_wraps(decorate: Decorator) -> Any:
    @passing
    @decorate
    async def tool(job: Job) -> object:
        return await job.act_later()

    return tool


@shape()
def async_decorated_twice(decorate: Decorator) -> Any:
    @decorate
    @decorate
    async def tool(job: Job) -> object:
        return await job.act_later()

    return tool


@shape("job", "depth", count=3)
def async_recursive(decorate: Decorator) -> Any:
    @decorate
    async def tool(job: Job, depth: int = 2) -> object:
        return await (tool(job, depth - 1) if depth else job.act_later())

    return tool


@shape()
def generator_to_await(decorate: Decorator) -> Any:
    @decorate
    @types.coroutine
    def tool(job: Job) -> Generator[Any, Any, object]:
        return (yield from job.act_later().__await__())

    return tool


# What can be awaited, of plain functions


def settable(error: BaseException, job: Job) -> BaseException:
    """The error, where a future takes it."""
    if isinstance(error, StopIteration):
        job.error = RuntimeError("no future takes it")
        return job.error
    return error


@shape()
def giving_a_coroutine(decorate: Decorator) -> Any:
    return decorate(lambda job: job.act_later())


@shape()
def giving_a_generator_to_await(decorate: Decorator) -> Any:
    @types.coroutine
    def inner(job: Job) -> Generator[Any, Any, object]:
        return (yield from job.act_later().__await__())

    return decorate(lambda job: inner(job))  # noqa: PLW0108 - a plain function around it


@shape()
def giving_a_task(decorate: Decorator) -> Any:
    return decorate(lambda job: asyncio.create_task(job.act_later()))


@shape()
def giving_a_future(decorate: Decorator) -> Any:
    def tool(job: Job) -> asyncio.Future[object]:
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        job.begin()

        def end() -> None:
            if not future.cancelled():
                try:
                    future.set_result(job.end())
                except BaseException as error:  # noqa: BLE001 - goes to the future
                    future.set_exception(settable(error, job))

        asyncio.get_running_loop().call_soon(end)
        return future

    return decorate(tool)


@shape()
def giving_a_future_that_is_done(decorate: Decorator) -> Any:
    def tool(job: Job) -> asyncio.Future[object]:
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        job.begin()
        try:
            future.set_result(job.end())
        except BaseException as error:  # noqa: BLE001 - goes to the future
            future.set_exception(settable(error, job))
        return future

    return decorate(tool)


@shape()
def giving_a_gathering(decorate: Decorator) -> Any:
    async def first(job: Job) -> object:
        (found,) = await asyncio.gather(job.act_later())
        return found

    return decorate(lambda job: asyncio.gather(first(job)))


class Handle:
    """Can be awaited, and is of no kind that anybody knows."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __await__(self) -> Generator[Any, Any, object]:
        return self.job.act_later().__await__()


@shape()
def giving_an_object_to_await(decorate: Decorator) -> Any:
    return decorate(Handle)


@shape()
def giving_an_object_to_await_of_a_function(decorate: Decorator) -> Any:
    return decorate(lambda job: Handle(job))  # noqa: PLW0108


@shape()
def in_another_thread(decorate: Decorator) -> Any:
    def act(job: Job) -> object:
        try:
            return job.act()
        except StopIteration as error:
            raise settable(error, job) from error.__cause__

    tool = decorate(act)
    return lambda job: asyncio.to_thread(tool, job)


# Generators


@shape()
def generator(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job) -> Iterator[object]:
        return (yield from job.steps())

    return tool


@shape()
def generator_method(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(self, job: Job) -> Iterator[object]:
            return (yield from job.steps())

    return Own().tool


@shape()
def generator_above_classmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @classmethod
        def tool(cls, job: Job) -> Iterator[object]:
            return (yield from job.steps())

    return Own.tool


@shape()
def generator_below_staticmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @staticmethod
        @decorate
        def tool(job: Job) -> Iterator[object]:
            return (yield from job.steps())

    return Own().tool


@shape()
def generator_of_a_callable_object(decorate: Decorator) -> Any:
    class Acting:
        def __call__(self, job: Job) -> Iterator[object]:
            return (yield from job.steps())

    return decorate(Acting())


@shape()
def generator_above_partial(decorate: Decorator) -> Any:
    def tool(first: int, job: Job) -> Iterator[object]:
        return (yield from job.steps())

    return decorate(functools.partial(tool, 1))


@shape()
def giving_a_generator(decorate: Decorator) -> Any:
    return decorate(lambda job: job.steps())


async def steps_later(job: Job) -> AsyncIterator[object]:
    """The body's work, in items, with the event loop's turn in between and at the end."""
    job.begin()
    try:
        await asyncio.sleep(0)
        job.log.append(("sent", (yield job.value)))
        await asyncio.sleep(0)
    except BaseException as error:
        job.log.append(("stopped", type(error), job.watch()))
        await asyncio.sleep(0)
        raise
    job.end()


@shape()
def async_generator(decorate: Decorator) -> Any:
    @decorate
    async def tool(job: Job) -> AsyncIterator[object]:
        async with contextlib.aclosing(steps_later(job)) as items:
            async for item in items:
                yield item

    return tool


@shape()
def async_generator_method(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        async def tool(self, job: Job) -> AsyncIterator[object]:
            async with contextlib.aclosing(steps_later(job)) as items:
                async for item in items:
                    yield item

    return Own().tool


@shape()
def async_generator_above_classmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @classmethod
        async def tool(cls, job: Job) -> AsyncIterator[object]:
            async with contextlib.aclosing(steps_later(job)) as items:
                async for item in items:
                    yield item

    return Own().tool


@shape()
def async_generator_of_a_callable_object(decorate: Decorator) -> Any:
    class Acting:
        async def __call__(self, job: Job) -> AsyncIterator[object]:
            async with contextlib.aclosing(steps_later(job)) as items:
                async for item in items:
                    yield item

    return decorate(Acting())


@shape()
def giving_an_async_generator(decorate: Decorator) -> Any:
    return decorate(lambda job: steps_later(job))  # noqa: PLW0108


# Context managers


@shape()
def above_contextmanager(decorate: Decorator) -> Any:
    @decorate
    @contextlib.contextmanager
    def tool(job: Job) -> Iterator[object]:
        yield from job.steps()

    return tool


@shape()
def below_contextmanager(decorate: Decorator) -> Any:
    @contextlib.contextmanager
    @decorate
    def tool(job: Job) -> Iterator[object]:
        yield from job.steps()

    return tool


@shape()
def above_asynccontextmanager(decorate: Decorator) -> Any:
    @decorate
    @contextlib.asynccontextmanager
    async def tool(job: Job) -> AsyncIterator[object]:
        async with contextlib.aclosing(steps_later(job)) as items:
            async for item in items:
                yield item

    return tool


@shape()
def below_asynccontextmanager(decorate: Decorator) -> Any:
    @contextlib.asynccontextmanager
    @decorate
    async def tool(job: Job) -> AsyncIterator[object]:
        async with contextlib.aclosing(steps_later(job)) as items:
            async for item in items:
                yield item

    return tool


UNOBSERVED: frozenset[str] = frozenset(
    {"giving_an_object_to_await", "giving_an_object_to_await_of_a_function"}
)
"""What can be awaited, and whose end nobody but its own class could tell of."""

UNSTOPPABLE: frozenset[str] = frozenset({"in_another_thread"})
"""A thread runs on when nobody waits for it any more."""
