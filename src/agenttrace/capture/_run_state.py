"""One run as this process records it: numbers, counts, and every record on its one way out.

Two numbers are kept apart. `seq` numbers the records as they are written, without gaps, so that a
hole is seen; `order` is taken when a thing begins, so that a call that ended late still stands
where it started.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as otel_context
from opentelemetry.trace import SpanContext, SpanKind, Tracer

from agenttrace import semconv
from agenttrace.capture._context import Scope
from agenttrace.capture._conversation import Conversations
from agenttrace.capture._guard import failed, guard, is_strict
from agenttrace.capture._kept import KeptRecords
from agenttrace.capture._lines import LineWriter
from agenttrace.capture._model_calls import ModelCalls
from agenttrace.capture._outbox import Left, outbox
from agenttrace.capture._settings import Settings
from agenttrace.capture._source import source
from agenttrace.capture._spans import OpenSpan, end_span, ids_in, start_span, under
from agenttrace.capture._tally import Tally
from agenttrace.capture._tool_facts import TracedTools
from agenttrace.domain import Phase, Run
from agenttrace.records import (
    Record,
    RecordKind,
    plain_to_attributes,
    record_from_plain,
    record_to_attributes,
    record_to_plain,
    to_plain,
    travels,
)
from agenttrace.redaction import Redactor, RunDigests, RunMask

if TYPE_CHECKING:
    from agenttrace.capture._execution import OpenExecution

_MAX_TURNS: Final = 10_000


@dataclass(kw_only=True, eq=False)
class RunState:
    """Everything this process knows of one run."""

    run: Run
    settings: Settings
    recorder_id: str
    tracer: Tracer
    redactor: Redactor
    span: OpenSpan
    writer: LineWriter | None
    is_deferred: bool
    """Whether records are made after their call has gone on: the spans go through our provider."""
    tools: TracedTools
    """Tools whose calls would leave a record at the executor."""
    on_late: Callable[[RunState], None]
    """Told once when something comes after the run was closed."""

    is_closed: bool = False
    left: object | None = None
    """What was entered for it, where it was left before a run that had been entered inside it."""
    is_forked: bool = False
    """The run was opened by the process that this one was forked from."""
    model_calls: ModelCalls = field(default_factory=ModelCalls)
    last_activity_s: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        redactor = self.redactor
        self.mask: RunMask | RunDigests = (
            redactor.digests_for_run() if self.settings.content == "digest" else redactor.for_run()
        )
        self.conversations = Conversations(self.mask)
        self.run_plain: Mapping[str, Any] = to_plain(self.run)
        self._forget_threads()
        self._begin_counting()

    def _forget_threads(self) -> None:
        # May be taken again by the thread that holds it, as the tally's.
        self.taking = threading.RLock()

    def _begin_counting(self) -> None:
        self.tally = Tally(self.recorder_id)
        self._orders = itertools.count(1)
        self._is_late = False
        self._open: dict[int, OpenExecution] = {}
        self._kept = KeptRecords(self.settings, self.writer, self.count_lost)
        self._turns: OrderedDict[str, int] = OrderedDict()
        self._turn = 0
        self.schemas_sent: set[str] = set()

    # Numbers and counts

    def tick(self) -> int:
        """The next number of the run's causal order."""
        return next(self._orders)

    def next_turn(self, response_id: str | None, previous: str | None) -> int:
        """Number of a response within the run: one after the response it continues."""
        with self.taking:
            known = self._turns.get(previous) if previous is not None else None
            turn = (self._turn if known is None else known) + 1
            self._turn = max(self._turn, turn)
            if response_id is not None:
                self._turns[response_id] = turn
                if len(self._turns) > _MAX_TURNS:
                    self._turns.popitem(last=False)
            return turn

    def count_lost(self, cause: str) -> None:
        """Add one to what was lost, refused, or failed to be made."""
        self.tally.count_lost(cause)

    def opened(self, execution: OpenExecution) -> None:
        """An execution began."""
        self._open[id(execution)] = execution

    def ended(self, execution: OpenExecution) -> None:
        """An execution ended."""
        self._open.pop(id(execution), None)

    @property
    def open_executions(self) -> tuple[OpenExecution, ...]:
        """Executions that have not ended."""
        return tuple(self._open.copy().values())  # a copy is made in one go

    @property
    def has_records(self) -> bool:
        """Whether this recorder made any record of the run."""
        return self.tally.last_seq > 0

    @property
    def is_late(self) -> bool:
        """Whether something came after the run was closed, and its end was not written again."""
        if self.is_closed:
            outbox.drain()
        return self._is_late

    # Records on their way out

    def deliver(self, work: Callable[[], None], weight: int = 0) -> None:
        """Make records after the call that they are of has gone on, or now.

        Through a provider of the user's a span ends when its work does, with all that its record
        says; only the file can wait. Through ours everything can.

        Args:
            weight: Bytes that the work holds, about; 0 for little.
        """
        self.last_activity_s = time.monotonic()
        if self.is_deferred:
            outbox.put(work, self, weight)
        else:
            with guard("writing a record", self):
                work()

    def leave(self, piece: Left, *, is_needed: bool = True) -> None:
        """As `deliver`, for a piece of work that is an object anyway."""
        self.last_activity_s = time.monotonic()
        if self.is_deferred:
            outbox.leave(piece, is_needed=is_needed)
        else:
            with guard("writing a record", self):
                piece.work()

    def in_order(self) -> None:
        """Have made every record that was left to be made: what they masked is masked from now."""
        if self.is_deferred:
            outbox.drain()

    def commit_plain(
        self,
        kind: RecordKind,
        span: OpenSpan,
        payload: dict[str, Any],
        *,
        end_ns: int,
        is_error: bool = False,
    ) -> None:
        """Write one record whose payload is in plain form already; the span ends with it."""
        self.deliver(
            lambda: self.write_plain(kind, span, payload, end_ns=end_ns, is_error=is_error)
        )

    def write_plain(
        self,
        kind: RecordKind,
        span: OpenSpan,
        payload: dict[str, Any],
        *,
        end_ns: int,
        is_error: bool = False,
    ) -> None:
        """Write one record now; called from what was delivered."""
        plain: dict[str, Any] = {
            "kind": kind.value,
            "trace_id": span.trace_id,
            "span_id": span.span_id,
            "run": self.run_plain,
            "start_ns": span.start_ns,
            "end_ns": end_ns,
            "payload": payload,
        }
        parent = span.parent_id
        if parent is not None:
            plain["parent_id"] = parent
        attributes: dict[str, Any] | None = None
        with guard("writing a record", self):
            self._keep(kind, plain)
            if span.is_heard:
                attributes = plain_to_attributes(plain)
        end_span(span, end_ns=end_ns, attributes=attributes, is_error=is_error)

    def commit(self, kind: RecordKind, span: OpenSpan, payload: Any, *, end_ns: int) -> None:
        """Write one record; texts of messages stay in local evidence."""
        self.deliver(lambda: self._write(kind, span, payload, end_ns))

    def _write(self, kind: RecordKind, span: OpenSpan, payload: Any, end_ns: int) -> None:
        attributes: dict[str, Any] | None = None
        with guard("writing a record", self):
            record = self._record(kind, span, payload, end_ns)
            plain = record_to_plain(record)
            self._keep(kind, plain)
            attributes = self._attributes(record, span, plain["seq"])
        end_span(span, end_ns=end_ns, attributes=attributes)

    def _record(self, kind: RecordKind, span: OpenSpan, payload: Any, end_ns: int) -> Record:
        return Record(
            kind=kind,
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_id=span.parent_id,
            run=self.run,
            recorder_id=self.recorder_id,
            seq=0,
            start_ns=span.start_ns,
            end_ns=end_ns,
            payload=payload,
        )

    def _attributes(self, record: Record, span: OpenSpan, seq: int) -> dict[str, Any] | None:
        if not span.is_heard:
            return None
        exports_texts = self.settings.content == "messages"
        attributes = record_to_attributes(record, content=exports_texts)
        attributes[semconv.SEQ] = seq
        return attributes

    def _keep(self, kind: RecordKind, plain: dict[str, Any]) -> None:
        """Number a record and write it; whatever fails here leaves a hole that is counted."""
        with self.tally.lock:
            self.tally.number(kind, plain)
            late = self.is_closed and not self._is_late
            self._is_late = self._is_late or late
        if self.is_deferred or is_strict():
            self._write_line(kind, plain)
        else:
            outbox.put(lambda: self._write_line(kind, plain), self)
        if late:
            self.on_late(self)

    def _write_line(self, kind: RecordKind, plain: dict[str, Any]) -> None:
        if not self._kept.keep(plain, is_end=kind is RecordKind.RUN):
            self.count_lost("memory")

    # The end

    def close(self, *, settled: bool = True, end_ns: int | None = None) -> None:
        """Write the run's own record with the manifest, and end its span.

        What comes later belongs to the run still; closing again then writes a further revision, on
        a span of its own under the first.
        """
        span = self.span
        if self.tally.revision > 0 or self.is_forked:
            span = self.start_span(semconv.SPAN_RUN, start_ns=source().now_ns())
        end_ns = max(source().now_ns() if end_ns is None else end_ns, span.start_ns)
        attributes: dict[str, Any] | None = None
        with guard("closing a run", self):
            masking, stated = self.mask.masking(), self.tools.stated(self)
            with self.tally.lock:
                # In one go: a record between the count and its manifest would look like a hole.
                self.tally.revision += 1
                self._is_late = False
                self.is_closed = True
                manifest = self.tally.manifest(
                    traced_tools=tuple(self.tools),
                    mask_errors=self.mask.errors,
                    open_executions=len(self._open),
                    settled=settled,
                )
                payload = stated.end(manifest, masking)
                record = self._record(RecordKind.RUN, span, payload, end_ns)
                plain = record_to_plain(record)
                self.tally.number(RecordKind.RUN, plain)
                self._write_line(RecordKind.RUN, plain)
                self._kept.close()
            attributes = self._attributes(record, span, plain["seq"])
        self.is_closed = True
        end_span(span, end_ns=end_ns, attributes=attributes)

    def start_span(
        self,
        name: str,
        *,
        start_ns: int,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, Any] | None = None,
        link: str | None = None,
    ) -> OpenSpan:
        """Start a span directly under the run's."""
        return start_span(
            self.tracer,
            name,
            context=self.context(otel_context.Context()),
            start_ns=start_ns,
            kind=kind,
            attributes=attributes,
            link=link,
        )

    def context(
        self, current: otel_context.Context, execution: OpenSpan | None = None
    ) -> otel_context.Context:
        """The context of a record's span: the current one.

        Where that is lost, as in threads, it is under the execution that we are inside of, or the
        run.
        """
        return self.placed(current, execution)[0]

    def placed(
        self, current: otel_context.Context, execution: OpenSpan | None = None
    ) -> tuple[otel_context.Context, SpanContext | None]:
        """The context of a record's span, and the ids of the span in it where they are known."""
        ids = ids_in(current)
        return (current, ids) if ids.is_valid else (under(execution or self.span, current), None)

    # Reading

    def scope(self) -> Scope:
        """Where work stands that was just found to belong to this run."""
        return Scope(run=self, phase=Phase.RUN)

    def records(self) -> tuple[Record, ...]:
        """Every record of the run, those of other recorders in its folder among them."""
        outbox.drain()
        plains = self._kept.read()
        made: list[Record] = []
        for plain in plains:
            try:
                made.append(record_from_plain(plain))
            except ValueError as error:
                failed("reading a record back", error, self)
        return tuple(made)

    def adopt_in_child(self, recorder_id: str, writer: LineWriter | None) -> None:
        """Go on in a forked child, as another recorder of the same run."""
        self._forget_threads()
        self.mask.forget_threads()
        self.conversations = Conversations(self.mask)
        self.recorder_id = recorder_id
        self.writer = writer
        self.is_forked = True
        self.is_closed = False
        self.model_calls = ModelCalls()
        orders = self._orders
        self._begin_counting()
        self._orders = orders  # what the child does comes after what was done before the fork

    @property
    def folder(self) -> Path | None:
        """Where this run's lines are written."""
        return None if self.writer is None else self.writer.folder


def opening_attributes(run: Run) -> dict[str, str | int]:
    """What a run's span says from its start, for samplers and for who looks at open spans."""
    known: dict[str, str | int | None] = {
        semconv.RUN_ID: run.run_id,
        semconv.RUN_ATTEMPT: run.attempt,
        semconv.CASE_ID: run.case_id,
    }
    return {key: value for key, value in known.items() if value is not None and travels(value)}
