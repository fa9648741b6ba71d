"""What `@trace` costs its caller, beside a hand-written span and beside other tracers' decorators.

Figures are ratios of CPU time on the calling thread: many short turns of each, taken in turn within
one process, and the median over the rounds. What is left for the thread of ours is reported apart,
as is what a caller pays where nobody gives it time. Each part runs in a process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from bench._calls import BY_HAND
from bench._peer import PEERS
from bench.figures import Figure, in_own_process

BOUND = 1.4
ROUNDS = "80"
PEER_ROUNDS, PEER_REPEATS = "60", "60"


def measure() -> Iterator[Figure]:
    """CPU of a decorated call, sync and async, by how spans go out; large arguments; memory."""
    quick = bool(os.environ.get("BENCH_QUICK"))
    rounds = "20" if quick else ROUNDS
    for part, name, bound in (
        ("private", "overhead", BOUND),
        ("exporting", "overhead.exporting", BOUND),
        ("users", "overhead.own_provider", None),
        ("unsampled", "overhead.unsampled", 0.5),
        ("unsampled_span", "overhead.unsampled_span", None),
        ("off", "overhead.off", 0.05),
        ("switched_off", "overhead.switched_off", 0.05),
    ):
        environ = {"AGENTTRACE_ENABLED": "0"} if part == "switched_off" else {}
        found = in_own_process("_overhead_part", part, rounds, **environ)
        for kind in ("sync", "async"):
            yield _ratio(f"{name}.{kind}", found[kind], bound)
            if part in ("private", "exporting", "users"):
                yield _ratio(f"{name}.{kind}.moved", found[f"{kind}.moved"], None)
    yield from _sustained("4" if quick else "6")
    yield from _peers(PEER_ROUNDS if not quick else "15")
    for name, value in in_own_process("_overhead_part", "large").items():
        yield Figure(
            name=f"overhead.large.{name}",
            value=value,
            unit="ms",
            bound={"string_1mb": 10.0, "json_dumps": None}.get(name, 60.0),
            against="nothing: the caller's CPU for one call, the least of 15, each of a new value",
        )
    yield Figure(
        name="overhead.growth",
        value=in_own_process("_overhead_part", "growth")["mb"],
        unit="MB",
        bound=5.0,
        against="resident memory before 100,000 calls of one run, and after 30,000 that warm up",
    )


def _ratio(name: str, value: float, bound: float | None, against: str = BY_HAND) -> Figure:
    return Figure(name=name, value=value, unit="ratio", bound=bound, against=against)


def _sustained(rounds: str) -> Iterator[Figure]:
    found = in_own_process("_overhead_part", "sustained", rounds)
    without_pause = "30,000 such spans without a pause; callers help where the thread falls behind"
    yield _ratio("overhead.sustained", found["sync"], None, without_pause)
    yield _ratio("overhead.sustained.wall", found["sync.wall"], None, without_pause)


def _peers(rounds: str) -> Iterator[Figure]:
    for peer in PEERS:
        found = in_own_process("_peer", peer, rounds, PEER_REPEATS)
        for kind in ("sync", "async"):
            yield _ratio(f"overhead.peer.{peer}.{kind}", found[f"{kind}.peer"], None)
            yield _ratio(f"overhead.ours_beside.{peer}.{kind}", found[f"{kind}.ours"], BOUND)
            yield _ratio(
                f"overhead.below.{peer}.{kind}",
                found[f"{kind}.below"],
                1.0,
                f"the decorator of {peer} in the same rounds, with an exporter that drops",
            )
