"""What `@trace` costs a call, against a span written by hand with the same tracer provider."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator

from opentelemetry.sdk.trace import TracerProvider

import agenttrace
from bench.figures import Figure, ratios

ROUNDS, REPEATS = 9, 300


def get_order(order_id: str, limit: int = 10) -> dict[str, object]:
    """A tool that does next to nothing."""
    return {"order_id": order_id, "limit": limit}


def measure() -> Iterator[Figure]:
    """CPU of a decorated call on the caller's thread, sync and async, inside a run."""
    with tempfile.TemporaryDirectory() as folder:
        agenttrace.configure(evidence=folder)
        traced = agenttrace.trace(get_order)
        by_hand = _by_hand()
        with agenttrace.run(name="bench"):
            ratio = ratios(
                {"by hand": by_hand, "traced": lambda: traced("A-104", limit=3)},
                "by hand",
                rounds=ROUNDS,
                repeats=REPEATS,
            )["traced"]
        yield _figure("overhead.sync", ratio)
        with agenttrace.run(name="bench-async"):
            yield _figure("overhead.async", asyncio.run(_asynchronous()))


def _figure(name: str, ratio: float) -> Figure:
    return Figure(
        name=name,
        value=ratio,
        unit="ratio",
        bound=None,
        against="a hand-written span with 4 attributes, 2 of them json.dumps",
    )


def _by_hand():  # type: ignore[no-untyped-def]
    tracer = TracerProvider().get_tracer("bench")

    def call() -> object:
        with tracer.start_as_current_span("execute_tool get_order") as span:
            span.set_attribute("gen_ai.operation.name", "execute_tool")
            span.set_attribute("gen_ai.tool.name", "get_order")
            arguments = {"order_id": "A-104", "limit": 3}
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))
            result = get_order(**arguments)  # type: ignore[arg-type]
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result

    return call


async def _asynchronous() -> float:
    async def tool(order_id: str, limit: int = 10) -> dict[str, object]:
        return get_order(order_id, limit)

    traced = agenttrace.trace(tool)
    by_hand = _by_hand()

    def once() -> None:
        coroutine = traced("A-104", limit=3)
        try:
            coroutine.send(None)
        except StopIteration:
            return

    return ratios({"by hand": by_hand, "traced": once}, "by hand", rounds=ROUNDS, repeats=REPEATS)[
        "traced"
    ]
