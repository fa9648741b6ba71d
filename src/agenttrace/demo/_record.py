"""Runs the agent for one scenario and records it, apart from whatever the process has configured.

Records are kept in memory and with a key of the demo's own: no folder, key file or setting of the
user's is read or written. Spans go where OTEL_EXPORTER_OTLP_ENDPOINT says, if it says anything.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agenttrace.capture import Settings, recorder
from agenttrace.demo._agent import run_agent, run_agent_async
from agenttrace.demo._conversation_messages import CONVERSATIONS
from agenttrace.demo._dispatch import SOUND, Dispatch
from agenttrace.demo._provider import ScriptedProvider
from agenttrace.demo._scenarios import SCENARIOS, Scenario
from agenttrace.demo._tools import AsyncShop, Shop, tools_of
from agenttrace.demo._ways import OPENAI, SDKS, Way
from agenttrace.domain import Case, Evidence, Verdict
from agenttrace.exporters import span_processors
from agenttrace.integrations import instrument, instrumented, uninstrument
from agenttrace.records import Record
from agenttrace.redaction import Redactor
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.session import run as begin_run

_KEY: Final = b"agenttrace-demo-key-no-secret!!!"

ClientOptions: TypeAlias = Mapping[str, Any]
"""What the SDK's clients are made with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """One run of the agent, its records, and both judgements of them."""

    scenario: str
    way: Way
    case: Case
    records: tuple[Record, ...]
    evidence: Evidence
    with_plan: Verdict
    without_plan: Verdict


@contextmanager
def recording_apart() -> Iterator[None]:
    """Record with the demo's own settings; afterwards everything is as it was."""
    hooked = instrumented()
    settings = Settings(evidence=None, make_processors=span_processors, redactor=Redactor(_KEY))
    with recorder.replaced(settings):
        try:
            yield
        finally:
            for library in SDKS:
                _put(library.name, is_in=library.name in hooked)


def record_scenario(scenario: Scenario, way: Way) -> Recorded:
    """Run one scenario against a provider on the loopback.

    Raises:
        MissingExtraError: The SDK that the way needs is not installed.
    """
    number = [each.name for each in SCENARIOS].index(scenario.name) + 1
    name = f"{number}-{way.mode}{'-streamed' if way.is_streamed else ''}"
    with ScriptedProvider(scenario.script_for(way), name=name) as provider:
        return record_agent(
            scenario.name,
            scenario.case(),
            prompt=scenario.prompt,
            dispatch=scenario.dispatch,
            is_hooked=scenario.is_hooked,
            model="scripted-model",
            way=way,
            client={
                "base_url": provider.base_url if way.sdk is OPENAI else provider.address,
                "api_key": "none",
                "max_retries": 0,
                "http_client": _loopback_client(way),
            },
        )


def record_agent(
    name: str,
    case: Case,
    *,
    prompt: str,
    model: str,
    way: Way,
    client: ClientOptions,
    dispatch: Dispatch = SOUND,
    is_hooked: bool = True,
) -> Recorded:
    """Run the agent once and judge what was recorded, with its plan and without.

    Raises:
        MissingExtraError: The SDK that the way needs is not installed.
    """
    conversation = CONVERSATIONS[way.api](model, prompt, is_streamed=way.is_streamed)
    make_client = getattr(way.sdk.load(), way.sdk.clients[way.is_async])

    def work(this: AgentRun) -> None:
        with this, make_client(**client) as asked:
            this.set_output(run_agent(asked, conversation, dispatch, tools_of(Shop())))

    async def work_async(this: AgentRun) -> None:
        async with this, make_client(**client) as asked:
            tools = tools_of(AsyncShop())
            this.set_output(await run_agent_async(asked, conversation, dispatch, tools))

    for sdk in SDKS:  # a hook in the other SDK would say that the model was watched
        _put(sdk.name, is_in=is_hooked and sdk is way.sdk)
    this = begin_run(case, name="refund-desk")
    if way.is_async:
        asyncio.run(work_async(this))
    else:
        work(this)
    evidence = this.evidence()
    return Recorded(
        scenario=name,
        way=way,
        case=case,
        records=this.records(),
        evidence=evidence,
        with_plan=this.verdict,
        without_plan=score(None, evidence),
    )


def _put(library: str, *, is_in: bool) -> None:
    if is_in:
        instrument(library)
    else:
        uninstrument(library)


def _loopback_client(way: Way) -> Any:
    """The SDK's own HTTP client, without certificates.

    The loopback speaks no TLS, and loading the system's certificates would take longer than a run.
    """
    trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    sdk = way.sdk.load()
    made = sdk.DefaultAsyncHttpxClient if way.is_async else sdk.DefaultHttpxClient
    return made(verify=trusts_nobody)
