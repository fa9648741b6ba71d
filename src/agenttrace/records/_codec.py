"""The one codec: record to plain JSON, to a line, to span attributes, and back.

A recorder in process and a reader of a collector's file build the same records through it, so
they give the same evidence digest. What nobody queries by itself shares the attribute
`agenttrace.record`, because every attribute costs time in the traced program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agenttrace import semconv
from agenttrace.domain import Boundary, JsonValue, Run, UnusableRecord
from agenttrace.records._json_dump import dump_json
from agenttrace.records._json_lex import JsonTextError
from agenttrace.records._json_text import parse_json
from agenttrace.records._record import PAYLOADS, Place, Record, RecordKind
from agenttrace.records._shape import ShapeError, fields_from_plain, to_plain

BOUNDARY_OF: Final = {
    RecordKind.CALL: Boundary.MODEL,
    RecordKind.ADAPT: Boundary.ADAPTER,
    RecordKind.EXECUTION: Boundary.EXECUTOR,
}

_RUN_KEYS: Final = {
    "run_id": semconv.RUN_ID,
    "case_id": semconv.CASE_ID,
    "case_revision": semconv.CASE_REVISION,
    "attempt": semconv.RUN_ATTEMPT,
    "agent_version": semconv.AGENT_VERSION,
    "prompt_version": semconv.PROMPT_VERSION,
}
_CALL_KEYS: Final = {
    "name": semconv.TOOL_NAME,
    "call_id": semconv.TOOL_CALL_ID,
    "raw": semconv.TOOL_CALL_RAW,
    "complete": semconv.TOOL_CALL_COMPLETE,
    "response_id": semconv.RESPONSE_ID,
    "request_id": semconv.REQUEST_ID,
    "turn": semconv.TURN,
    "agent": semconv.AGENT_ID,
    "error_type": semconv.ERROR_TYPE,
}
_EXECUTION_KEYS: Final = {
    **_CALL_KEYS,
    "name": semconv.GEN_AI_TOOL_NAME,
    "call_id": semconv.GEN_AI_TOOL_CALL_ID,
}
_RESPONSE_KEYS: Final = {
    "response_id": semconv.GEN_AI_RESPONSE_ID,
    "model": semconv.GEN_AI_RESPONSE_MODEL,
    "provider": semconv.GEN_AI_PROVIDER_NAME,
    "request_id": semconv.REQUEST_ID,
    "provider_request_id": semconv.PROVIDER_REQUEST_ID,
    "turn": semconv.TURN,
    "agent": semconv.AGENT_ID,
}
_KEYS: Final[Mapping[RecordKind, Mapping[str, str]]] = {
    RecordKind.CALL: _CALL_KEYS,
    RecordKind.ADAPT: _CALL_KEYS,
    RecordKind.EXECUTION: _EXECUTION_KEYS,
    RecordKind.RESPONSE: _RESPONSE_KEYS,
}
_JSON_KEYS: Final[Mapping[RecordKind, Mapping[str, str]]] = {
    RecordKind.CALL: {"arguments": semconv.TOOL_CALL_ARGUMENTS},
    RecordKind.ADAPT: {"arguments": semconv.TOOL_CALL_ARGUMENTS},
    RecordKind.EXECUTION: {
        "arguments": semconv.GEN_AI_TOOL_CALL_ARGUMENTS,
        "result": semconv.GEN_AI_TOOL_CALL_RESULT,
    },
}
_INT64: Final = 1 << 63


def record_to_plain(record: Record, *, content: bool = True) -> dict[str, Any]:
    """The record as JSON values.

    Args:
        content: Whether texts of messages are kept, which otherwise stay in local evidence.
    """
    plain: dict[str, Any] = to_plain(record)
    unknown = plain.pop("unknown", {})
    payload = plain["payload"]
    payload.pop("ref", None)
    if record.kind in BOUNDARY_OF:
        payload.pop("boundary", None)
    if not content:
        _strip_content(record.kind, payload)
    if unknown:
        payload.update(unknown.pop("payload", {}))
        plain.update(unknown)
    return plain


def record_from_plain(plain: Mapping[str, JsonValue]) -> Record:
    """The record that these JSON values describe.

    Raises:
        ShapeError: A field is missing or of the wrong type; it says which.
    """
    unknown: dict[str, JsonValue] = {}
    place = fields_from_plain(Place, plain, unknown=unknown)
    unknown.pop("unknown", None)
    kind: RecordKind = place["kind"]
    payload = unknown.pop("payload", None)
    if not isinstance(payload, Mapping):
        raise ShapeError("payload", "is no object")
    given: dict[str, Any] = {}
    if kind in BOUNDARY_OF:
        given["boundary"] = BOUNDARY_OF[kind]
    if kind in _KEYS:
        given["ref"] = f"{place['trace_id']}-{place['span_id']}"
    newer: dict[str, JsonValue] = {}
    made = PAYLOADS[kind]
    fields = fields_from_plain(made, payload, "payload", unknown=newer, given=given)
    if newer:
        unknown["payload"] = newer
    return Record(**place, payload=made(**fields), unknown=unknown)


def record_to_line(record: Record) -> str:
    """The record as one line of ASCII JSON, without the line's end."""
    return dump_json(record_to_plain(record))


def record_to_attributes(record: Record, *, content: bool = False) -> dict[str, Any]:
    """Span attributes that hold the whole record; ids, times and parent stand on the span."""
    return plain_to_attributes(record_to_plain(record, content=content))


