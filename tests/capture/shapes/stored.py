"""Decorated callables that stand in a module, for what finds them by their names."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from agenttrace import trace


@trace
def pay(order_id: str, amount: int = 1) -> str:
    """Pay an order."""
    return f"{order_id}:{amount}"


@trace
async def pay_later(order_id: str) -> str:
    return order_id


def plain(order_id: str) -> str:
    return order_id


under_another_name = trace(plain)


class Desk:
    def __init__(self, name: str = "front") -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Desk) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @trace
    def sell(self, order_id: str) -> str:
        return f"{self.name}:{order_id}"

    @trace
    @classmethod
    def made(cls, order_id: str) -> str:
        return f"{cls.__name__}:{order_id}"

    @classmethod
    @trace
    def made_below(cls, order_id: str) -> str:
        return f"{cls.__name__}:{order_id}"

    @trace
    @staticmethod
    def counted(order_id: str) -> str:
        return order_id

    @trace
    def items(self, order_id: str) -> Iterator[str]:
        yield f"{self.name}:{order_id}"

    @trace
    @functools.lru_cache  # noqa: B019
    def cached(self, order_id: str) -> str:
        return f"{self.name}:{order_id}"

    class Inner:
        @trace
        def deep(self, order_id: str) -> str:
            return order_id


class Tool:
    def __init__(self, rate: int = 2) -> None:
        self.rates = [rate]

    def __call__(self, order_id: str) -> str:
        return f"{self.rates}:{order_id}"


tool = trace(Tool())
bound = trace(Desk("back").sell)
part = trace(functools.partial(plain, "A"))
builtin = trace(len)


@trace
class Receipt:
    def __init__(self, order_id: str) -> None:
        self.order_id = order_id
