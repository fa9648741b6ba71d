"""Records that Hypothesis makes: any mixture of kinds, texts and absences."""

from __future__ import annotations

from hypothesis import strategies as st

from agenttrace.domain import (
    Boundary,
    Ending,
    Execution,
    Manifest,
    Message,
    Phase,
    Response,
    Run,
    ToolCall,
)
from agenttrace.records import Event, Record, RecordKind, RunEnd, ToolSchema

texts = st.text(max_size=12) | st.sampled_from(["", "null", "ü", "\ud800", 'a"b', "\x00", "1e3"])
names = st.text(min_size=1, max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63, max_value=2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)
ids = st.integers(min_value=1, max_value=2**64 - 1).map(lambda n: f"{n:016x}")
maybe = st.none() | texts
turns = st.none() | st.integers(min_value=1, max_value=9)

runs = st.builds(
    Run,
    run_id=names,
    case_id=maybe,
    case_revision=maybe,
    attempt=st.integers(min_value=1, max_value=3),
    agent_version=maybe,
    prompt_version=maybe,
    implicit=st.booleans(),
)
_call_fields = {
    "name": names,
    "arguments": st.none() | objects,
    "raw": maybe,
    "raw_observed": st.booleans(),
    "complete": st.none() | st.booleans(),
    "error": maybe,
    "error_type": maybe,
    "call_id": st.none() | texts | st.integers(),
    "call_id_known": st.booleans(),
    "response_id": maybe,
    "request_id": maybe,
    "turn": turns,
    "index": turns,
    "finish_reason": maybe,
    "seq": turns,
    "agent": maybe,
    "phase": st.sampled_from(Phase),
    "attempt": st.integers(min_value=1, max_value=3),
    "link": maybe,
    "parent": maybe,
    "digest": maybe,
    "length": turns,
    "inferred": st.booleans(),
}
_execution_fields = {
    **_call_fields,
    "ending": st.none() | st.sampled_from(Ending),
    "result": values,
    "result_observed": st.booleans(),
    "count": st.integers(min_value=0, max_value=3),
    "effect": st.none() | st.booleans(),
    "exit_digest": maybe,
    "defaults": st.lists(names, max_size=2).map(tuple),
    "idempotency_key": maybe,
}
_messages = st.builds(
    Message,
    role=st.sampled_from(["user", "tool"]),
    turn=turns,
    content=values,
    digest=maybe,
    length=turns,
    call_id=st.none() | texts,
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    kind = draw(st.sampled_from(RecordKind))
    trace, span = draw(ids) + draw(ids), draw(ids)
    ref = f"{trace}-{span}"
    boundary = {
        RecordKind.CALL: Boundary.MODEL,
        RecordKind.ADAPT: Boundary.ADAPTER,
        RecordKind.EXECUTION: Boundary.EXECUTOR,
    }.get(kind)
    payload = draw(_payloads(kind, ref, boundary))
    start = draw(st.integers(min_value=1, max_value=2**62))
    return Record(
        kind=kind,
        trace_id=trace,
        span_id=span,
        parent_id=draw(st.none() | ids),
        run=draw(runs),
        recorder_id=draw(names),
        seq=draw(st.integers(min_value=1, max_value=99)),
        start_ns=start,
        end_ns=start + draw(st.integers(min_value=0, max_value=10**9)),
        payload=payload,
    )


def _payloads(kind, ref, boundary):
    if kind is RecordKind.RUN:
        manifest = st.builds(
            Manifest,
            recorder_id=names,
            last_seq=st.integers(min_value=0, max_value=99),
            made=st.dictionaries(names, st.integers(), max_size=3),
            lost=st.dictionaries(names, st.integers(), max_size=3),
            observes=st.dictionaries(
                st.sampled_from(list(Boundary)).map(str),
                st.none() | st.lists(names, max_size=2).map(tuple),
                max_size=3,
            ),
            settled=st.booleans(),
            revision=st.integers(min_value=1, max_value=3),
            requests=st.none() | st.lists(names, max_size=3).map(tuple),
        )
        return st.builds(RunEnd, manifest=manifest)
    if kind is RecordKind.EVENT:
        return st.builds(Event, name=names, data=objects, local=objects)
    if kind is RecordKind.SCHEMA:
        return st.builds(ToolSchema, tool=names, schema=objects, digest=names, version=maybe)
    if kind is RecordKind.RESPONSE:
        return st.builds(
            Response,
            ref=st.just(ref),
            response_id=maybe,
            request_id=maybe,
            model=maybe,
            turn=turns,
            finish_reason=maybe,
            text=maybe,
            calls=st.integers(min_value=0, max_value=3),
            tools_offered=st.none() | st.lists(names, max_size=2).map(tuple),
            messages=st.lists(_messages, max_size=2).map(tuple),
            complete=st.booleans(),
        )
    fields = {"ref": st.just(ref), "boundary": st.just(boundary)}
    if kind is RecordKind.EXECUTION:
        return st.builds(Execution, **fields, **_execution_fields)
    return st.builds(ToolCall, **fields, **_call_fields)
