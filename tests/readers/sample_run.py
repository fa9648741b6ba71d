"""Runs as a recorder would write them: one refund, seen at three boundaries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.domain import Run
from agenttrace.records import Record, parse_arguments, record_from_plain, to_plain

ARGUMENTS = {"order_id": "A-104", "amount_cents": 9800}


class Recording:
    """Numbers the records of one recorder in one run."""

    def __init__(self, run: Run, recorder: str = "rec-1", start: int = 0) -> None:
        self.run = run
        self.recorder = recorder
        self.start = start
        self.trace_id = run.run_id.encode("utf-8", "surrogatepass").hex().ljust(32, "0")[:32]
        self.records: list[Record] = []

    def add(self, kind: str, **payload: Any) -> str:
        """Make the next record and return its reference."""
        seq = len(self.records) + 1
        span_id = f"{self.recorder.encode().hex()[-8:]:0>8}{seq:08x}"
        record = record_from_plain(
            {
                "kind": kind,
                "trace_id": self.trace_id,
                "span_id": span_id,
                "run": to_plain(self.run),
                "recorder_id": self.recorder,
                "seq": seq,
                "start_ns": self.start + seq,
                "end_ns": self.start + seq + 1,
                "payload": payload,
            }
        )
        self.records.append(record)
        return record.ref

    def end(self, observes: Mapping[str, Any], **made: int) -> None:
        """Make the run's own record."""
        manifest = {
            "recorder_id": self.recorder,
            "last_seq": len(self.records) + 1,
            "made": made,
            "observes": observes,
        }
        self.add("run", manifest=manifest)


def refund_run(
    run_id: str = "run-1",
    *,
    case_id: str | None = "refund",
    raw: str | None = None,
    executed: Sequence[Mapping[str, Any]] = (ARGUMENTS,),
    adapted: Mapping[str, Any] | None = None,
    start: int = 0,
    tool: str = "issue_refund",
    revision: str | None = None,
    **execution: Any,
) -> tuple[Record, ...]:
    """The records of one run with one call; by default nothing is wrong with it."""
    made = Recording(Run(run_id=run_id, case_id=case_id, case_revision=revision), start=start)
    text = json.dumps(ARGUMENTS) if raw is None else raw
    ids = {"response_id": f"resp-{run_id}", "request_id": f"req-{run_id}", "turn": 1}
    place = {"call_id": "c1", "turn": 1, "index": 0}
    read = parse_arguments(text).value
    made.add("response", **ids, provider="openai", model="m", finish_reason="tool_calls", calls=1)
    link = made.add(
        "call", name=tool, arguments=read, raw=text, complete=True, **ids, call_id="c1", index=0
    )
    link = made.add("adapt", name=tool, arguments=adapted or read or {}, link=link, **place)
    for arguments in executed:
        made.add(
            "execution",
            name=tool,
            arguments=arguments,
            link=link,
            **place,
            **{"result": {"ok": True}, **execution},
        )
    made.end(
        {"model": None, "adapter": [tool], "executor": [tool]},
        model=1,
        adapter=1,
        executor=len(executed),
    )
    return tuple(made.records)


def write_cases(path: Path, *case_ids: str, cents: Any = 9800) -> Path:
    """A case file that asks for the one refund."""
    call = {"name": "issue_refund", "args": {"order_id": "A-104", "amount_cents": cents}}
    path.write_text(json.dumps([{"id": one, "required": [call]} for one in case_ids]))
    return path
