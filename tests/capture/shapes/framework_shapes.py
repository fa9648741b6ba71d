"""Callables under and over the decorators of libraries that are always there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pydantic import ConfigDict, validate_call

from tests.capture.shapes.plain_shapes import Desk
from tests.capture.shapes.shape import Decorator, Job, Table

table = Table()
shape = table.shape
validated = validate_call(config=ConfigDict(arbitrary_types_allowed=True))


@shape("job", "amount")
def above_validate_call(decorate: Decorator) -> Any:
    @decorate
    @validated
    def tool(job: Job, amount: int) -> object:
        assert amount == 3
        return job.act()

    return lambda job: tool(job, "3")


@shape("job", "amount")
def below_validate_call(decorate: Decorator) -> Any:
    @validated
    @decorate
    def tool(job: Job, amount: int) -> object:
        assert amount == 3
        return job.act()

    return lambda job: tool(job, "3")


@shape()
def async_above_validate_call(decorate: Decorator) -> Any:
    @decorate
    @validated
    async def tool(job: Job) -> object:
        return await job.act_later()

    return tool


@shape()
def async_below_validate_call(decorate: Decorator) -> Any:
    @validated
    @decorate
    async def tool(job: Job) -> object:
        return await job.act_later()

    return tool


@shape()
def method_above_validate_call(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @validated
        def tool(self, job: Job) -> object:
            return job.act()

    return Own().tool


@shape()
def method_below_validate_call(decorate: Decorator) -> Any:
    class Own(Desk):
        @validated
        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

    return Own().tool


@shape()
def async_generator_below_validate_call(decorate: Decorator) -> Any:
    @validated
    @decorate
    async def tool(job: Job) -> AsyncIterator[object]:
        job.begin()
        yield job.value
        job.end()

    return tool
