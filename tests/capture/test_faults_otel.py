"""Faults of OpenTelemetry's own parts, and of what programs hang into it: none reaches a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler
from opentelemetry.trace import NonRecordingSpan, SpanContext, Tracer

import agenttrace
from agenttrace.capture import CallDraft, ResponseDraft, begin_request, losses, record_response
from agenttrace.capture._guard import forget_faults
from agenttrace.domain import Case, RequiredCall, Status
from agenttrace.readers import records_from_otlp_spans
from agenttrace.records import assemble
from agenttrace.scoring import score
from agenttrace.testing import isolated


class Panic(BaseException):
    """No `Exception`."""


FAULTS = (RuntimeError, Panic)


@agenttrace.trace
def pay(cents: int) -> str:
    return "paid"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    forget_faults()
    yield
    forget_faults()


CASE = Case(case_id="c", required=(RequiredCall(name="pay", arguments={"cents": 98}),))


def agent() -> None:
    call = CallDraft("pay", "call_1", 0, '{"cents": 98}', complete=True)
    draft = ResponseDraft("r1", None, "openai", "m", "tool_calls", None, (call,))
    record_response(draft, begin_request(None, [{"role": "user", "content": "Pay 98"}]))
    with agenttrace.adapter(name="pay", call_id="call_1", arguments={"cents": 98}):
        assert pay(98) == "paid"


class BadSampler(Sampler):
    def __init__(self, fault: type[BaseException]) -> None:
        self.fault = fault

    def should_sample(self, *args: Any, **kwargs: Any) -> Any:
        raise self.fault

    def get_description(self) -> str:
        return "bad"


class BadProcessor(SpanProcessor):
    def __init__(self, method: str, fault: type[BaseException]) -> None:
        self.fault = fault
        setattr(self, method, self.fail)

    def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise self.fault


class BadExporter(SpanExporter):
    def __init__(self, fault: type[BaseException]) -> None:
        self.fault = fault

    def export(self, spans: Any) -> SpanExportResult:
        raise self.fault


class BadIds(IdGenerator):
    """Ids that are not valid, or always the same."""

    def __init__(self, trace_id: int, span_id: int) -> None:
        self.ids = trace_id, span_id

    def generate_trace_id(self) -> int:
        return self.ids[0]

    def generate_span_id(self) -> int:
        return self.ids[1]


class RaisingIds(RandomIdGenerator):
    def generate_span_id(self) -> int:
        raise Panic


class BadSpan(NonRecordingSpan):
    """A span of another SDK, all of whose methods fail but the one that gives its ids."""

    def __init__(self, context: SpanContext, fault: type[BaseException]) -> None:
        super().__init__(context)
        self.fault = fault

    def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise self.fault

    set_attribute = set_attributes = set_status = add_event = update_name = end = fail
    is_recording = record_exception = fail


class BadTracer(Tracer):
    def __init__(self, fault: type[BaseException]) -> None:
        self.fault = fault
        self.ids = RandomIdGenerator()

    def start_span(self, *args: Any, **kwargs: Any) -> Any:
        ids = SpanContext(self.ids.generate_trace_id(), self.ids.generate_span_id(), False)
        return BadSpan(ids, self.fault)

    def start_as_current_span(self, *args: Any, **kwargs: Any) -> Any:
        raise self.fault


class BadProvider(otel.TracerProvider):
    def __init__(self, fault: type[BaseException], *, is_late: bool) -> None:
        self.fault = fault
        self.is_late = is_late

    def get_tracer(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_late:
            raise self.fault
        return BadTracer(self.fault)


def sdk(*processors: SpanProcessor, **more: Any) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False, **more)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


def shut_down() -> TracerProvider:
    provider = sdk(SimpleSpanProcessor(InMemorySpanExporter()))
    provider.shutdown()
    return provider


PROVIDERS: dict[str, Callable[[type[BaseException]], Any]] = {
    "sampler": lambda fault: sdk(sampler=BadSampler(fault)),
    "on_start": lambda fault: sdk(BadProcessor("on_start", fault)),
    "on_end": lambda fault: sdk(BadProcessor("on_end", fault)),
    "on_ending": lambda fault: sdk(BadProcessor("_on_ending", fault)),
    "force_flush": lambda fault: sdk(BadProcessor("force_flush", fault)),
    "exporter": lambda fault: sdk(SimpleSpanProcessor(BadExporter(fault))),
    "no trace id": lambda fault: sdk(id_generator=BadIds(0, 5)),
    "no span id": lambda fault: sdk(id_generator=BadIds(5, 0)),
    "no ids": lambda fault: sdk(id_generator=BadIds(0, 0)),
    "ids that raise": lambda fault: sdk(id_generator=RaisingIds()),
    "spans": lambda fault: BadProvider(fault, is_late=True),
    "get_tracer": lambda fault: BadProvider(fault, is_late=False),
    "shut down": lambda fault: shut_down(),
    "not sampled": lambda fault: sdk(sampler=ALWAYS_OFF),
    "no attributes": lambda fault: sdk(span_limits=SpanLimits(max_attributes=0)),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", PROVIDERS)
def test_local_evidence_is_whole_and_the_verdict_right_whatever_a_provider_does(
    name: str,
    fault: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", PROVIDERS[name](fault))
    with isolated(), agenttrace.run(CASE) as run:
        agent()
        agenttrace.flush()

    assert run.verdict.status is Status.PASS
    assert run.evidence().completeness.lost == {}
    assert all(count > 0 for count in losses().values())
    ours = [one.message for one in caplog.records if "could not finish" in one.message]
    assert len(ours) == len({text.splitlines()[0] for text in ours}) <= 3


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["on_start", "on_end"])
def test_a_processor_that_was_added_to_our_own_provider_does_no_harm_either(
    name: str, fault: type[BaseException]
):
    with isolated() as recorder, agenttrace.run(CASE) as run:
        recorder.providers._private.add_span_processor(  # type: ignore[union-attr]
            BadProcessor(name, fault)
        )
        agent()
        agenttrace.flush()

    assert run.verdict.status is Status.PASS


def test_ids_that_repeat_are_no_pass_that_nobody_earned(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", sdk(id_generator=BadIds(7, 7)))
    with isolated(), agenttrace.run(CASE) as run:
        agent()

    assert run.verdict.status in (Status.PASS, Status.INCONCLUSIVE)


def test_a_provider_that_is_shut_down_in_the_middle_of_a_run_loses_spans_alone(
    monkeypatch: pytest.MonkeyPatch,
):
    exporter = InMemorySpanExporter()
    provider = sdk(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", provider)
    with isolated(), agenttrace.run(CASE) as run:
        agent()
        kept = exporter.get_finished_spans()
        provider.shutdown()
        assert pay(7) == "paid"

    assert [one.arguments for one in run.evidence().executor] == [{"cents": 98}, {"cents": 7}]
    assert judged(kept) is Status.INCONCLUSIVE


@pytest.mark.parametrize("attribute", range(1, 40))
def test_whatever_number_of_attributes_a_span_may_have_the_verdict_is_right_or_none(
    attribute: int, monkeypatch: pytest.MonkeyPatch
):
    exporter = InMemorySpanExporter()
    limits = SpanLimits(max_attributes=attribute)
    provider = sdk(SimpleSpanProcessor(exporter), span_limits=limits)
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", provider)
    with isolated(), agenttrace.run(CASE) as run:
        agent()

    assert run.verdict.status is Status.PASS
    assert judged(exporter.get_finished_spans()) in (None, Status.PASS, Status.INCONCLUSIVE)


def judged(spans: tuple[ReadableSpan, ...]) -> Status | None:
    """What the spans alone say, as they would come out of a collector."""
    found = records_from_otlp_spans(encode_spans(spans))
    if not found.records:
        return None
    return score(CASE, assemble(found.records, [one.record for one in found.unusable])).status
