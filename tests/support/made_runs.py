"""Runs made by a seed, as the records that recorders of one or two processes would write.

Ids may be missing, repeated, or the adapter's own; calls come several a turn over several turns,
in set-up, inside other runs, refused and repaired; links may be known or not. A run is as planned
or has one fault somewhere, and its plan is what was meant.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agenttrace.domain import Boundary, Case, Evidence, RequiredCall, Run
from agenttrace.records import (
    Record,
    assemble,
    parse_arguments,
    record_from_plain,
    record_to_attributes,
    to_plain,
)

TOOLS = ("look_up", "pay", "notify")
VALUES: tuple[Any, ...] = (0, 1, 98, 9800, 2**60 + 1, 1.5, True, None, "A-1", "caf\u00e9", [1, 2])
FAULTS = (
    "model_value",
    "model_added",
    "adapter_value",
    "adapter_coerced",
    "executor_value",
    "never_ran",
    "ran_twice",
    "cut_off",
    "not_requested",
    "result_changed",
)
MODEL, ADAPTER, EXECUTOR = Boundary


@dataclass
class MadeRun:
    """One run with what was asked of it."""

    case: Case | None
    records: list[Record]
    fault: str | None

    def evidence(self) -> Evidence:
        """The run as it was recorded, in order."""
        return assemble(self.records)


@dataclass
class _Recorder:
    """One process that numbers what it records of one run."""

    run: Run
    name: str
    observes: dict[str, Any]
    records: list[Record] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    revision: int = 0

    def add(self, kind: str, counted: str, **payload: Any) -> str:
        seq = len(self.records) + 1
        self.made[counted] = self.made.get(counted, 0) + 1
        record = record_from_plain(
            {
                "kind": kind,
                "trace_id": f"{int.from_bytes(self.run.run_id.encode(), 'big'):032x}"[-32:],
                "span_id": f"{ord(self.name[-1]):08x}{seq:08x}",
                "run": to_plain(self.run),
                "recorder_id": self.name,
                "seq": seq,
                "start_ns": seq,
                "end_ns": seq + 1,
                "payload": payload,
            }
        )
        self.records.append(record)
        return record.ref

    def end(self) -> None:
        self.revision += 1
        manifest = {
            "recorder_id": self.name,
            "last_seq": len(self.records) + 1,
            "made": {**{boundary.value: 0 for boundary in Boundary}, **self.made},
            "observes": self.observes,
            "requests": list(self.requests),
            "revision": self.revision,
        }
        self.add("run", "run", manifest=manifest)


class _Maker:
    def __init__(self, seed: int, *, fault: str | None, most: int) -> None:
        self.random = Random(seed)
        self.fault = fault
        self.most = most
        self.run = Run(run_id=f"run-{seed}", case_id=f"case-{seed}")
        seen: dict[str, Any] = {MODEL.value: None, ADAPTER.value: TOOLS, EXECUTOR.value: TOOLS}
        self.main = _Recorder(self.run, "rec-1", seen)
        self.tools = self.main
        self.is_spread = False
        if self.random.random() < 0.5:
            self.is_spread = self.random.random() < 0.4
            if not self.is_spread:
                del seen[EXECUTOR.value]
            self.tools = _Recorder(self.run, "rec-2", {EXECUTOR.value: TOOLS})
        self.ids = self.random.choice(["own", "none", "repeated", "numbers", "adapters"])
        self.is_linked = self.random.random() < 0.7 or self.ids in ("repeated", "none")
        self.is_approved = self.random.random() < 0.2 and self.ids == "own"
        self.clock = 0
        self.meant: list[RequiredCall] = []

    def make(self) -> MadeRun:
        pick = self.random
        if pick.random() < 0.3:
            self.ran("look_up", {"n": 0}, phase="setup")
        turns = pick.randint(1, self.most)
        at = pick.randint(1, turns)
        for turn in range(1, turns + 1):
            self.turn(turn, fault=self.fault if turn == at else None)
        is_settled_twice = pick.random() < 0.3
        if is_settled_twice:
            self.main.end()
        if is_settled_twice or pick.random() < 0.5:
            self.main.add("event", "event", name="output", data={"value": "Done."})
        if self.fault == "not_requested":
            self.ran("notify", {"n": -1})
        for recorder in {id(one): one for one in (self.main, self.tools)}.values():
            recorder.end()
        records = self.main.records + (self.tools.records if self.tools is not self.main else [])
        case = None
        if pick.random() < 0.7:
            case = Case(case_id=str(self.run.case_id), required=tuple(self.meant))
        return MadeRun(case, records, self.fault)

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def id_of(self, turn: int, index: int) -> dict[str, Any]:
        if self.ids in ("none", "adapters"):
            return {}
        if self.ids == "repeated":
            return {"call_id": "call"}
        return {"call_id": f"c{turn}{index}" if self.ids == "own" else turn * 10 + index}

    def turn(self, turn: int, *, fault: str | None) -> None:
        pick = self.random
        calls = []
        for index in range(pick.randint(1, self.most)):
            args = {"n": turn * 100 + index, "v": pick.choice(VALUES)}
            calls.append((pick.choice(TOOLS), args))
        if fault == "model_added":
            calls.append(("notify", {"n": -2}))
        gone = pick.randrange(len(calls)) if fault != "model_added" else len(calls) - 1
        is_repaired = fault is None and pick.random() < 0.2
        ids = {"response_id": f"resp-{turn}", "request_id": f"req-{turn}", "turn": turn}
        self.main.requests.append(ids["request_id"])
        self.main.made["request"] = turn
        self.main.add(
            "response",
            "response",
            **ids,
            calls=len(calls) + is_repaired,
            finish_reason="tool_calls",
            seq=self.tick(),
        )
        if is_repaired:
            self.refused(turn, len(calls), ids)
        asked = []
        for index, (tool, args) in enumerate(calls):
            own = fault if index == gone else None
            if own != "model_added":
                self.meant.append(RequiredCall(name=tool, arguments=args))
            link = self.asked((turn, index), tool, args, ids, own)
            asked.append(((turn, index), tool, {**args}, link, own))
        for place, tool, args, link, own in asked:
            self.dispatched(place, tool, args, link, own)

    def asked(
        self, place: tuple[int, int], tool: str, args: Any, ids: Any, fault: str | None
    ) -> str:
        said = {**args, "n": -3} if fault == "model_value" else args
        raw = json.dumps(said)
        if fault == "cut_off":
            raw = raw[:-2]
        return self.main.add(
            "call",
            MODEL,
            name=tool,
            raw=raw,
            arguments=parse_arguments(raw).value,
            index=place[1],
            complete=fault != "cut_off",
            seq=self.tick(),
            **ids,
            **self.id_of(*place),
        )

    def refused(self, turn: int, index: int, ids: Any) -> None:
        """A call of wrong type that the adapter refused; the model makes it right elsewhere."""
        link = self.asked((turn, index), "pay", {"n": "text"}, ids, None)
        self.main.add(
            "adapt",
            ADAPTER,
            name="pay",
            error="n is no number",
            link=link,
            seq=self.tick(),
            **self.id_of(turn, index),
        )

    def dispatched(
        self, place: tuple[int, int], tool: str, args: Any, link: str, fault: str | None
    ) -> None:
        turn, index = place
        if fault == "model_value":
            args = {**args, "n": -3}
        if fault == "adapter_value":
            args = {**args, "n": args["n"] + 7}
        if fault == "adapter_coerced":
            args = {**args, "n": str(args["n"])}
        ids = self.id_of(turn, index)
        if self.ids == "adapters":
            ids = {"call_id": f"made-{turn}-{index}"}
        linked = {"link": link} if self.is_linked else {}
        link = self.main.add(
            "adapt", ADAPTER, name=tool, arguments=args, seq=self.tick(), **linked, **ids
        )
        if self.is_approved:
            decided = {"call": ids["call_id"], "decision": "approve"}
            self.main.add("event", "event", name="approval", data=decided)
        if fault == "executor_value":
            args = {**args, "n": args["n"] + 9}
        linked = {"link": link} if self.is_linked else {}
        result: Any = {"done": turn * 10 + index}
        for _ in range({"never_ran": 0, "ran_twice": 2}.get(fault or "", 1)):
            outer = self.ran(tool, args, result=result, **linked, **ids)
            if self.random.random() < 0.2:
                self.ran("look_up", {"n": 1}, parent=outer)
        if ids and self.ids != "repeated" and (fault or self.random.random() < 0.3):
            shown = {"done": -1} if fault == "result_changed" else result
            told = {"shown": shown, "call_id": ids["call_id"]}
            if fault != "never_ran":
                self.main.add("event", "event", name="result_shown", data=told)

    def ran(self, tool: str, args: Any, **fields: Any) -> str:
        given = {"result": "ok", "seq": self.tick(), **fields}
        recorder = self.tools
        if self.is_spread:
            # Some of the runs in each process, and nothing says which came first.
            recorder = self.random.choice([self.main, self.tools])
            del given["seq"]
        return recorder.add("execution", EXECUTOR, name=tool, arguments=args, **given)


def made_run(seed: int, *, most: int = 3) -> MadeRun:
    """The run of one seed, of at most so many turns and calls a turn; every third has a fault."""
    fault = FAULTS[seed // 3 % len(FAULTS)] if seed % 3 == 0 else None
    return _Maker(seed, fault=fault, most=most).make()


def otlp_span(record: Record) -> dict[str, Any]:
    """One record as a span of an OTLP request in JSON."""
    return {
        "traceId": record.trace_id,
        "spanId": record.span_id,
        "name": record.kind.value,
        "startTimeUnixNano": str(record.start_ns),
        "endTimeUnixNano": str(record.end_ns),
        "attributes": [
            {"key": key, "value": _any_value(value)}
            for key, value in record_to_attributes(record).items()
        ],
    }


def otlp_request(*spans: dict[str, Any]) -> dict[str, Any]:
    """One batch."""
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "any"}, "spans": list(spans)}]}]}


def _any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_any_value(one) for one in value]}}
    return {"stringValue": value}
