"""The demo's scenarios, run with every SDK, in every format, streamed and not, sync and async.

The dispatch, the tools and their faults are the demo's own; only how the model is asked differs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from agenttrace import run
from agenttrace.demo._agent import run_agent, run_agent_async
from agenttrace.demo._conversation import INSTRUCTIONS, CallRequest
from agenttrace.demo._provider import ScriptedProvider
from agenttrace.demo._scenarios import Scenario
from agenttrace.demo._tools import SCHEMAS, AsyncShop, Shop, tools_of
from agenttrace.integrations import instrument, instrumented, uninstrument
from agenttrace.session import AgentRun
from tests.support.sdk_clients import WAYS, Way

DEMO_WAYS = [way for way in WAYS if way.api != "beta"]


class Talk:
    """A conversation as the demo's agent has it, in the format of a way."""

    def __init__(self, way: Way, prompt: str) -> None:
        self.way = way
        self.items: list[Any] = [{"role": "user", "content": prompt}]
        self.text = ""

    def ask(self, client: Any) -> Any:
        """Send the conversation: the answer's calls with its text, or an awaitable of them."""
        made = self.way.create(client)(**self._options())
        if self.way.is_async:
            return self._await(made)
        return self._read(list(made) if self.way.is_streamed else made)

    async def _await(self, made: Any) -> Any:
        answer = await made
        return self._read([event async for event in answer] if self.way.is_streamed else answer)

    def take(self, answer: tuple[str, list[CallRequest]]) -> list[CallRequest]:
        """The calls that an answer asks for."""
        self.text, calls = answer
        return calls

    def answer(self, call: CallRequest, result: str) -> None:
        """Add what came of a call."""
        if self.way.api == "chat":
            self.items.append({"role": "tool", "tool_call_id": call.call_id, "content": result})
        elif self.way.api == "responses":
            kind = "function_call_output"
            self.items.append({"type": kind, "call_id": call.call_id, "output": result})
        else:
            block = {"type": "tool_result", "tool_use_id": call.call_id, "content": result}
            if self.items[-1]["role"] == "user":
                self.items[-1]["content"].append(block)
            else:
                self.items.append({"role": "user", "content": [block]})

    def _options(self) -> dict[str, Any]:
        more: dict[str, Any] = {"model": "scripted-model"}
        items = json.loads(json.dumps(self.items))
        if self.way.api == "messages":
            tools: list[Any] = [{"name": n, "input_schema": s} for n, s in SCHEMAS.items()]
            more |= {"messages": items, "system": INSTRUCTIONS}
        else:
            items.insert(0, {"role": "system", "content": INSTRUCTIONS})
            key = "messages" if self.way.api == "chat" else "input"
            more[key] = items
            tools = [{"name": name, "parameters": schema} for name, schema in SCHEMAS.items()]
            if self.way.api == "chat":
                tools = [{"type": "function", "function": tool} for tool in tools]
            else:
                tools = [{"type": "function", "strict": False, **tool} for tool in tools]
        return self.way.options({**more, "tools": tools})

    def _read(self, answer: Any) -> tuple[str, list[CallRequest]]:
        name = f"{self.way.api}_{'stream' if self.way.is_streamed else 'whole'}"
        text, calls = getattr(self, f"_{name}")(answer)
        self._remember(text, calls)
        return text, calls

    def _remember(self, text: str, calls: list[CallRequest]) -> None:
        if self.way.api == "chat":
            made = [
                {
                    "id": call.call_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.text},
                }
                for call in calls
            ]
            message: dict[str, Any] = {"role": "assistant", "content": text or None}
            self.items.append({**message, "tool_calls": made} if made else message)
        elif self.way.api == "responses":
            self.items += [
                {
                    "type": "function_call",
                    "call_id": call.call_id,
                    "name": call.name,
                    "arguments": call.text,
                }
                for call in calls
            ]
        else:
            blocks: list[Any] = [{"type": "text", "text": text}] if text else []
            for call in calls:
                try:
                    given = json.loads(call.text)
                except ValueError:
                    given = {}
                block = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": given}
                blocks.append(block)
            self.items.append({"role": "assistant", "content": blocks})

    def _chat_whole(self, answer: Any) -> tuple[str, list[CallRequest]]:
        message = answer.choices[0].message
        return message.content or "", [
            CallRequest(name=call.function.name, text=call.function.arguments, call_id=call.id)
            for call in message.tool_calls or ()
        ]

    def _chat_stream(self, chunks: list[Any]) -> tuple[str, list[CallRequest]]:
        text, calls = "", dict[int, CallRequest]()
        for chunk in chunks:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for part in choice.delta.tool_calls or ():
                    name, call_id = part.function.name or "", part.id or ""
                    known = calls.get(part.index, CallRequest(name=name, text="", call_id=call_id))
                    more = part.function.arguments or ""
                    calls[part.index] = replace(known, text=known.text + more)
        return text, list(calls.values())

    def _responses_whole(self, answer: Any) -> tuple[str, list[CallRequest]]:
        return answer.output_text, [
            CallRequest(name=item.name, text=item.arguments, call_id=item.call_id)
            for item in answer.output
            if item.type == "function_call"
        ]

    def _responses_stream(self, events: list[Any]) -> tuple[str, list[CallRequest]]:
        ends = {"response.completed", "response.incomplete", "response.failed"}
        (last,) = [event.response for event in events if event.type in ends]
        return self._responses_whole(last)

    def _messages_whole(self, answer: Any) -> tuple[str, list[CallRequest]]:
        text = "".join(block.text for block in answer.content if block.type == "text")
        return text, [
            CallRequest(name=block.name, text=json.dumps(block.input), call_id=block.id)
            for block in answer.content
            if block.type == "tool_use"
        ]

    def _messages_stream(self, events: list[Any]) -> tuple[str, list[CallRequest]]:
        text, calls = "", dict[int, CallRequest]()
        for event in events:
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                block = event.content_block
                calls[event.index] = CallRequest(name=block.name, text="", call_id=block.id)
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                text += event.delta.text
            elif event.type == "content_block_delta":
                known = calls[event.index]
                calls[event.index] = replace(known, text=known.text + event.delta.partial_json)
        return text, list(calls.values())


