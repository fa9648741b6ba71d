"""The processor sends a run on at once, waits for nobody, and says what it lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import agenttrace
from agenttrace.capture import losses
from agenttrace.exporters import RunSpanProcessor, span_processors
from agenttrace.testing import isolated
from tests.support.otlp_receiver import otlp_receiver
from tests.support.waiting import PATIENCE_S, until

LONG_MS = "600000"


class Kept(SpanExporter):
    """Keeps each batch, and answers as a test wants it."""

    def __init__(self, answer: Callable[[Sequence[ReadableSpan]], Any] | None = None) -> None:
        self.batches: list[list[str]] = []
        self.is_shut = False
        self._answer = answer

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.SUCCESS if self._answer is None else self._answer(spans)
        self.batches.append([span.name for span in spans])
        return result

    def shutdown(self) -> None:
        self.is_shut = True

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True

    @property
    def names(self) -> list[str]:
        return [name for batch in self.batches for name in batch]


@pytest.fixture
def _never_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but a settled run, a full batch or a flush makes it send."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", LONG_MS)


def provider_of(exporter: SpanExporter) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(RunSpanProcessor(exporter))
    return provider


def end_spans(provider: TracerProvider, *names: str, **attributes: Any) -> None:
    for name in names:
        provider.get_tracer("t").start_span(name, attributes=attributes).end()


@agenttrace.trace
def work(number: int) -> int:
    return number


@pytest.mark.usefixtures("_never_by_itself")
def test_a_settled_run_is_sent_at_once():
    kept = Kept()
    with isolated(exporters=[kept]):
        with agenttrace.run():
            work(1)
        until(lambda: "agent_run" in kept.names)

    assert kept.names == ["execute_tool work", "agent_run"]


@pytest.mark.usefixtures("_never_by_itself")
def test_what_comes_late_is_sent_with_the_new_end_of_its_run():
    kept = Kept()
    with isolated(exporters=[kept]):
        with agenttrace.run():
            work(1)
            late = threading.Thread(target=_later, args=(agenttrace.capture.current_scope(),))
        late.start()
        until(lambda: kept.names.count("agent_run") == 2)
        late.join()

    assert kept.names.count("execute_tool work") == 2


def _later(scope: Any) -> None:
    agenttrace.capture.enter_scope(scope)
    time.sleep(0.05)
    work(2)


def test_a_span_of_a_run_that_goes_on_waits_no_longer_than_the_delay(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    kept = Kept()
    provider = provider_of(kept)
    end_spans(provider, "one", "two")
    until(lambda: len(kept.names) == 2)
    provider.shutdown()

    assert kept.batches == [["one", "two"]]


@pytest.mark.usefixtures("_never_by_itself")
def test_a_slow_exporter_does_not_hold_up_who_ends_a_span():
    blocked = threading.Event()
    kept = Kept(lambda spans: blocked.wait(PATIENCE_S) and SpanExportResult.SUCCESS)
    with isolated(exporters=[kept]):
        for number in range(20):
            with agenttrace.run():
                work(number)
        sent_by_then = kept.names
        blocked.set()

    assert sent_by_then == []
    assert kept.names.count("agent_run") == 20


@pytest.mark.usefixtures("_never_by_itself")
def test_a_batch_ends_where_its_text_would_be_too_much_for_grpc():
    kept = Kept()
    provider = provider_of(kept)
    end_spans(provider, *"abcdefg", text="x" * 290_000)
    end_spans(provider, "huge", text="x" * 9_000_000)
    end_spans(provider, "small")
    assert provider.force_flush()

    assert kept.names == [*"abcdefg", "huge", "small"]
    assert max(len(batch) for batch in kept.batches) == 3
    assert ["huge"] in kept.batches


@pytest.mark.usefixtures("_never_by_itself")
def test_text_that_is_not_ascii_counts_by_its_bytes():
    kept = Kept()
    provider = provider_of(kept)
    end_spans(provider, *"ab", text="\u20ac" * 200_000)
    provider.force_flush()

    assert kept.batches == [["a"], ["b"]]


@pytest.mark.usefixtures("_never_by_itself")
def test_a_full_batch_is_sent_without_waiting(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3")
    kept = Kept()
    provider = provider_of(kept)
    end_spans(provider, *"abcd")
    until(lambda: len(kept.names) >= 3)
    provider.shutdown()

    assert kept.names == [*"abcd"]


@pytest.mark.usefixtures("_never_by_itself")
def test_a_span_that_cannot_be_encoded_takes_no_other_with_it():
    def refuse(spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if any(span.name == "poison" for span in spans):
            raise ValueError("no protobuf for this")
        return SpanExportResult.SUCCESS

    before = losses().get("export:raised", 0)
    kept = Kept(refuse)
    provider = provider_of(kept)
    end_spans(provider, "a", "b", "poison", "c", "d")

    assert not provider.force_flush()
    assert sorted(kept.names) == ["a", "b", "c", "d"]
    assert losses()["export:raised"] == before + 1


@pytest.mark.usefixtures("_never_by_itself")
def test_a_flush_says_once_that_spans_were_lost(caplog: pytest.LogCaptureFixture):
    answers = iter([SpanExportResult.FAILURE, SpanExportResult.SUCCESS])
    kept = Kept(lambda spans: next(answers))
    provider = provider_of(kept)
    end_spans(provider, "a")
    first = provider.force_flush()
    end_spans(provider, "b")
    second = provider.force_flush()

    assert (first, second) == (False, True)
    assert caplog.text.count("could not export 1 spans") == 1


@pytest.mark.usefixtures("_never_by_itself")
def test_a_flush_takes_no_longer_than_it_may():
    blocked = threading.Event()
    kept = Kept(lambda spans: blocked.wait(PATIENCE_S) and SpanExportResult.SUCCESS)
    provider = provider_of(kept)
    end_spans(provider, "a")
    flushed = provider.force_flush(50)
    sent_by_then = kept.names
    blocked.set()
    provider.shutdown()

    assert not flushed
    assert sent_by_then == []


@pytest.mark.usefixtures("_never_by_itself")
def test_a_full_queue_drops_newer_spans_but_never_a_runs_own(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    blocked = threading.Event()
    kept = Kept(lambda spans: blocked.wait(PATIENCE_S) and SpanExportResult.SUCCESS)
    with isolated(exporters=[kept]) as recorder:
        with agenttrace.run() as first:
            work(0)
        until(lambda: not _queue_of(recorder))
        with agenttrace.run() as second:
            for number in range(10):
                work(number)
        blocked.set()
        flushed = recorder.flush(PATIENCE_S)

    assert not flushed
    assert kept.names == ["execute_tool work", "agent_run", *["execute_tool work"] * 4, "agent_run"]
    assert len(second.records()) == 11
    assert len(first.records()) == 2
    assert caplog.text.count("agenttrace drops spans") == 1


def _queue_of(recorder: Any) -> Any:
    (processor,) = recorder.providers._private._active_span_processor._span_processors
    return processor._queue


@pytest.mark.usefixtures("_never_by_itself")
def test_the_end_sends_what_waits_and_ends_the_exporter():
    kept = Kept()
    provider = provider_of(kept)
    end_spans(provider, "a")
    provider.shutdown()
    end_spans(provider, "late")

    assert (kept.names, kept.is_shut) == (["a"], True)


def test_an_unsampled_span_is_not_sent():
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    kept = Kept()
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(RunSpanProcessor(kept))
    end_spans(provider, "a")
    provider.shutdown()

    assert kept.names == []


def test_an_exporter_that_cannot_be_made_costs_nothing_but_the_spans(
    caplog: pytest.LogCaptureFixture,
):
    def refuse() -> SpanExporter:
        raise ValueError("no such compression")

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(RunSpanProcessor(refuse))
    end_spans(provider, "a", "b")

    assert not provider.force_flush()
    assert caplog.text.count("the exporter could not be made") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_makes_an_exporter_of_its_own_and_sends_only_what_is_its_own():
    with otlp_receiver() as receiver:
        made: list[int] = []

        def make() -> SpanExporter:
            made.append(os.getpid())
            return OTLPSpanExporter(endpoint=receiver.endpoint)

        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(RunSpanProcessor(make))
        end_spans(provider, "first")
        assert provider.force_flush()
        end_spans(provider, "the parent's")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                end_spans(provider, "the child's")
                code = 0 if provider.force_flush() and len(made) == 2 else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert provider.force_flush()
        provider.shutdown()

    assert os.waitstatus_to_exitcode(status) == 0
    assert sorted(span.span.name for span in receiver.spans) == [
        "first",
        "the child's",
        "the parent's",
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_a_forked_child_records_of_an_open_run_arrives():
    with otlp_receiver() as receiver:
        exporter = OTLPSpanExporter(endpoint=receiver.endpoint)
        with isolated(exporters=[exporter]) as recorder, agenttrace.run() as run:
            work(1)
            child = os.fork()
            if child == 0:
                try:
                    work(2)
                    recorder.end_process()
                finally:
                    os._exit(0)
            os.waitpid(child, 0)

    found = [record for record in receiver.records() if record.run.run_id == run.id]
    assert len({record.recorder_id for record in found}) == 2
    assert [span.span.name for span in receiver.spans].count("execute_tool work") == 2


def test_recording_leaves_the_programs_random_numbers_alone():
    random.seed(7)
    expected = [random.random() for _ in range(3)]
    random.seed(7)
    with isolated(exporters=[Kept()]):
        found = []
        for number in range(3):
            with agenttrace.run():
                work(number)
            found.append(random.random())

    assert found == expected


@pytest.mark.parametrize(("with_provider", "is_loaded"), [(False, True), (True, False)])
def test_the_exporter_is_imported_at_set_up_and_not_within_the_first_run(
    with_provider: bool, is_loaded: bool
):
    program = """
import sys
import agenttrace
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
if sys.argv[1] == "True":
    otel.set_tracer_provider(TracerProvider())
agenttrace.configure(evidence=False)
print("opentelemetry.exporter.otlp.proto.http.trace_exporter" in sys.modules)
"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", program, str(with_provider)],
        env={**environment, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.split() == [str(is_loaded)]


@pytest.mark.parametrize(("protocol", "package"), [("http/protobuf", "http"), ("grpc", "grpc")])
def test_the_environment_says_which_exporter_is_used(
    monkeypatch: pytest.MonkeyPatch, protocol: str, package: str
):
    pytest.importorskip(f"opentelemetry.exporter.otlp.proto.{package}.trace_exporter")
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    without = span_processors()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    (made,) = span_processors()

    assert without == ()
    assert f".{package}." in made._given.__module__
