"""Small builders of records, evidence and cases; a test states only what it is about.

Those of evidence are `agenttrace.testing`'s, about one refund where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace import testing
from agenttrace.domain import (
    ArgumentRule,
    Case,
    Contract,
    Evidence,
    Execution,
    JsonObject,
    JsonValue,
    RequiredCall,
    RuleKind,
    ToolCall,
    ToolContract,
    Verdict,
)

evidence = testing.evidence
ARGS: JsonObject = {"order": "A-104", "cents": 9800}


def model_call(name: str = "refund", args: JsonObject | None = None, **fields: Any) -> ToolCall:
    """A call in a provider's response; `raw` text wins over `args`."""
    return testing.model_call(name, ARGS if args is None else args, **fields)


def adapter_call(
    name: str = "refund", args: JsonObject | None = None, *, error: str | None = None, **fields: Any
) -> ToolCall:
    """A call that the framework handed on, or refused with an error."""
    taken = ARGS if args is None and error is None else args
    return testing.adapter_call(name, taken, error=error, **fields)


def execution(
    name: str = "refund", args: JsonObject | None = None, *, result: JsonValue = "ok", **fields: Any
) -> Execution:
    """A run of the tool's function."""
    return testing.execution(name, ARGS if args is None else args, result=result, **fields)


def clean_run(*calls: tuple[str, JsonObject], **parts: Any) -> Evidence:
    """Calls that all three boundaries saw alike, one a turn, with the ids c0, c1 and so on."""
    return testing.clean_run(*(calls or (("refund", ARGS),)), **parts)


def due(
    name: str = "refund",
    args: JsonObject | None = None,
    rules: Mapping[str, ArgumentRule] | None = None,
) -> RequiredCall:
    """A call that the plan requires."""
    return RequiredCall(name=name, arguments=ARGS if args is None else args, rules=rules or {})


def case(*required: RequiredCall, **fields: Any) -> Case:
    """A case with a plan; without calls, the plan is to call nothing."""
    return Case(case_id="case-1", required=required, **fields)


def no_plan(**fields: Any) -> Case:
    """A case that asks nothing of the calls."""
    return Case(case_id="case-1", required=None, **fields)


def contract(tool: str = "refund", **fields: Any) -> Contract:
    """A contract that declares something of one tool."""
    return Contract(tools={tool: ToolContract(**fields)})


def rule(kind: RuleKind | str, operand: JsonValue = None, normalizer: str | None = None) -> Any:
    """An argument rule."""
    return ArgumentRule(kind=RuleKind(kind), operand=operand, normalizer=normalizer)


def said(verdict: Verdict) -> tuple[str, str, str]:
    """Status, first divergence and owner."""
    return verdict.status.value, verdict.first.value, verdict.owner.value


def places(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """Boundary, kind, path and call of every divergence."""
    return [(d.boundary.value, d.kind.value, d.path, d.call) for d in verdict.divergences]
