"""Follows coroutines and generators to their end, one step of the body at a time.

Between two items of a generator the consumer's own spans are nobody's children. Whatever is sent or
thrown goes to the body, which decides; no exception is kept longer than the body would keep it.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from types import CoroutineType, GeneratorType, coroutine
from typing import Any

from agenttrace.capture._execution import MAX_ITEMS, OpenExecution, Tool, begin
from agenttrace.capture._guard import failed, guard, is_strict
from agenttrace.capture._snapshot import snapshot
from agenttrace.domain import Ending, JsonValue

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]
Call = tuple[Tool, Callable[..., Any], Args, Kwargs]


def tell(step: Callable[..., None], *told: Any) -> None:
    """Tell an execution something; the body has run, so that nothing of ours may leave any more.

    Where the stack is nearly full even the guards inside have no room.
    """
    try:
        step(*told)
    except BaseException as error:
        # Ctrl-C, say, in the middle of it: what was current for the body must not stay so.
        execution: OpenExecution = step.__self__  # type: ignore[attr-defined]
        if step.__name__ != "attach":
            execution.let_go()
        if is_strict():
            raise
        try:
            failed("recording an execution", error)
        except RecursionError:
            return


class Unstarted:
    """Work that waits to be begun by ours around it, and is dropped where that never happens.

    A coroutine is closed then: it would warn that it was never awaited beside ours, or where there
    is nothing to warn of, as for a task that is cancelled before its first step.
    """

    __slots__ = ("_call", "_execution", "_inner", "is_one_item")

    def __init__(
        self,
        inner: Any,
        *,
        call: Call | None = None,
        execution: OpenExecution | None = None,
        is_one_item: bool = False,
    ) -> None:
        self._inner = inner
        self._call = call
        self._execution = execution
        self.is_one_item = is_one_item
        """It is a context manager's body, and what it yields is its result."""

    def take(self) -> tuple[Any, OpenExecution | None]:
        """The work, as it is about to begin, and its execution."""
        inner, self._inner = self._inner, None
        call, self._call = self._call, None
        execution, self._execution = self._execution, None
        return inner, (execution if call is None else begin(*call))

    def __del__(self) -> None:
        if self._inner is None:
            return
        if type(self._inner) in (CoroutineType, GeneratorType):
            self._inner.close()
        if self._execution is not None:
            # The function that made it did return; what it made was never run.
            tell(self._execution.stopped, Ending.RETURNED)


def named_like(inner: Any, outer: Any) -> Any:
    """What runs the work, by its name."""
    outer.__name__, outer.__qualname__ = inner.__name__, inner.__qualname__
    return outer


async def await_on(unstarted: Unstarted) -> Any:
    """Await a coroutine."""
    inner, execution = unstarted.take()
    if execution is None:
        return await inner
    try:
        execution.attach()
        result = await inner
    except BaseException as error:
        tell(execution.detach)
        tell(execution.raised, error)
        raise
    tell(execution.detach)
    tell(execution.returned, result)
    return result


@coroutine
def await_iterable(unstarted: Unstarted) -> Generator[Any, Any, Any]:
    """Await a generator of `types.coroutine`."""
    return (yield from await_on(unstarted))


class _Items:
    """What a generator gave, copied as it came, up to a number; and the execution that it is."""

    __slots__ = ("_count", "_execution", "_is_one", "_kept")

    def __init__(self, execution: OpenExecution | None, is_one: bool) -> None:
        self._execution = execution
        self._is_one = is_one
        self._kept: list[JsonValue] = []
        self._count = 0

    def attach(self) -> None:
        if self._execution is not None:
            self._execution.attach()

    def add(self, item: Any) -> None:
        """The body gave an item, and does not run now."""
        if self._execution is None:
            return
        tell(self._execution.detach)
        self._count += 1
        if self._count <= MAX_ITEMS:
            with guard("copying an item", self._execution.run):
                self._kept.append(snapshot(item))

    def ended(self, result: Any, is_closing: bool) -> None:
        """The body returned: by itself, or because it was closed."""
        if self._execution is None:
            return
        tell(self._execution.detach)
        if is_closing:
            tell(self._execution.raised, GeneratorExit())
        elif self._is_one and self._count == 1 and self._kept:
            tell(self._execution.returned, self._kept[0])
        else:
            tell(self._execution.yielded, self._kept, self._count, result)

    def raised(self, error: BaseException) -> None:
        """The body raised."""
        if self._execution is not None:
            tell(self._execution.detach)
            tell(self._execution.raised, error)


def iterate(unstarted: Unstarted) -> Generator[Any, Any, Any]:
    """Iterate a generator."""
    inner, execution = unstarted.take()
    if execution is None:
        return (yield from inner)
    items = _Items(execution, unstarted.is_one_item)
    sent: Any = None
    thrown: BaseException | None = None
    is_closing = False
    while True:
        try:
            items.attach()
            if thrown is not None:
                item = inner.throw(thrown)
            elif sent is not None:
                item = inner.send(sent)
            else:
                item = next(inner)
        except StopIteration as stop:
            items.ended(stop.value, is_closing)
            return stop.value
        except BaseException as error:
            items.raised(error)
            raise
        finally:
            sent = thrown = None  # an exception that is kept here would keep this frame
        items.add(item)
        is_closing = False
        try:
            sent = yield item
        except GeneratorExit as exiting:
            thrown, is_closing = exiting, True
        except BaseException as error:  # noqa: BLE001 - handed to the body, which decides
            thrown = error


async def iterate_async(unstarted: Unstarted) -> AsyncGenerator[Any, Any]:
    """Iterate an asynchronous generator."""
    inner, execution = unstarted.take()
    items = _Items(execution, unstarted.is_one_item)
    sent: Any = None
    thrown: BaseException | None = None
    is_closing = False
    begin_step: Callable[[Any], Any] = _unhooked
    while True:
        try:
            items.attach()
            if thrown is not None:
                item = await inner.athrow(thrown)
            elif sent is not None:
                item = await inner.asend(sent)
            else:
                item = await begin_step(inner)
        except StopAsyncIteration:
            items.ended(None, is_closing)
            return
        except BaseException as error:
            items.raised(error)
            raise
        finally:
            sent = thrown = None
        begin_step = anext
        items.add(item)
        is_closing = False
        try:
            sent = yield item
        except GeneratorExit as exiting:
            thrown, is_closing = exiting, True
        except BaseException as error:  # noqa: BLE001 - handed to the body, which decides
            thrown = error


def _unhooked(inner: AsyncGenerator[Any, Any]) -> Any:
    """The first step of a body that no event loop is told of.

    A loop closes every generator that it knows when it ends. It knows ours around the body, which
    closes the body; closing both at a time is an error that it would log.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return anext(inner)
    finally:
        sys.set_asyncgen_hooks(*hooks)
