"""The demo's scenarios, run with every SDK, in every format, streamed and not, sync and async.

The agent, the dispatch, the tools and their faults are the demo's own; what records is the test's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agenttrace import run
from agenttrace.demo._agent import run_agent, run_agent_async
from agenttrace.demo._conversation import Conversation
from agenttrace.demo._conversation_messages import CONVERSATIONS
from agenttrace.demo._provider import ScriptedProvider, Turn
from agenttrace.demo._scenarios import Scenario
from agenttrace.demo._tools import AsyncShop, Shop, tools_of
from agenttrace.demo._ways import Way as DemoWay
from agenttrace.integrations import instrument, instrumented, uninstrument
from agenttrace.session import AgentRun
from tests.support.sdk_clients import WAYS, Way

DEMO_WAYS = [way for way in WAYS if way.api != "beta"]


def as_asked(scenario: Scenario, way: Way) -> Scenario:
    """The scenario as it can happen in a way."""
    return scenario.asked(_demo_way(way))


def turns_of(scenario: Scenario, way: Way) -> tuple[Turn, ...]:
    """What the provider answers in a way."""
    return as_asked(scenario, way).script_for(_demo_way(way))


def run_scenario(scenario: Scenario, way: Way, *, script: Any = None) -> AgentRun:
    """One run of the demo's agent; the hooks are in unless the scenario is about their absence.

    Args:
        script: What the provider answers, in place of the scenario's own turns.
    """
    scenario = as_asked(scenario, way)
    turns = script or turns_of(scenario, way)
    talk = CONVERSATIONS[way.api]("scripted-model", scenario.prompt, is_streamed=way.is_streamed)
    this = run(scenario.case(), name="refund-desk")
    with (
        hooked(way.library, is_in=scenario.is_hooked),
        ScriptedProvider(turns, name=scenario.name) as provider,
    ):
        if way.is_async:
            asyncio.run(_work_async(this, way, provider, talk, scenario))
        else:
            with this, way.client(provider) as client:
                this.set_output(run_agent(client, talk, scenario.dispatch, tools_of(Shop())))
    return this


async def _work_async(
    this: AgentRun, way: Way, provider: ScriptedProvider, talk: Conversation, scenario: Scenario
) -> None:
    async with this, way.client(provider) as client:
        tools = tools_of(AsyncShop())
        this.set_output(await run_agent_async(client, talk, scenario.dispatch, tools))


def _demo_way(way: Way) -> DemoWay:
    mode = "async" if way.is_async else "sync"
    return DemoWay(api=way.api, mode=mode, is_streamed=way.is_streamed)


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
