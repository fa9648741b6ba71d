"""A real collector and a receiver behind it, on free loopback ports, ended by their own objects.

rotel takes spans by HTTP and gRPC and forwards them, always compressed. oteltap reads nothing that
is compressed, and hands out spans without their resource and scope; so what rotel sends goes to a
receiver of ours, which keeps it whole and passes it on to oteltap unpacked.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpExporter,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SpanExporter

from agenttrace.domain import Evidence, UnusableRecord
from agenttrace.readers import OtlpRecords, records_from_otlp_spans
from agenttrace.records import Record, assemble
from agenttrace.session import AgentRun
from tests.support.otlp_receiver import OtlpReceiver, otlp_receiver

PATIENCE_S = 60.0
"""How long something may take that takes milliseconds on an idle machine."""


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def until(done: Callable[[], bool], what: str, *, patience_s: float = PATIENCE_S) -> None:
    """Wait until something is so."""
    end = time.monotonic() + patience_s
    while not done():
        assert time.monotonic() < end, f"{what}: not within {patience_s} s"
        time.sleep(0.01)


def agent_path() -> Path:
    """rotel's program; skips where its package has no wheel for this platform."""
    found = importlib.util.find_spec("rotel")
    if found is None or found.origin is None:
        pytest.skip("rotel is not installed: it has wheels for Linux with glibc 2.34 alone")
    return Path(found.origin).parent / "rotel-agent"


class Rotel:
    """One collector process."""

    def __init__(self, folder: Path, forward_to: str) -> None:
        self.folder = folder
        self._forward_to = forward_to
        self._ports = free_port(), free_port()
        self._log = folder / f"rotel-{self._ports[0]}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def http(self) -> str:
        """Where spans are taken by HTTP."""
        return f"http://127.0.0.1:{self._ports[0]}/v1/traces"

    @property
    def grpc(self) -> str:
        """Where spans are taken by gRPC."""
        return f"http://127.0.0.1:{self._ports[1]}"

    @property
    def output(self) -> str:
        """What it printed so far."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    def start(self) -> None:
        """Start it, again on the same ports if it ran before, and wait until it listens."""
        http, grpc = self._ports
        options = {
            "otlp-http-endpoint": f"127.0.0.1:{http}",
            "otlp-grpc-endpoint": f"127.0.0.1:{grpc}",
            "exporter": "otlp",
            "otlp-exporter-endpoint": self._forward_to,
            "otlp-exporter-protocol": "http",
            "otlp-exporter-retry-initial-backoff": "100ms",
            "batch-timeout": "50ms",
            "pid-file": str(self.folder / f"rotel-{http}.pid"),
            "log-file": str(self.folder / f"rotel-{http}.agent.log"),
        }
        command = [str(agent_path()), "start"]
        command += [f"--{name}={value}" for name, value in options.items()]
        # Settings of the surrounding shell are not the test's.
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROTEL_", "OTEL_"))}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=kept
            )
        until(self._is_listening, "rotel listens")

    def kill(self) -> None:
        """Stop it as a crash would: nothing that it holds is sent on."""
        self._end(force=True)

    def stop(self) -> None:
        """Stop it in order: what it holds is sent on first."""
        self._end(force=False)

    def _end(self, *, force: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if force:
            process.kill()
        else:
            process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)

    def _is_listening(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"rotel ended by itself:\n{self.output}"
        for port in self._ports:
            with closing(socket.socket()) as one:
                if one.connect_ex(("127.0.0.1", port)):
                    return False
        return True


class Tap:
    """oteltap in a thread of its own; `spans` grows as they arrive."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.endpoint = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._done: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(PATIENCE_S), "oteltap does not start"
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        if self._done is not None:
            self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(PATIENCE_S)

    def take(self, body: bytes) -> None:
        """Hand it one export request."""
        headers = {"content-type": "application/x-protobuf"}
        request = urllib.request.Request(f"{self.endpoint}/v1/traces", body, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            answer.read()

    def records(self, since: int = 0) -> OtlpRecords:
        """Our records among the spans that arrived, from a place in `spans` on."""
        request = ExportTraceServiceRequest()
        scope = request.resource_spans.add().scope_spans.add()
        scope.spans.extend(self.spans[since:])
        return records_from_otlp_spans(request)

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._receive())
        except BaseException as error:  # noqa: BLE001 - raised again in the test's thread
            self._error = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _receive(self) -> None:
        from oteltap import OtelTapHttpProtobufReceiver, OtelTapHttpProtobufReceiverSettings

        self._done = asyncio.Event()
        port = free_port()
        settings = OtelTapHttpProtobufReceiverSettings(http_port=port)
        async with OtelTapHttpProtobufReceiver(settings) as receiver:
            collecting = asyncio.create_task(self._collect(receiver.stream_traces()))
            await asyncio.sleep(0)  # it subscribes now, before anything can arrive
            self.endpoint = f"http://127.0.0.1:{port}"
            self._ready.set()
            await self._done.wait()
            collecting.cancel()

    async def _collect(self, stream: Any) -> None:
        async for span in stream:
            self.spans.append(span)


