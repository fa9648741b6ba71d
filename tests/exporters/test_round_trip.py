"""A run in process, and the same run from what the standard OTLP exporter sent: equal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import agenttrace
from agenttrace import capture, semconv
from agenttrace.capture import CallDraft, ResponseDraft, ToolOffer
from agenttrace.domain import Boundary, Case, RequiredCall, Unseen
from agenttrace.records import Record, RecordKind, assemble, evidence_digest, record_to_plain
from agenttrace.scoring import score
from agenttrace.testing import isolated
from tests.support.otlp_receiver import OtlpReceiver, otlp_receiver

CASE = Case(
    case_id="refund-amount",
    required=(
        RequiredCall(name="issue_refund", arguments={"order_id": "A-104", "amount_cents": 9800}),
    ),
)


@agenttrace.trace
def issue_refund(order_id: str, amount_cents: int, currency: str = "EUR") -> dict[str, object]:
    if amount_cents < 0:
        raise ValueError(f"no refund of {amount_cents} for order {order_id}")
    return {"refund": order_id, "cents": amount_cents, "currency": currency, "big": 2**70}


def answer(raw: str, call_id: str, response_id: str) -> ResponseDraft:
    call = CallDraft("issue_refund", call_id, 0, raw, complete=True)
    return ResponseDraft(
        response_id, "req_provider", "openai", "gpt-x", "tool_calls", "I shall refund.", (call,)
    )


def an_agents_run(case: Case | None = CASE) -> agenttrace.session.AgentRun:
    """Two turns: one refused by the tool, one refund; odd characters and big integers."""
    messages: list[object] = [{"role": "user", "content": "Refund \ud800 A-104, 98 \u20ac"}]
    offer = [ToolOffer("issue_refund", {"type": "object", "properties": {"order_id": {}}})]
    with agenttrace.run(case, agent_version="2026.11") as run:
        for number, cents in enumerate((-1, 9800), 1):
            stamp = capture.begin_request(offer, messages)
            raw = json.dumps({"order_id": "A-104", "amount_cents": cents})
            capture.record_response(answer(raw, f"call_{number}", f"resp_{number}"), stamp)
            arguments = json.loads(raw)
            try:
                with agenttrace.adapter(
                    name="issue_refund", call_id=f"call_{number}", arguments=arguments
                ):
                    result: object = issue_refund(**arguments)
            except ValueError as error:
                result = str(error)
            messages.append(
                {"role": "tool", "tool_call_id": f"call_{number}", "content": f"{result}"}
            )
        run.event("approval", call="call_2", decision="approve", by="lena")
        run.set_output("Refunded.")
        run.set_state({"refunds": [{"order": "A-104", "cents": 9800, "id": 2**70}]})
    return run


@pytest.fixture
def receiver():
    with otlp_receiver() as receiver:
        yield receiver


@pytest.fixture
def recorded(receiver: OtlpReceiver):
    with isolated(exporters=[OTLPSpanExporter(endpoint=receiver.endpoint)]) as recorder:
        run = an_agents_run()
        assert recorder.flush(10)
        yield run


def without_texts(record: Record) -> object:
    return record_to_plain(record, content=False)


def test_every_record_is_rebuilt_equal_from_its_span(recorded, receiver):
    sent = {record.ref: without_texts(record) for record in receiver.records()}
    local = {record.ref: without_texts(record) for record in recorded.records()}

    assert sent == local
    assert len(receiver.spans) == len(local)


def test_the_evidence_digest_and_the_verdict_are_equal(recorded, receiver):
    from_wire = assemble(receiver.records())

    assert evidence_digest(receiver.records()) == recorded.evidence().digest
    redactor = capture.recorder.redactor
    verdict = score(CASE, from_wire, redactor=redactor)
    # Lineage rests on texts, which stay in the process.
    assert replace(verdict, lineage=None) == replace(recorded.verdict, lineage=None)
    assert Unseen.MESSAGES in verdict.lineage.unseen


def test_texts_of_messages_stay_in_local_evidence(recorded, receiver):
    wire = b"".join(span.span.SerializeToString() for span in receiver.spans)

    assert b"I shall refund" not in wire
    assert b"Refunded." not in wire
    local = recorded.evidence()
    assert (local.outcome.final_message, local.responses[0].text) == (
        "Refunded.",
        "I shall refund.",
    )


def test_spans_are_named_and_nested_as_the_design_says(recorded, receiver):
    by_id = {span.span.span_id: span.span for span in receiver.spans}
    tree = sorted(
        (span.span.name, by_id[span.span.parent_span_id].name)
        for span in receiver.spans
        if span.span.parent_span_id
    )

    assert [span.span.name for span in receiver.spans if not span.span.parent_span_id] == [
        semconv.SPAN_RUN
    ]
    assert tree == sorted(
        [
            ("model_response gpt-x", "agent_run"),
            ("tool_call issue_refund", "model_response gpt-x"),
            ("tool_adapt issue_refund", "agent_run"),
            ("execute_tool issue_refund", "agent_run"),
        ]
        * 2
        + [
            ("tool_schema", "agent_run"),
            ("agenttrace_event approval", "agent_run"),
            ("agenttrace_event output", "agent_run"),
            ("agenttrace_event state", "agent_run"),
        ]
    )


def test_only_the_raised_execution_has_an_error_status(recorded, receiver):
    failed = [s.span for s in receiver.spans if s.span.status.code == Status.STATUS_CODE_ERROR]

    assert [(span.name, len(span.events)) for span in failed] == [("execute_tool issue_refund", 0)]


def test_the_response_is_a_client_span_and_everything_else_is_internal(recorded, receiver):
    kinds = {span.span.name.split()[0]: span.span.kind for span in receiver.spans}

    assert kinds.pop("model_response") == Span.SPAN_KIND_CLIENT
    assert set(kinds.values()) == {Span.SPAN_KIND_INTERNAL}


def test_adapter_and_executor_spans_link_to_the_record_they_answer(recorded, receiver):
    links = {
        f"{s.span.trace_id.hex()}-{s.span.span_id.hex()}": [
            f"{link.trace_id.hex()}-{link.span_id.hex()}" for link in s.span.links
        ]
        for s in receiver.spans
    }
    evidence = recorded.evidence()

    for model, adapted, executed in zip(
        evidence.model, evidence.adapter, evidence.executor, strict=True
    ):
        assert links[adapted.ref] == [model.ref] == [adapted.link]
        assert links[executed.ref] == [adapted.ref] == [executed.link]
        assert executed.call_id == model.call_id


def test_scope_and_schema_stand_on_every_span(recorded, receiver):
    assert {(s.scope, s.schema_url) for s in receiver.spans} == {
        (semconv.SCOPE, semconv.SCHEMA_URL)
    }


def test_only_executions_look_like_executions_to_other_backends(recorded, receiver):
    kinds = {
        span.attributes[semconv.RECORD_KIND]
        for span in receiver.spans
        if span.attributes.get(semconv.GEN_AI_OPERATION_NAME) == semconv.OPERATION_EXECUTE_TOOL
    }

    assert kinds == {RecordKind.EXECUTION.value}


def test_a_tools_schema_comes_back_with_its_boundary(recorded, receiver):
    schemas = [r.payload for r in receiver.records() if r.kind is RecordKind.SCHEMA]

    assert [(schema.tool, schema.boundary) for schema in schemas] == [
        ("issue_refund", Boundary.MODEL)
    ]
