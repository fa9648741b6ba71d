"""Runs a tool's body as the kind of callable it is, and tells its execution how that went.

What comes out is what would have come out: the same object, the same exception, in the same order.
The execution's context is current only while the body runs; between two items of a generator the
consumer's own spans are nobody's children.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from types import AsyncGeneratorType, CodeType, CoroutineType, GeneratorType, coroutine
from typing import Any

from agenttrace.capture._binding import body_of
from agenttrace.capture._execution import MAX_ITEMS, OpenExecution, Tool, begin
from agenttrace.capture._guard import guard
from agenttrace.capture._snapshot import snapshot
from agenttrace.domain import JsonValue

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]
Runner = Callable[[Tool, Callable[..., Any], Args, Kwargs], Any]


def run_sync(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
    """Run a plain function."""
    execution = begin(tool, wrapped, args, kwargs)
    if execution is None:
        return wrapped(*args, **kwargs)
    execution.attach()
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        execution.detach()
        execution.raised(error)
        raise
    execution.detach()
    execution.returned(result)
    return result


def run_async(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
    """Run a coroutine function: it refuses wrong arguments now, and runs when it is awaited."""
    inner = _call(tool, wrapped, args, kwargs)
    if type(inner) is not CoroutineType:
        return inner
    return _named_like(inner, _await(tool, wrapped, args, kwargs, _Unstarted(inner)))


def run_iterable_coroutine(
    tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs
) -> Any:
    """Run a function of `types.coroutine`: a generator that can be awaited."""
    inner = _call(tool, wrapped, args, kwargs)
    if type(inner) is not GeneratorType:
        return inner
    return _named_like(inner, _await_iterable(tool, wrapped, args, kwargs, _Unstarted(inner)))


def run_generator(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
    """Run a generator function: it refuses wrong arguments now, and runs when it is iterated."""
    inner = _call(tool, wrapped, args, kwargs)
    if type(inner) is not GeneratorType:
        return inner
    return _named_like(inner, _iterate(tool, wrapped, args, kwargs, inner))


def run_async_generator(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
    """Run an asynchronous generator function."""
    inner = _call(tool, wrapped, args, kwargs)
    if type(inner) is not AsyncGeneratorType:
        return inner
    return _named_like(inner, _iterate_async(tool, wrapped, args, kwargs, inner))


def runner_of(function: Any) -> Runner:
    """How a function of this kind is run."""
    function = body_of(function)
    if inspect.iscoroutinefunction(function):
        return run_async
    if inspect.isgeneratorfunction(function):
        code = getattr(function, "__code__", None)
        is_awaitable = type(code) is CodeType and code.co_flags & inspect.CO_ITERABLE_COROUTINE
        return run_iterable_coroutine if is_awaitable else run_generator
    if inspect.isasyncgenfunction(function):
        return run_async_generator
    return run_sync


def _named_like(inner: Any, outer: Any) -> Any:
    outer.__name__, outer.__qualname__ = inner.__name__, inner.__qualname__
    return outer


def _call(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
    """Make the coroutine or generator; a call that is refused is recorded as one."""
    try:
        return wrapped(*args, **kwargs)
    except BaseException as error:
        execution = begin(tool, wrapped, args, kwargs)
        if execution is not None:
            execution.raised(error)
        raise


class _Unstarted:
    """A coroutine that waits for ours around it to begin, and is closed where that never does.

    It would warn that it was never awaited, beside ours or where there is nothing to warn of: a
    task that is cancelled before its first step.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def take(self) -> Any:
        inner, self._inner = self._inner, None
        return inner

    def __del__(self) -> None:
        if self._inner is not None:
            self._inner.close()


@coroutine
def _await_iterable(
    tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs, unstarted: _Unstarted
) -> Generator[Any, Any, Any]:
    return (yield from _await(tool, wrapped, args, kwargs, unstarted))


async def _await(
    tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs, unstarted: _Unstarted
) -> Any:
    inner = unstarted.take()
    execution = begin(tool, wrapped, args, kwargs)
    if execution is None:
        return await inner
    execution.attach()
    try:
        result = await inner
    except BaseException as error:
        execution.detach()
        execution.raised(error)
        raise
    execution.detach()
    execution.returned(result)
    return result


class _Items:
    """What a generator gave, copied as it came, up to a number."""

    def __init__(self) -> None:
        self.kept: list[JsonValue] = []
        self.count = 0

    def add(self, item: Any) -> None:
        self.count += 1
        if self.count <= MAX_ITEMS:
            with guard("copying an item"):
                self.kept.append(snapshot(item))


def _iterate(
    tool: Tool,
    wrapped: Callable[..., Any],
    args: Args,
    kwargs: Kwargs,
    inner: Generator[Any, Any, Any],
) -> Generator[Any, Any, Any]:
    execution = begin(tool, wrapped, args, kwargs)
    if execution is None:
        return (yield from inner)
    items = _Items()
    step: Callable[[], Any] = inner.__next__
    while True:
        execution.attach()
        try:
            item = step()
        except StopIteration as stop:
            execution.detach()
            execution.yielded(items.kept, items.count, stop.value)
            return stop.value
        except BaseException as error:
            execution.detach()
            execution.raised(error)
            raise
        execution.detach()
        items.add(item)
        try:
            sent = yield item
        except GeneratorExit as closing:
            _close(execution, inner, closing)
            raise
        except BaseException as thrown:  # noqa: BLE001 - handed to the body, which decides
            step = _throwing(inner, thrown)
        else:
            step = _sending(inner, sent)


def _sending(inner: Generator[Any, Any, Any], sent: Any) -> Callable[[], Any]:
    return inner.__next__ if sent is None else lambda: inner.send(sent)


def _throwing(inner: Generator[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: inner.throw(error)


def _close(
    execution: OpenExecution, inner: Generator[Any, Any, Any], closing: GeneratorExit
) -> None:
    execution.attach()
    try:
        inner.close()
    except BaseException as error:
        execution.detach()
        execution.raised(error)
        raise
    execution.detach()
    execution.raised(closing)


async def _iterate_async(
    tool: Tool,
    wrapped: Callable[..., Any],
    args: Args,
    kwargs: Kwargs,
    inner: AsyncGenerator[Any, Any],
) -> AsyncGenerator[Any, Any]:
    execution = begin(tool, wrapped, args, kwargs)
    items = _Items()
    step: Callable[[], Any] = inner.__anext__
    while True:
        _attach(execution)
        try:
            item = await step()
        except StopAsyncIteration:
            _detach(execution)
            if execution is not None:
                execution.yielded(items.kept, items.count, None)
            return
        except BaseException as error:
            _detach(execution)
            if execution is not None:
                execution.raised(error)
            raise
        _detach(execution)
        items.add(item)
        try:
            sent = yield item
        except GeneratorExit as closing:
            _attach(execution)
            try:
                await inner.aclose()
            finally:
                _detach(execution)
                if execution is not None:
                    execution.raised(closing)
            raise
        except BaseException as thrown:  # noqa: BLE001 - handed to the body, which decides
            step = _throwing_async(inner, thrown)
        else:
            step = _sending_async(inner, sent)


def _sending_async(inner: AsyncGenerator[Any, Any], sent: Any) -> Callable[[], Any]:
    return lambda: inner.asend(sent)


def _throwing_async(inner: AsyncGenerator[Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: inner.athrow(error)


def _attach(execution: OpenExecution | None) -> None:
    if execution is not None:
        execution.attach()


def _detach(execution: OpenExecution | None) -> None:
    if execution is not None:
        execution.detach()
