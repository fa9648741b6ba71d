"""What a plain function returned, where that is work that goes on: the span ends when it ends.

A task or future is told to say when it is done. A coroutine or generator is followed by one of the
same type in its place, if nobody else holds it, so that nobody can tell them apart. The context
manager of a generator function keeps its identity; its body is followed. Anything else that can be
awaited is left as it is, and its result is not observed.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from asyncio import futures
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future as ThreadFuture
from contextlib import asynccontextmanager, contextmanager
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from agenttrace.capture._execution import OpenExecution
from agenttrace.capture._follow_steps import (
    Unstarted,
    await_iterable,
    await_on,
    iterate,
    iterate_async,
    named_like,
    tell,
)
from agenttrace.capture._foreign import defines, is_scalar, mro_of
from agenttrace.domain import Ending


def followed(execution: OpenExecution, result: Any) -> Any:
    """Hand back what the function returned, and end its execution now or when the work ends."""
    kind = type(result)
    if is_scalar(result) or kind is dict or kind is list or kind is tuple:
        tell(execution.returned, result)
        return result
    if kind is CoroutineType or kind is GeneratorType or kind is AsyncGeneratorType:
        if _is_ours_alone(result):
            return _in_its_place(execution, result)
        tell(execution.stopped, Ending.RETURNED)
    elif kind is _Manager or kind is _AsyncManager:
        tell(_follow_body, execution, result)
    else:
        tell(_end_or_wait, execution, result)
    return result


def _end_or_wait(execution: OpenExecution, result: Any) -> None:
    bases = mro_of(type(result))
    for base in bases:
        if any(base is one for one in _FUTURES):
            _follow_future(execution, result, base)
            return
    if defines(result, "__await__") or any(base is ThreadFuture for base in bases):
        execution.stopped(Ending.RETURNED)
    else:
        execution.returned(result)


def _in_its_place(execution: OpenExecution, work: Any) -> Any:
    unstarted = Unstarted(work, execution=execution)
    if type(work) is CoroutineType:
        return named_like(work, await_on(unstarted))
    if type(work) is AsyncGeneratorType:
        return named_like(work, iterate_async(unstarted))
    if work.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE:
        return named_like(work, await_iterable(unstarted))
    return named_like(work, iterate(unstarted))


def _follow_body(execution: OpenExecution, manager: Any) -> None:
    body = manager.gen
    follow: Any = iterate if type(body) is GeneratorType else iterate_async
    is_entered = "args" not in manager.__dict__
    is_followed = getattr(body, _CODE[type(body)], None) is follow.__code__
    if is_entered or is_followed:
        execution.stopped(Ending.RETURNED)
        return
    unstarted = Unstarted(body, execution=execution, is_one_item=True)
    manager.gen = named_like(body, follow(unstarted))


def _follow_future(execution: OpenExecution, future: Any, base: Any) -> None:
    def done(_: Any) -> None:
        tell(_end, execution, future, base)

    if base.done(future):
        done(future)
    else:
        base.add_done_callback(future, done)


def _end(execution: OpenExecution, future: Any, base: Any) -> None:
    if base.cancelled(future):
        execution.raised(asyncio.CancelledError())
        return
    # `exception()` would count as having looked at it, and a fault nobody looks at is logged.
    error = future._exception
    if error is not None:
        execution.raised(error)
    else:
        execution.returned(future._result)


def _is_ours_alone(work: Any) -> bool:
    """Whether nobody holds it but the call that just returned it."""
    return bool(_count(work) <= _ALONE)


def _measured() -> int:
    result = (item for item in "")
    return _passed_on(None, result)


def _passed_on(execution: None, result: Any) -> int:
    return _counted(result)


def _counted(work: Any) -> int:
    return int(_count(work))


_count: Final = getattr(sys, "getrefcount", lambda _: sys.maxsize)
_ALONE: Final = _measured() if hasattr(sys, "getrefcount") else 0
_CODE: Final = {GeneratorType: "gi_code", AsyncGeneratorType: "ag_code"}
_FUTURES: Final[tuple[Any, ...]] = (asyncio.Future, futures._PyFuture)  # type: ignore[attr-defined]


@contextmanager
def _manager() -> Iterator[None]:
    yield


@asynccontextmanager
async def _async_manager() -> AsyncIterator[None]:
    yield


_Manager: Final = type(_manager())
_AsyncManager: Final = type(_async_manager())
