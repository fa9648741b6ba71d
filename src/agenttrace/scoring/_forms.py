"""A call reduced to what is compared: its name, and its arguments or the text that is none."""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Evidence,
    Execution,
    JsonObject,
    JsonValue,
    ToolCall,
)
from agenttrace.records import canonical

if TYPE_CHECKING:
    from typing import Any


class CallForm:
    """Name and arguments of one call; `args` None means that the text is no JSON object."""

    __slots__ = ("_key", "args", "name", "raw")

    def __init__(self, name: str, args: JsonObject | None, raw: str | None = None) -> None:
        self.name = name
        self.args = args
        self.raw = raw
        self._key: str | None = None

    @property
    def key(self) -> str:
        """Canonical text: equal for equal calls, and for no others."""
        if self._key is None:
            body: Any = self.raw if self.args is None else self.args
            self._key = canonical([self.name, self.args is None, body])
        return self._key

    def shown(self) -> JsonValue:
        """The call as a verdict lists it."""
        if self.args is None:
            return {"name": self.name, "args_raw": self.raw}
        return {"name": self.name, "args": self.args}

    def with_args(self, args: JsonObject) -> CallForm:
        """The same call with other arguments."""
        return CallForm(self.name, args, self.raw)


def form_of(call: ToolCall) -> CallForm:
    """What a record is compared by."""
    return CallForm(call.name, call.arguments, call.raw)


def in_causal_order(evidence: Evidence, boundary: Boundary) -> list[tuple[int, ToolCall]]:
    """Records of one boundary with their index: the model's by turn, then all by sequence.

    Among records of which some have no sequence number, the order of the list stands.
    """
    records = list(enumerate(evidence.at(boundary)))
    numbered = all(call.seq is not None for _, call in records)

    def place(pair: tuple[int, ToolCall]) -> tuple[int, int, int]:
        index, call = pair
        turn = (call.turn or 0) if boundary is Boundary.MODEL else 0
        late = call.seq if numbered or boundary is Boundary.EXECUTOR else None
        return turn, index if late is None else late, index

    records.sort(key=place)
    return records


def handed_on(call: ToolCall) -> bool:
    """Whether an adapter's record handed a call on."""
    return call.error is None and call.arguments is not None


def is_silent(call: ToolCall) -> bool:
    """Whether a call was handed on, or its tool entered, and nobody recorded with what."""
    if call.boundary is Boundary.MODEL or call.arguments is not None:
        return False
    return call.count > 0 if isinstance(call, Execution) else call.error is None


def pick(args: JsonObject, skip: frozenset[str]) -> JsonObject:
    """Arguments without those left out of every comparison."""
    if not skip or skip.isdisjoint(args):
        return args
    return {key: value for key, value in args.items() if key not in skip}


def captured(evidence: Evidence) -> tuple[Boundary, ...]:
    """Boundaries at which anything could have been seen."""
    return tuple(boundary for boundary in BOUNDARIES if evidence.is_observed(boundary))
