"""A server that loads the program, forks, and serves requests by threads or greenlets.

Each request is one run, in the files and in the spans: no deadlock, nothing twice, nothing lost.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from agenttrace.domain import Execution
from agenttrace.readers import read_evidence
from agenttrace.records import Record
from tests.support.otlp_receiver import otlp_receiver
from tests.support.waiting import PATIENCE_S, until

pytest.importorskip("gunicorn", reason="gunicorn runs on Linux alone here")
pytestmark = pytest.mark.slow

REQUESTS = 30
WORKERS = {
    "sync": ["--workers", "2"],
    "threads": ["--workers", "2", "--worker-class", "gthread", "--threads", "8"],
    "gevent": ["--workers", "2", "--worker-class", "gevent"],
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def served(
    folder: Path, endpoint: str, words: list[str]
) -> Iterator[tuple[str, Callable[[], int]]]:
    """A server that is up: its address, and what ends it and gives its exit code."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    said = folder / "server.txt"
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", *words]
    environ = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "AGENTTRACE_STRICT": "0",
    }
    with (
        said.open("w") as output,
        subprocess.Popen(
            [*command, "tests.servers.shop:app"],
            cwd=folder,
            env=environ,
            stdout=output,
            stderr=output,
        ) as server,
    ):

        def end() -> int:
            server.send_signal(signal.SIGTERM)
            return server.wait(PATIENCE_S)

        try:
            until(lambda: "Booting worker" in said.read_text() or server.poll() is not None)
            yield address, end
        finally:
            server.kill()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        text: str = answer.read().decode()
        return text


def orders(executions: list[Execution]) -> Counter[str]:
    return Counter(f"{one.name} {(one.arguments or {})['order']}" for one in executions)


@pytest.mark.parametrize("preload", [True, False], ids=["preload", "each"])
@pytest.mark.parametrize("kind", WORKERS)
def test_each_request_is_one_run_however_it_is_served(kind: str, preload: bool, tmp_path: Path):
    words = [*WORKERS[kind], *(["--preload"] if preload else [])]
    with otlp_receiver() as receiver:
        with served(tmp_path, receiver.endpoint, words) as (address, end):
            with ThreadPoolExecutor(10) as clients:
                paths = [f"/order-{number}" for number in range(REQUESTS)]
                answers = list(clients.map(get, [address + path for path in paths]))
            assert end() == 0, (tmp_path / "server.txt").read_text()
        assert len(answers) == REQUESTS
        arrived = [span.record() for span in receiver.spans if span.is_ours]

    found = read_evidence(tmp_path / ".agenttrace" / "runs")
    assert not found.problems
    runs = [found.evidence(run_id) for run_id in found.records]
    assert all(run.completeness.settled for run in runs)
    served_runs = [run for run in runs if orders(list(run.executor)) != {"pay /before-the-fork": 1}]
    assert len(served_runs) == REQUESTS
    expected = Counter(
        {
            **{f"look_up {path}": 1 for path in paths},
            **{f"pay {path}": 1 for path in paths},
            **{f"pay {path}/sent": 1 for path in paths},
        }
    )
    assert sum((orders(list(run.executor)) for run in served_runs), Counter()) == expected
    for run in served_runs:
        assert len(run.executor) == 3
        assert (
            len({(one.arguments or {})["order"].removesuffix("/sent") for one in run.executor}) == 1
        )
    records = [record for record in arrived if isinstance(record, Record)]
    sent = Counter((record.trace_id, record.span_id) for record in records)
    kept = {
        (record.trace_id, record.span_id)
        for run_id in found.records
        for record in found.records[run_id]
    }
    assert set(sent.values()) == {1}
    assert set(sent) == kept
    lines = (tmp_path / ".agenttrace" / "runs" / ".ledger").read_text("utf-8").splitlines()
    ended = Counter(json.loads(line)["recorder"] for line in lines)
    assert set(ended.values()) == {1}
    assert all(json.loads(line)["lost"] == {} for line in lines)
