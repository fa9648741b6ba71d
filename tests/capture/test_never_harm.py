"""A decorated tool in hostile surroundings: it runs as the undecorated one would."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import os
import signal
import threading
import types
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, ClassVar

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

import agenttrace
from agenttrace import trace
from agenttrace.capture import report_hook, withdraw_hooks
from agenttrace.domain import Execution
from agenttrace.records import RunEnd
from agenttrace.testing import Recording, recording


@pytest.fixture
def recorded() -> Iterator[Recording]:
    with recording() as recorded:
        yield recorded


def executions(recorded: Recording) -> list[Execution]:
    return [r.payload for r in recorded.records() if isinstance(r.payload, Execution)]


@trace
def work(number: int = 0) -> int:
    return number


@trace
async def look_up(order_id: str) -> str:
    return order_id


# Coroutines


def warnings_of(program: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
        gc.collect()
    return [str(one.message) for one in caught]


def test_a_coroutine_that_is_closed_before_it_began_warns_of_nothing(recorded):
    assert warnings_of(lambda: look_up("A-104").close()) == []


def test_a_task_that_is_cancelled_before_it_began_warns_of_nothing(recorded):
    async def cancelled() -> None:
        task = asyncio.create_task(look_up("A-104"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert warnings_of(lambda: asyncio.run(cancelled())) == []


def test_a_forgotten_coroutine_warns_once_under_its_own_name(recorded):
    def forget() -> None:
        look_up("A-104")

    assert warnings_of(forget) == ["coroutine 'look_up' was never awaited"]


def test_a_generator_that_can_be_awaited_still_can_be(recorded):
    @trace
    @types.coroutine
    def old(number: int) -> Generator[Any, Any, int]:
        yield from asyncio.sleep(0).__await__()
        return number

    async def agent() -> int:
        return await old(3)

    assert asyncio.run(agent()) == 3
    assert [one.result for one in executions(recorded)] == [3]


class AsyncTool:
    async def __call__(self, number: int) -> int:
        await asyncio.sleep(0)
        return number


@pytest.mark.parametrize("tool", [AsyncTool(), functools.partial(AsyncTool())])
def test_a_callable_object_with_an_async_call_ends_when_its_work_does(tool, recorded):
    assert asyncio.run(trace(tool)(5)) == 5
    assert [one.result for one in executions(recorded)] == [5]


# Foreign code


class Loud:
    """Anything that is asked of it is heard."""

    heard: ClassVar[list[str]] = []

    def __repr__(self) -> str:
        self.heard.append("repr")
        return "loud"

    __str__ = __repr__

    def __fspath__(self) -> str:
        self.heard.append("fspath")
        return "/loud"


class LoudMeta(type):
    def __hash__(cls) -> int:
        Loud.heard.append("hash")
        raise RuntimeError("hash")

    def __eq__(cls, other: object) -> bool:
        Loud.heard.append("eq")
        raise RuntimeError("eq")

    def __getattribute__(cls, name: str) -> Any:
        if name in ("__qualname__", "__mro__", "__dict__", "__module__"):
            Loud.heard.append(name)
        return super().__getattribute__(name)


class LoudError(Exception, metaclass=LoudMeta):
    pass


class MasqueradeError(Exception):
    @property
    def __class__(self) -> Any:
        Loud.heard.append("class")
        raise RuntimeError("class")


def errors() -> Iterator[tuple[BaseException, str]]:
    yield OSError(2, "gone", Loud()), "FileNotFoundError: 2, gone"
    syntax = SyntaxError("bad")
    syntax.msg = Loud()  # type: ignore[assignment]
    yield syntax, "SyntaxError: bad"
    late = UnicodeDecodeError("utf-8", b"a", 0, 1, "why")
    late.reason = Loud()  # type: ignore[assignment]
    yield late, "UnicodeDecodeError: utf-8, b'a', 0, 1, why"
    yield LoudError("own"), f"{__name__}.LoudError: own"
    yield MasqueradeError("own"), f"{__name__}.MasqueradeError: own"
    yield KeyError(Loud()), "KeyError"
    yield OSError(2, "gone", "x"), "FileNotFoundError: [Errno 2] gone: 'x'"
    yield (
        OSError(2, "gone", PurePosixPath("x")),
        "FileNotFoundError: [Errno 2] gone: PurePosixPath('x')",
    )


def test_an_exception_is_recorded_without_its_own_code_or_that_of_its_fields(recorded):
    @trace
    def fail(number: int) -> None:
        raise raising[number]

    raising, texts = zip(*errors(), strict=True)
    caught: list[BaseException] = []
    for number in range(len(raising)):
        Loud.heard.clear()
        try:
            fail(number)
        except BaseException as error:  # noqa: BLE001 - compared by identity, not by its class
            caught.append(error)
        assert Loud.heard == []

    assert [id(one) for one in caught] == [id(one) for one in raising]
    assert [one.error for one in executions(recorded)] == list(texts)


def test_a_metaclass_is_not_asked_what_it_equals(recorded):
    value = LoudMeta("Value", (), {})()
    Loud.heard.clear()

    @trace
    def echo(value: object) -> object:
        return value

    assert echo(value) is value
    assert Loud.heard == []
    assert executions(recorded)[0].arguments is not None


# Signatures that are not the function's own


def real(order_id: str, amount: int = 1) -> str:
    return order_id


@functools.wraps(real)
def injecting(context: str, *args: Any, **kwargs: Any) -> str:
    return real(*args, **kwargs)


def shown(order_id: str, *, amount: int = 2) -> str:
    return order_id


shown.__signature__ = inspect.Signature()  # type: ignore[attr-defined]


def broken(order_id: str) -> str:
    return order_id


broken.__signature__ = "none"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "args", "arguments"),
    [
        (injecting, ("c",), {"context": "c", "order_id": "A-104"}),
        (shown, (), {"order_id": "A-104", "amount": 2}),
        (broken, (), {"order_id": "A-104"}),
    ],
)
def test_a_call_that_does_not_fit_the_shown_signature_has_the_functions_own_names(
    function, args, arguments, recorded
):
    trace(function)(*args, order_id="A-104")

    assert executions(recorded)[0].arguments == arguments
    assert executions(recorded)[0].count == 1


# Locks


def test_a_tool_that_runs_in_between_the_recorders_own_lines_does_not_block(recorded):
    def interrupted() -> None:
        # Where a finaliser or a signal's handler may come in.
        state = recorded.state
        with state.tally.lock, state.taking, state.mask._lock, state._kept._lock:
            work(1)
            agenttrace.flush()

    thread = threading.Thread(target=interrupted, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_wait_for_locks_of_threads_that_it_has_not(recorded):
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        state = recorded.state
        locks = state.tally.lock, state.taking, state.mask._lock, state.mask._memory._lock
        with locks[0], locks[1], locks[2], locks[3], state._kept._lock:
            held.set()
            done.wait(90)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that waits is ended
        with agenttrace.adapter(name="log_in", arguments={"password": "correct horse"}):
            trace(name="log_in")(lambda password: password)("correct horse")
        os._exit(0 if agenttrace.flush() else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert status == 0


# OpenTelemetry


def test_recording_goes_on_after_a_processor_was_interrupted(monkeypatch):
    class Interrupted(SpanProcessor):
        def on_end(self, span: object) -> None:
            raise KeyboardInterrupt

    provider = TracerProvider()
    provider.add_span_processor(Interrupted())
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", provider)
    with suppress(KeyboardInterrupt), recording() as recorded:
        for number in range(3):
            with pytest.raises(KeyboardInterrupt):
                work(number)

    assert [one.result for one in executions(recorded)] == [0, 1, 2]


def test_a_hook_that_is_taken_out_in_the_middle_of_a_run_is_a_loss_of_it(recorded):
    report_hook("some-sdk", "model", "Client.post", True)
    withdraw_hooks("some-sdk")
    withdraw_hooks("some-sdk")
    recorded.state.close()

    (end,) = [r.payload for r in recorded.records() if isinstance(r.payload, RunEnd)]
    assert end.manifest.lost == {"hook:some-sdk:withdrawn": 1}
