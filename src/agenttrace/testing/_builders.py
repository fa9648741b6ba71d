"""Evidence made by hand, for tests of cases and contracts: no agent runs, no provider is asked.

Each record's `ref` comes from its place: `model/0` is the first at the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agenttrace.domain import (
    ALL,
    NOTHING,
    Boundary,
    Evidence,
    Execution,
    JsonObject,
    JsonValue,
    Run,
    ToolCall,
)
from agenttrace.records import dump_json, parse_arguments


def model_call(
    name: str,
    arguments: JsonObject | None = None,
    *,
    raw: str | None = None,
    turn: int = 1,
    call_id: str | None = "c1",
    **fields: Any,
) -> ToolCall:
    """A call in a provider's response.

    Args:
        raw: The argument text as the provider sent it, also one that is no JSON; by default that of
            the arguments.
        turn: Number of the request that the response answers, from 1.
        fields: Further fields of `ToolCall`.
    """
    text = dump_json({} if arguments is None else arguments) if raw is None else raw
    given = {
        "ref": "",
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
        call_id=call_id,
        **given,
    )


def adapter_call(
    name: str,
    arguments: JsonObject | None = None,
    *,
    error: str | None = None,
    call_id: str | None = "c1",
    **fields: Any,
) -> ToolCall:
    """A call that the framework handed on, or refused with an error."""
    return ToolCall(
        boundary=Boundary.ADAPTER,
        name=name,
        arguments=arguments,
        error=error,
        call_id=call_id,
        **{"ref": "", **fields},
    )


def execution(
    name: str,
    arguments: JsonObject | None = None,
    *,
    result: JsonValue = None,
    call_id: str | None = "c1",
    **fields: Any,
) -> Execution:
    """One run of a tool's function."""
    return Execution(
        boundary=Boundary.EXECUTOR,
        name=name,
        arguments={} if arguments is None else arguments,
        result=result,
        call_id=call_id,
        **{"ref": "", **fields},
    )


def evidence(
    model: Sequence[ToolCall] | None = (),
    adapter: Sequence[ToolCall] | None = (),
    executor: Sequence[Execution] | None = (),
    **parts: Any,
) -> Evidence:
    """What the boundaries of one run saw.

    Args:
        model: Calls at the model, and so for the others. None: that boundary was not recorded,
            which is another thing than that it saw nothing.
        parts: Further fields of `Evidence`.

    Example:
        >>> from agenttrace import score
        >>> asked = model_call("refund", {"cents": 9800})
        >>> handed_on = adapter_call("refund", {"cents": 98})
        >>> ran = execution("refund", {"cents": 98})
        >>> str(score(None, evidence([asked], [handed_on], [ran])).owner)
        'adapter'
    """
    given = {Boundary.MODEL: model, Boundary.ADAPTER: adapter, Boundary.EXECUTOR: executor}
    records = {
        boundary: tuple(
            replace(call, ref=call.ref or f"{boundary}/{n}") for n, call in enumerate(calls or ())
        )
        for boundary, calls in given.items()
    }
    return Evidence(
        **{
            "run": Run(run_id="run-1"),
            "observed": {b: NOTHING if calls is None else ALL for b, calls in given.items()},
            "model": records[Boundary.MODEL],
            "adapter": records[Boundary.ADAPTER],
            "executor": tuple(c for c in records[Boundary.EXECUTOR] if isinstance(c, Execution)),
            **parts,
        }
    )


def clean_run(*calls: tuple[str, JsonObject], **parts: Any) -> Evidence:
    """Calls that all three boundaries saw alike, one a turn, with the ids c0, c1 and so on.

    Example:
        >>> from agenttrace import score
        >>> str(score(None, clean_run(("refund", {"cents": 9800}))).status)
        'pass'
    """
    made = list(enumerate(calls))
    return evidence(
        [model_call(n, a, call_id=f"c{i}", turn=i + 1) for i, (n, a) in made],
        [adapter_call(n, a, call_id=f"c{i}") for i, (n, a) in made],
        [execution(n, a, call_id=f"c{i}", result="ok") for i, (n, a) in made],
        **parts,
    )