def run_scenario(scenario: Scenario, way: Way, *, script: Any = None) -> AgentRun:
    """One run of the demo's agent; the hooks are in unless the scenario is about their absence.

    Args:
        script: What the provider answers, in place of the scenario's own turns.
    """
    talk = Talk(way, scenario.prompt)
    words = {"length": "max_tokens"} if way.api == "messages" else {}
    turns = [
        replace(turn, finish_reason=words.get(turn.finish_reason or "", turn.finish_reason))
        for turn in scenario.script_for(way.api)
    ]
    this = run(scenario.case(), name="refund-desk")
    with (
        hooked(way.library, is_in=scenario.is_hooked),
        ScriptedProvider(script or turns, name=scenario.name) as provider,
    ):
        if way.is_async:
            asyncio.run(_work_async(this, way, provider, talk, scenario))
        else:
            with this, way.client(provider) as client:
                said = run_agent(client, talk, scenario.dispatch, tools_of(Shop()))  # type: ignore[arg-type]
                this.set_output(said)
    return this


async def _work_async(
    this: AgentRun, way: Way, provider: ScriptedProvider, talk: Talk, scenario: Scenario
) -> None:
    async with this, way.client(provider) as client:
        tools = tools_of(AsyncShop())
        this.set_output(await run_agent_async(client, talk, scenario.dispatch, tools))  # type: ignore[arg-type]


@contextmanager
def hooked(library: str, *, is_in: bool = True) -> Iterator[None]:
    """Have the hooks of a library in, or out, for a while."""
    was_in = library in instrumented()
    _put(library, is_in)
    try:
        yield
    finally:
        _put(library, was_in)


def _put(library: str, is_in: bool) -> None:
    if is_in:
        instrument(library)
    else:
        uninstrument(library)
