"""What is put on record of a run that is no call: approvals, edits, the output, the end state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace import semconv
from agenttrace.capture._guard import count, guard, lost, warn_once
from agenttrace.capture._run_state import RunState
from agenttrace.capture._snapshot import snapshot
from agenttrace.capture._source import source
from agenttrace.records import (
    EVENT_NAMES,
    EVENT_SHAPES,
    NO_CONTENT,
    Event,
    RecordKind,
    ShapeError,
    from_plain,
)

_LOCAL = frozenset({"output"})
"""Events whose content is the text of a message, which stays in local evidence."""


def record_event(run: RunState, name: str, data: Mapping[str, Any]) -> None:
    """Record one event of a run.

    One of an unknown name is recorded and takes no part in judging. One that lacks what its name
    asks for is left out and counted: the run's evidence is not whole. Both are logged once.
    """
    with guard("recording an event", run):
        plain = snapshot(dict(data))
        if name not in EVENT_NAMES:
            count(f"event:{name}")
            warn_once(
                f"event:{name}",
                f"agenttrace knows no event {name!r:.60}. It is recorded, and no verdict will "
                "mind it. The reference page on events has the names.",
            )
        elif (problem := _problem(name, plain)) is not None:
            lost(f"event:{name}", run)
            warn_once(
                f"event:{name}",
                f"agenttrace did not record the event {name!r:.60}: "
                f"{run.mask.mask_text(problem)}. The run goes on and "
                "its evidence is not whole. The reference page on events has the fields.",
            )
            return
        run.in_order()
        if not isinstance(plain, dict):
            return
        masked = run.mask.mask_fields(plain, NO_CONTENT.get(name, frozenset()))
        now = source().now_ns()
        span = run.start_span(f"{semconv.SPAN_EVENT} {name}", start_ns=now)
        is_local = name in _LOCAL
        payload = Event(
            name=name, data={} if is_local else masked, local=masked if is_local else {}
        )
        run.commit(RecordKind.EVENT, span, payload, end_ns=span.start_ns)


def _problem(name: str, plain: Any) -> str | None:
    shape = EVENT_SHAPES.get(name)
    if shape is None:
        return None if set(plain) == {"value"} else "its data is not value=..."
    try:
        from_plain(shape, plain)
    except ShapeError as error:
        return str(error)
    return None
