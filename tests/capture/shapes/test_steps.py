"""Generators and coroutines, step by step, beside the undecorated ones."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider

from agenttrace import trace
from agenttrace.domain import Ending
from agenttrace.testing import Recording, recording
from tests.capture.shapes.shape import executions

tracer = TracerProvider().get_tracer("tests")
colour: ContextVar[str] = ContextVar("colour", default="none")


@pytest.fixture
def recorded() -> Iterator[Recording]:
    with recording() as recorded:
        yield recorded


def undecorated(tool: Any) -> Any:
    return tool


def same(play: Callable[[Any], object]) -> None:
    """What a consumer sees is the same with and without the decorator."""
    assert play(trace) == play(undecorated)


def seen(step: Callable[[], object]) -> object:
    """What one step gives, or how it fails."""
    try:
        return step()
    except BaseException as error:  # noqa: BLE001 - compared
        return type(error), error.args, getattr(error, "value", None), type(error.__cause__)


# Generators


def talk(log: list[object]) -> Iterator[object]:
    """Answers what is sent, catches what is thrown, and returns what it heard."""
    heard = []
    while True:
        try:
            got = yield len(heard)
        except KeyError as error:
            log.append(error.args)
            yield "caught"
        except GeneratorExit:
            log.append("closed")
            raise
        else:
            if got == "end":
                return heard
            heard.append(got)


@pytest.mark.parametrize(
    "steps",
    [
        "next next send:a send:end",
        "next throw:KeyError next send:b close next",
        "next throw:ValueError next",
        "throw:KeyError next",
        "throw:GeneratorExit next",
        "close next",
        "send:a",
        "send:None next send:end next",
        "next close close next",
        "next throw:GeneratorExit next",
        "next throw:StopIteration next",
        "next throw:KeyboardInterrupt next",
        "next throw:class next",
    ],
)
def test_a_generator_answers_each_step_as_before(steps, recorded):
    def play(decorate: Any) -> object:
        log: list[object] = []
        running = decorate(talk)(log)
        for step in steps.split():
            verb, _, what = step.partition(":")
            if verb == "next":
                log.append(seen(lambda: next(running)))
            elif verb == "close":
                log.append(seen(running.close))
            elif verb == "send":
                log.append(seen(lambda what=what: running.send(None if what == "None" else what)))
            elif what == "class":
                log.append(seen(lambda: running.throw(KeyError)))
            else:
                error = __builtins__[what] if isinstance(__builtins__, dict) else eval(what)
                log.append(seen(lambda error=error: running.throw(error("x"))))
        return log

    same(play)


def test_a_generator_may_go_on_after_a_thrown_exit_as_before(recorded):
    def play(decorate: Any) -> object:
        @decorate
        def stubborn() -> Iterator[int]:
            try:
                yield 1
            except GeneratorExit:
                yield 2

        thrown, closed = stubborn(), stubborn()
        steps = [next(thrown), next(closed)]
        steps += [seen(lambda: thrown.throw(GeneratorExit())), seen(closed.close)]
        return [*steps, list(thrown), list(closed)]

    same(play)


def test_a_generator_that_takes_its_closing_well_is_recorded_as_stopped(recorded):
    @trace
    def tool() -> Iterator[int]:
        with contextlib.suppress(GeneratorExit):
            yield 1

    running = tool()
    next(running)
    running.close()

    (one,) = executions(recorded)
    assert (one.ending, one.error_type) == (Ending.CANCELLED, "GeneratorExit")


def test_a_generator_that_never_began_leaves_no_record(recorded):
    trace(talk)([]).close()

    assert executions(recorded) == []


def test_a_context_variable_set_inside_is_seen_outside_as_before(recorded):
    def play(decorate: Any) -> object:
        @decorate
        def tool() -> Iterator[str]:
            colour.set("red")
            yield colour.get()
            yield colour.get()

        def consume() -> object:
            running = tool()
            first = next(running)
            inside = colour.get()
            colour.set("blue")
            return first, inside, next(running), colour.get()

        return copy_context().run(consume)

    same(play)


def parents(spans: dict[str, Any]) -> dict[str, str | None]:
    names = {span.get_span_context().span_id: name for name, span in spans.items()}
    return {
        name: names.get(span.parent.span_id) if span.parent else None
        for name, span in spans.items()
    }


def test_spans_around_and_inside_a_generator_have_the_parents_they_had(recorded):
    """The body keeps a span of its own open between its items, and so leaves it to its consumer."""

    def play(decorate: Any) -> object:
        spans: dict[str, Any] = {}

        @contextlib.contextmanager
        def span(name: str) -> Iterator[None]:
            with tracer.start_as_current_span(name) as spans[name]:
                yield

        @decorate
        def tool() -> Iterator[int]:
            with span("inner"):
                yield 1
                with span("innermost"):
                    yield 2
            with span("last"):
                pass
            yield 3

        before = otel_context.get_current()
        with span("outer"):
            for item in tool():
                with span(f"consumer {item}"):
                    pass
            with span("after"):
                pass
        assert otel_context.get_current() is before
        found = parents(spans)
        return {k: v for k, v in found.items() if k not in ("inner", "last")}

    same(play)


def test_a_consumers_spans_are_no_children_of_a_suspended_generator(recorded):
    @trace
    def tool() -> Iterator[int]:
        token = otel_context.attach(otel_context.set_value("own", 1))
        yield 1
        otel_context.detach(token)
        yield 2

    with tracer.start_as_current_span("outer") as outer:
        found = [(otel.get_current_span() is outer, otel_context.get_value("own")) for _ in tool()]
        found.append((otel.get_current_span() is outer, otel_context.get_value("own")))

    assert found == [(True, 1), (True, None), (True, None)]


def test_what_a_tool_attaches_for_its_caller_stays_without_the_tools_span(recorded):
    def attach() -> object:
        otel_context.attach(otel_context.set_value("own", 1))
        return otel.get_current_span()

    with tracer.start_as_current_span("outer") as outer:
        before = otel_context.get_current()
        inside = trace(attach)()

        assert inside is not outer
        assert otel.get_current_span() is outer
        assert otel_context.get_value("own") == 1
        otel_context.attach(before)


def test_each_step_may_run_in_another_thread(recorded, caplog):
    @trace
    def tool() -> Iterator[int]:
        yield 1
        yield 2

    running, items = tool(), []

    def step() -> None:
        items.append(next(running, "end"))

    for _ in range(3):
        thread = threading.Thread(target=copy_context().run, args=(step,))
        thread.start()
        thread.join()

    assert items == [1, 2, "end"]
    assert [one.result for one in executions(recorded)] == [[1, 2]]
    assert caplog.text == ""


@pytest.mark.parametrize("how", ["raised", "thrown", "coroutine", "plain", "async"])
def test_no_exception_is_kept_longer_than_before(how, recorded):
    """An exception that a frame of ours kept would keep all frames that it went through."""

    class OwnError(Exception):
        pass

    def step(decorate: Any) -> weakref.ref[BaseException]:
        @decorate
        def raising() -> Iterator[int]:
            yield 1
            raise OwnError

        @decorate
        def catching() -> Iterator[int]:
            yield 1

        @decorate
        async def later() -> None:
            raise OwnError

        @decorate
        def plain() -> None:
            raise OwnError

        @decorate
        async def items() -> AsyncIterator[int]:
            yield 1
            raise OwnError

        try:
            if how == "raised":
                list(raising())
            elif how == "thrown":
                running = catching()
                next(running)
                running.throw(OwnError())
            elif how == "coroutine":
                later().send(None)
            elif how == "plain":
                plain()
            else:
                running = items()
                with contextlib.suppress(StopIteration):
                    anext(running).send(None)
                anext(running).send(None)
        except OwnError as error:
            return weakref.ref(error)
        raise AssertionError

    gc.collect()
    gc.disable()
    try:
        assert [step(undecorated)(), step(trace)()] == [None, None]
    finally:
        gc.enable()


# What a plain function hands over


def test_a_generator_that_is_kept_elsewhere_is_handed_over_as_it_is(recorded):
    kept = iter(number for number in range(3))

    @trace
    def tool() -> Iterator[int]:
        return kept

    assert tool() is kept
    assert [next(tool()), next(tool())] == [0, 1]
    assert next(kept) == 2
    assert {(one.ending, one.result_observed) for one in executions(recorded)} == {
        (Ending.RETURNED, False)
    }


def test_a_coroutine_that_is_handed_over_and_forgotten_warns_once_and_returned(recorded):
    async def inner() -> None: ...

    tool = trace(lambda: inner())  # noqa: PLW0108
    with pytest.warns(RuntimeWarning, match="never awaited") as caught:
        tool()

    assert len(caught) == 1
    caught.clear()  # they hold the coroutine
    assert [(one.ending, one.result_observed) for one in executions(recorded)] == [
        (Ending.RETURNED, False)
    ]


def test_a_future_whose_fault_nobody_looks_at_is_still_reported(recorded):
    reported: list[str] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: reported.append(context["message"])
        )

        async def fail() -> None:
            raise ValueError

        task = trace(lambda: asyncio.create_task(fail()))()
        await asyncio.wait([task])
        del task
        gc.collect()

    asyncio.run(main())

    assert reported == ["Task exception was never retrieved"]
    assert [one.error_type for one in executions(recorded)] == ["ValueError"]


def test_a_context_manager_keeps_its_identity_and_its_use_as_a_decorator(recorded):
    @trace
    @contextlib.contextmanager
    def tool(log: list[str]) -> Iterator[str]:
        log.append("in")
        yield "value"
        log.append("out")

    log: list[str] = []
    with tool(log) as value:
        assert executions(recorded) == []
    tool(log)(lambda: log.append("body"))()

    assert value == "value"
    assert log == ["in", "out", "in", "body", "out"]
    assert executions(recorded)[0].result == "value"


# Async generators


async def talk_later(log: list[object]) -> AsyncIterator[object]:
    heard: list[object] = []
    while True:
        try:
            await asyncio.sleep(0)
            got = yield len(heard)
        except KeyError as error:
            log.append(error.args)
            yield "caught"
        except GeneratorExit:
            await asyncio.sleep(0)
            log.append("closed")
            raise
        else:
            if got == "end":
                return
            heard.append(got)


@pytest.mark.parametrize(
    "steps",
    [
        "anext anext asend:a asend:end",
        "anext athrow:KeyError anext asend:b aclose anext",
        "anext athrow:ValueError anext",
        "athrow:KeyError anext",
        "aclose anext",
        "asend:a",
        "anext aclose aclose anext",
        "anext athrow:GeneratorExit anext",
        "anext athrow:StopAsyncIteration anext",
        "anext athrow:StopIteration anext",
        "anext athrow:CancelledError anext",
    ],
)
def test_an_async_generator_answers_each_step_as_before(steps, recorded):
    errors: dict[str, type[BaseException]] = {
        one.__name__: one
        for one in (
            KeyError,
            ValueError,
            GeneratorExit,
            StopAsyncIteration,
            StopIteration,
            asyncio.CancelledError,
        )
    }

    def play(decorate: Any) -> object:
        async def main() -> object:
            log: list[object] = []
            running = decorate(talk_later)(log)
            for step in steps.split():
                verb, _, what = step.partition(":")
                try:
                    if verb == "anext":
                        log.append(await anext(running))
                    elif verb == "aclose":
                        log.append(await running.aclose())
                    elif verb == "asend":
                        log.append(await running.asend(what))
                    else:
                        log.append(await running.athrow(errors[what]("x")))
                except BaseException as error:  # noqa: BLE001 - compared
                    log.append((type(error), error.args))
            return log

        return asyncio.run(main())

    same(play)


@pytest.mark.parametrize("end", ["left open", "dropped", "cancelled"])
def test_an_async_generator_is_finalised_by_the_loop_as_before(end, recorded):
    def play(decorate: Any) -> object:
        log: list[object] = []

        @decorate
        async def tool() -> AsyncIterator[int]:
            try:
                yield 1
                await asyncio.sleep(60)
                yield 2
            finally:
                log.append("closing")
                await asyncio.sleep(0)
                log.append("closed")

        async def consume(running: Any) -> None:
            async for _ in running:
                pass

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(
                lambda _, context: log.append(context["message"])
            )
            running = tool()
            if end == "cancelled":
                task = asyncio.create_task(consume(running))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                return
            await anext(running)
            if end == "left open":
                kept.append(running)
            else:
                del running
                gc.collect()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                await asyncio.sleep(0)

        kept: list[object] = []
        asyncio.run(main())
        return log

    same(play)
    assert [one.ending for one in executions(recorded)] == [Ending.CANCELLED]


def test_an_async_generator_that_fails_while_it_is_closed_is_recorded_as_failed(recorded):
    @trace
    async def tool() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise ValueError("while closing")

    async def main() -> None:
        running = tool()
        await anext(running)
        with pytest.raises(ValueError, match="while closing"):
            await running.aclose()

    asyncio.run(main())

    (one,) = executions(recorded)
    assert (one.ending, one.error_type) == (Ending.RAISED, "ValueError")


def test_a_tool_runs_in_its_callers_task(recorded):
    @trace
    async def tool() -> object:
        colour.set("green")
        return asyncio.current_task()

    async def main() -> None:
        assert await tool() is asyncio.current_task()
        assert colour.get() == "green"

    asyncio.run(main())
