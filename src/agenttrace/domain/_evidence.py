"""Everything recorded of one run, and what is known about how whole that is.

Three states are kept apart everywhere: not observed (None, or not in `Observed`), observed and
empty, observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agenttrace._dataclass import dataclass, field
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain._call import Execution, Message, Response, ToolCall
from agenttrace.domain._contract import ToolContract
from agenttrace.domain._json import JsonObject, JsonValue
from agenttrace.domain._words import BOUNDARIES, Boundary, Decision, Phase

if TYPE_CHECKING:
    from typing import Final

EMPTY: Final[Mapping[str, JsonValue]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """Which tools one boundary could see."""

    everything: bool = False
    """Any call of any tool would have been seen."""

    tools: frozenset[str] = frozenset()
    """Tools that would have been seen, where not everything would."""

    def sees(self, tool: str) -> bool:
        """Whether a call of this tool would have left a record here."""
        return self.everything or tool in self.tools

    def __bool__(self) -> bool:
        return self.everything or bool(self.tools)


ALL: Final = Observed(everything=True)
NOTHING: Final = Observed()


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One execution of an agent for one case, or for none."""

    run_id: str
    case_id: str | None = None
    case_revision: str | None = None
    attempt: int = 1
    agent_version: str | None = None
    prompt_version: str | None = None
    implicit: bool = False
    """Nobody opened it: it is the local root trace of calls made outside any run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What one recorder says it did in one run, so that a hole can be told from silence."""

    recorder_id: str
    last_seq: int = 0
    """Highest number given to a record."""
    made: Mapping[str, int] = field(default_factory=dict)
    """Records made at each boundary, by its name; other records by `response`, `event`, `schema`;
    requests by `request`."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """What was lost, refused, or failed to be made, by cause."""
    observes: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    """Boundary name to the tools it sees; None: every tool."""
    open_executions: int = 0
    """Executions that had not ended when this was written."""
    settled: bool = True
    """Whether the run had ended."""
    revision: int = 1
    """Grows when late ends make the run settle again."""
    requests: tuple[str, ...] | None = None
    """Ids of the requests that were made for the run. None: not known, or too many to list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCall:
    """A call that stands in the raw messages or the raw export."""

    boundary: Boundary
    call_id: str | int | None
    name: str
    arguments: JsonObject | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class UnusableRecord:
    """A record that came and could not be read."""

    boundary: Boundary
    reason: str
    call_id: str | int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DuplicateRecord:
    """One event that was recorded twice."""

    boundary: Boundary
    recorders: tuple[str, ...] = ()
    response_ids: tuple[str, ...] = ()
    overlap: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusReport:
    """What a record says of an outcome, beside what is known of it from elsewhere."""

    recorded: str
    actual: str
    call_id: str | int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Completeness:
    """How whole the evidence is. None: nobody counted."""

    responses_recorded: int | None = None
    requests_made: int | None = None
    dropped: int | None = None
    sampled_out: int | None = None
    settled: bool | None = None
    made: Mapping[Boundary, int] | None = None
    """Records that the recorders say they made at each boundary."""
    last_seq: int | None = None
    missing_seqs: tuple[int, ...] = ()
    late: tuple[str, ...] = ()
    """Calls that arrived after the row was first judged."""
    orphans: tuple[SourceCall, ...] = ()
    """Records that belong to no chain of the run by the trace's own structure."""
    truncated: tuple[str, ...] = ()
    """Calls of which a recorder or a limit cut the recorded text."""
    duplicates: tuple[DuplicateRecord, ...] = ()
    source_calls: tuple[SourceCall, ...] = ()
    unusable: tuple[UnusableRecord, ...] = ()
    statuses: tuple[StatusReport, ...] = ()
    lost: Mapping[str, int] = field(default_factory=dict)
    """What the recorders say they lost, by cause."""
    conflicts: tuple[str, ...] = ()
    """References under which unequal records came."""
    unfinished: tuple[str, ...] = ()
    """Executions that had not ended when the run did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """Whether the records belong to the case and the run they are judged for."""

    case_id_in_trace: str | None = None
    case_id_observed: bool = False
    """True: the trace was looked at for a case id, so that None means that it carries none."""
    requests_of_case: tuple[str, ...] | None = None
    """Request ids generated for this case. None: not known."""
    foreign_requests: tuple[str, ...] = ()
    """Request ids of the records that are not among those."""
    scored_case_id: str | None = None
    link_case_id: str | None = None
    reference_chosen_by: str | None = None
    """How the reference was picked: `id`, `fallback` or `position`."""
    response_first_seen_with: str | None = None
    """Request for which a reused response was first returned."""
    clock_offset_ms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Masking:
    """How the values of the records were masked."""

    method: str
    boundaries: tuple[Boundary, ...] = ()
    reference: bool = False
    """Whether the case's values are masked the same way."""
    bits: int | None = None
    key_id: str | None = None
    digests: bool = False
    """A digest stands in the place of every value; none was kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Integrity:
    """Digests of unmasked values, and who masked."""

    digests: Mapping[str, str] = field(default_factory=dict)
    """`raw_response`, `adapter`, `entry`, `recorded_model`, `recorded_executor`,
    `value_expected`, `value_observed`."""
    masking: Masking | None = None
    masked_by: str | None = None
    """`recorder` or `framework`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """A recorded decision about one call."""

    call: str | int
    decision: Decision
    arguments: JsonObject | None = None
    by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HumanEdit:
    """A declared change of one call, made by a person."""

    call_id: str | int
    path: str
    before: JsonValue
    after: JsonValue
    by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Guardrail:
    """What a guardrail did about the run or one call of it."""

    blocked: bool
    call: str | int | None = None
    tripped_at_ms: int | None = None
    tool_started_at_ms: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunAttempt:
    """One start of the whole run, where it was restarted."""

    number: int
    ended: str | None = None
    history_has_first_result: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultShown:
    """A result as the model was given it."""

    shown: JsonValue
    call_id: str | int | None = None
    turn: int | None = None
    """Turn whose call it answers."""
    position: int | None = None
    """Place of that call within its turn, from 0."""
    returned: JsonValue = None
    """What the tool returned, where that is known apart from the execution's record."""
    returned_observed: bool = False
    is_error: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeTypes:
    """Types that JSON cannot show."""

    call_id: str | int
    declared: Mapping[str, str]
    """Pointer to type name."""
    received: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class AssertedValue:
    """A value that the case's own written assertions state."""

    tool: str
    path: str
    value: JsonValue


