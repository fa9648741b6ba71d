"""What a verdict costs: against counting canonical JSON of the same calls, and as runs grow."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator

from agenttrace.domain import (
    ALL,
    BOUNDARIES,
    Boundary,
    Case,
    Evidence,
    Execution,
    RequiredCall,
    Run,
    ToolCall,
)
from agenttrace.scoring import score
from bench.figures import Figure, ratios

SMALL, LARGE = 6, 4_000


def measure() -> Iterator[Figure]:
    """Cost of a three-boundary verdict, and how it grows with the number of calls."""
    case, evidence = _row(SMALL)
    lists = _plain_lists(case, evidence)
    ratio = ratios(
        {"verdict": lambda: score(case, evidence), "counter": lambda: _count(lists)},
        "counter",
        rounds=15,
        repeats=60,
    )["verdict"]
    yield Figure(
        name="scoring.verdict",
        value=ratio,
        unit="ratio",
        bound=None,
        against="Counter over canonical JSON of the same four lists",
    )
    large_case, large = _row(LARGE)
    growth = ratios(
        {"large": lambda: score(large_case, large), "small": lambda: _many(case, evidence)},
        "small",
        rounds=3,
        repeats=1,
    )["large"]
    # `_many` judges as many small rows as one large row has calls: 1.0 would be linear growth.
    yield Figure(
        name="scoring.growth_exponent",
        value=1 + math.log(growth) / math.log(LARGE / SMALL),
        unit="exponent",
        bound=None,
        against=f"rows of {SMALL} calls",
    )


def _many(case: Case, evidence: Evidence) -> None:
    for _ in range(LARGE // SMALL):
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
