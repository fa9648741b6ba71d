"""An agent with no supported library, recorded by hand at all three boundaries.

`model_response` takes what the provider sent, `@adapter` stands on the function that turns a raw
call into arguments, `@trace` on the tool. The parser reads amounts as floats and cuts the cents
off, which the records show by themselves: no plan is needed.

Runs offline:  python examples/by_hand.py
"""

from __future__ import annotations

import json
from typing import Any

import agenttrace
from agenttrace import adapter, trace

agenttrace.configure(evidence=False)  # without the argument, evidence is kept in .agenttrace/runs


@trace
def issue_refund(order_id: str, amount: float) -> str:
    return f"refunded {amount} for {order_id}"


@adapter
def arguments_of(call: dict[str, Any]) -> dict[str, Any]:
    arguments = json.loads(call["function"]["arguments"])
    return {**arguments, "amount": int(arguments["amount"])}  # the fault


def ask_my_model() -> dict[str, Any]:
    """Stands for your own HTTP client: whatever came back, parsed."""
    call = {
        "id": "call_7",
        "type": "function",
        "function": {"name": "issue_refund", "arguments": '{"order_id": "A-104", "amount": 98.75}'},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "my-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }


def main() -> None:
    with agenttrace.run() as run:
        response = ask_my_model()
        agenttrace.model_response(response)
        for call in response["choices"][0]["message"]["tool_calls"]:
            print(issue_refund(**arguments_of(call)))

    verdict = run.verdict
    print(f"{verdict.status}: first divergence at the {verdict.first}, owner: {verdict.owner}")
    for one in verdict.divergences:
        print(f"  {one.kind} {one.path}: {one.before} became {one.after}")


if __name__ == "__main__":
    main()
