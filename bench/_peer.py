"""Another tracer's decorator beside ours and a hand-written span, in a process of its own.

Run as `python -m bench._peer galtea`. Each peer is set up as its documentation says, with an
exporter that drops; what it records by default it records, and its result where it can.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

import agenttrace
from bench._calls import (
    Drop,
    by_hand,
    by_hand_async,
    called,
    driven,
    fetch_order,
    get_order,
)
from bench.figures import over, turns

Decorate = Callable[[Any], Any]


def _galtea() -> Decorate:
    from galtea.utils.tracing import traced

    otel.set_tracer_provider(_dropping())
    return traced(type="TOOL")


def _logfire() -> Decorate:
    import logfire

    logfire.configure(
        send_to_logfire=False,
        console=False,
        additional_span_processors=[SimpleSpanProcessor(Drop())],
    )
    return logfire.instrument(record_return=True)


def _openinference() -> Decorate:
    from openinference.instrumentation import OITracer, TraceConfig

    return OITracer(_dropping().get_tracer("bench"), TraceConfig()).tool


def _dropping() -> TracerProvider:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(Drop()))
    return provider


PEERS: dict[str, tuple[str, Callable[[], Decorate]]] = {
    "galtea": ("galtea", _galtea),
    "logfire": ("logfire", _logfire),
    "openinference": ("openinference-instrumentation", _openinference),
}
"""By name: the distribution, and how it is set up."""


def main(name: str, rounds: int, repeats: int) -> int:
    """Print the ratios of one peer."""
    distribution, set_up = PEERS[name]
    with tempfile.TemporaryDirectory() as folder:
        agenttrace.configure(evidence=folder, exporter=Drop())
        with agenttrace.run(name="bench"):
            ours, ours_async = agenttrace.trace(get_order), agenttrace.trace(fetch_order)
            ours("A-104")  # before the peer may set the global provider: ours goes its own way
            try:
                decorate = set_up()
            except ImportError as error:
                print(
                    f"{name} is not installed ({error}), and ours was not measured against it. "
                    f"`make bench` installs it; by hand: pip install {distribution}",
                    file=sys.stderr,
                )
                return 3
            tracer = TracerProvider().get_tracer("bench")
            found: dict[str, float] = {}
            for kind, works in {
                "sync": {
                    "by hand": by_hand(tracer),
                    "ours": called(ours),
                    "peer": called(decorate(get_order)),
                },
                "async": {
                    "by hand": by_hand_async(tracer),
                    "ours": driven(ours_async, "A-104", limit=3),
                    "peer": driven(decorate(fetch_order), "A-104", limit=3),
                },
            }.items():
                taken = turns(works, rounds=rounds, repeats=repeats, finish=agenttrace.flush)
                found[f"{kind}.peer"] = over(taken, "peer", "by hand")
                found[f"{kind}.ours"] = over(taken, "ours", "by hand")
                found[f"{kind}.below"] = over(taken, "ours", "peer")
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
