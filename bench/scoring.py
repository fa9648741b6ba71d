"""What a verdict costs: against counting canonical JSON of the same calls, and as runs grow."""

from __future__ import annotations

import json
import math
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from agenttrace.domain import (
    ALL,
    BOUNDARIES,
    ArgumentRule,
    Boundary,
    Case,
    Evidence,
    Execution,
    JsonObject,
    RequiredCall,
    RuleKind,
    Run,
    ToolCall,
    Tools,
)
from agenttrace.scoring import score
from bench.figures import Figure, ratios
from tests.support.made_runs import made_run

SMALL, LARGE, RULED = 6, 4_000, 300
MOST = 3.0
NO_CASE = Case(case_id="")
EXECUTOR = Boundary.EXECUTOR
Row = tuple[Case | None, Evidence]


def measure() -> Iterator[Figure]:
    """Cost of a three-boundary verdict, how it grows with the number of calls, and its memory."""
    case, evidence = _row(SMALL)
    yield Figure(
        name="scoring.verdict",
        value=_cost([(case, evidence)], repeats=60),
        unit="ratio",
        bound=MOST,
        against="Counter over canonical JSON of the same four lists",
    )
    for name, rows in _shapes(case, evidence).items():
        yield Figure(
            name=f"scoring.verdict.{name}",
            value=_cost(rows, repeats=60 // len(rows)),
            unit="ratio",
            bound=None,
            against="Counter over canonical JSON of the calls of the same rows",
        )
    yield from _growth(case, evidence)
    for size in (SMALL, LARGE):
        yield Figure(
            name=f"scoring.memory.{size}",
            value=_peak(*_row(size)) / size / 1024,
            unit="KiB/call",
            bound=None,
            against=f"nothing: the most that one verdict of {size} calls holds at a time",
        )


def _growth(case: Case, evidence: Evidence) -> Iterator[Figure]:
    """How the cost grows from small rows to large ones; 1.0 would be with the calls alone."""
    rows = {
        "": (_row(LARGE), 1.1),
        ".turned_round": (_turned_round(LARGE), 1.2),
        ".alike": (_alike(LARGE), 1.2),
        ".one_fault": (_faulty(*_row(LARGE), EXECUTOR), None),
        # Each of so many calls fits each rule: a matching looks at their square.
        ".any_fits": (_any_fits(RULED), None),
    }
    for name, ((large_case, large), bound) in rows.items():
        size = len(large.model)
        growth = ratios(
            {
                "large": lambda one=large_case, made=large: score(one, made),  # type: ignore[misc]
                "small": lambda count=size // SMALL: _many(case, evidence, count),  # type: ignore[misc]
            },
            "small",
            rounds=5,
            repeats=1,
        )["large"]
        # `_many` judges as many small rows as one large row has calls: 1.0 would be linear growth.
        yield Figure(
            name=f"scoring.growth_exponent{name}",
            value=1 + math.log(growth) / math.log(size / SMALL),
            unit="exponent",
            bound=bound,
            against=f"rows of {SMALL} calls, to one of {size}",
        )


def _cost(rows: Sequence[Row], *, repeats: int) -> float:
    """CPU time of judging some rows over counting their calls."""
    lists = [one for case, evidence in rows for one in _plain_lists(case or NO_CASE, evidence)]
    return ratios(
        {
            "verdict": lambda: [score(case, evidence) for case, evidence in rows],
            "counter": lambda: _count(lists),
        },
        "counter",
        rounds=15,
        repeats=max(1, repeats),
    )["verdict"]


def _peak(case: Case, evidence: Evidence) -> int:
    """Bytes that judging a row holds at most, the verdict included."""
    score(case, evidence)
    tracemalloc.start()
    try:
        score(case, evidence)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _shapes(case: Case, evidence: Evidence) -> dict[str, list[Row]]:
    """Rows on which other questions are asked than on the clean one."""
    made = [made_run(seed) for seed in range(40)]
    return {
        "no_plan": [(None, evidence)],
        "model_fault": [_faulty(case, evidence, *BOUNDARIES)],
        "executor_fault": [_faulty(case, evidence, EXECUTOR)],
        "rules": [(_with_rules(case), evidence)],
        "schemas": [(case, _with_schemas(evidence))],
        "recorded": [(one.case, one.evidence()) for one in made],
        "recorded.as_planned": [(one.case, one.evidence()) for one in made if one.fault is None],
    }


def _faulty(case: Case, evidence: Evidence, *boundaries: Boundary) -> Row:
    """The row with one other amount, at some of the boundaries."""
    for boundary in boundaries:
        calls = list(evidence.at(boundary))
        at = len(calls) // 2
        calls[at] = replace(calls[at], arguments={**_arguments(at), "amount_cents": 1})
        evidence = replace(evidence, **{boundary.value: tuple(calls)})
    return case, evidence


def _with_rules(case: Case) -> Case:
    """The plan with a range in place of each amount."""
    within = ArgumentRule(kind=RuleKind.RANGE, operand={"min": 0, "max": 10**6})
    return replace(
        case,
        required=tuple(
            RequiredCall(
                name=call.name,
                arguments={k: v for k, v in call.arguments.items() if k != "amount_cents"},
                rules={"/amount_cents": within},
            )
            for call in case.required or ()
        ),
    )


def _with_schemas(evidence: Evidence) -> Evidence:
    """The run with the schema of every tool, as the SDK records them."""
    types = {"order_id": "string", "amount_cents": "integer", "note": "string", "tags": "array"}
    properties = {name: {"type": kind} for name, kind in types.items()}
    schema: JsonObject = {"type": "object", "properties": properties}
    names = sorted({call.name for call in evidence.model})
    return replace(evidence, tools=Tools(schemas=dict.fromkeys(names, schema)))


def _turned_round(size: int) -> Row:
    """Calls of one tool that the executor saw in the order opposite to the model's."""
    case, evidence = _alike(size, "")
    return case, replace(evidence, executor=evidence.executor[::-1])


def _alike(size: int, order: str = "A-1") -> Row:
    """Calls of one tool, and all the same where nothing else is said."""
    case, evidence = _row(size)

    def alike(call: Any) -> Any:
        given = call.arguments if not order else _arguments(0)
        return replace(call, name="tool", arguments=given)

    calls = {boundary.value: tuple(map(alike, evidence.at(boundary))) for boundary in BOUNDARIES}
    required = tuple(map(alike, case.required or ()))
    return replace(case, required=required), replace(evidence, **calls)


def _any_fits(size: int) -> Row:
    """Calls of one tool that each fit every required one, all by rules."""
    case, evidence = _alike(size)
    rules = {f"/{name}": ArgumentRule(kind=RuleKind.IGNORE) for name in _arguments(0)}
    required = tuple(RequiredCall(name="tool", arguments={}, rules=rules) for _ in range(size))
    return replace(case, required=required), evidence


def _many(case: Case, evidence: Evidence, count: int) -> None:
    for _ in range(count):
        score(case, evidence)


def _count(lists: list[list[dict[str, object]]]) -> None:
    for one in lists:
        Counter(json.dumps(call, sort_keys=True, separators=(",", ":")) for call in one)


def _row(size: int) -> tuple[Case, Evidence]:
    required = tuple(
        RequiredCall(name=f"tool_{n % 5}", arguments=_arguments(n)) for n in range(size)
    )
    calls = {
        boundary: tuple(
            (Execution if boundary is Boundary.EXECUTOR else ToolCall)(
                boundary=boundary,
                ref=f"{boundary}/{n}",
                name=f"tool_{n % 5}",
                arguments=_arguments(n),
                call_id=f"call_{n}",
                turn=n + 1,
                raw=json.dumps(_arguments(n)),
            )
            for n in range(size)
        )
        for boundary in BOUNDARIES
    }
    evidence = Evidence(
        run=Run(run_id="run"),
        observed=dict.fromkeys(BOUNDARIES, ALL),
        model=calls[Boundary.MODEL],
        adapter=calls[Boundary.ADAPTER],
        executor=calls[Boundary.EXECUTOR],  # type: ignore[arg-type]
    )
    return Case(case_id="case", required=required), evidence


def _arguments(n: int) -> dict[str, object]:
    return {"order_id": f"A-{n}", "amount_cents": 9800 + n, "note": "as agreed", "tags": ["a", "b"]}


def _plain_lists(case: Case, evidence: Evidence) -> list[list[dict[str, object]]]:
    required = [{"name": c.name, "args": c.arguments} for c in case.required or ()]
    seen = [[{"name": c.name, "args": c.arguments} for c in evidence.at(b)] for b in BOUNDARIES]
    return [required, *seen]  # type: ignore[list-item]
