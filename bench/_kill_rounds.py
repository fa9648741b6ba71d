"""Children that record until they are killed: `python -m bench._kill_rounds 300 FOLDER`.

Each child is forked from this process, which has recorded nothing, and is killed at a random moment
after it has acknowledged something. What it said through the pipe is compared with what is read.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import agenttrace
from agenttrace.domain import Execution
from agenttrace.readers import read_evidence

THREADS = 3
LONGEST_WAIT_S = 60.0


@agenttrace.trace
def work(thread: int, number: int) -> dict[str, int]:
    """Next to nothing."""
    return {"thread": thread, "number": number}


@dataclass
class Found:
    """What the rounds came to."""

    rounds: int = 0
    acknowledged: int = 0
    missing: int = 0
    """Acknowledged records that cannot be read."""
    torn: int = 0
    """Rounds whose file ends within a line."""
    most_torn: int = 0
    unreported: int = 0
    """Torn lines that the reader did not tell of."""
    wrong: list[str] = field(default_factory=list)
    """What else the reader found."""


def child(folder: Path, pipe: int) -> None:
    """Record on several threads, and say what a flush has confirmed."""
    agenttrace.configure(evidence=folder, key=b"a key of the benchmark, 32 bytes")

    def record(thread: int) -> None:
        number = 0
        while True:
            for _ in range(random.randrange(1, 40)):
                number += 1
                work(thread, number)
            if agenttrace.flush(10):
                os.write(pipe, f"{thread} {number}\n".encode())

    with agenttrace.run():
        for thread in range(THREADS):  # they have no context, and take the only open run
            threading.Thread(target=record, args=(thread,), daemon=True).start()
        time.sleep(LONGEST_WAIT_S)


def one_round(folder: Path, found: Found) -> None:
    """Fork, wait for a first acknowledgement and a random moment more, kill, and read."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            child(folder, writing)
        finally:
            os._exit(1)
    os.close(writing)
    said = _until_killed(pid, reading)
    os.close(reading)
    _compare(folder, said, found)


def _until_killed(pid: int, pipe: int) -> dict[int, int]:
    said = b""
    ready, _, _ = select.select([pipe], [], [], LONGEST_WAIT_S)
    if not ready:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise RuntimeError("a child acknowledged nothing")
    end_s = time.monotonic() + random.uniform(0.0, 0.12)
    while (rest_s := end_s - time.monotonic()) > 0:
        if select.select([pipe], [], [], rest_s)[0]:
            said += os.read(pipe, 65_536)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while more := os.read(pipe, 65_536):
        said += more
    acknowledged: dict[int, int] = {}
    for line in said.decode().splitlines(keepends=True):
        if line.endswith("\n"):
            thread, number = map(int, line.split())
            acknowledged[thread] = max(number, acknowledged.get(thread, 0))
    return acknowledged


def _compare(folder: Path, acknowledged: dict[int, int], found: Found) -> None:
    torn = [path for path in folder.rglob("*.jsonl") if not path.read_bytes().endswith(b"\n")]
    evidence = read_evidence(folder)
    kept = {
        (record.payload.arguments["thread"], record.payload.arguments["number"])
        for records in evidence.records.values()
        for record in records
        if isinstance(record.payload, Execution)
    }
    wanted = {
        (thread, number) for thread, last in acknowledged.items() for number in range(1, last + 1)
    }
    reported = [problem for problem in evidence.problems if problem.code == "torn-line"]
    found.rounds += 1
    found.acknowledged += len(wanted)
    found.missing += len(wanted - kept)
    found.torn += bool(torn)
    found.most_torn = max(found.most_torn, len(torn))
    found.unreported += abs(len(torn) - len(reported))
    found.wrong += [str(p) for p in evidence.problems if p.code != "torn-line"][:3]


if __name__ == "__main__":
    result, root = Found(), Path(sys.argv[2])
    for count in range(int(sys.argv[1])):
        own = root / str(count)
        one_round(own, result)
        shutil.rmtree(own)
    print(json.dumps(vars(result)))