def plain_to_attributes(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Span attributes of a record in its plain form."""
    kind = RecordKind(plain["kind"])
    rest = dict(plain["payload"])
    out: dict[str, Any] = {
        semconv.RECORD_KIND: kind.value,
        semconv.RECORDER_ID: plain["recorder_id"],
        semconv.SEQ: plain["seq"],
    }
    if kind in BOUNDARY_OF:
        out[semconv.BOUNDARY] = BOUNDARY_OF[kind].value
    if kind is RecordKind.EXECUTION:
        out[semconv.GEN_AI_OPERATION_NAME] = semconv.OPERATION_EXECUTE_TOOL
    elif kind is RecordKind.RESPONSE:
        out[semconv.GEN_AI_OPERATION_NAME] = semconv.OPERATION_CHAT
        if isinstance(rest.get("finish_reason"), str) and travels(rest["finish_reason"]):
            out[semconv.GEN_AI_RESPONSE_FINISH_REASONS] = (rest["finish_reason"],)
    run = dict(plain["run"])
    _move(run, _RUN_KEYS, out)
    _move(rest, _KEYS.get(kind, {}), out)
    for name, key in _JSON_KEYS.get(kind, {}).items():
        if name in rest:
            out[key] = dump_json(rest.pop(name))
    extra = {k: v for k, v in plain.items() if k not in _PLACE_FIELDS}
    shared = {key: part for key, part in (("payload", rest), ("run", run), ("more", extra)) if part}
    if shared:
        out[semconv.RECORD] = dump_json(shared)
    return out


def record_from_attributes(
    attributes: Mapping[str, Any],
    *,
    trace_id: str,
    span_id: str,
    parent_id: str | None,
    start_ns: int,
    end_ns: int,
) -> Record | UnusableRecord:
    """The record a span of ours holds, or why it cannot be read: its text was cut, say.

    Ids are lower-case hexadecimal. Attributes that other tools added are ignored.
    """
    found = read_attributes(
        attributes,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        start_ns=start_ns,
        end_ns=end_ns,
    )
    return found if isinstance(found, UnusableRecord) else found[0]


def read_attributes(
    attributes: Mapping[str, Any],
    *,
    trace_id: str,
    span_id: str,
    parent_id: str | None,
    start_ns: int,
    end_ns: int,
) -> tuple[Record, dict[str, Any]] | UnusableRecord:
    """As `record_from_attributes`, with the plain form that the record was made of."""
    try:
        kind = RecordKind(str(attributes[semconv.RECORD_KIND]))
        shared = _object(attributes.get(semconv.RECORD, "{}"))
        payload = dict(shared.get("payload", {}))
        run = dict(shared.get("run", {}))
        _take(run, _RUN_KEYS, attributes)
        _take(payload, _KEYS.get(kind, {}), attributes)
        for name, key in _JSON_KEYS.get(kind, {}).items():
            if key in attributes:
                payload[name] = parse_json(str(attributes[key])).value
        plain = {
            **shared.get("more", {}),
            "kind": kind.value,
            "trace_id": trace_id,
            "span_id": span_id,
            "parent_id": parent_id,
            "run": run,
            "recorder_id": attributes[semconv.RECORDER_ID],
            "seq": attributes[semconv.SEQ],
            "start_ns": start_ns,
            "end_ns": end_ns,
            "payload": payload,
        }
        record = record_from_plain(plain)
        raw, length = payload.get("raw"), payload.get("raw_length")
        if isinstance(raw, str) and isinstance(length, int) and len(raw) != length:
            raise ShapeError("raw", f"holds {len(raw)} of {length} characters")
    except (KeyError, ValueError, TypeError) as error:
        return _unusable(attributes, error)
    return record, plain


def _strip_content(kind: RecordKind, payload: dict[str, Any]) -> None:
    if kind is RecordKind.RESPONSE:
        payload.pop("text", None)
        for message in payload.get("messages", ()):
            message.pop("content", None)
    elif kind is RecordKind.EVENT:
        payload.pop("local", None)


def _move(fields: dict[str, Any], keys: Mapping[str, str], out: dict[str, Any]) -> None:
    for name, key in keys.items():
        if name in fields and travels(fields[name]):
            out[key] = fields.pop(name)


def _take(fields: dict[str, Any], keys: Mapping[str, str], attributes: Mapping[str, Any]) -> None:
    for name, key in keys.items():
        if key in attributes:
            fields[name] = attributes[key]


def travels(value: Any) -> bool:
    """Whether OTLP carries the value unharmed as an attribute of its own."""
    if value.__class__ is str:
        if value.isascii():
            return True
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
        return True
    return value.__class__ is bool or (value.__class__ is int and -_INT64 <= value < _INT64)


def _object(text: Any) -> dict[str, Any]:
    value = parse_json(str(text)).value
    if not isinstance(value, dict):
        raise ShapeError(semconv.RECORD, "is no JSON object")
    return value


def _unusable(attributes: Mapping[str, Any], error: Exception) -> UnusableRecord:
    boundary = attributes.get(semconv.BOUNDARY, Boundary.MODEL.value)
    call_id = attributes.get(semconv.TOOL_CALL_ID, attributes.get(semconv.GEN_AI_TOOL_CALL_ID))
    cut = isinstance(error, JsonTextError) and error.truncated
    reason = f"its text was cut: {error}" if cut else str(error)
    return UnusableRecord(
        boundary=Boundary(boundary) if boundary in set(Boundary) else Boundary.MODEL,
        reason=reason,
        call_id=call_id if isinstance(call_id, str | int) else None,
    )


def runs_of(records: Sequence[Record]) -> tuple[Run, ...]:
    """The runs that records belong to, each once, in order of appearance."""
    return tuple({record.run.run_id: record.run for record in records}.values())


_PLACE_FIELDS: Final = frozenset({*(f.name for f in dataclasses.fields(Place)), "payload"})
