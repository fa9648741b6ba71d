"""Every fault of the run itself, by kind and boundary.

Nothing here knows the scorer: what is due is told by the rules that the scorer is held to.
"""

from __future__ import annotations

from typing import Any

from bench._localise_arguments import EDITS, value_fault
from bench._localise_calls import (
    call_added_by_adapter,
    call_added_by_model,
    call_dropped_by_adapter,
    call_dropped_by_model,
    call_repeated_by_model,
    handed_on_twice,
    mutated,
    name_changed,
    no_object,
    not_executed,
    rejected_at_entry,
    rejected_by_adapter,
    repaired,
    run_against_decision,
    run_beside,
    run_twice,
    run_unasked,
)
from bench._localise_due import BOUNDARIES, Fault
from bench._localise_results import (
    default_applied,
    error_hidden,
    plant_schema,
    result_changed,
    result_rendered,
    result_swapped,
    text_respelled,
)
from bench._localise_values import VALUE_KINDS


def _whole(kind: str, boundary: str, inject: Any, way: str = "call", **fields: Any) -> Fault:
    return Fault(kind=kind, boundary=boundary, inject=inject, way=way, **fields)


FAULTS: tuple[Fault, ...] = (
    *(value_fault(k, b) for k in (*VALUE_KINDS, *EDITS) for b in BOUNDARIES),
    *(_whole("name_changed", b, name_changed(b)) for b in BOUNDARIES),
    _whole("malformed", "model", no_object("malformed")),
    _whole("truncated", "model", no_object("truncated")),
    _whole("repaired", "adapter", repaired),
    _whole("rejected", "adapter", rejected_by_adapter),
    _whole("rejected", "executor", rejected_at_entry),
    _whole("not_executed", "executor", not_executed),
    _whole("dropped", "model", call_dropped_by_model),
    _whole("dropped", "adapter", call_dropped_by_adapter),
    _whole("added", "model", call_added_by_model),
    _whole("added", "adapter", call_added_by_adapter),
    _whole("not_requested", "executor", run_unasked),
    _whole("not_requested", "executor", run_beside, "beside"),
    _whole("not_requested", "executor", run_against_decision, "decided", pairs=False),
    _whole("duplicated", "model", call_repeated_by_model),
    _whole("duplicated", "adapter", handed_on_twice),
    _whole("duplicated", "executor", run_twice),
    _whole("mutated", "executor", mutated),
    _whole("result_changed", "executor", result_changed),
    _whole("result_swapped", "executor", result_swapped),
    _whole("error_hidden", "executor", error_hidden),
    _whole("default_applied", "adapter", default_applied, plant=plant_schema, is_benign=True),
    _whole("text_respelled", "model", text_respelled, is_benign=True),
    _whole("result_rendered", "executor", result_rendered, is_benign=True),
)
