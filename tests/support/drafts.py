"""Provider responses in capture's words, with only what a test is about in sight."""

from __future__ import annotations

import json
from typing import Any

from agenttrace.capture import CallDraft, ResponseDraft


def call(
    name: str, raw: str | None, call_id: str | int | None = "call_1", index: int = 0, **more: Any
):
    return CallDraft(name, call_id, index, raw, **{"complete": True, **more})


def response(*calls: CallDraft, response_id: str | None = "resp_1", **more: Any):
    known: dict[str, Any] = {
        "response_id": response_id,
        "provider_request_id": None,
        "provider": "openai",
        "model": "gpt-x",
        "finish_reason": "tool_calls" if calls else "stop",
        "text": None,
    }
    return ResponseDraft(**{**known, "calls": calls, **more})


def refund(cents: int = 9800, **more: Any) -> CallDraft:
    raw = json.dumps({"order_id": "A-104", "amount_cents": cents})
    return call("issue_refund", raw, **more)
