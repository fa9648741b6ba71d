"""Shared field cases as the scorer's own input: fields map to records one to one.

Nothing here looks at a value to decide what to do, and what the right answer is stays unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agenttrace.contracts import parse_case
from agenttrace.domain import (
    ALL,
    BOUNDARIES,
    NOTHING,
    Approval,
    AssertedValue,
    Boundary,
    Case,
    Completeness,
    Conduct,
    Decision,
    DuplicateRecord,
    Ending,
    Evidence,
    Execution,
    Guardrail,
    HumanEdit,
    Integrity,
    Masking,
    Message,
    Outcome,
    Ownership,
    Phase,
    ResultShown,
    Run,
    RunAttempt,
    RuntimeTypes,
    SourceCall,
    StatusReport,
    ToolCall,
    Tools,
    UnusableRecord,
)
from agenttrace.records import parse_arguments, parse_json

Document = dict[str, Any]


def read_documents(folder: Path) -> Iterator[Document]:
    """Every field case of a folder, in the order of their names."""
    for path in sorted(folder.glob("*.json")):
        yield read_document(path)


def read_document(path: Path) -> Document:
    """One field case."""
    return parse_json(path.read_text(encoding="utf-8")).value  # type: ignore[return-value]


def case_of(document: Document) -> Case:
    """The expectation of one field case."""
    return parse_case(document["case"], document["id"])


def evidence_of(document: Document) -> Evidence:
    """What the boundaries of one field case saw, and all else that its recorder knew."""
    known: Document = document["evidence"]
    calls = {b: document[f"{b}_calls"] for b in BOUNDARIES}
    links = {link["from"]: link["to"] for link in known.get("links", [])}
    return Evidence(
        run=Run(run_id=f"run-{document['id']}"),
        observed={b: NOTHING if calls[b] is None else ALL for b in BOUNDARIES},
        model=tuple(
            _model_call(n, one, links) for n, one in enumerate(calls[Boundary.MODEL] or ())
        ),
        adapter=tuple(
            _adapter_call(n, one, links) for n, one in enumerate(calls[Boundary.ADAPTER] or ())
        ),
        executor=tuple(
            _execution(n, one, links) for n, one in enumerate(calls[Boundary.EXECUTOR] or ())
        ),
        completeness=_completeness(known),
        ownership=_ownership(known),
        integrity=_integrity(known),
        conduct=_conduct(known),
        outcome=_outcome(known),
        tools=_tools(known),
    )


def _common(boundary: Boundary, index: int, one: Document, links: Mapping[str, str]) -> Document:
    ref = f"{boundary}/{index}"
    return {
        "boundary": boundary,
        "ref": ref,
        "name": one["name"],
        "call_id": one["id"],
        "link": links.get(ref),
        "seq": one.get("seq"),
        "at": one.get("at"),
        "agent": one.get("agent"),
        "phase": Phase(one.get("phase", Phase.RUN)),
        "attempt": one.get("attempt", 1),
    }


def _model_call(index: int, one: Document, links: Mapping[str, str]) -> ToolCall:
    return ToolCall(
        **_common(Boundary.MODEL, index, one, links),
        raw=one["arguments_raw"],
        arguments=parse_arguments(one["arguments_raw"]).value,
        response_id=one["response_id"],
        request_id=one["request_id"],
        turn=one["turn"],
        finish_reason=one.get("finish_reason"),
    )


def _adapter_call(index: int, one: Document, links: Mapping[str, str]) -> ToolCall:
    return ToolCall(
        **_common(Boundary.ADAPTER, index, one, links),
        arguments=one["args"],
        error=one.get("error"),
    )


def _execution(index: int, one: Document, links: Mapping[str, str]) -> Execution:
    return Execution(
        **_common(Boundary.EXECUTOR, index, one, links),
        arguments=one["args"],
        result=one["result"],
        error=one["error"],
        count=one["count"],
        effect=one.get("effect"),
        parent=one.get("parent"),
        ending=Ending.RAISED if one["error"] is not None else Ending.RETURNED,
    )


def _source(one: Document, boundary: Boundary) -> SourceCall:
    return SourceCall(
        boundary=boundary,
        call_id=one.get("id", one.get("call_id")),
        name=one["name"],
        arguments=one.get("args"),
    )


def _completeness(known: Document) -> Completeness:
    manifest, sequence = known.get("manifest"), known.get("sequence", {})
    status = known.get("statuses")
    return Completeness(
        responses_recorded=known.get("assistant_messages_captured"),
        requests_made=known.get("model_requests"),
        dropped=known.get("dropped_spans"),
        sampled_out=known.get("sampled_out"),
        settled=known.get("settled"),
        made=None if manifest is None else {b: manifest[b] for b in BOUNDARIES},
        last_seq=sequence.get("last"),
        missing_seqs=tuple(sequence.get("missing", ())),
        late=tuple(one["call_id"] for one in known.get("late_spans", ())),
        orphans=tuple(_source(one, Boundary.EXECUTOR) for one in known.get("orphan_spans", ())),
        truncated=tuple(one["call_id"] for one in known.get("truncated_attributes", ())),
        duplicates=tuple(
            DuplicateRecord(
                boundary=Boundary(one["boundary"]),
                recorders=tuple(one.get("recorders", ())),
                response_ids=tuple(one.get("response_ids", ())),
            )
            for one in known.get("duplicate_records", ())
        ),
        source_calls=tuple(
            _source(one, Boundary(one["boundary"])) for one in known.get("source_tool_calls", ())
        ),
        unusable=tuple(
            UnusableRecord(
                boundary=Boundary(one["boundary"]), reason=one["reason"], call_id=one.get("id")
            )
            for one in known.get("unusable_records", ())
        ),
        statuses=()
        if status is None
        else (
            StatusReport(
                recorded=status["recorded"],
                actual=status["actual"],
                call_id=status.get("call_id"),
            ),
        ),
    )


def _ownership(known: Document) -> Ownership:
    requests = known.get("requests_of_case")
    return Ownership(
        case_id_in_trace=known.get("case_id_in_trace"),
        case_id_observed="case_id_in_trace" in known,
        requests_of_case=None if requests is None else tuple(requests),
        foreign_requests=tuple(known.get("foreign_request_ids", ())),
        scored_case_id=known.get("scored_case_id"),
        link_case_id=known.get("link_case_id"),
        reference_chosen_by=known.get("gold_selected_by"),
        response_first_seen_with=known.get("response_first_seen_with"),
        clock_offset_ms=known.get("clock_offset_ms", {}),
    )


def _integrity(known: Document) -> Integrity:
    masking = known.get("redaction")
    return Integrity(
        digests=known.get("digests", {}),
        masking=None
        if masking is None
        else Masking(
            method=masking["method"],
            boundaries=tuple(Boundary(one) for one in masking["boundaries"]),
            reference=masking["reference"],
            bits=masking.get("bits"),
        ),
        masked_by=known.get("masked_by"),
    )


def _conduct(known: Document) -> Conduct:
    guard, answer = known.get("guardrail"), known.get("tool_message_in_next_request")
    return Conduct(
        approvals=tuple(
            Approval(
                call=one["call"],
                decision=Decision(one["decision"]),
                arguments=one.get("args"),
                by=one.get("by"),
            )
            for one in known.get("approvals", ())
        ),
        human_edits=tuple(
            HumanEdit(
                call_id=one["call_id"],
                path=one["path"],
                before=one["from"],
                after=one["to"],
                by=one.get("by"),
            )
            for one in known.get("human_edits", ())
        ),
        guardrail=None if guard is None else Guardrail(**guard),
        cache_hits=tuple(known.get("cache_hits", ())),
        attempts=tuple(
            RunAttempt(
                number=one["n"],
                ended=one.get("ended"),
                history_has_first_result=one.get("history_has_first_result"),
            )
            for one in known.get("attempts", ())
        ),
        results_shown=tuple(
            ResultShown(
                shown=one["shown"],
                call_id=one["call_id"],
                turn=one["turn"],
                position=one["position"],
                returned=one.get("returned"),
                returned_observed="returned" in one,
            )
            for one in known.get("results_handed_back", ())
        ),
        answers_in_history=() if answer is None else (answer["call_id"],),
        idempotency_key=known.get("idempotency_key"),
        router_value=known.get("router_value"),
        stream_fragments=tuple(known.get("raw_deltas", ())),
        finish_reason=known.get("finish_reason"),
    )


def _outcome(known: Document) -> Outcome:
    return Outcome(
        final_message=known.get("final_message"),
        final_state=known.get("final_state"),
        state_matches_intent=known.get("final_state_matches"),
        side_effects=known.get("side_effects"),
        messages=tuple(
            Message(
                role=one["role"],
                turn=one["turn"],
                content=one["content"],
                call_id=one.get("call_id"),
                tool=one.get("tool"),
            )
            for one in known.get("messages", ())
        ),
    )


def _tools(known: Document) -> Tools:
    offered, types = known.get("tools_offered"), known.get("runtime_types")
    return Tools(
        offered=None if offered is None else tuple(offered),
        withheld=tuple(known.get("tools_withheld", ())),
        schemas=known.get("schema", {}),
        versions=known.get("schema_versions", {}),
        runtime_types=None if types is None else RuntimeTypes(**types),
        asserted=tuple(
            AssertedValue(tool=one["tool"], path=one["path"], value=one["value"])
            for one in known.get("asserted_values", ())
        ),
    )


__all__ = ["case_of", "evidence_of", "read_documents"]
