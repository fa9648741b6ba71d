"""What it costs to import the scorer and to reach its first verdict, each in a fresh process.

CPU time of the process, which other work on the machine disturbs less than the clock; modules are
compiled before it is measured, as an installer does.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping

from bench.figures import Figure

ROUNDS = 25

_VERDICT = """
from agenttrace.domain import ALL, Boundary, Case, Evidence, Execution, RequiredCall, Run, ToolCall
from agenttrace.scoring import score

asked = {"order_id": "A-104", "amount_cents": 9800}
seen = {"name": "issue_refund", "arguments": asked, "call_id": "call-1"}
evidence = Evidence(
    run=Run(run_id="run-1", case_id="refund"),
    observed=dict.fromkeys(Boundary, ALL),
    model=(ToolCall(boundary=Boundary.MODEL, ref="model/0", **seen),),
    adapter=(ToolCall(boundary=Boundary.ADAPTER, ref="adapter/0", **seen),),
    executor=(
        Execution(
            boundary=Boundary.EXECUTOR,
            ref="executor/0",
            **{**seen, "arguments": {**asked, "amount_cents": 98}},
        ),
    ),
)
case = Case(case_id="refund", required=(RequiredCall(name="issue_refund", arguments=asked),))
assert score(case, evidence).first == "executor"
"""

PROGRAMS: Mapping[str, tuple[str, float | None]] = {
    "imports.scoring": ("import agenttrace.scoring", 60.0),
    "imports.score": ("from agenttrace.scoring import score", 60.0),
    "imports.first_verdict": (_VERDICT, None),
    "imports.agenttrace": ("import agenttrace", None),
    "imports.cli_score_help": (
        "from agenttrace.cli import main; main(['score', '--help'])",
        None,
    ),
}
"""What is measured, and the milliseconds it may take."""


def measure() -> Iterator[Figure]:
    """Milliseconds of CPU time over an empty program, median over interleaved rounds."""
    extra: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for program, _ in PROGRAMS.values():
            _took(program, environment)
        for _ in range(ROUNDS):
            bare = _took("pass", environment)
            for name, (program, _) in PROGRAMS.items():
                extra[name].append(_took(program, environment) - bare)
    for name, (_, bound) in PROGRAMS.items():
        yield Figure(
            name=name,
            value=statistics.median(extra[name]) * 1000,
            unit="ms",
            bound=bound,
            against="bare Python in the same round",
        )


def _took(program: str, environment: Mapping[str, str]) -> float:
    """Seconds of CPU time of one process; what it prints goes nowhere."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(
        sys.executable, [sys.executable, "-c", program], environment, file_actions=nowhere
    )
    _, status, usage = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"a measured program failed: {program}")
    return usage.ru_utime + usage.ru_stime
