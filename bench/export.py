"""How soon a settled run is at its receiver, and how long sending holds up the traced program."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

import agenttrace
from agenttrace import semconv
from agenttrace.testing import isolated
from bench.figures import Figure

ROUNDS = 40
CALLS = 10
BOUND_MS = 200.0
SLOW_S = 0.5
"""How long the slow receiver takes to answer."""


@agenttrace.trace
def get_order(order_id: str) -> dict[str, object]:
    """A tool that does next to nothing."""
    return {"order_id": order_id, "paid_cents": 9800}


def measure() -> Iterator[Figure]:
    """Milliseconds from a run's last call to its arrival, and of the caller's own waiting."""
    with _receiver() as (endpoint, arrivals), isolated(exporters=[OTLPSpanExporter(endpoint)]):
        waits = [_arrival_ms(arrivals) for _ in range(ROUNDS)]
    for name, value in (
        ("export.arrival", statistics.median(waits)),
        ("export.arrival_worst", max(waits)),
    ):
        yield Figure(
            name=name,
            value=value,
            unit="ms",
            bound=BOUND_MS,
            against=f"the last of {CALLS} calls of a run; HTTP exporter, receiver on loopback",
        )
    bare, sent = [], []
    with _receiver(SLOW_S) as (endpoint, _):
        for _ in range(ROUNDS):
            # One after the other in each round, so that a busy machine is busy for both.
            with isolated():
                bare.append(_run_ms())
            with isolated(exporters=[OTLPSpanExporter(endpoint)]):
                sent.append(_run_ms())
    yield Figure(
        name="export.blocked",
        value=statistics.median(own - base for own, base in zip(sent, bare, strict=True)),
        unit="ms",
        bound=BOUND_MS,
        against=f"the same run without an exporter; the receiver takes {SLOW_S * 1000:.0f} ms",
    )
    yield Figure(
        name="export.blocked_worst",
        value=max(sent),
        unit="ms",
        bound=BOUND_MS,
        against=f"nothing: a whole run with {CALLS} calls; without an exporter {max(bare):.1f} ms",
    )


def _arrival_ms(arrivals: list[float]) -> float:
    before = len(arrivals)
    last_call = _run()
    while len(arrivals) == before:
        time.sleep(0.0005)
    return (arrivals[-1] - last_call) * 1000


def _run_ms() -> float:
    began = time.perf_counter()
    _run()
    return (time.perf_counter() - began) * 1000


def _run() -> float:
    """When the run's last call had returned."""
    with agenttrace.run():
        for number in range(CALLS):
            get_order(f"A-{number}")
        return time.perf_counter()


@contextmanager
def _receiver(answer_s: float = 0.0) -> Iterator[tuple[str, list[float]]]:
    """An endpoint on the loopback, and when each export had fully arrived there."""
    arrivals: list[float] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if semconv.SPAN_RUN.encode() in body:
                arrivals.append(time.perf_counter())
            time.sleep(answer_s)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", arrivals
    finally:
        server.shutdown()
        server.server_close()
