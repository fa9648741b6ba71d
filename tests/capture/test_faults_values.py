"""Values that do harm when they are looked at, in every place where a value comes by.

`test_snapshot` has what becomes of each; here the program gets its own objects and exceptions back,
none of their code has run, and the run's other records are there.
"""

from __future__ import annotations

import asyncio
import collections
import ctypes
import decimal
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock, NonCallableMock, create_autospec

import pytest
import wrapt

import agenttrace
from agenttrace.capture import losses
from agenttrace.capture._guard import forget_faults
from agenttrace.domain import Execution
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.capture.test_snapshot import calls, hostile, hostile_values, made

pytestmark = pytest.mark.slow

FOREVER = threading.Event()
WAIT_S = 60


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def itself() -> Any:
    value: dict[str, Any] = {"list": []}
    value["list"].append(value)
    return value


class Blocking:
    """Whoever asks it anything waits for ever."""

    def __getattribute__(self, name: str) -> Any:
        FOREVER.wait()

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __hash__ = __getattribute__  # type: ignore[assignment]


class Lying:
    """Says that it is something else."""

    @property
    def __class__(self) -> Any:
        calls.append("__class__")
        return dict

    def keys(self) -> Any:
        calls.append("keys")
        return ["a"]


class Frame:
    """As a table of another library: whatever is compared with it becomes one of it."""

    __module__ = "pandas.core.frame"
    shape = (2, 2)

    def __eq__(self, other: object) -> Any:
        calls.append("eq")
        return self

    def __bool__(self) -> bool:
        calls.append("bool")
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]


class Proxy(wrapt.ObjectProxy):  # type: ignore[type-arg, misc]
    """A proxy that fetches its object when it is asked."""

    def __getattr__(self, name: str) -> Any:
        calls.append(name)
        raise LookupError(name)


class Gone:
    """Of whom only a weak proxy is left."""


def generator() -> Iterator[int]:
    calls.append("begun")
    yield 1


def values() -> dict[str, Any]:
    return {
        **hostile_values(),
        "mock": Mock(name="m"),
        "magic mock": MagicMock(),
        "async mock": AsyncMock(),
        "not callable mock": NonCallableMock(),
        "autospec": create_autospec(Frame),
        "proxy": Proxy([1, {"a": 2}]),
        "callable proxy": wrapt.CallableObjectProxy(len),
        "weak proxy of nothing": weakref.proxy(Gone()),
        "weak reference": weakref.ref(FOREVER),
        "weak dictionary": weakref.WeakValueDictionary(),
        "blocking": Blocking(),
        "blocking inside": {"a": [Blocking()]},
        "lying": Lying(),
        "table": Frame(),
        "tables": [Frame(), {"frame": Frame()}],
        "generator": generator(),
        "coroutine function": asyncio.sleep,
        "lock": threading.RLock(),
        "thread": threading.current_thread(),
        "event": threading.Event(),
        "module": sys,
        "namespace": types.SimpleNamespace(a=1),
        "memory": memoryview(b"ab"),
        "buffer": (ctypes.c_char * 4)(),
        "itself": itself(),
        "deep": nested(5_000),
        "huge": 1 << 100_000,
        "surrogate": "\ud800 lone",
        "nan": [float("nan"), float("-inf"), -0.0],
        "unsortable": {1, "a", None, (1, "b")},
        "chain": collections.ChainMap({"a": 1}, {"b": 2}),
        "counter": collections.Counter("aab"),
        "default": collections.defaultdict(lambda: calls.append("made")),
        "decimal": decimal.Decimal("sNaN"),
        "range": range(10**30),
        "type": type,
        "ellipsis": ...,
        "not implemented": NotImplemented,
    }


NAMES = sorted(values())
ENDLESS = ("blocking", "blocking inside", "range")
"""What the program asks us to read to its end has one."""


def is_mock(value: Any) -> bool:
    return type(value) is Mock or type(value) is MagicMock


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    forget_faults()
    calls.clear()
    yield
    forget_faults()


@agenttrace.trace
def echo(value: Any = None, *args: Any, **kwargs: Any) -> Any:
    return value


