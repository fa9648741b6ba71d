"""What became of the spans that were handed to exporters: every one is sent, lost, or waits.

The counts are of the process. When it ends they are appended, with everything the recorder lost, to
a file beside the evidence, where `doctor` reads them; a process that is killed leaves no line, and
its runs have no end.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agenttrace.capture import losses, recorder

NAME: Final = ".ledger"
"""Name of the file, in the folder of all evidence."""
MAX_BYTES: Final = 256 << 10
"""Size at which the file is put aside, in place of the one that was before it."""


class Ledger:
    """Counts of spans, batches and answers."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._counts: Counter[str] = Counter()

    def add(self, what: str, number: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[what] += number

    def lose(self, cause: str, spans: int) -> None:
        """Count spans that will never be sent."""
        with self._lock:
            self._counts["spans lost"] += spans
            self._counts[f"lost: {cause}"] += spans

    def counts(self) -> dict[str, int]:
        """Everything counted so far, and the spans that wait."""
        with self._lock:
            found = dict(self._counts)
        waiting = found.get("spans taken", 0) - found.get("spans sent", 0)
        waiting -= found.get("spans lost", 0)
        return {**found, **({"spans waiting": waiting} if waiting else {})}

    def renew(self) -> None:
        """Begin anew: a forked child sends nothing of its parent's."""
        self._lock = threading.RLock()
        self._counts.clear()


ledger: Final = Ledger()
"""The ledger of this process."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ledger.renew)


def count_answers(exporter: Any) -> None:
    """Count the answers to the standard OTLP exporter over HTTP by their status.

    It tells of no status by itself, so its client is asked, or in versions before 1.45 its session;
    where neither is as it was, there is no count.
    """
    client = getattr(exporter, "_client", None)
    hooks = getattr(getattr(exporter, "_session", None), "hooks", None)
    answers = hooks.get("response") if isinstance(hooks, dict) else None
    if isinstance(answers, list):
        answers.append(lambda response, *_, **__: _count_status(response))
    elif client is not None and type(client).__module__.startswith("opentelemetry.exporter.otlp."):
        send = getattr(client, "export", None)
        if callable(send):

            def counted(*args: Any, **kwargs: Any) -> Any:
                result = send(*args, **kwargs)
                _count_status(result)
                return result

            client.export = counted


def _count_status(answer: Any) -> None:
    status = getattr(answer, "status_code", None)
    ledger.add("no answer" if status is None else f"status {status}")


def write_ledger() -> None:
    """Append the counts of this process, if there are any, and a folder to put them in."""
    folder = recorder.settings.evidence
    counts, lost = ledger.counts(), losses()
    if folder is None or not (counts or lost) or not folder.is_dir():
        return
    entry = {
        "recorder": recorder.recorder_id,
        "ended_ns": time.time_ns(),
        "exported": counts,
        "lost": lost,
    }
    path = folder / NAME
    with suppress(OSError):
        if path.stat().st_size > MAX_BYTES:
            path.replace(path.with_name(f"{NAME}.old"))
    with suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, (json.dumps(entry) + "\n").encode("ascii"))
        finally:
            os.close(file)


def read_ledger(folder: Path) -> tuple[int, dict[str, int], dict[str, int]]:
    """How many processes ended, what they exported, and what they lost; torn lines are left out."""
    exported: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    number = 0
    for entry in _entries(folder):
        with suppress(KeyError, TypeError, AttributeError):
            one = Counter({str(k): int(v) for k, v in entry["exported"].items()})
            other = Counter({str(k): int(v) for k, v in entry["lost"].items()})
            exported.update(one)
            lost.update(other)
            number += 1
    return number, dict(exported), dict(lost)


def _entries(folder: Path) -> Iterator[Any]:
    for name in (f"{NAME}.old", NAME):
        with suppress(OSError):
            for line in (folder / name).read_bytes().splitlines():
                with suppress(ValueError):
                    yield json.loads(line)
