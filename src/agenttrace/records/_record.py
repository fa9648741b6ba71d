"""One record: a domain object with where, by whom and for which run it was made.

Every record is one span and one JSON line. A run's own record is made at its end and carries the
manifest, because only then is it known what was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from agenttrace._dataclass import dataclass, field
from agenttrace.domain import (
    Boundary,
    Execution,
    JsonObject,
    JsonValue,
    Manifest,
    Masking,
    Response,
    Run,
    ToolCall,
    ToolContract,
)


class RecordKind(StrEnum):
    """What a record tells of."""

    RUN = "run"
    RESPONSE = "response"
    CALL = "call"
    ADAPT = "adapt"
    EXECUTION = "execution"
    EVENT = "event"
    SCHEMA = "schema"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnd:
    """A run as one recorder saw it, at its end."""

    manifest: Manifest
    masking: Masking | None = None
    contracts: Mapping[str, ToolContract] = field(default_factory=dict)
    """Of each decorated tool that ran, what was declared beside it."""
    signatures: Mapping[str, JsonObject] = field(default_factory=dict)
    """Of each decorated tool that ran, the types that its signature states, as a JSON Schema."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something on record that is no call: an approval, an edit, the output, the end state."""

    name: str
    data: JsonObject = field(default_factory=dict)
    local: JsonObject = field(default_factory=dict)
    """Content that stays in local evidence: texts of messages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSchema:
    """The JSON Schema of one tool's arguments, as one boundary knew it."""

    tool: str
    schema: JsonObject
    digest: str
    version: str | None = None
    boundary: Boundary | None = None


Payload: TypeAlias = Response | ToolCall | Execution | Event | ToolSchema | RunEnd


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where, by whom and for which run a record was made."""

    kind: RecordKind
    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits."""
    parent_id: str | None = None
    run: Run
    recorder_id: str
    seq: int
    """Number within its recorder and run, from 1 and without gaps."""
    start_ns: int
    end_ns: int

    @property
    def ref(self) -> str:
        """Unique name of the record within its evidence."""
        return f"{self.trace_id}-{self.span_id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Record(Place):
    """A payload with its place and provenance."""

    payload: Payload
    unknown: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields of a later minor version, kept and written back; the payload's under `payload`."""


PAYLOADS: Mapping[RecordKind, type[Payload]] = {
    RecordKind.RUN: RunEnd,
    RecordKind.RESPONSE: Response,
    RecordKind.CALL: ToolCall,
    RecordKind.ADAPT: ToolCall,
    RecordKind.EXECUTION: Execution,
    RecordKind.EVENT: Event,
    RecordKind.SCHEMA: ToolSchema,
}
