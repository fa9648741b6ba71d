"""A stream's own iterator, of which only the end is noted.

Items pass as they come; nothing is held back, read ahead or changed. What the iterator raises goes
on as the same exception.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from agenttrace.capture import guard
from agenttrace.integrations._exchange import Exchange


class _Watched:
    def __init__(self, inner: Any, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __del__(self) -> None:
        self._exchange.abandon()

    def _end(self, error: BaseException | None = None) -> None:
        with guard("a stream's end"):
            self._exchange.end_stream(error)


class WatchedIterator(_Watched, Iterator[Any]):
    """For iterators of sync streams."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._inner)
        except StopIteration:
            self._end()
            raise
        except BaseException as error:
            self._end(error)
            raise


class WatchedAsyncIterator(_Watched, AsyncIterator[Any]):
    """For iterators of async streams."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await anext(self._inner)
        except StopAsyncIteration:
            self._end()
            raise
        except BaseException as error:
            self._end(error)
            raise
