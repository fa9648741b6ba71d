"""An openai agent, recorded without a change to its loop, and judged against a plan.

Three things were added: `configure()` and `instrument()`, `@trace` on the tools, and `run(case)`
around one execution. The model asks for a refund of 8900 where 9800 was paid. The function ran as
asked and nothing failed, so only the plan can tell; the verdict says where, and whose fault it is.

Runs offline, against a scripted provider on the loopback:  python examples/openai_refund.py
"""

from __future__ import annotations

import json

from openai import OpenAI

import agenttrace
from agenttrace import Case, trace
from agenttrace.demo import ScriptedCall, ScriptedProvider, Turn
from agenttrace.domain import RequiredCall

agenttrace.configure(evidence=False)  # without the argument, evidence is kept in .agenttrace/runs
agenttrace.instrument("openai")

# The agent and its tools


@trace
def get_order(order_id: str) -> dict[str, object]:
    return {"order_id": order_id, "paid_cents": 9800}


@trace
def issue_refund(order_id: str, amount_cents: int) -> dict[str, object]:
    return {"order_id": order_id, "refunded_cents": amount_cents}


TOOLS = {"get_order": get_order, "issue_refund": issue_refund}
OFFERED = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in TOOLS
]


def my_agent(client: OpenAI, prompt: str) -> str:
    messages: list = [{"role": "user", "content": prompt}]
    while True:
        answer = client.chat.completions.create(
            model="gpt-5-mini", messages=messages, tools=OFFERED
        )
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
            )


# What it should do, and what its provider says

CASE = Case(
    case_id="refund-amount",
    intent="Refund order A-104 in full.",
    required=(
        RequiredCall(name="get_order", arguments={"order_id": "A-104"}),
        RequiredCall(name="issue_refund", arguments={"order_id": "A-104", "amount_cents": 9800}),
    ),
)
SCRIPT = [
    Turn(calls=(ScriptedCall(name="get_order", arguments='{"order_id":"A-104"}'),)),
    Turn(
        calls=(
            ScriptedCall(name="issue_refund", arguments='{"order_id":"A-104","amount_cents":8900}'),
        )
    ),
    Turn(text="Done."),
]


def main() -> None:
    with (
        ScriptedProvider(SCRIPT) as provider,
        OpenAI(base_url=provider.base_url, api_key="none") as client,
        agenttrace.run(CASE, agent_version="2026.11") as run,
    ):
        run.set_output(my_agent(client, "Refund order A-104 in full."))

    verdict = run.verdict
    print(f"{verdict.status}: first divergence at the {verdict.first}, owner: {verdict.owner}")
    for one in verdict.divergences:
        print(f"  {one.kind} {one.path}: {one.before} became {one.after}")
    for boundary, figures in verdict.boundaries.items():
        if figures is not None:
            counts = figures.counts
            print(f"  {boundary}: {counts.tp} of {counts.expected} calls as planned")


if __name__ == "__main__":
    main()
