"""Chat logs as somebody may have kept them: small rows of every format, and files of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.domain import Evidence
from agenttrace.readers import Problem
from agenttrace.readers.transcripts import Transcript, read_transcripts

ARGUMENTS = {"order_id": "A-104", "amount_cents": 9800}
PLAN = [{"name": "issue_refund", "args": ARGUMENTS}]
Row = dict[str, Any]


def chat_call(
    arguments: Any = ARGUMENTS, *, name: str = "issue_refund", call_id: str | None = "c1"
) -> Row:
    """One entry of `tool_calls`; arguments that are no text are written as JSON text."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call: Row = {"type": "function", "function": {"name": name, "arguments": text}}
    return call if call_id is None else {"id": call_id, **call}


def chat_row(case_id: str = "refund", *calls: Row, **more: Any) -> Row:
    """A chat of three messages whose second turn makes the calls, with a plan of one call."""
    return {
        "case_id": case_id,
        "expected": PLAN,
        "messages": [
            {"role": "system", "content": "You refund orders."},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "Refund order A-104."},
            {"role": "assistant", "content": None, "tool_calls": list(calls or (chat_call(),))},
            {"role": "tool", "tool_call_id": "c1", "name": "issue_refund", "content": "done"},
            {"role": "assistant", "content": "It is refunded."},
        ],
        **more,
    }


def write_log(path: Path, rows: Iterable[Row | str], *, packed: bool = False) -> Path:
    """A file of rows, one a line; a text stands as it is."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    data = "".join(f"{line}\n" for line in lines).encode("utf-8")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def read(path: Path, form: str = "openai-chat") -> list[Transcript | Problem]:
    """Everything that is read of one file."""
    return list(read_transcripts(path, form=form))


def evidence_of(tmp_path: Path, row: Mapping[str, Any], form: str = "openai-chat") -> Evidence:
    """The evidence of one row, which has to be readable."""
    (found,) = read(write_log(tmp_path / "one.jsonl", [dict(row)]), form)
    assert isinstance(found, Transcript), str(found)
    return found.evidence()


def refusal_of(tmp_path: Path, row: Mapping[str, Any], form: str = "openai-chat") -> str:
    """What is said of one row that cannot be read."""
    (found,) = read(write_log(tmp_path / "one.jsonl", [dict(row)]), form)
    assert isinstance(found, Problem), str(found)
    return str(found)


def calls_of(evidence: Evidence) -> Sequence[tuple[Any, ...]]:
    """What a reader has to get right of each call."""
    return [
        (call.turn, call.index, call.name, call.call_id, call.raw, call.arguments)
        for call in evidence.model
    ]
