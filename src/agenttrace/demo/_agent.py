"""The demo's agent: ask, run what the model calls, hand the results back, until it calls nothing.

It knows nothing of recording. The model boundary is recorded by the hook in the SDK, the other two
by `adapter` in `_dispatch` and `@trace` in `_tools`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agenttrace.demo._conversation import Conversation
from agenttrace.demo._dispatch import Dispatch
from agenttrace.demo._tools import Tool

MOST_TURNS: Final = 12
"""Responses after which the agent gives up, so that a live model cannot go on for ever."""


def run_agent(
    client: Any, conversation: Conversation, dispatch: Dispatch, tools: Mapping[str, Tool]
) -> str:
    """Have one conversation; the model's last words."""
    for _ in range(MOST_TURNS):
        calls = conversation.take(conversation.ask(client))
        if not calls:
            break
        for call in calls:
            conversation.answer(call, dispatch.run(call, tools))
    return conversation.text


async def run_agent_async(
    client: Any, conversation: Conversation, dispatch: Dispatch, tools: Mapping[str, Tool]
) -> str:
    """Have one conversation with awaited answers; the model's last words."""
    for _ in range(MOST_TURNS):
        calls = conversation.take(await conversation.ask(client))
        if not calls:
            break
        for call in calls:
            conversation.answer(call, await dispatch.run_async(call, tools))
    return conversation.text