@agenttrace.trace
async def wait(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


@agenttrace.trace
def items(value: Any) -> Iterator[Any]:
    yield value
    yield value


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value

    @agenttrace.trace
    def get(self) -> Any:
        return self.value


class OwnError(Exception):
    """Raised with the value in it."""


@agenttrace.trace
def fail(error: BaseException) -> None:
    raise error


def raised(value: Any) -> Any:
    error = OwnError(value, "beside it")
    error.value = value  # type: ignore[attr-defined]
    error.__notes__ = [value]
    error.__cause__ = OwnError(value)
    error.__cause__.__cause__ = error
    with pytest.raises(OwnError) as caught:
        fail(error)
    assert caught.value is error
    return value


def with_default(value: Any) -> Any:
    @agenttrace.trace
    def tool(given: Any = value) -> Any:
        return given

    return tool()


ROLES: dict[str, Callable[[Any], Any]] = {
    "argument and result": echo,
    "more arguments": lambda value: (echo(1, value, value), value)[1],
    "keyword": lambda value: (echo(1, key=value), value)[1],
    "default": with_default,
    "awaited": lambda value: asyncio.run(wait(value)),
    "item": lambda value: list(items(value))[-1],
    "self": lambda value: Holder(value).get(),
    "inside": lambda value: echo({"a": [value], "b": (value, 1)})["a"][0],
    "exception": raised,
}


def within(program: Callable[[], None]) -> None:
    """Fail where a value blocks, in place of waiting for ever."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            program()
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(WAIT_S)
    assert not thread.is_alive(), "a value was asked, and blocks"
    if failed:
        raise failed[0]


def executions(run: AgentRun) -> list[Execution]:
    return [r.payload for r in run.records() if isinstance(r.payload, Execution)]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", NAMES)
def test_a_value_comes_back_as_it_is_and_is_asked_nothing(name: str, role: str, tmp_path: Path):
    value = values()[name]
    mock_calls = len(value.mock_calls) if is_mock(value) else 0
    calls.clear()

    def program() -> None:
        with isolated(evidence=tmp_path), agenttrace.run() as run:
            assert ROLES[role](value) is value
            assert echo("after") == "after"
        found = executions(run)
        assert found[-1].result == "after"
        assert all(one.count == 1 for one in found)
        assert run.evidence().completeness.lost == {}
        assert run.evidence().completeness.missing_seqs == ()

    within(program)
    assert calls == []
    assert losses() == {}
    if is_mock(value):
        assert len(value.mock_calls) == mock_calls
    if name == "generator":
        assert list(value) == [1]


BY_HAND: dict[str, Callable[[AgentRun, Any], Any]] = {
    "output": lambda run, value: run.set_output(value),
    "state": lambda run, value: run.set_state(value),
    "event": lambda run, value: run.event("approval", call=value, decision=value),
    "own event": lambda run, value: run.event("mine", value=value),
    "arguments": lambda run, value: _dispatch(arguments=value),
    "argument": lambda run, value: _dispatch(arguments={"value": value}),
    "call id": lambda run, value: _dispatch(call_id=value, arguments={}),
    "response id": lambda run, value: _dispatch(response_id=value, arguments={}),
    "response": lambda run, value: agenttrace.model_response(value),
    "response's part": lambda run, value: agenttrace.model_response(
        {"id": value, "object": "chat.completion", "model": value, "choices": [value]}
    ),
    "tools": lambda run, value: agenttrace.model_response("{}", tools=value, messages=value),
}


def _dispatch(**given: Any) -> None:
    with agenttrace.adapter(name="echo", **given):
        echo(1)


@pytest.mark.parametrize("where", BY_HAND)
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ENDLESS])
def test_a_value_that_is_recorded_by_hand_does_no_harm(name: str, where: str):
    value = values()[name]
    with isolated(), agenttrace.run() as run:
        BY_HAND[where](run, value)
        assert echo("after") == "after"

    assert executions(run)[-1].result == "after"
    assert set(losses()) == {c for c in losses() if c.split(":")[0] in KNOWN}


KNOWN = {"event", "error", "unknown-response", "unreadable-event"}


def test_a_tools_own_refusals_are_its_own():
    class Strange:
        def __init__(self) -> None:
            self.real = 1

        def __call__(self, value: Any) -> Any:
            raise NotImplementedError(value)

    tool = agenttrace.trace(Strange())
    with isolated(), agenttrace.run() as run:
        with pytest.raises(NotImplementedError):
            tool(made(hostile(), object))
        with suppress(TypeError):
            tool()  # type: ignore[call-arg]

    assert [one.ending for one in executions(run)] == ["raised", "raised"]
    assert calls == []
