"""One run as this process records it: numbers, counts, and every record on its one way out.

Two numbers are kept apart. `seq` numbers the records as they are written, without gaps, so that a
hole is seen; `order` is taken when a thing begins, so that a call that ended late still stands
where it started.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as otel_context
from opentelemetry.trace import SpanKind, Tracer

from agenttrace import semconv
from agenttrace.capture._context import Scope
from agenttrace.capture._conversation import Conversations
from agenttrace.capture._guard import failed, guard
from agenttrace.capture._hooks import hooks
from agenttrace.capture._lines import LineWriter, read_back
from agenttrace.capture._model_calls import ModelCalls
from agenttrace.capture._settings import Settings
from agenttrace.capture._source import source
from agenttrace.capture._spans import OpenSpan, end_span, has_span, start_span, under
from agenttrace.domain import Boundary, Manifest, Phase, Run
from agenttrace.records import (
    BOUNDARY_OF,
    Record,
    RecordKind,
    RunEnd,
    dump_json,
    plain_to_attributes,
    record_from_plain,
    record_to_attributes,
    record_to_plain,
    to_plain,
)
from agenttrace.redaction import Redactor

if TYPE_CHECKING:
    from agenttrace.capture._execution import OpenExecution

_MAX_TURNS: Final = 10_000
MAX_REQUESTS: Final = 1_000
"""Requests of one run that its manifest lists by id; of more than these it lists none."""


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
    traced_tools: Callable[[], tuple[str, ...]]
    """Tools whose calls would leave a record at the executor."""
    on_late: Callable[[RunState], None]
    """Told once when something comes after the run was closed."""

    is_closed: bool = False
    is_forked: bool = False
    """The run was opened by the process that this one was forked from."""
    model_calls: ModelCalls = field(default_factory=ModelCalls)
    last_activity_s: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.mask = self.redactor.for_run()
        self.conversations = Conversations(self.mask)
        self.run_plain: Mapping[str, Any] = to_plain(self.run)
        self._forget_threads()
        self._begin_counting()

    def _forget_threads(self) -> None:
        # Both may be taken again by the thread that holds them: a finaliser or a signal's handler
        # runs anywhere, also in between our own lines, and may call a decorated tool.
        self._lock = threading.RLock()
        self.taking = threading.RLock()

    def _begin_counting(self) -> None:
        self._seq = 0
        self._order = 0
        self._revision = 0
        self._is_late = False
        self._made: Counter[str] = Counter()
        self._requests: list[str] = []
        self._lost: Counter[str] = Counter()
        self._tools: dict[Boundary, set[str]] = {}
        self._everything: set[Boundary] = set()
        self._open: dict[int, OpenExecution] = {}
        self._plains: list[dict[str, Any]] = []
        self._is_spilled = False
        self._turns: OrderedDict[str, int] = OrderedDict()
        self._turn = 0
        self.schemas_sent: set[str] = set()

    # Numbers and counts

    def tick(self) -> int:
        """The next number of the run's causal order."""
        with self._lock:
            self._order += 1
            return self._order

    def next_turn(self, response_id: str | None, previous: str | None) -> int:
        """Number of a response within the run: one after the response it continues."""
        with self._lock:
            known = self._turns.get(previous) if previous is not None else None
            turn = (self._turn if known is None else known) + 1
            self._turn = max(self._turn, turn)
            if response_id is not None:
                self._turns[response_id] = turn
                if len(self._turns) > _MAX_TURNS:
                    self._turns.popitem(last=False)
            return turn

    def new_request(self) -> str:
        """The id of a request that is about to be made for this run, by which its answer is known.

        More requests than responses mean that one is missing; a response to a request that is not
        among them is another run's.
        """
        request_id = source().new_id("req")
        with self._lock:
            self._made["request"] += 1
            if len(self._requests) <= MAX_REQUESTS:
                self._requests.append(request_id)
        return request_id

    def count_lost(self, cause: str) -> None:
        """Add one to what was lost, refused, or failed to be made."""
        with self._lock:
            self._lost[cause] += 1

    def observe(self, boundary: Boundary, tools: tuple[str, ...] | None) -> None:
        """Say of which tools each call would leave a record at a boundary; None: of all."""
        with self._lock:
            if tools is None:
                self._everything.add(boundary)
            else:
                self._tools.setdefault(boundary, set()).update(tools)

    def opened(self, execution: OpenExecution) -> None:
        """An execution began."""
        with self._lock:
            self._open[id(execution)] = execution

    def ended(self, execution: OpenExecution) -> None:
        """An execution ended."""
        with self._lock:
            self._open.pop(id(execution), None)

    @property
    def open_executions(self) -> tuple[OpenExecution, ...]:
        """Executions that have not ended."""
        with self._lock:
            return tuple(self._open.values())

    @property
    def has_records(self) -> bool:
        """Whether this recorder made any record of the run."""
        return self._seq > 0

    @property
    def is_late(self) -> bool:
        """Whether something came after the run was closed, and its end was not written again."""
        return self._is_late

    # Records on their way out

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
        plain: dict[str, Any] = {
            "kind": kind.value,
            "trace_id": span.trace_id,
            "span_id": span.span_id,
            "run": self.run_plain,
            "start_ns": span.start_ns,
            "end_ns": end_ns,
            "payload": payload,
        }
        if span.parent_id is not None:
            plain["parent_id"] = span.parent_id
        attributes: dict[str, Any] | None = None
        with guard("writing a record", self):
            self._keep(kind, plain)
            if span.span.is_recording():
                attributes = plain_to_attributes(plain)
        end_span(span, end_ns=end_ns, attributes=attributes, is_error=is_error)

    def commit(self, kind: RecordKind, span: OpenSpan, payload: Any, *, end_ns: int) -> None:
        """Write one record; texts of messages stay in local evidence."""
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
        if not span.span.is_recording():
            return None
        attributes = record_to_attributes(record)
        attributes[semconv.SEQ] = seq
        return attributes

    def _keep(self, kind: RecordKind, plain: dict[str, Any]) -> None:
        """Number a record and write it; whatever fails here leaves a hole that is counted."""
        with self._lock:
            self._number_and_write(kind, plain)
            late = self.is_closed and not self._is_late
            self._is_late = self._is_late or late
        if late:
            self.on_late(self)

    def _number_and_write(self, kind: RecordKind, plain: dict[str, Any]) -> None:
        seq = self._seq = self._seq + 1
        plain["recorder_id"] = self.recorder_id
        plain["seq"] = seq
        boundary = BOUNDARY_OF.get(kind)
        if kind is not RecordKind.RUN:
            self._made[kind.value if boundary is None else boundary.value] += 1
        written = self.writer is not None and self.writer.write(dump_json(plain))
        self._remember(kind, plain, written)
        self.last_activity_s = time.monotonic()

    def _remember(self, kind: RecordKind, plain: dict[str, Any], written: bool) -> None:
        if written:
            if self._is_spilled:
                return
            self._plains.append(plain)
            if len(self._plains) > self.settings.memory_records:
                self._plains.clear()
                self._is_spilled = True
        elif (
            kind is RecordKind.RUN or len(self._plains) < self.settings.memory_records_without_file
        ):
            # The run's end says what was lost, so it has a place in any case.
            self._plains.append(plain)
        else:
            self._lost["memory"] += 1

    # The end

    def close(self, *, settled: bool = True, end_ns: int | None = None) -> None:
        """Write the run's own record with the manifest, and end its span.

        What comes later belongs to the run still; closing again then writes a further revision, on
        a span of its own under the first.
        """
        span = self.span
        if self._revision > 0 or self.is_forked:
            span = self.start_span(semconv.SPAN_RUN, start_ns=source().now_ns())
        end_ns = max(source().now_ns() if end_ns is None else end_ns, span.start_ns)
        attributes: dict[str, Any] | None = None
        with guard("closing a run", self):
            masking = self.mask.masking()
            with self._lock:
                # In one go: a record between the count and its manifest would look like a hole.
                self._revision += 1
                self._is_late = False
                self.is_closed = True
                payload = RunEnd(manifest=self._manifest(settled), masking=masking)
                record = self._record(RecordKind.RUN, span, payload, end_ns)
                plain = record_to_plain(record)
                self._number_and_write(RecordKind.RUN, plain)
                if self.writer is not None:
                    self.writer.close()
            attributes = self._attributes(record, span, plain["seq"])
        self.is_closed = True
        end_span(span, end_ns=end_ns, attributes=attributes)

    def _manifest(self, settled: bool) -> Manifest:
        observes: dict[str, tuple[str, ...] | None] = {}
        tools = dict(self._tools)
        tools.setdefault(Boundary.EXECUTOR, set()).update(self.traced_tools())
        lost = dict(self._lost)
        if self.mask.errors:
            lost["mask"] = self.mask.errors
        everything = set(self._everything)
        if self._made[RecordKind.RESPONSE.value]:
            everything.add(Boundary.MODEL)
        for hook in hooks():
            if not hook.ok:
                lost[f"hook:{hook.library}:{hook.hook}"] = 1
            elif hook.boundary is Boundary.MODEL:
                everything.add(Boundary.MODEL)
        for boundary in Boundary:
            if boundary in everything:
                observes[boundary.value] = None
            elif tools.get(boundary):
                observes[boundary.value] = tuple(sorted(tools[boundary]))
        return Manifest(
            recorder_id=self.recorder_id,
            last_seq=self._seq + 1,
            made=dict(self._made),
            lost=lost,
            observes=observes,
            open_executions=len(self._open),
            settled=settled,
            revision=self._revision,
            requests=tuple(self._requests) if len(self._requests) <= MAX_REQUESTS else None,
        )

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

    def context(self, current: otel_context.Context) -> otel_context.Context:
        """The context of a record's span: the current one, or the run's where it is lost."""
        return current if has_span(current) else under(self.span, current)

    # Reading

    def scope(self) -> Scope:
        """Where work stands that was just found to belong to this run."""
        return Scope(run=self, phase=Phase.RUN)

    def records(self) -> tuple[Record, ...]:
        """Every record of the run, those of other recorders in its folder among them."""
        with self._lock:
            plains: list[Mapping[str, Any]] = list(self._plains)
            writer, is_spilled = self.writer, self._is_spilled
        if writer is not None:
            plains.extend(read_back(writer, own=is_spilled))
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
        order = self._order
        self._begin_counting()
        self._order = order  # what the child does comes after what was done before the fork

    @property
    def folder(self) -> Path | None:
        """Where this run's lines are written."""
        return None if self.writer is None else self.writer.folder
