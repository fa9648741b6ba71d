"""A span processor that sends a run on as soon as it has settled, and never blocks who ends a span.

The standard batch processor waits out its delay, drops the oldest spans when its queue is full, and
cuts batches by number alone, so that one batch of long arguments is over what a gRPC server takes.
A run's evidence is of no use with a hole in it, so none of that will do here.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry.context import (
    _SUPPRESS_INSTRUMENTATION_KEY,  # the batch processor of the SDK imports it from here too
    Context,
    attach,
    detach,
    set_value,
)
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agenttrace import semconv
from agenttrace.capture import count, let_pass, say
from agenttrace.exporters._ledger import count_answers, ledger
from agenttrace.records import RecordKind

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Span

DELAY_MS: Final = 200
"""Longest wait of a span whose run goes on, unless OTEL_BSP_SCHEDULE_DELAY says other."""
MAX_BATCH: Final = 512
"""Most spans of one export, unless OTEL_BSP_MAX_EXPORT_BATCH_SIZE says other."""
MAX_BATCH_BYTES: Final = 900_000
"""Most text of one export: gRPC servers refuse more than 4 MiB by default, some proxies 1 MiB."""
MAX_QUEUE: Final = 20_000
"""Most spans that wait, unless OTEL_BSP_MAX_QUEUE_SIZE says other."""
MAX_QUEUE_BYTES: Final = 128 << 20
"""Most text that waits."""
_SPAN_BYTES: Final = 300
"""Of a span, beside its attributes: ids, times, name, links."""
_FLUSH_MS: Final = 30_000
_MAKING_S: Final = 2.0
"""Longest that a fork waits for an exporter that is being made."""

ExporterLike: TypeAlias = SpanExporter | Callable[[], SpanExporter]


class _Making:
    """Held while an exporter is made, and around a fork.

    Making one imports modules. A child that is forked in the middle of that has the lock of the
    import and not the thread that would let it go, and could never make an exporter.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._is_held = False

    def before_fork(self) -> None:
        self._is_held = self.lock.acquire(timeout=_MAKING_S)

    def in_parent(self) -> None:
        if self._is_held:
            self._is_held = False
            self.lock.release()

    def in_child(self) -> None:
        self._is_held = False
        self.lock = threading.Lock()


_making: Final = _Making()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_making.before_fork,
        after_in_parent=_making.in_parent,
        after_in_child=_making.in_child,
    )


