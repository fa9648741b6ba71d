"""What one recorder counts of one run, and the manifest that says it.

Records are numbered as they are written, without gaps, so that a hole is seen; what was lost,
refused or failed to be made is counted by its cause.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, Final

from agenttrace.capture._hooks import hooks
from agenttrace.capture._source import source
from agenttrace.domain import Boundary, Manifest
from agenttrace.records import BOUNDARY_OF, RecordKind

MAX_REQUESTS: Final = 1_000
"""Requests of one run that its manifest lists by id; of more than these it lists none."""


class Tally:
    """The numbers of one run and recorder."""

    def __init__(self, recorder_id: str) -> None:
        self.recorder_id = recorder_id
        # Taken again by the thread that holds it: a finaliser or a signal's handler runs anywhere,
        # also in between our own lines, and may call a decorated tool.
        self.lock = threading.RLock()
        self.last_seq = 0
        self.revision = 0
        self._made: Counter[str] = Counter()
        self.ran: set[str] = set()
        """Names of the tools that ran."""
        self._requests: list[str] = []
        self._lost: Counter[str] = Counter()
        self._tools: dict[Boundary, set[str]] = {}
        self._everything: set[Boundary] = set()

    def number(self, kind: RecordKind, plain: dict[str, Any]) -> None:
        """Number a record that is about to be written."""
        with self.lock:
            self.last_seq += 1
            plain["recorder_id"] = self.recorder_id
            plain["seq"] = self.last_seq
            boundary = BOUNDARY_OF.get(kind)
            if kind is RecordKind.EXECUTION:
                self.ran.add(plain["payload"]["name"])
            if kind is not RecordKind.RUN:
                self._made[kind.value if boundary is None else boundary.value] += 1

    def new_request(self) -> str:
        """The id of a request that is about to be made for this run, by which its answer is known.

        More requests than responses mean that one is missing; a response to a request that is not
        among them is another run's.
        """
        request_id = source().new_id("req")
        with self.lock:
            self._made["request"] += 1
            if len(self._requests) <= MAX_REQUESTS:
                self._requests.append(request_id)
        return request_id

    def count_lost(self, cause: str) -> None:
        """Add one to what was lost, refused, or failed to be made."""
        with self.lock:
            self._lost[cause] += 1

    def observe(self, boundary: Boundary, tools: tuple[str, ...] | None) -> None:
        """Say of which tools each call would leave a record at a boundary; None: of all."""
        with self.lock:
            if tools is None:
                self._everything.add(boundary)
            else:
                self._tools.setdefault(boundary, set()).update(tools)

    def manifest(
        self,
        *,
        traced_tools: tuple[str, ...],
        mask_errors: int,
        open_executions: int,
        settled: bool,
    ) -> Manifest:
        """What was counted until now; the run's end, which holds it, is the next record."""
        observes: dict[str, tuple[str, ...] | None] = {}
        tools = {boundary: set(names) for boundary, names in self._tools.items()}
        tools.setdefault(Boundary.EXECUTOR, set()).update(traced_tools)
        lost = dict(self._lost)
        if mask_errors:
            lost["mask"] = mask_errors
        everything = set(self._everything)
        if self._made[RecordKind.RESPONSE.value]:
            everything.add(Boundary.MODEL)
        for hook in hooks():
            if hook.boundary is None:
                continue
            if not hook.ok:
                lost[f"hook:{hook.library}:{hook.hook}"] = 1
            elif hook.boundary is Boundary.MODEL:
                everything.add(Boundary.MODEL)
        for boundary in Boundary:
            if boundary in everything:
                observes[boundary.value] = None
            elif tools.get(boundary):
                observes[boundary.value] = tuple(sorted(tools[boundary]))
        return Manifest(
            recorder_id=self.recorder_id,
            last_seq=self.last_seq + 1,
            made=dict(self._made),
            lost=lost,
            observes=observes,
            open_executions=open_executions,
            settled=settled,
            revision=self.revision,
            requests=tuple(self._requests) if len(self._requests) <= MAX_REQUESTS else None,
        )
