"""A call reduced to what is compared: its name, and its arguments or the text that is none."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

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

    __slots__ = ("_key", "_write", "args", "name", "raw")

    def __init__(
        self,
        name: str,
        args: JsonObject | None,
        raw: str | None = None,
        write: Callable[[JsonValue], str] = canonical,
    ) -> None:
        self.name = name
        self.args = args
        self.raw = raw
        self._write = write
        self._key: str | None = None

    @property
    def key(self) -> str:
        """Canonical text: equal for equal calls, and for no others."""
        if self._key is None:
            body: Any = self.raw if self.args is None else self.args
            self._key = self._write([self.name, 1 if self.args is None else 0, body])
        return self._key

    def shown(self) -> JsonValue:
        """The call as a verdict lists it."""
        if self.args is None:
            return {"name": self.name, "args_raw": self.raw}
        return {"name": self.name, "args": self.args}

    def with_args(self, args: JsonObject, name: str | None = None) -> CallForm:
        """The same call with other arguments, and where it is given with another name."""
        return CallForm(self.name if name is None else name, args, self.raw, self._write)


def form_of(call: ToolCall) -> CallForm:
    """What a record is compared by."""
    return CallForm(call.name, call.arguments, call.raw)


def in_causal_order(evidence: Evidence, boundary: Boundary) -> list[tuple[int, ToolCall]]:
    """Records of one boundary with their index: the model's by turn, then all by sequence.

    Among records of which some have no sequence number, the order of the list stands.
    """
    calls = evidence.at(boundary)
    listed = range(len(calls))
    late: Sequence[int] = listed
    seqs = [call.seq for call in calls]
    if boundary is Boundary.EXECUTOR or None not in seqs:
        late = [n if seq is None else seq for n, seq in zip(listed, seqs, strict=True)]
    if boundary is Boundary.MODEL:
        turns = [call.turn or 0 for call in calls]
        return [(n, calls[n]) for _, _, n in sorted(zip(turns, late, listed, strict=True))]
    return [(n, calls[n]) for _, n in sorted(zip(late, listed, strict=True))]


def id_key(call_id: str | int | None) -> Hashable:
    """A call's id as a key; None where it has none. A number is no text."""
    if call_id is None or call_id.__class__ is str:
        return call_id
    return type(call_id).__name__, call_id


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
