"""What the events of a run say, as the fields of Evidence.

`run.event(name, ...)` takes one of the names below; its data has the fields of the domain type of
that name. An unknown name is kept in the records and takes no part in judging.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agenttrace._dataclass import dataclass
from agenttrace.domain import (
    Approval,
    AssertedValue,
    Conduct,
    Guardrail,
    HumanEdit,
    Outcome,
    Ownership,
    ResultShown,
    RunAttempt,
    RuntimeTypes,
    StatusReport,
    Tools,
)
from agenttrace.records._record import Event
from agenttrace.records._shape import from_plain

OUTPUT: Final = "output"
STATE: Final = "state"
RESULT_SHOWN: Final = "result_shown"

EVENT_SHAPES: Final[Mapping[str, type[Any]]] = {
    "approval": Approval,
    "human_edit": HumanEdit,
    "guardrail": Guardrail,
    "attempt": RunAttempt,
    RESULT_SHOWN: ResultShown,
    "runtime_types": RuntimeTypes,
    "asserted_value": AssertedValue,
    "status": StatusReport,
}
"""Events whose data has the fields of a domain type."""

SINGLE_VALUES: Final = (
    OUTPUT,
    STATE,
    "cache_hit",
    "router_value",
    "idempotency_key",
    "side_effects",
    "state_matches_intent",
    "tools_withheld",
    "response_first_seen_with",
    "schema_versions",
)
"""Events whose data is `{"value": …}`."""

NO_CONTENT: Final[Mapping[str, frozenset[str]]] = {
    "approval": frozenset({"call", "decision"}),
    "human_edit": frozenset({"call_id", "path"}),
    "guardrail": frozenset({"blocked", "call", "tripped_at_ms", "tool_started_at_ms"}),
    "attempt": frozenset({"number", "ended", "history_has_first_result"}),
    RESULT_SHOWN: frozenset({"call_id", "turn", "position", "returned_observed", "is_error"}),
    "runtime_types": frozenset({"call_id", "declared", "received"}),
    "asserted_value": frozenset({"tool", "path"}),
    "status": frozenset({"call_id"}),
    **dict.fromkeys(
        (
            "cache_hit",
            "side_effects",
            "state_matches_intent",
            "tools_withheld",
            "response_first_seen_with",
            "schema_versions",
        ),
        frozenset({"value"}),
    ),
}
"""Fields of events that say which call is meant, or what was decided, and hold no content."""

EVENT_NAMES: Final = (*EVENT_SHAPES, *SINGLE_VALUES)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What all events of a run say together."""

    conduct: Conduct
    outcome: Outcome
    ownership: Ownership
    tools: Tools
    statuses: tuple[StatusReport, ...]


def read_events(events: Sequence[Event]) -> Told:
    """Sort events into the fields of Evidence; of a single value the last one counts.

    Raises:
        ShapeError: An event's data lacks a field or has one of the wrong type.
    """
    many: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        if event.name in EVENT_SHAPES:
            shape = EVENT_SHAPES[event.name]
            many[event.name].append(from_plain(shape, event.data, f"event {event.name}"))
        elif event.name in SINGLE_VALUES:
            both = {**event.data, **event.local}
            if "value" in both:
                many[event.name].append(both["value"])

    def last(name: str) -> Any:
        return many[name][-1] if many[name] else None

    return Told(
        conduct=Conduct(
            approvals=tuple(many["approval"]),
            human_edits=tuple(many["human_edit"]),
            guardrail=last("guardrail"),
            cache_hits=tuple(many["cache_hit"]),
            attempts=tuple(many["attempt"]),
            results_shown=tuple(many[RESULT_SHOWN]),
            idempotency_key=last("idempotency_key"),
            router_value=last("router_value"),
        ),
        outcome=Outcome(
            final_message=last(OUTPUT),
            final_state=last(STATE),
            state_matches_intent=last("state_matches_intent"),
            side_effects=last("side_effects"),
        ),
        ownership=Ownership(response_first_seen_with=last("response_first_seen_with")),
        tools=Tools(
            withheld=tuple(last("tools_withheld") or ()),
            versions=last("schema_versions") or {},
            runtime_types=last("runtime_types"),
            asserted=tuple(many["asserted_value"]),
        ),
        statuses=tuple(many["status"]),
    )
