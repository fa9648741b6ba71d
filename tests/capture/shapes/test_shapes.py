"""Every shape of callable does, decorated, what it does undecorated, and is recorded once."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from agenttrace import trace
from agenttrace.domain import Ending
from agenttrace.testing import recording
from tests.capture.shapes import framework_shapes, later_shapes, plain_shapes
from tests.capture.shapes.shape import Job, Shape, executions, tell

SHAPES = [*plain_shapes.table.shapes, *later_shapes.table.shapes, *framework_shapes.table.shapes]
LATER = [one for one in later_shapes.table.shapes if one.name not in later_shapes.UNSTOPPABLE]
ERRORS = {
    "ValueError": ValueError("no such order"),
    "StopIteration": StopIteration("early"),
    "StopAsyncIteration": StopAsyncIteration("early"),
    "GeneratorExit": GeneratorExit("left"),
    "CancelledError": asyncio.CancelledError("stopped"),
    "ExceptionGroup": ExceptionGroup("both", [ValueError("one"), OSError("two")]),
}


def named(shapes: list[Shape]) -> Any:
    return pytest.mark.parametrize("shape", shapes, ids=[one.name for one in shapes])


def undecorated(tool: Any) -> Any:
    return tool


def both(shape: Shape, error: BaseException | None, how: str) -> tuple[Any, Any, Any]:
    """One call undecorated, one decorated, and what was recorded of the latter."""
    plain = tell(shape.make(undecorated), Job(error), how)
    with recording() as recorded:
        job = Job(error)
        open_ones: list[int] = []

        def watch() -> None:
            open_ones.append(len(executions(recorded)))

        job.watch = watch
        tool = shape.make(trace)
        traced = tell(tool, job, how)
        found = executions(recorded)
    if shape.name not in later_shapes.UNOBSERVED:
        assert set(open_ones) <= {0}, "an execution ended while its body ran"
    return plain, traced, found


def test_there_are_enough_shapes():
    assert len({one.name for one in SHAPES}) == len(SHAPES) >= 60


@named(SHAPES)
def test_a_call_gives_what_it_gave(shape):
    plain, traced, found = both(shape, None, "plain")

    assert traced == plain
    assert plain.log, "the shape ran nothing"
    assert [one.ending for one in found] == [Ending.RETURNED] * shape.count
    assert [one.parent for one in found] == [None, *[one.ref for one in found][:-1]]
    assert {*(found[0].arguments or ())} == shape.arguments
    assert found[0].result_observed or shape.name in later_shapes.UNOBSERVED


@pytest.mark.parametrize("error", ERRORS.values(), ids=list(ERRORS))
@named(SHAPES)
def test_a_call_raises_what_it_raised(shape, error):
    error.__traceback__ = error.__context__ = error.__cause__ = None
    plain = tell(shape.make(undecorated), Job(error), "raising")
    error.__traceback__ = error.__context__ = error.__cause__ = None
    with recording() as recorded:
        traced = tell(shape.make(trace), Job(error), "raising")
        found = executions(recorded)

    assert traced == plain
    if shape.name in later_shapes.UNOBSERVED:
        return
    stopped = isinstance(error, asyncio.CancelledError | GeneratorExit)
    wanted = Ending.CANCELLED if stopped and "error" in plain.outcome else Ending.RAISED
    assert {one.ending for one in found} == {wanted}
    assert len(found) == shape.count


@named(LATER)
def test_work_that_is_stopped_halfway_is_stopped_as_before(shape):
    plain, traced, found = both(shape, None, "stopped")

    assert traced == plain
    if shape.name in later_shapes.UNOBSERVED or plain.outcome == "value":
        return
    assert len(found) == shape.count
    assert Ending.RETURNED not in {one.ending for one in found}


@named(plain_shapes.table.shapes)
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_through_and_is_recorded_as_one(shape, kind):
    error = kind("stop")
    with recording() as recorded:
        tool = shape.make(trace)
        with pytest.raises(kind) as caught:
            tool(Job(error))

        assert caught.value is error
        assert {one.error_type for one in executions(recorded)} == {kind.__name__}
        assert {one.ending for one in executions(recorded)} == {Ending.RAISED}


@named(SHAPES)
def test_nothing_that_asks_what_kind_it_is_tells_it_from_the_undecorated_one(shape):
    plain, traced = shape.make(undecorated), shape.make(trace)

    for ask in (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.isfunction,
        inspect.ismethod,
        inspect.isbuiltin,
        inspect.isclass,
        inspect.isroutine,
        asyncio.iscoroutinefunction,
        callable,
        bool,
        inspect.getdoc,
        signature,
        lambda tool: getattr(tool, "__name__", None),
        lambda tool: getattr(tool, "__qualname__", None),
        lambda tool: getattr(tool, "__module__", None),
        lambda tool: getattr(tool, "__defaults__", None),
        lambda tool: getattr(tool, "__kwdefaults__", None),
        lambda tool: getattr(tool, "__annotations__", None),
        lambda tool: getattr(getattr(tool, "__code__", None), "co_name", None),
        source,
    ):
        assert ask(traced) == ask(plain), ask


def signature(tool: Any) -> object:
    try:
        return str(inspect.signature(tool))
    except ValueError:
        return None


def source(tool: Any) -> object:
    try:
        return inspect.getsource(tool)
    except (TypeError, OSError):
        return None
