"""The tool that is measured, plain and asynchronous, and the span that a person would write."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Span, Tracer

from bench.figures import Work

BY_HAND = "a hand-written span with 4 attributes, 2 of them json.dumps, in the same rounds"


def get_order(order_id: str, limit: int = 10) -> dict[str, object]:
    """A tool that does next to nothing."""
    return {"order_id": order_id, "limit": limit}


async def fetch_order(order_id: str, limit: int = 10) -> dict[str, object]:
    """The same, asynchronous."""
    return {"order_id": order_id, "limit": limit}


def by_hand(tracer: Tracer) -> Work:
    """A call of the tool in a hand-written span."""

    def call() -> object:
        with tracer.start_as_current_span("execute_tool get_order") as span:
            arguments: dict[str, Any] = {"order_id": "A-104", "limit": 3}
            _describe(span, arguments)
            result = get_order(**arguments)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result

    return call


def by_hand_async(tracer: Tracer) -> Work:
    """The same, asynchronous."""

    async def call() -> object:
        with tracer.start_as_current_span("execute_tool fetch_order") as span:
            arguments: dict[str, Any] = {"order_id": "A-104", "limit": 3}
            _describe(span, arguments)
            result = await fetch_order(**arguments)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result

    return driven(call)


def _describe(span: Span, arguments: dict[str, Any]) -> None:
    span.set_attribute("gen_ai.operation.name", "execute_tool")
    span.set_attribute("gen_ai.tool.name", "get_order")
    span.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))


def called(tool: Callable[..., Any]) -> Work:
    """A call of the tool as a program makes it."""
    return lambda: tool("A-104", limit=3)


def driven(tool: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any) -> Work:
    """A coroutine run to its end without an event loop, whose own cost would hide the rest."""

    def call() -> object:
        try:
            tool(*args, **kwargs).send(None)
        except StopIteration as stop:
            return stop.value
        raise RuntimeError("the coroutine waits for something")

    return call


class Drop(SpanExporter):
    """Takes every span and keeps none."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing is open."""