@contextmanager
def tap() -> Iterator[Tap]:
    """A receiver while the block is open; skips where oteltap is not installed."""
    pytest.importorskip("oteltap", reason="oteltap is not installed")
    one = Tap()
    one.start()
    try:
        yield one
    finally:
        one.stop()


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A collector, what it forwards to, and oteltap behind that."""

    rotel: Rotel
    receiver: OtlpReceiver
    tap: Tap


@contextmanager
def chain(folder: Path) -> Iterator[Chain]:
    """All three while the block is open; what the collector printed is shown when it fails."""
    agent_path()
    with ExitStack() as stack:
        end = stack.enter_context(tap())
        receiver = stack.enter_context(otlp_receiver(pass_on=end.take))
        rotel = Rotel(folder, receiver.endpoint.removesuffix("/v1/traces"))
        stack.callback(rotel.kill)
        rotel.start()
        try:
            yield Chain(rotel=rotel, receiver=receiver, tap=end)
        except BaseException:
            print(f"rotel said:\n{rotel.output[-4000:]}")
            raise


PROTOCOLS = ("http", "grpc")


def exporter_to(rotel: Rotel, protocol: str) -> SpanExporter:
    """The standard exporter, as a program would have it."""
    if protocol == "http":
        return HttpExporter(endpoint=rotel.http)
    grpc = pytest.importorskip("opentelemetry.exporter.otlp.proto.grpc.trace_exporter")
    exporter: SpanExporter = grpc.OTLPSpanExporter(endpoint=rotel.grpc, insecure=True)
    return exporter


class Arrived:
    """What arrived for some runs, put together as a reader does."""

    def __init__(self, found: Iterable[OtlpRecords]) -> None:
        self.records: dict[str, list[Record]] = {}
        self.unusable: dict[str | None, list[UnusableRecord]] = {}
        for part in found:
            for record in part.records:
                self.records.setdefault(record.run.run_id, []).append(record)
            for lost in part.unusable:
                self.unusable.setdefault(lost.run_id, []).append(lost.record)

    def evidence(self, run_id: str) -> Evidence | None:
        """The evidence of one run; None where no record of it arrived."""
        records = self.records.get(run_id)
        return assemble(records, self.unusable.get(run_id, ())) if records else None

    def is_whole(self, runs: Iterable[AgentRun]) -> bool:
        """Whether everything that was recorded of these runs is here."""
        return all(len(self.records.get(run.id, ())) >= len(run.records()) for run in runs)


def arrived(receiver: OtlpReceiver) -> Arrived:
    """What is at the receiver by now, read from the bytes that came."""
    return Arrived(records_from_otlp_spans(body) for body in list(receiver.bodies))


def until_whole(receiver: OtlpReceiver, runs: Sequence[AgentRun]) -> Arrived:
    """Wait until everything of these runs arrived; it is read again only as more comes."""
    seen = sum(len(run.records()) for run in runs) - 1

    def is_whole() -> bool:
        nonlocal seen
        count = len(receiver.spans)
        if count <= seen:
            return False
        seen = count
        return arrived(receiver).is_whole(runs)

    until(is_whole, "every span at the receiver")
    return arrived(receiver)
