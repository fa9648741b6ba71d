"""Small builders of records, evidence and cases; a test states only what it is about.

Records get their `ref` from their place: `model/0` is the first at the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenttrace.domain import (
    ALL,
    NOTHING,
    ArgumentRule,
    Boundary,
    Case,
    Contract,
    Evidence,
    Execution,
    JsonObject,
    JsonValue,
    RequiredCall,
    RuleKind,
    Run,
    ToolCall,
    ToolContract,
    Verdict,
)
from agenttrace.records import dump_json, parse_arguments

ARGS: JsonObject = {"order": "A-104", "cents": 9800}


def model_call(
    name: str = "refund",
    args: JsonObject | None = None,
    *,
    raw: str | None = None,
    turn: int = 1,
    **fields: Any,
) -> ToolCall:
    """A call in a provider's response; `raw` text wins over `args`."""
    text = dump_json(ARGS if args is None else args) if raw is None else raw
    given = {
        "ref": "",
        "call_id": "c1",
        "response_id": f"resp-{turn}",
        "request_id": f"req-{turn}",
        **fields,
    }
    return ToolCall(
        boundary=Boundary.MODEL,
        name=name,
        arguments=parse_arguments(text).value,
        raw=text,
        turn=turn,
        **given,
    )


def adapter_call(
    name: str = "refund", args: JsonObject | None = None, *, error: str | None = None, **fields: Any
) -> ToolCall:
    """A call that the framework handed on, or refused with an error."""
    taken = ARGS if args is None and error is None else args
    given = {"ref": "", "call_id": "c1", **fields}
    return ToolCall(boundary=Boundary.ADAPTER, name=name, arguments=taken, error=error, **given)


def execution(
    name: str = "refund", args: JsonObject | None = None, *, result: JsonValue = "ok", **fields: Any
) -> Execution:
    """A run of the tool's function."""
    given = {"ref": "", "call_id": "c1", **fields}
    return Execution(
        boundary=Boundary.EXECUTOR,
        name=name,
        arguments=ARGS if args is None else args,
        result=result,
        **given,
    )


def evidence(
    model: Sequence[ToolCall] | None = (),
    adapter: Sequence[ToolCall] | None = (),
    executor: Sequence[Execution] | None = (),
    **parts: Any,
) -> Evidence:
    """What three boundaries saw; None: that boundary was not recorded."""
    given = {Boundary.MODEL: model, Boundary.ADAPTER: adapter, Boundary.EXECUTOR: executor}
    records = {
        boundary: tuple(
            replace(call, ref=call.ref or f"{boundary}/{n}") for n, call in enumerate(calls or ())
        )
        for boundary, calls in given.items()
    }
    return Evidence(
        run=Run(run_id="run-1"),
        observed={b: NOTHING if calls is None else ALL for b, calls in given.items()},
        model=records[Boundary.MODEL],
        adapter=records[Boundary.ADAPTER],
        executor=tuple(c for c in records[Boundary.EXECUTOR] if isinstance(c, Execution)),
        **parts,
    )


def clean_run(*calls: tuple[str, JsonObject], **parts: Any) -> Evidence:
    """Calls that all three boundaries saw alike, one a turn, with the ids c0, c1 and so on."""
    made = list(enumerate(calls or (("refund", ARGS),)))
    return evidence(
        [model_call(n, a, call_id=f"c{i}", turn=i + 1) for i, (n, a) in made],
        [adapter_call(n, a, call_id=f"c{i}") for i, (n, a) in made],
        [execution(n, a, call_id=f"c{i}") for i, (n, a) in made],
        **parts,
    )


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
