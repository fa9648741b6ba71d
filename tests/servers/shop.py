"""A program that records before its server forks: `gunicorn --preload tests.servers.shop:app`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import agenttrace
from agenttrace.session import WsgiRuns


@agenttrace.trace
def pay(order: str) -> str:
    """Wait a moment, so that requests overlap."""
    time.sleep(0.02)
    return order


@agenttrace.trace
def look_up(order: str) -> str:
    """Pay on a pool's thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(pay, order).result()


agenttrace.configure()
with agenttrace.run():
    pay("/before-the-fork")
"""Threads of ours, the file and the exporter are there when the server forks."""


def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Look an order up, and once more while the answer is sent."""
    order = environ["PATH_INFO"]
    look_up(order)
    start_response("200 OK", [("Content-Type", "text/plain")])

    def body() -> Iterator[bytes]:
        pay(f"{order}/sent")
        yield threading.current_thread().name.encode()

    return body()


app = WsgiRuns(answer)