@dataclass(frozen=True, kw_only=True, slots=True)
class Conduct:
    """What was decided and done around the calls."""

    approvals: tuple[Approval, ...] = ()
    human_edits: tuple[HumanEdit, ...] = ()
    guardrail: Guardrail | None = None
    cache_hits: tuple[str | int, ...] = ()
    """Calls answered without a run."""
    attempts: tuple[RunAttempt, ...] = ()
    results_shown: tuple[ResultShown, ...] = ()
    answers_in_history: tuple[str | int, ...] = ()
    """Calls whose answer stands in a later request's history."""
    idempotency_key: str | None = None
    router_value: JsonValue = None
    stream_fragments: tuple[JsonObject, ...] = ()
    finish_reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Where the run ended. None: not recorded, so what needs it cannot be judged."""

    final_message: str | None = None
    final_state: JsonObject | None = None
    state_matches_intent: bool | None = None
    side_effects: int | None = None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """What the tools of the run were known to be."""

    offered: tuple[str, ...] | None = None
    withheld: tuple[str, ...] = ()
    schemas: Mapping[str, JsonObject] = field(default_factory=dict)
    """Tool to the JSON Schema of its arguments, as it was offered to the model."""
    contracts: Mapping[str, ToolContract] = field(default_factory=dict)
    """Tool to what its owner declared beside the code."""
    signatures: Mapping[str, JsonObject] = field(default_factory=dict)
    """Tool to the types that its function's signature states, as a JSON Schema; Python does not
    hold anybody to them."""
    versions: Mapping[str, JsonValue] = field(default_factory=dict)
    """`reference`, `model`, `adapter`, `executor` to the schema version each used."""
    runtime_types: RuntimeTypes | None = None
    asserted: tuple[AssertedValue, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything recorded of one run, by all its recorders, in the order it was made."""

    run: Run
    observed: Mapping[Boundary, Observed]
    responses: tuple[Response, ...] | None = None
    """None: the source does not keep responses apart from calls."""
    model: tuple[ToolCall, ...] = ()
    adapter: tuple[ToolCall, ...] = ()
    executor: tuple[Execution, ...] = ()
    completeness: Completeness = Completeness()
    ownership: Ownership = Ownership()
    integrity: Integrity = Integrity()
    conduct: Conduct = Conduct()
    outcome: Outcome = Outcome()
    tools: Tools = Tools()
    digest: str | None = None
    """Digest over the canonical records. None: the evidence was not made from records."""

    def at(self, boundary: Boundary) -> tuple[ToolCall, ...]:
        """The records of one boundary."""
        if boundary is Boundary.MODEL:
            return self.model
        return self.adapter if boundary is Boundary.ADAPTER else self.executor

    def is_observed(self, boundary: Boundary) -> bool:
        """Whether anything could have been seen there."""
        return bool(self.observed.get(boundary, NOTHING))

    def sees(self, boundary: Boundary, tool: str) -> bool:
        """Whether a call of this tool would have left a record there."""
        return self.observed.get(boundary, NOTHING).sees(tool)

    @property
    def first_observed(self) -> Boundary | None:
        """The earliest boundary at which anything could have been seen."""
        return next((b for b in BOUNDARIES if self.is_observed(b)), None)


def is_agents_own(call: ToolCall) -> bool:
    """Whether a record is part of the agent's own work: not set-up, evaluation or nested."""
    return call.phase is Phase.RUN and call.parent is None