class RunSpanProcessor(SpanProcessor):
    """Hands ended spans to one exporter, on a thread of its own.

    A run's last span makes it send everything at once; until then spans wait 200 ms for others.
    Batches are cut by number and by length of text. When more waits than may, newer spans are
    dropped and counted, but never the span of a run, whose manifest says what is missing.

    Args:
        exporter: Where spans go, or what makes it. In a forked child it is made again: two
            processes on one connection would mix up their requests.

    Example:
        >>> from opentelemetry.sdk.trace import TracerProvider
        >>> from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        >>> provider, exporter = TracerProvider(), InMemorySpanExporter()
        >>> provider.add_span_processor(RunSpanProcessor(exporter))
        >>> provider.get_tracer("mine").start_span("work").end()
        >>> provider.force_flush()
        True
        >>> [span.name for span in exporter.get_finished_spans()]
        ['work']
    """

    def __init__(self, exporter: ExporterLike) -> None:
        self._given = exporter
        self._delay_s = _number("OTEL_BSP_SCHEDULE_DELAY", DELAY_MS) / 1000
        self._max_batch = _number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", MAX_BATCH)
        self._max_queue = _number("OTEL_BSP_MAX_QUEUE_SIZE", MAX_QUEUE)
        self._exporter: SpanExporter | None = None
        self._is_shut = False
        self._said: set[str] = set()
        self._renew()
        renew = weakref.WeakMethod(self._renew)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: _call(renew))

    def _renew(self) -> None:
        """Begin with nothing: what a parent process holds, the parent sends."""
        if callable(self._given):
            self._exporter = None
        self._queue: deque[tuple[ReadableSpan, int]] = deque()
        self._bytes = 0
        self._due_s: float | None = None
        """When the oldest span has waited long enough."""
        self._taken = 0
        self._done = 0
        self._lost = 0
        self._told = 0
        """Of what was lost: what a flush has told of."""
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None

    # The threads that end spans

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing is done."""

    def is_full(self) -> bool:
        """Whether the next span would be dropped, unless it is that of a run."""
        queue = self._queue
        return bool(queue) and (
            self._is_shut or len(queue) >= self._max_queue or self._bytes > MAX_QUEUE_BYTES
        )

    def drop(self) -> None:
        """Count a span that was not made because this is full."""
        with self._changed:
            self._drop()
        self._tell_of_full()

    def on_end(self, span: ReadableSpan) -> None:
        """Take a span; nothing here waits for the exporter."""
        if span.context is None or not span.context.trace_flags.sampled:
            return
        size = _size(span)
        is_run = (span.attributes or {}).get(semconv.RECORD_KIND) == RecordKind.RUN.value
        new: threading.Thread | None = None
        with self._changed:
            if self._is_shut:
                ledger.add("spans taken")
                ledger.lose("shut-down", 1)
                return
            is_full = len(self._queue) >= self._max_queue or self._bytes + size > MAX_QUEUE_BYTES
            if is_full and not is_run and self._queue:
                self._drop()
            else:
                new = self._put(span, size, is_run)
                is_full = False
        if new is not None:
            self._start(new)
        if is_full:
            self._tell_of_full()

    def _drop(self) -> None:
        self._lost += 1
        ledger.add("spans taken")
        ledger.lose("queue-full", 1)

    def _tell_of_full(self) -> None:
        self._tell(
            "queue-full",
            "drops spans: the exporter is slower than the program, and "
            f"{self._max_queue} spans or {MAX_QUEUE_BYTES >> 20} MiB wait already",
        )

    def _put(self, span: ReadableSpan, size: int, is_run: bool) -> threading.Thread | None:
        was_empty = not self._queue
        self._queue.append((span, size))
        self._bytes += size
        self._taken += 1
        ledger.add("spans taken")
        if was_empty or self._due_s is None:
            self._due_s = time.monotonic() + self._delay_s
        is_batch = len(self._queue) >= self._max_batch or self._bytes >= MAX_BATCH_BYTES
        if is_run or is_batch:
            self._due_s = 0.0
        if self._worker is None:
            return self._new_worker()
        if was_empty or is_run or is_batch:
            self._changed.notify_all()
        return None

    def _new_worker(self) -> threading.Thread:
        worker = threading.Thread(target=self._work, daemon=True, name="agenttrace-export")
        self._worker = worker
        return worker

    def _start(self, worker: threading.Thread) -> None:
        # Holding no lock: where threads are greenlets, others run until this one has begun.
        try:
            worker.start()
        except RuntimeError as error:  # no more threads, or the interpreter is ending
            self._worker = None
            self._tell("no-thread", "sends no spans yet: no thread could be started", error)

    # The worker

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._is_shut:
                    if not self._queue:
                        self._changed.wait()
                        continue
                    rest_s = (self._due_s or 0.0) - time.monotonic()
                    if rest_s <= 0:
                        break
                    self._changed.wait(rest_s)
                if not self._queue and self._is_shut:
                    return
            self._drain()

    def _drain(self) -> None:
        """Send what waits, batch by batch."""
        while True:
            with self._changed:
                batch = self._next_batch()
            if not batch:
                return
            sent = self._send(batch)
            with self._changed:
                self._done += len(batch)
                self._lost += len(batch) - sent
                self._changed.notify_all()

    def _next_batch(self) -> list[ReadableSpan]:
        batch: list[ReadableSpan] = []
        total = 0
        while self._queue and len(batch) < self._max_batch:
            span, size = self._queue[0]
            if batch and total + size > MAX_BATCH_BYTES:
                break
            self._queue.popleft()
            batch.append(span)
            total += size
        self._bytes -= total
        if not self._queue:
            self._due_s = None
        return batch

    def _send(self, batch: Sequence[ReadableSpan]) -> int:
        """How many of them the exporter took."""
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            if self._exporter is None:
                with _making.lock:
                    given = self._given
                    self._exporter = given if isinstance(given, SpanExporter) else given()
                    count_answers(self._exporter)
        except BaseException as error:  # noqa: BLE001 - its settings may be anything
            let_pass(error)
            ledger.lose("no-exporter", len(batch))
            self._tell("no-exporter", "sends no spans: the exporter could not be made", error)
            return 0
        else:
            return self._export(self._exporter, batch)
        finally:
            detach(token)

    def _export(self, exporter: SpanExporter, batch: Sequence[ReadableSpan]) -> int:
        ledger.add("batches made")
        try:
            result = exporter.export(batch)
        except BaseException as error:  # noqa: BLE001 - an exporter may raise anything
            let_pass(error)
            if len(batch) > 1:
                # One span that cannot be encoded must not take the others with it.
                half = len(batch) // 2
                return self._export(exporter, batch[:half]) + self._export(exporter, batch[half:])
            ledger.lose("raised", len(batch))
            self._tell("raised", "could not export a span", error)
            return 0
        if result is SpanExportResult.SUCCESS:
            ledger.add("batches sent")
            ledger.add("spans sent", len(batch))
            return len(batch)
        ledger.add("batches refused")
        ledger.lose("refused", len(batch))
        self._tell("failed", f"could not export {len(batch)} spans: the exporter gave up")
        return 0

    def _tell(self, cause: str, message: str, error: BaseException | None = None) -> None:
        """Count for `doctor`, and log the first of its kind; local evidence is not concerned."""
        count(f"export:{cause}")
        if cause not in self._said:
            self._said.add(cause)
            say(
                logging.WARNING,
                f"agenttrace {message}. What arrives is not whole and will be judged as such; "
                "local evidence is whole. Further cases are counted and not logged.",
                error,
            )

    # The end

    def force_flush(self, timeout_millis: int | None = None) -> bool:
        """Wait until everything that was taken is sent.

        False if that took too long, or if anything was lost since the last time.
        """
        end_s = time.monotonic() + (_FLUSH_MS if timeout_millis is None else timeout_millis) / 1000
        new: threading.Thread | None = None
        with self._changed:
            wanted = self._taken
            self._due_s = 0.0
            if self._worker is None and self._queue:
                new = self._new_worker()
            self._changed.notify_all()
        if new is not None:
            self._start(new)
        with self._changed:
            while self._done < wanted:
                rest_s = end_s - time.monotonic()
                if rest_s <= 0 or self._worker is None:
                    return False
                self._changed.wait(rest_s)
            lost, self._told = self._lost - self._told, self._lost
        exporter = self._exporter
        rest_ms = max(0, int((end_s - time.monotonic()) * 1000))
        flushed = exporter is None or exporter.force_flush(rest_ms)
        return flushed is not False and not lost

    def shutdown(self) -> None:
        """Send what waits, and end the exporter; what ends later is not taken."""
        with self._changed:
            if self._is_shut:
                return
            self._is_shut = True
            worker = self._worker
            self._changed.notify_all()
        if worker is None:
            self._drain()
        elif worker is not threading.current_thread():
            worker.join(_FLUSH_MS / 1000)
        if self._exporter is not None:
            self._exporter.shutdown()


def _size(span: ReadableSpan) -> int:
    """About how many bytes a span takes on the wire."""
    total = _SPAN_BYTES + len(span.name)
    for key, value in (span.attributes or {}).items():
        total += len(key) + 8
        if value.__class__ is str:
            total += len(value) if value.isascii() else 4 * len(value)
        elif value.__class__ not in _SMALL:
            total += len(str(value))
    return total


_SMALL: Final = frozenset({int, bool, float})


def _number(variable: str, default: int) -> int:
    try:
        return max(1, int(os.environ[variable]))
    except (KeyError, ValueError):
        return default


def _call(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    found = method()
    if found is not None:
        found()
