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
from importlib import import_module
from typing import Any, Final, TypeAlias

from agenttrace.capture import Settings, recorder
from agenttrace.demo._agent import run_agent, run_agent_async
from agenttrace.demo._conversation import CONVERSATIONS
from agenttrace.demo._dispatch import SOUND, Dispatch
from agenttrace.demo._provider import ScriptedProvider
from agenttrace.demo._scenarios import SCENARIOS, Scenario
from agenttrace.demo._tools import AsyncShop, Shop, tools_of
from agenttrace.domain import Case, Evidence, Verdict
from agenttrace.errors import MissingExtraError
from agenttrace.exporters import span_processors
from agenttrace.integrations import instrument, instrumented, uninstrument
from agenttrace.records import Record
from agenttrace.redaction import Redactor
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.session import run as begin_run

LIBRARY: Final = "openai"
_KEY: Final = b"agenttrace-demo-key-no-secret!!!"

ClientOptions: TypeAlias = Mapping[str, Any]
"""What the SDK's clients are made with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """One run of the agent, its records, and both judgements of them."""

    scenario: str
    api: str
    mode: str
    case: Case
    records: tuple[Record, ...]
    evidence: Evidence
    with_plan: Verdict
    without_plan: Verdict


@contextmanager
def recording_apart() -> Iterator[None]:
    """Record with the demo's own settings; afterwards everything is as it was.

    Raises:
        MissingExtraError: The openai SDK is not installed.
    """
    was_hooked = LIBRARY in instrumented()
    settings = Settings(evidence=None, make_processors=span_processors, redactor=Redactor(_KEY))
    with recorder.replaced(settings):
        try:
            instrument(LIBRARY)
            yield
        finally:
            if was_hooked:
                instrument(LIBRARY)
            else:
                uninstrument(LIBRARY)


def record_scenario(scenario: Scenario, *, api: str, mode: str) -> Recorded:
    """Run one scenario against a provider on the loopback."""
    script = scenario.script_for(api)
    name = f"{SCENARIOS.index(scenario) + 1}-{mode}"
    with _hook(scenario.is_hooked), ScriptedProvider(script, name=name) as provider:
        return record_agent(
            scenario.name,
            scenario.case(),
            prompt=scenario.prompt,
            dispatch=scenario.dispatch,
            model="scripted-model",
            api=api,
            mode=mode,
            client={
                "base_url": provider.base_url,
                "api_key": "none",
                "max_retries": 0,
                "http_client": _loopback_client(mode),
            },
        )


def record_agent(
    name: str,
    case: Case,
    *,
    prompt: str,
    model: str,
    api: str,
    mode: str,
    client: ClientOptions,
    dispatch: Dispatch = SOUND,
) -> Recorded:
    """Run the agent once and judge what was recorded, with its plan and without."""
    conversation = CONVERSATIONS[api](model, prompt)
    sdk = load_sdk()

    def work(this: AgentRun) -> None:
        with this, sdk.OpenAI(**client) as asked:
            this.set_output(run_agent(asked, conversation, dispatch, tools_of(Shop())))

    async def work_async(this: AgentRun) -> None:
        async with this, sdk.AsyncOpenAI(**client) as asked:
            tools = tools_of(AsyncShop())
            this.set_output(await run_agent_async(asked, conversation, dispatch, tools))

    this = begin_run(case, name="refund-desk")
    if mode == "async":
        asyncio.run(work_async(this))
    else:
        work(this)
    evidence = this.evidence()
    return Recorded(
        scenario=name,
        api=api,
        mode=mode,
        case=case,
        records=this.records(),
        evidence=evidence,
        with_plan=this.verdict,
        without_plan=score(None, evidence),
    )


@contextmanager
def _hook(is_hooked: bool) -> Iterator[None]:
    """Take the hook out for a while, where a scenario is about its absence."""
    if is_hooked:
        yield
        return
    uninstrument(LIBRARY)
    try:
        yield
    finally:
        instrument(LIBRARY)


def _loopback_client(mode: str) -> Any:
    """The SDK's own HTTP client, without certificates.

    The loopback speaks no TLS, and loading the system's certificates would take longer than a run.
    """
    trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    sdk = load_sdk()
    made = sdk.DefaultAsyncHttpxClient if mode == "async" else sdk.DefaultHttpxClient
    return made(verify=trusts_nobody)


def load_sdk() -> Any:
    """The openai SDK.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(LIBRARY)
    except ImportError as error:
        raise MissingExtraError(extra=LIBRARY) from error
