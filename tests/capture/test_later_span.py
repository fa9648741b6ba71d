"""Spans of our own provider that are made with their record: nobody can tell, and nobody waits."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NonRecordingSpan, SpanContext, StatusCode, TraceFlags

import agenttrace
from agenttrace.capture import losses
from agenttrace.capture._later_span import LaterSpan
from agenttrace.domain import Execution
from agenttrace.exporters._ledger import ledger
from agenttrace.testing import isolated


@agenttrace.trace
def look(number: int = 0) -> SpanContext:
    return otel.get_current_span().get_span_context()


def exported(exporter: InMemorySpanExporter, name: str):
    assert agenttrace.flush()
    return [span for span in exporter.get_finished_spans() if span.name == name]


@pytest.fixture
def exporter():
    exporter = InMemorySpanExporter()
    with isolated(exporters=[exporter]), agenttrace.run():
        yield exporter


def test_a_span_has_the_ids_it_was_known_by_while_its_work_ran(exporter):
    seen = [look(number) for number in range(3)]

    spans = exported(exporter, "execute_tool look")
    assert [span.context.span_id for span in spans] == [ids.span_id for ids in seen]
    assert [span.context.trace_flags for span in spans] == [ids.trace_flags for ids in seen]


def test_a_tool_within_a_tool_is_its_child(exporter):
    @agenttrace.trace
    def outer() -> tuple[SpanContext, SpanContext]:
        return otel.get_current_span().get_span_context(), look()

    own, inner = outer()

    (span,) = exported(exporter, "execute_tool look")
    assert (span.context.span_id, span.parent.span_id) == (inner.span_id, own.span_id)


def test_what_the_program_sets_on_the_current_span_is_exported(exporter):
    @agenttrace.trace
    def says() -> str:
        span = otel.get_current_span()
        assert span.is_recording()
        span.set_attribute("mine", 1)
        span.set_attributes({"also": "mine"})
        span.add_event("happened", {"n": 2})
        span.set_status(StatusCode.OK)
        span.update_name("renamed")
        try:
            raise ValueError("no")
        except ValueError as error:
            span.record_exception(error)
        return span.name

    assert says() == "renamed"

    (span,) = exported(exporter, "renamed")
    assert (span.attributes["mine"], span.attributes["also"]) == (1, "mine")
    assert [event.name for event in span.events] == ["happened", "exception"]
    assert span.attributes["gen_ai.tool.name"] == "says"
    assert span.status.status_code is StatusCode.OK


def test_a_program_that_ends_the_current_span_gets_what_it_set_until_then(exporter):
    @agenttrace.trace
    def ends() -> None:
        otel.get_current_span().set_attribute("mine", 1)
        otel.get_current_span().end()

    ends()

    (span,) = exported(exporter, "execute_tool ends")
    assert dict(span.attributes) == {"mine": 1}


def test_threads_that_touch_one_span_at_once_get_one_span(exporter):
    @agenttrace.trace
    def touched() -> None:
        span = otel.get_current_span()
        threads = [threading.Thread(target=span.set_attribute, args=(f"n{n}", n)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    touched()

    (span,) = exported(exporter, "execute_tool touched")
    assert {span.attributes[f"n{n}"] for n in range(8)} == set(range(8))


def test_under_a_parent_that_is_not_sampled_nothing_is_exported(exporter):
    parent = SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(TraceFlags.DEFAULT))
    token = otel_context.attach(otel.set_span_in_context(NonRecordingSpan(parent)))
    try:
        ids = look()
    finally:
        otel_context.detach(token)

    assert ids.trace_id == 1
    assert not ids.trace_flags.sampled
    assert exported(exporter, "execute_tool look") == []


def test_a_processor_that_raises_leaves_evidence_whole():
    class Raises(SpanProcessor):
        def on_start(self, span: object, parent_context: object = None) -> None:
            raise RuntimeError("not today")

    with isolated() as recorder, agenttrace.run() as run:
        recorder.providers.private_tracer()
        recorder.providers._private.add_span_processor(Raises())
        look()
        agenttrace.flush()
        assert losses()["error:starting a span"] >= 1

    assert len(run.evidence().executor) == 1
    assert run.verdict.status == "pass"


def test_another_sampler_is_asked_for_each_span(monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    exporter = InMemorySpanExporter()
    with isolated(exporters=[exporter]) as recorder, agenttrace.run() as run:
        assert recorder.providers.private_tracer().sampler is ALWAYS_OFF
        assert not look().trace_flags.sampled

    assert exported(exporter, "execute_tool look") == []
    assert len(run.evidence().executor) == 1


def test_where_nobody_listens_no_span_is_made(monkeypatch):
    made: list[str] = []
    start = LaterSpan._start
    monkeypatch.setattr(LaterSpan, "_start", lambda self: made.append("one") or start(self))
    with isolated(), agenttrace.run() as run:
        look()
        agenttrace.flush()
        assert made == []
        assert [r.payload.name for r in run.records() if isinstance(r.payload, Execution)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
class Stuck(SpanExporter):
    """Takes one batch and does not come back until it may."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        self.has_begun.set()
        assert self.may_end.wait(60)
        return SpanExportResult.SUCCESS


def test_behind_a_full_queue_no_span_is_made_but_each_is_counted_and_a_run_is_sent(monkeypatch):
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "5")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    stuck = Stuck()
    before = dict(ledger.counts())
    dropped = losses().get("export:queue-full", 0)
    with isolated(exporters=[stuck]) as own:
        with agenttrace.run() as outer:
            look(0)
            agenttrace.flush(0)
            assert stuck.has_begun.wait(60)
            for number in range(1, 11):
                look(number)
            agenttrace.flush(0)
            made: list[LaterSpan] = []
            monkeypatch.setattr(LaterSpan, "_start", made.append)
            for number in range(11, 21):
                look(number)
            agenttrace.flush(0)
            assert made == []
            monkeypatch.undo()
            with agenttrace.run() as inner:
                pass
        stuck.may_end.set()
        assert own.providers.flush(60) is False  # it says once that spans were lost
        assert losses()["export:queue-full"] == dropped + 15

    arrived = [span.attributes["agenttrace.record.kind"] for span in stuck.spans]
    assert arrived == ["execution"] * 6 + ["run", "run"]
    assert len(outer.evidence().executor) == 21
    assert inner.records()
    after = ledger.counts()
    gained = {name: after[name] - before.get(name, 0) for name in after}
    assert (gained["spans taken"], gained["spans sent"], gained["spans lost"]) == (23, 8, 15)


def test_another_processor_beside_a_full_queue_gets_every_span(monkeypatch):
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    stuck, all_of_them = Stuck(), InMemorySpanExporter()
    with isolated(exporters=[stuck]) as own, agenttrace.run():
        own.providers.private_tracer()
        own.providers._private.add_span_processor(SimpleSpanProcessor(all_of_them))
        for number in range(8):
            look(number)
        agenttrace.flush(0)
        stuck.may_end.set()

    names = [span.name for span in all_of_them.get_finished_spans()]
    assert names.count("execute_tool look") == 8


def test_a_forked_child_can_touch_a_span_that_was_being_made(exporter):
    @agenttrace.trace
    def forks() -> int:
        child = os.fork()
        if child == 0:
            otel.get_current_span().set_attribute("mine", 1)
            os._exit(0)
        return os.waitpid(child, 0)[1]

    assert forks() == 0
