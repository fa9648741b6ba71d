"""What a shape is, and how one call of it is driven to its end and described."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from agenttrace.domain import Execution
from agenttrace.testing import Recording

Decorator = Callable[[Any], Any]


class Job:
    """The one argument of every tool here: what the body is to do, and what it did."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.value = object()
        self.cause = OSError("cause")
        self.error = error
        self.log: list[object] = []
        self.watch: Callable[[], object] = lambda: None
        """Asked from inside the body."""

    def act(self) -> object:
        """The body's work, at one go."""
        self.begin()
        return self.end()

    __call__ = act

    def begin(self) -> None:
        self.log.append(("begins", self.watch()))

    def end(self) -> object:
        if self.error is not None:
            self.log.append(("raises", self.watch()))
            try:
                raise LookupError("first")
            except LookupError:
                raise self.error from self.cause
        self.log.append(("returns", self.watch()))
        return self.value

    async def act_later(self) -> object:
        """The body's work, with the event loop's turn in between."""
        self.begin()
        try:
            await asyncio.sleep(0)
        except BaseException as error:
            self.log.append(("stopped", type(error), self.watch()))
            raise
        return self.end()

    def steps(self) -> Generator[object, object, object]:
        """The body's work, in items."""
        self.begin()
        try:
            self.log.append(("sent", (yield self.value)))
        except BaseException as error:
            self.log.append(("stopped", type(error), self.watch()))
            raise
        return self.end()


@dataclass(frozen=True)
class Shape:
    """One kind of callable: `make(decorate)` gives what is called with a job."""

    name: str
    make: Callable[[Decorator], Callable[[Job], Any]]
    arguments: frozenset[str] = frozenset({"job"})
    """Names that its record shows."""
    count: int = 1
    """Executions that one call of it is."""


@dataclass
class Table:
    """Shapes, in the order they are written."""

    shapes: list[Shape] = field(default_factory=list)

    def shape(self, *arguments: str, count: int = 1) -> Callable[[Any], Any]:
        """Add a shape; its record shows `job`, or these arguments instead."""

        def add(make: Any) -> Any:
            names = frozenset(arguments or ("job",)) - {"-"}
            self.shapes.append(Shape(make.__name__, make, names, count))
            return make

        return add


@dataclass
class Told:
    """All that a caller and the body can tell of one call; equal for equal behaviour."""

    returned: type
    """Kind of the object that the call itself gave."""
    outcome: object
    log: list[object]


def tell(tool: Callable[[Job], Any], job: Job, how: str) -> Told:
    """Call a tool inside an event loop, and follow what it gives to its end."""

    async def call() -> tuple[type, object]:
        given: Any = None
        try:
            given = tool(job)
            kind = type(given)
            job.log.append("called")
            return kind, relative(await _follow(given, how), job)
        except BaseException as error:  # noqa: BLE001 - compared
            return type(given), told_of(error, job)

    kind, outcome = asyncio.run(call())
    return Told(kind, outcome, job.log)


async def _follow(given: Any, how: str) -> object:
    if isinstance(given, AbstractContextManager) and hasattr(given, "gen"):
        with given as value:
            if how != "plain":
                raise KeyboardInterrupt(how)
            return value
    if isinstance(given, AbstractAsyncContextManager) and hasattr(given, "gen"):
        async with given as value:
            if how != "plain":
                raise KeyboardInterrupt(how)
            return value
    if inspect.isgenerator(given) and not inspect.isawaitable(given):
        items = [next(given)]
        if how == "stopped":
            given.close()
            return items
        return [*items, *given]
    if inspect.isasyncgen(given):
        items = [await anext(given)]
        if how == "stopped":
            await given.aclose()
            return items
        return [*items, *[item async for item in given]]
    if inspect.isawaitable(given):
        if how != "stopped":
            return await given
        task = asyncio.ensure_future(given)
        await asyncio.sleep(0)
        task.cancel()
        return await task
    return given


def relative(value: object, job: Job) -> object:
    """A value as it can be compared between two jobs: its own value, by identity, by a word."""
    if isinstance(value, list):
        return [relative(item, job) for item in value]
    return "value" if value is job.value else value


def told_of(error: BaseException, job: Job) -> object:
    """An exception as it can be compared: which object, its chain, and who raised it."""
    frames = [
        frame.name
        for frame in traceback.extract_tb(error.__traceback__)
        if "/agenttrace/" not in frame.filename
    ]
    return (
        "error" if error is job.error else (type(error), error.args),
        error.__cause__ is job.cause,
        type(error.__context__),
        error.__suppress_context__,
        frames,
    )


def executions(recorded: Recording) -> list[Execution]:
    """What was recorded so far, in the order it began."""
    found = [r.payload for r in recorded.records() if isinstance(r.payload, Execution)]
    return sorted(found, key=lambda one: one.seq or 0)
