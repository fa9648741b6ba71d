"""What other scorers cost beside ours on the same rows: each row, its growth, and the import.

Ragas and DeepEval compare one list of calls with the expected one, LangChain's agentevals the
messages that hold them; ours compares three lists and finds where they first part. The peers are
in an environment of their own, which `make bench NAME=peers` sets up.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench._peer_scorers import CALLS, LONG, PEERS, SHORT
from bench.figures import Figure

ROOT = Path(__file__).parent.parent
QUIET = {
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "ERROR_REPORTING": "0",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "RAGAS_DO_NOT_TRACK": "true",
    # DeepEval makes a client of the provider although this metric asks no model.
    "OPENAI_API_KEY": "unused",
}
"""No telemetry, no traces, no files."""
SAME_ROWS = f"the same rows of {CALLS} calls, in the same rounds"


def measure() -> Iterator[Figure]:
    """Ratios by peer: its cost over a count, ours over a count, ours over its; growth; import."""
    rounds = "5" if os.environ.get("BENCH_QUICK") else "15"
    python = _python()
    for peer in PEERS:
        print(f"peers: {peer}", file=sys.stderr)
        found = json.loads(_run(python, "-m", "bench._peer_scorers", peer, rounds)[0])
        for name, value in found.items():
            scorer, what = name.split(".")
            if scorer.startswith("ours"):
                scorer = f"{scorer}_beside.{peer}"
            yield Figure(
                name=f"peers.{scorer}.{what}",
                value=value,
                unit="exponent" if what == "growth" else "ratio",
                bound=1.0 if what == "below" and peer != "ragas" else None,
                against={
                    "over_count": f"Counter over canonical JSON of one list; {SAME_ROWS}",
                    "growth": f"rows of {SHORT} calls, from {LONG}; equal calls in reverse",
                    "below": f"ours over its; {SAME_ROWS}",
                }[what],
            )
    modules = {"ours": "agenttrace.scoring", **{name: of for name, (of, _) in PEERS.items()}}
    rounds_of_imports = 1 if os.environ.get("BENCH_QUICK") else 3
    taken: dict[str, list[float]] = {name: [] for name in modules}
    for _ in range(rounds_of_imports):
        bare = _run(python, "-c", "pass")[1]
        for name, module in modules.items():
            taken[name].append(_run(python, "-c", f"import {module}")[1] - bare)
    for name, times in taken.items():
        yield Figure(
            name=f"peers.{name}.import",
            value=statistics.median(times) * 1000,
            unit="ms",
            bound=None,
            against=f"CPU of bare Python in the same round; imports {modules[name]}",
        )


def _python() -> str:
    given = Path(os.environ.get("BENCH_PEERS_PYTHON") or ROOT / ".venv-peers" / "bin" / "python")
    if not given.exists():
        raise RuntimeError(
            f"the other scorers are not installed ({given} is missing), so ours was not measured "
            "beside them. `make bench NAME=peers` installs them"
        )
    return str(given.absolute())


def _run(python: str, *arguments: str) -> tuple[str, float]:
    """What a program printed last, and the CPU time that it took.

    It runs in a folder of its own: some peers write where they are started.

    Raises:
        RuntimeError: It ended with an error, whose text is the message.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        done = subprocess.run(
            [python, *arguments],
            cwd=folder,
            env={**os.environ, **QUIET, "PYTHONPATH": os.pathsep.join(paths), "HOME": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        after = os.times()
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-2000:] or f"{arguments} ended with an error")
    cpu = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return (done.stdout.splitlines() or [""])[-1], cpu
