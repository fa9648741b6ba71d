"""What the openai hook adds to a stream: until the first token, and to each event after it.

The noise is measured in the same rounds: it is the spread between the quartiles of the streams that
ran without the hook, so a busy machine widens the bound and the difference alike.
"""

from __future__ import annotations

import gc
import ssl
import statistics
import time
from collections.abc import Iterator
from typing import Any

import openai

import agenttrace
from agenttrace.demo import ScriptedCall, ScriptedProvider, Turn
from agenttrace.integrations import instrument, uninstrument
from agenttrace.testing import isolated
from bench.figures import Figure

ROUNDS = 40
DELAY_S = 0.02
"""Before each event, as a model takes its time."""
TEXT = "One moment, I shall look it up."
LONG = "x" * 8 * 500
MESSAGES: Any = [{"role": "user", "content": "Refund order A-104"}]


def measure() -> Iterator[Figure]:
    """Milliseconds to the first token, and CPU of each event, with the hook and without."""
    slow = Turn(text=TEXT, calls=(ScriptedCall(name="pay"),), delay_s=DELAY_S)
    with isolated(), ScriptedProvider(lambda _: slow) as provider:
        times = _in_turns(provider, _first_token_ms, ROUNDS)
    noise = _spread(times[False])
    yield Figure(
        name="first_token.added",
        value=statistics.median(times[True]) - statistics.median(times[False]),
        unit="ms",
        bound=noise,
        against=f"the noise of {ROUNDS} streams without the hook; they take "
        f"{statistics.median(times[False]):.2f} ms",
    )
    fast = Turn(text=LONG, calls=(ScriptedCall(name="pay", arguments=f'{{"note":"{LONG}"}}'),))
    with isolated(), ScriptedProvider(lambda _: fast) as provider:
        costs = _in_turns(provider, _event_us, 12)
    bare = statistics.median(costs[False])
    yield Figure(
        name="first_token.event_cpu_added",
        value=statistics.median(costs[True]) - bare,
        unit="us",
        bound=None,
        against=f"an event without the hook, which costs {bare:.0f} us; text and arguments",
    )
    yield Figure(
        name="first_token.event_cpu",
        value=statistics.median(
            own / base for own, base in zip(costs[True], costs[False], strict=True)
        ),
        unit="ratio",
        bound=None,
        against="the same stream without the hook",
    )


def _in_turns(provider: ScriptedProvider, work: Any, rounds: int) -> dict[bool, list[float]]:
    """The work with the hook and without, one after the other in each round."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds + 2):
        for is_hooked in (True, False) if number % 2 else (False, True):
            instrument("openai") if is_hooked else uninstrument("openai")
            trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            with openai.OpenAI(
                base_url=provider.base_url,
                api_key="none",
                max_retries=0,
                http_client=openai.DefaultHttpxClient(verify=trusts_nobody),
            ) as client:
                client.chat.completions.create(model="m", messages=MESSAGES)  # it is connected
                gc.collect()
                value = work(client)
            if number > 1:
                found[is_hooked].append(value)
    uninstrument("openai")
    return found


def _first_token_ms(client: openai.OpenAI) -> float:
    with agenttrace.run():
        began = time.perf_counter()
        first = 0.0
        for chunk in client.chat.completions.create(model="m", messages=MESSAGES, stream=True):
            if not first and chunk.choices and chunk.choices[0].delta.content:
                first = time.perf_counter()
        return (first - began) * 1000


def _event_us(client: openai.OpenAI) -> float:
    with agenttrace.run():
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        began = time.thread_time()
        count = sum(1 for _ in stream)
        return (time.thread_time() - began) / count * 1e6


def _spread(values: list[float]) -> float:
    low, _, high = statistics.quantiles(values, n=4)
    return high - low
