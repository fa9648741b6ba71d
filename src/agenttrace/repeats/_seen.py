"""What one run did in one call, in a form that the calls of other runs are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agenttrace.domain import (
    BOUNDARIES,
    MISSING,
    Boundary,
    Chain,
    Evidence,
    Execution,
    JsonValue,
    Missing,
    ToolCall,
    Verdict,
    is_agents_own,
)
from agenttrace.records import canonical, escape

TIMES: Final = "times"
OUTCOME: Final = "outcome"
RESULT: Final = "result"
MOST_LEAVES: Final = 500
"""Places of one call that are compared one by one; a larger call is compared as a whole."""
_KEY_ID: Final = re.compile(r"\[(?:masked:[^:\]]*|digest:[^:\]]*:[^:\]]*):([0-9a-f]{8}):")


@dataclass(frozen=True, slots=True)
class Value:
    """One value, equal to another where the texts are."""

    text: str
    shown: JsonValue | Missing
    key_ids: frozenset[str]
    """Keys that masked parts of it were made with: equal values have equal masks only under one."""


ABSENT: Final = Value("", MISSING, frozenset())
"""Nothing stands there; no JSON text is empty."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One call of one run."""

    name: str
    places: Mapping[Boundary, Mapping[str, Value]]
    """Boundary to what was seen there: pointers into the arguments, and `times`, `outcome` and
    `result` of the call. Boundaries at which the tool was not observed are left out."""

    @property
    def key(self) -> str:
        """Equal for two calls whose arguments are equal at their first boundary."""
        first = next(iter(self.places.values()), {})
        return "\0".join(f"{place}\0{value.text}" for place, value in first.items())


def calls_of(verdict: Verdict, evidence: Evidence) -> list[Seen]:
    """The agent's own calls of a run, in the order of the verdict's chains."""
    records = {c.ref: c for b in BOUNDARIES for c in evidence.at(b) if is_agents_own(c)}
    found = [_seen(chain, records, evidence) for chain in verdict.chains]
    return [one for one in found if one is not None]


def _seen(chain: Chain, records: Mapping[str, ToolCall], evidence: Evidence) -> Seen | None:
    places: dict[Boundary, dict[str, Value]] = {}
    name = chain.name
    is_own = False
    for boundary in BOUNDARIES:
        if not evidence.sees(boundary, chain.name):
            continue
        here = [records[ref] for ref in chain.records.get(boundary, ()) if ref in records]
        is_own = is_own or bool(here)
        places[boundary] = dict(sorted(_places(boundary, here)))
        if here:
            name = here[0].name
    return Seen(name, places) if is_own else None


def _places(boundary: Boundary, calls: Sequence[ToolCall]) -> Iterator[tuple[str, Value]]:
    times = len(calls)
    if boundary is Boundary.EXECUTOR:
        times = sum(call.count for call in calls if isinstance(call, Execution))
    yield TIMES, _value(times)
    if not calls:
        return
    call = calls[0]
    if boundary is not Boundary.MODEL:
        yield OUTCOME, _value("ok" if call.error is None else call.error_type or "error")
    if isinstance(call, Execution) and call.result_observed and call.error is None and call.count:
        yield RESULT, _value(call.result)
    if call.arguments is None:
        yield "", _value(call.raw)
        return
    leaves = dict(_leaves(call.arguments))
    yield from leaves.items() if len(leaves) <= MOST_LEAVES else [("", _value(call.arguments))]


def _leaves(arguments: JsonValue) -> Iterator[tuple[str, Value]]:
    """Every scalar, and every empty list or object, by its pointer."""
    waiting: list[tuple[str, JsonValue]] = [("", arguments)]
    count = 0
    while waiting and count <= MOST_LEAVES:
        pointer, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += ((f"{pointer}/{escape(key)}", item) for key, item in value.items())
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            waiting += ((f"{pointer}/{index}", item) for index, item in enumerate(value))
        elif pointer:
            count += 1
            yield pointer, _value(value)


def _value(value: JsonValue) -> Value:
    try:
        text = canonical(value)
    except (TypeError, ValueError):
        # No JSON, so a word stands for it; each float that is no number has one of its own.
        text = f"<{value if isinstance(value, float) else type(value).__name__}>"
        return Value(text, text, frozenset())
    return Value(text, value, frozenset(_KEY_ID.findall(text)) if "[" in text else frozenset())
