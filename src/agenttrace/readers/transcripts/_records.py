"""One row of a chat log to records: the model boundary, and nothing that the log does not show.

Ids are made of the row's content, so the same row gives the same records, references and evidence
digest wherever it is read, and a change of any message gives other ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from agenttrace.domain import Boundary, JsonValue, Manifest, Masking, Response, Run, ToolCall
from agenttrace.readers.transcripts._turns import LoggedCall, Turn, byte_length
from agenttrace.records import Record, RecordKind, RunEnd, ToolSchema, canonical

RECORDER: Final = "transcript"
"""Recorder id of records that were read from a chat log."""
AS_LOGGED: Final = "as-logged"
"""Method of masking of these records: none of ours. Whoever kept the log may have masked it."""


def digest_of(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON text, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def records_of(
    run: Run,
    turns: Iterable[Turn],
    tools: Sequence[ToolSchema] | None,
    *,
    content: str,
    model: str | None,
) -> tuple[Record, ...]:
    """The records of one row, its run's end last.

    Args:
        tools: The tools offered; an empty schema where the log states none. None: not logged.
        content: Digest of everything in the row that the records tell of.
        model: The model that the row names, for turns that name none.
    """
    maker = _Maker(run, digest_of([run.run_id, content])[:32])
    names = None if tools is None else tuple(tool.tool for tool in tools)
    for tool in tools or ():
        if tool.schema:
            maker.add(RecordKind.SCHEMA, tool)
    for number, turn in enumerate(turns, start=1):
        maker.add_turn(turn, number, offered=names, model=model)
    return maker.end()


class _Maker:
    """Numbers the records of one row and gives them their references."""

    def __init__(self, run: Run, trace_id: str) -> None:
        self._run = run
        self._trace_id = trace_id
        self._records: list[Record] = []
        self._responses = self._calls = 0

    def add_turn(
        self, turn: Turn, number: int, *, offered: tuple[str, ...] | None, model: str | None
    ) -> None:
        parent = self._span_id(len(self._records) + 1)
        response = Response(
            ref=self._next_ref(),
            response_id=turn.response_id,
            model=turn.model or model,
            turn=number,
            finish_reason=turn.finish_reason,
            text=turn.text,
            text_length=byte_length(turn.text or ""),
            calls=len(turn.calls),
            tools_offered=offered,
            messages=tuple(replace(one, turn=number) for one in turn.messages),
            seq=len(self._records) + 1,
        )
        self.add(RecordKind.RESPONSE, response)
        self._responses += 1
        for index, call in enumerate(turn.calls):
            self.add(RecordKind.CALL, self._call(call, turn, number, index), parent=parent)
            self._calls += 1

    def _call(self, call: LoggedCall, turn: Turn, number: int, index: int) -> ToolCall:
        return ToolCall(
            boundary=Boundary.MODEL,
            ref=self._next_ref(),
            name=call.name,
            arguments=call.arguments,
            raw=call.raw,
            raw_observed=call.raw_observed,
            raw_length=None if call.raw is None else len(call.raw),
            complete=call.complete,
            call_id=call.call_id,
            response_id=turn.response_id,
            turn=number,
            index=index,
            finish_reason=turn.finish_reason,
            seq=len(self._records) + 1,
        )

    def end(self) -> tuple[Record, ...]:
        made = {
            RecordKind.RESPONSE.value: self._responses,
            Boundary.MODEL.value: self._calls,
        }
        manifest = Manifest(
            recorder_id=RECORDER,
            last_seq=len(self._records) + 1,
            made=made,
            observes={Boundary.MODEL.value: None},
        )
        self.add(RecordKind.RUN, RunEnd(manifest=manifest, masking=Masking(method=AS_LOGGED)))
        return tuple(self._records)

    def add(
        self,
        kind: RecordKind,
        payload: Response | ToolCall | ToolSchema | RunEnd,
        *,
        parent: str | None = None,
    ) -> None:
        """Append a record. Logs of chats state no times, so both are 0."""
        seq = len(self._records) + 1
        self._records.append(
            Record(
                kind=kind,
                trace_id=self._trace_id,
                span_id=self._span_id(seq),
                parent_id=parent,
                run=self._run,
                recorder_id=RECORDER,
                seq=seq,
                start_ns=0,
                end_ns=0,
                payload=payload,
            )
        )

    def _next_ref(self) -> str:
        return f"{self._trace_id}-{self._span_id(len(self._records) + 1)}"

    def _span_id(self, seq: int) -> str:
        return f"{seq:016x}"
