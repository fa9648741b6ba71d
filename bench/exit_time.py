"""How long a process takes to end with 1,200 spans that nobody takes, ours and the standard SDK's.

From the last line of the program to the end of the process. The standard SDK is its batch processor
with the same exporter.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory

from bench.figures import Figure

BOUND_S = 2.5
SLOW_S = 5.0
"""How long the slow server takes for each answer."""
LONGEST_S = 120.0

Server = Callable[[], AbstractContextManager[int]]
"""Stands at the other end for a while; gives its port."""


def measure() -> Iterator[Figure]:
    """Seconds to the end, by what stands at the other end."""
    with ExitStack() as servers, ThreadPoolExecutor(20) as pool, TemporaryDirectory() as folder:
        cases = [
            (protocol, name, servers.enter_context(server()))
            for protocol, kinds in (("http", HTTP), ("grpc", GRPC))
            for name, server in kinds.items()
        ]
        # Ours one after the other, on a machine with nothing else of this to do; then the others,
        # which mostly wait, side by side.
        for protocol, name, port in cases:
            yield _figure(protocol, name, _ends_after("ours", protocol, port, folder), BOUND_S)
        standard: list[tuple[str, str, Future[float]]] = [
            (protocol, name, pool.submit(_ends_after, "standard", protocol, port, folder))
            for protocol, name, port in cases
        ]
        for protocol, name, taken in standard:
            yield _figure(protocol, f"{name}.standard", taken.result(), None)


def _figure(protocol: str, name: str, value: float, bound: float | None) -> Figure:
    return Figure(
        name=f"exit_time.{protocol}.{name}",
        value=value,
        unit="s",
        bound=bound,
        against="the last line of the program, 1,200 spans before it",
    )


def _ends_after(who: str, protocol: str, port: int, folder: str) -> float:
    address = f"127.0.0.1:{port}"
    endpoint = f"http://{address}/v1/traces" if protocol == "http" else address
    child = subprocess.Popen(
        [sys.executable, "-m", "bench._exit_program", who, protocol, endpoint, folder],
        env={**os.environ, "PYTHONPATH": "."},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    timer = threading.Timer(LONGEST_S, child.send_signal, [signal.SIGKILL])
    timer.start()
    assert child.stdout is not None
    said = child.stdout.read()
    code = child.wait()
    ended = time.monotonic()
    timer.cancel()
    if code:
        raise RuntimeError(f"the program for {who} over {protocol} ended with code {code}")
    return ended - float(said)


# What stands at the other end


@contextmanager
def _closed() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        yield taken.getsockname()[1]


@contextmanager
def _black_hole() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)  # the system accepts; nobody ever reads
        yield listening.getsockname()[1]


def _answering(status: int, headers: dict[str, str], after_s: float = 0.0) -> Server:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            time.sleep(after_s)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    @contextmanager
    def serve() -> Iterator[int]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()

    return serve


HTTP: dict[str, Server] = {
    "closed_port": _closed,
    "503": _answering(503, {}),
    "429": _answering(429, {"retry-after": "30"}),
    "black_hole": _black_hole,
    "slow": _answering(200, {}, SLOW_S),
}
GRPC: dict[str, Server] = {"closed_port": _closed, "black_hole": _black_hole}
