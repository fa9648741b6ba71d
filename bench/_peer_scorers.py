"""Another scorer beside ours and a plain count: `python -m bench._peer_scorers deepeval 20`.

Each peer is asked for what it calls the correctness of tool calls, with arguments, on its own
objects; ours for a verdict on its own. All objects are made beforehand. Nothing may leave the
machine: what the peers know as opting out is set by `peers`, and a connection is refused here.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import socket
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

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
from bench.figures import Turn, Work, over, turns

CALLS = 6
SHORT, LONG = 100, 400
"""Calls of the rows by which growth is told: equal calls, observed in reverse."""
TOOLS = ("get_order", "issue_refund", "send_receipt", "list_items", "find_customer", "close_case")

Plain = dict[str, Any]
Row = tuple[list[Plain], list[Plain]]
"""Expected and observed calls, each `{name, args}`."""
Judge = Callable[[list[Any]], object]
Scorers = dict[str, tuple[Callable[[Row], Any], Judge]]
"""Name to what makes a scorer's own objects of a row, and what judges many of them."""


def _ragas() -> Scorers:
    from ragas.messages import AIMessage, HumanMessage
    from ragas.messages import ToolCall as Call
    from ragas.metrics.collections import ToolCallF1

    metric = ToolCallF1()

    def made(row: Row) -> Any:
        expected, observed = (
            [Call(name=c["name"], args=c["args"]) for c in calls] for calls in row
        )
        return [HumanMessage(content="go"), AIMessage(content="", tool_calls=observed)], expected

    async def all_of(rows: list[Any]) -> None:
        for said, expected in rows:
            await metric.ascore(user_input=said, reference_tool_calls=expected)

    return {"ragas": (made, lambda rows: asyncio.run(all_of(rows)))}


def _deepeval() -> Scorers:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCallParams
    from deepeval.test_case import ToolCall as Call

    metric = ToolCorrectnessMetric(
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS], async_mode=False, include_reason=False
    )

    def made(row: Row) -> Any:
        expected, observed = (
            [Call(name=c["name"], input_parameters=c["args"]) for c in calls] for calls in row
        )
        return LLMTestCase(
            input="go", actual_output="done", tools_called=observed, expected_tools=expected
        )

    def judge(rows: list[Any]) -> None:
        for one in rows:
            metric.measure(one, _show_indicator=False)

    return {"deepeval": (made, judge)}


def _agentevals() -> Scorers:
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    def messages(calls: list[Plain]) -> list[Plain]:
        asked = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for n, call in enumerate(calls)
        ]
        answer = {"role": "assistant", "content": "", "tool_calls": asked}
        return [{"role": "user", "content": "go"}, answer]

    def judge_by(mode: str) -> Judge:
        evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode)

        def judge(rows: list[Any]) -> None:
            for expected, observed in rows:
                evaluator(outputs=observed, reference_outputs=expected)

        return judge

    def made(row: Row) -> Any:
        return messages(row[0]), messages(row[1])

    return {f"agentevals_{mode}": (made, judge_by(mode)) for mode in ("strict", "unordered")}


PEERS: dict[str, tuple[str, Callable[[], Scorers]]] = {
    "agentevals": ("agentevals.trajectory.match", _agentevals),
    "deepeval": ("deepeval.metrics", _deepeval),
    "ragas": ("ragas.metrics.collections", _ragas),
}
"""By name: the module that has the scorer, and how it is made."""


def rows_of(count: int) -> list[Row]:
    """Rows of which 7 in 10 are as expected; half of them come in another order."""
    chance = random.Random(7)
    rows = []
    for number in range(count):
        expected = [
            {"name": chance.choice(TOOLS), "args": _arguments(chance)} for _ in range(CALLS)
        ]
        observed = json.loads(json.dumps(expected))
        kind = number % 10
        if kind == 7:
            observed[chance.randrange(CALLS)]["args"]["amount_cents"] += 1
        elif kind == 8:
            observed.append({"name": "close_case", "args": {"order_id": "A-1"}})
        elif kind == 9:
            observed.pop(chance.randrange(CALLS))
        if chance.random() < 0.5:
            chance.shuffle(observed)
        rows.append((expected, observed))
    return rows


