"""Files of many judged runs, written row after row: `python -m bench._row_files otlp 1000 6 DIR`.

Every run asks for the same calls with its own values; each tenth does one thing wrong. Records are
written as a recorder writes them, but for the agent's and the server's part of a run, which stand
in files of their own, and for the order: the server's runs, and the spans of a collector's batches,
are mixed.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agenttrace.artifacts import header_line
from agenttrace.domain import Run
from agenttrace.records import dump_json, plain_to_attributes

CASES = 50
WINDOW = 500
"""Runs that are mixed with each other."""
SPANS = 256
"""Spans of one request."""
TOOLS = ("get_order", "issue_refund", "send_receipt", "list_items", "find_customer", "close_case")

Plain = dict[str, Any]


def write_rows(kind: str, rows: int, calls: int, folder: Path) -> None:
    """Write the files of one kind, and the cases beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.json").write_text(json.dumps([_case(n, calls) for n in range(CASES)]))
    files = folder / "files"
    files.mkdir()
    {"evidence": _evidence, "otlp": _otlp, "chat": _chat}[kind](rows, calls, files)


def _evidence(rows: int, calls: int, folder: Path) -> None:
    with (folder / "agent.jsonl").open("w") as agent, (folder / "server.jsonl").open("w") as server:
        for window in _windows(rows):
            parts = {n: _by_recorder(n, calls) for n in window}
            for n in window:
                _write(agent, [header_line(_run(n), "agent"), *map(dump_json, parts[n]["agent"])])
            _write(server, (header_line(_run(n), "server") for n in window))
            _write(server, map(dump_json, _mixed([parts[n]["server"] for n in window])))


def _otlp(rows: int, calls: int, folder: Path) -> None:
    batch: list[Plain] = []
    with (folder / "traces.jsonl").open("w") as file:
        for window in _windows(rows):
            for record in _mixed([_records(n, calls) for n in window]):
                batch.append(_span(record))
                if len(batch) == SPANS:
                    _write(file, [_request(batch)])
                    batch.clear()
        if batch:
            _write(file, [_request(batch)])


def _chat(rows: int, calls: int, folder: Path) -> None:
    with (folder / "chat.jsonl").open("w") as file:
        for n in range(rows):
            asked = [{"name": TOOLS[t], "args": _arguments(n, t)} for t in range(calls)]
            made = [
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": f"c{t}",
                            "type": "function",
                            "function": {
                                "name": TOOLS[t],
                                "arguments": json.dumps(_arguments(n, t, is_wrong=_is_wrong(n, t))),
                            },
                        }
                    ],
                }
                for t in range(calls)
            ]
            messages = [{"role": "user", "content": "Refund what I ordered."}, *made]
            row = {"case_id": f"row-{n % CASES}", "messages": messages, "expected": asked}
            _write(file, [json.dumps(row)])


def _windows(rows: int) -> Iterator[range]:
    for begin in range(0, rows, WINDOW):
        yield range(begin, min(rows, begin + WINDOW))


def _mixed(lists: list[list[Plain]]) -> list[Plain]:
    """Items of several lists in a random order that keeps that of each."""
    turns = [n for n, items in enumerate(lists) for _ in items]
    random.Random(len(turns)).shuffle(turns)
    taken = [iter(items) for items in lists]
    return [next(taken[n]) for n in turns]


def _write(file: Any, lines: Iterable[str]) -> None:
    for line in lines:
        file.write(f"{line}\n")


def _case(n: int, calls: int) -> Plain:
    rule = {"/order_id": {"regex": "A-[0-9]+"}, "/amount_cents": {"range": {"min": 9000}}}
    required = [
        {"name": TOOLS[t], "args": {"note": "as agreed", "tags": ["a", "b"]}, "rules": rule}
        for t in range(calls)
    ]
    return {"id": f"case-{n}", "required": required}


def _run(n: int) -> Run:
    return Run(run_id=f"run-{n:09}", case_id=f"case-{n % CASES}")


def _is_wrong(n: int, turn: int) -> bool:
    return n % 10 == 9 and turn == 0


def _arguments(n: int, turn: int, *, is_wrong: bool = False) -> Plain:
    cents = 98 if is_wrong else 9800 + turn
    return {
        "order_id": f"A-{n}",
        "amount_cents": cents,
        "note": "as agreed",
        "tags": ["a", "b"],
    }


def _by_recorder(n: int, calls: int) -> dict[str, list[Plain]]:
    found: dict[str, list[Plain]] = {"agent": [], "server": []}
    for record in _records(n, calls):
        found[record["recorder_id"]].append(record)
    return found


def _records(n: int, calls: int) -> list[Plain]:
    """What the two recorders of one run made."""
    made: dict[str, int] = {"agent": 0, "server": 0}
    records: list[Plain] = []

    def add(recorder: str, kind: str, payload: Plain) -> str:
        made[recorder] += 1
        seq = made[recorder]
        span_id = f"{n % (1 << 28):07x}{'a' if recorder == 'agent' else 'b'}{seq:08x}"
        records.append(
            {
                "kind": kind,
                "trace_id": f"{n + 1:032x}",
                "span_id": span_id,
                "run": {"run_id": f"run-{n:09}", "case_id": f"case-{n % CASES}"},
                "recorder_id": recorder,
                "seq": seq,
                "start_ns": n * 1000 + seq,
                "end_ns": n * 1000 + seq + 1,
                "payload": payload,
            }
        )
        return f"{n + 1:032x}-{span_id}"

    for turn in range(calls):
        given = _arguments(n, turn, is_wrong=_is_wrong(n, turn))
        answer = {"response_id": f"r-{n}-{turn}", "request_id": f"q-{n}-{turn}", "turn": turn + 1}
        place = {"call_id": f"c{turn}", "turn": turn + 1, "index": 0}
        name, text = TOOLS[turn], json.dumps(given)
        add("agent", "response", {**answer, "model": "m", "finish_reason": "stop", "calls": 1})
        call = {**answer, **place, "name": name, "arguments": given, "raw": text, "complete": True}
        link = add("agent", "call", call)
        adapted = {**place, "name": name, "arguments": given, "link": link}
        link = add("agent", "adapt", adapted)
        add("server", "execution", {**adapted, "link": link, "result": {"ok": True}})
    agent = {"model": calls, "adapter": calls, "response": calls}
    for recorder, counts, observes in (
        ("agent", agent, {"model": None, "adapter": list(TOOLS)}),
        ("server", {"executor": calls}, {"executor": list(TOOLS)}),
    ):
        last = made[recorder] + 1
        manifest = {"recorder_id": recorder, "last_seq": last, "made": counts, "observes": observes}
        add(recorder, "run", {"manifest": manifest})
    return records


def _span(record: Plain) -> Plain:
    return {
        "traceId": record["trace_id"],
        "spanId": record["span_id"],
        "name": record["kind"],
        "startTimeUnixNano": str(record["start_ns"]),
        "endTimeUnixNano": str(record["end_ns"]),
        "attributes": [
            {"key": key, "value": _any_value(value)}
            for key, value in plain_to_attributes(record).items()
        ],
    }


def _any_value(value: Any) -> Plain:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [_any_value(item) for item in value]}}


def _request(spans: list[Plain]) -> str:
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]})


if __name__ == "__main__":
    write_rows(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
