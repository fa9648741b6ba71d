"""A stream's own iterator, of which only the end is noted.

Items pass as they come; nothing is held back, read ahead or changed. What the iterator raises goes
on as the same exception.

Two consumers may read one stream. The one that comes while the other is reading is refused, which
ends nothing: a generator that ended by its exception has no frame any more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self, SupportsIndex

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

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return self._inner.__reduce_ex__(protocol)  # refused in the words of a generator

    def _fail(self, error: BaseException) -> None:
        with guard("a stream's failure"):
            frames = (getattr(self._inner, name, None) for name in ("gi_frame", "ag_frame"))
            if not any(frame is not None for frame in frames):
                self._exchange.end_stream(error)

    def _end(self) -> None:
        with guard("a stream's end"):
            self._exchange.end_stream()


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
            self._fail(error)
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
            self._fail(error)
            raise
