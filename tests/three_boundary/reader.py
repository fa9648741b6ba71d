"""Recorded runs with provider messages, requested calls and dispatched calls, as our records.

The source keeps one numbered stream of events. What was dispatched before the model first asked
for anything is set-up: nobody could have requested it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenttrace.domain import (
    Boundary,
    Case,
    Execution,
    Manifest,
    Phase,
    RequiredCall,
    Response,
    Run,
    ToolCall,
)
from agenttrace.records import Record, RecordKind, RunEnd, parse_arguments

Row = dict[str, Any]
RECORDER = "tau2-runtime"


def read_rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def case_of(row: Row) -> Case:
    """The source's expected plan, compared at the executor."""
    return Case(
        case_id=row["case_id"],
        required=tuple(
            RequiredCall(name=call["name"], arguments=call["args"]) for call in row["expected"]
        ),
    )


def records_of(row: Row) -> list[Record]:
    """All records of one run, and its end."""
    return list(_Maker(row).records())


class _Maker:
    def __init__(self, row: Row) -> None:
        self.row = row
        self.run = Run(run_id=f"run/{row['case_id']}", case_id=row["case_id"])
        self.trace_id = _hex(self.run.run_id, 32)
        self.seq = 0
        self.made: dict[str, int] = dict.fromkeys(Boundary, 0)

    def records(self) -> Iterator[Record]:
        row = self.row
        numbered = {call["id"]: _number(call) for call in row["adapter"]}
        first_request = min(numbered.values(), default=float("inf"))
        events: list[tuple[float, int, str, Row]] = []
        for place, response in enumerate(row["model"]):
            asked = [numbered[c["id"]] for c in response["calls"] if c["id"] in numbered]
            # A response stands before the first event that it caused.
            events.append((min(asked, default=0) - 0.5, place, "model", response))
        for kind in ("adapter", "executor"):
            events += [(_number(one), place, kind, one) for place, one in enumerate(row[kind])]
        turn = 0
        for number, _, kind, one in sorted(events, key=lambda event: event[:2]):
            if kind == "model":
                turn += 1
                yield from self._response(one, turn)
            elif kind == "adapter":
                yield self._adapter(one)
            else:
                yield self._execution(one, before_any_request=number < first_request)
        yield self._record(
            RecordKind.RUN,
            RunEnd(
                manifest=Manifest(
                    recorder_id=RECORDER,
                    last_seq=self.seq + 1,
                    made=dict(self.made),
                    observes=dict.fromkeys(Boundary),
                )
            ),
        )

    def _response(self, one: Row, turn: int) -> Iterator[Record]:
        shared = {
            "response_id": one["response_id"],
            "turn": turn,
            "finish_reason": one["finish_reason"],
        }
        yield self._record(
            RecordKind.RESPONSE,
            Response(
                ref=self._ref(), model=one["response_model"], calls=len(one["calls"]), **shared
            ),
        )
        for index, call in enumerate(one["calls"]):
            self.made[Boundary.MODEL] += 1
            yield self._record(
                RecordKind.CALL,
                ToolCall(
                    boundary=Boundary.MODEL,
                    ref=self._ref(),
                    name=call["name"],
                    call_id=call["id"],
                    raw=call["arguments_raw"],
                    arguments=parse_arguments(call["arguments_raw"]).value,
                    index=index,
                    **shared,
                ),
            )

    def _adapter(self, one: Row) -> Record:
        self.made[Boundary.ADAPTER] += 1
        return self._record(
            RecordKind.ADAPT,
            ToolCall(
                boundary=Boundary.ADAPTER,
                ref=self._ref(),
                name=one["name"],
                call_id=one["id"],
                arguments=one["arguments"],
            ),
        )

    def _execution(self, one: Row, *, before_any_request: bool) -> Record:
        self.made[Boundary.EXECUTOR] += 1
        if one["during_evaluation"]:
            phase = Phase.EVALUATION
        else:
            phase = Phase.SETUP if before_any_request else Phase.RUN
        answer = one["response"]["raw"]
        return self._record(
            RecordKind.EXECUTION,
            Execution(
                boundary=Boundary.EXECUTOR,
                ref=self._ref(),
                name=one["name"],
                call_id=answer["id"],
                arguments=one["arguments"],
                result=answer["content"],
                error=answer["content"] if answer["error"] else None,
                phase=phase,
            ),
        )

    def _ref(self) -> str:
        return f"{self.trace_id}-{self._span(self.seq + 1)}"

    def _span(self, seq: int) -> str:
        return _hex(f"{self.run.run_id}/{seq}", 16)

    def _record(self, kind: RecordKind, payload: Any) -> Record:
        self.seq += 1
        return Record(
            kind=kind,
            trace_id=self.trace_id,
            span_id=self._span(self.seq),
            run=self.run,
            recorder_id=RECORDER,
            seq=self.seq,
            start_ns=self.seq,
            end_ns=self.seq,
            payload=payload,
        )


def _number(event: Row) -> int:
    return int(event["event_id"].split("-")[1])


def _hex(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