def _arguments(chance: random.Random) -> Plain:
    return {
        "order_id": f"A-{chance.randrange(10**6)}",
        "amount_cents": chance.randrange(10**5),
        "note": "n" * chance.randrange(5, 60),
        "options": {"locale": "en-US", "tags": [chance.randrange(9) for _ in range(3)]},
    }


def _long_row(calls: int) -> Row:
    expected = [{"name": "search", "args": {"query": f"q {n}", "page": n}} for n in range(calls)]
    return expected, expected[::-1]


def _ours(row: Row) -> tuple[Case, Evidence]:
    expected, observed = row
    calls = {
        boundary: tuple(
            (Execution if boundary is Boundary.EXECUTOR else ToolCall)(
                boundary=boundary,
                ref=f"{boundary}/{n}",
                name=call["name"],
                arguments=call["args"],
                call_id=f"call_{n}",
                turn=n + 1,
                raw=json.dumps(call["args"]),
            )
            for n, call in enumerate(observed)
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
    required = tuple(RequiredCall(name=c["name"], arguments=c["args"]) for c in expected)
    return Case(case_id="case", required=required), evidence


def _judge_ours(rows: list[Any]) -> None:
    for case, evidence in rows:
        score(case, evidence, lineage=False)


def _judge_with_lineage(rows: list[Any]) -> None:
    for case, evidence in rows:
        score(case, evidence)


def _count(rows: list[Row]) -> None:
    for expected, observed in rows:
        wanted, seen = (Counter(map(_text, calls)) for calls in (expected, observed))
        right = (wanted & seen).total()
        _ = right, seen.total() - right, wanted.total() - right


def _text(call: Plain) -> str:
    return json.dumps(call, sort_keys=True, separators=(",", ":"))


def _all_cpu(turn: Turn) -> float:
    return turn.own_ns + turn.moved_ns


def main(name: str, rounds: int) -> int:
    """Print the ratios of one peer."""
    socket.socket.connect = socket.socket.connect_ex = _refuse  # type: ignore[assignment]
    # Others do not say where a wrong value came from: that is measured, and judged beside nobody.
    scorers: Scorers = {
        "ours": (_ours, _judge_ours),
        "ours_with_lineage": (_ours, _judge_with_lineage),
        **PEERS[name][1](),
    }
    rows = rows_of(20)
    works: dict[str, Work] = {"count": lambda: _count(rows)}
    grown: dict[str, Work] = {}
    for scorer, (made, judge) in scorers.items():
        works[scorer] = _work(judge, [made(row) for row in rows])
        for calls in (SHORT, LONG):
            grown[f"{scorer}.{calls}"] = _work(judge, [made(_long_row(calls))])
    taken = turns(works, rounds=rounds, repeats=1)
    long = turns(grown, rounds=3, repeats=1)
    found: dict[str, float] = {}
    for scorer in scorers:
        found[f"{scorer}.over_count"] = over(taken, scorer, "count", _all_cpu)
        growth = over(long, f"{scorer}.{LONG}", f"{scorer}.{SHORT}", _all_cpu)
        found[f"{scorer}.growth"] = math.log(growth) / math.log(LONG / SHORT)
        if not scorer.startswith("ours"):
            found[f"{scorer}.below"] = over(taken, "ours", scorer, _all_cpu)
    print(json.dumps(found))
    return 0


def _work(judge: Judge, made: list[Any]) -> Work:
    return lambda: judge(made)


def _refuse(*_: object) -> NoReturn:
    raise ConnectionRefusedError("a benchmark makes no connection")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
