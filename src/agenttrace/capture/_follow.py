"""Runs a tool's body as the kind of callable it is, and tells its execution how that went.

What comes out is what would have come out: the same object, the same exception, in the same order.
The execution's context is current only while the body runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
)
from typing import Any

from agenttrace.capture._binding import body_of
from agenttrace.capture._execution import Tool, begin
from agenttrace.capture._follow_steps import (
    Args,
    Kwargs,
    Unstarted,
    await_iterable,
    await_on,
    iterate,
    iterate_async,
    named_like,
    tell,
)
from agenttrace.capture._goes_on import followed

Runner = Callable[[Tool, Callable[..., Any], Args, Kwargs], Any]


def run_sync(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
    """Run a plain function; what it returns may be work that goes on."""
    execution = begin(tool, wrapped, args, kwargs)
    if execution is None:
        return wrapped(*args, **kwargs)
    try:
        try:
            execution.attach()
            result = wrapped(*args, **kwargs)
        except BaseException as error:
            tell(execution.detach)
            tell(execution.raised, error)
            raise
        tell(execution.detach)
        return followed(execution, result)
    except BaseException:
        execution.let_go()  # Ctrl-C, say, may have come between any two lines of ours
        raise


def _runner(
    kind: type,
    follow: Callable[[Unstarted], Any],
) -> Runner:
    def run(tool: Tool, wrapped: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
        """Make what will run: wrong arguments are refused now, the body runs later."""
        try:
            inner = wrapped(*args, **kwargs)
        except BaseException as error:
            execution = begin(tool, wrapped, args, kwargs)
            if execution is not None:
                tell(execution.raised, error)
            raise
        if type(inner) is not kind:
            execution = begin(tool, wrapped, args, kwargs)
            return inner if execution is None else followed(execution, inner)
        return named_like(inner, follow(Unstarted(inner, call=(tool, wrapped, args, kwargs))))

    return run


run_async = _runner(CoroutineType, await_on)
run_iterable_coroutine = _runner(GeneratorType, await_iterable)
run_generator = _runner(GeneratorType, iterate)
run_async_generator = _runner(AsyncGeneratorType, iterate_async)


def runner_of(function: Any) -> Runner:
    """How a function of this kind is run.

    Only functions of the language are looked into. Whatever else is called is followed by what it
    returns.
    """
    function = body_of(function)
    while type(function) is MethodType:
        function = function.__func__
    if type(function) is not FunctionType:
        return run_sync
    code: CodeType = function.__code__
    if code.co_flags & inspect.CO_COROUTINE:
        return run_async
    if code.co_flags & inspect.CO_ITERABLE_COROUTINE:
        return run_iterable_coroutine
    if code.co_flags & inspect.CO_GENERATOR:
        return run_generator
    if code.co_flags & inspect.CO_ASYNC_GENERATOR:
        return run_async_generator
    return run_sync
