"""Recording in memory, apart from whatever the process has configured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from opentelemetry.sdk.trace.export import SpanExporter

from agenttrace.capture import (
    Attached,
    Recorder,
    RunState,
    Scope,
    Settings,
    enter_scope,
    leave_scope,
    recorder,
    run_context,
    source,
)
from agenttrace.domain import Evidence, Run
from agenttrace.exporters import RunSpanProcessor
from agenttrace.records import Record, assemble
from agenttrace.redaction import Redactor
from agenttrace.settings import Content

_KEY: Final = b"agenttrace-testing-key-of-32-byte"


class Recording:
    """What is being recorded."""

    def __init__(self, state: RunState) -> None:
        self.state = state

    @property
    def run(self) -> Run:
        """The run."""
        return self.state.run

    def records(self) -> tuple[Record, ...]:
        """Everything recorded so far."""
        return self.state.records()

    def evidence(self) -> Evidence:
        """Everything recorded so far, as a verdict rests on it."""
        return assemble(self.records())


@contextmanager
def isolated(
    *,
    evidence: str | os.PathLike[str] | None = None,
    exporters: Sequence[SpanExporter] = (),
    idle_s: float = 5.0,
    content: Content = "values",
) -> Iterator[Recorder]:
    """Record with fresh settings and a fixed key; what was configured before comes back after.

    Args:
        evidence: Folder of local evidence; by default records are kept in memory alone.
        exporters: Where the private provider sends its spans.
        idle_s: Seconds after which an implicit run settles.
        content: What is kept: `values`, `messages` or `digest`, as for `configure`.
    """
    settings = Settings(
        evidence=None if evidence is None else Path(evidence).absolute(),
        make_processors=lambda: [RunSpanProcessor(exporter) for exporter in exporters],
        idle_s=idle_s,
        content=content,
        redactor=Redactor(_KEY),
    )
    with recorder.replaced(settings):
        yield recorder


@contextmanager
def recording(
    run: Run | None = None,
    *,
    evidence: str | os.PathLike[str] | None = None,
    exporters: Sequence[SpanExporter] = (),
) -> Iterator[Recording]:
    """Record one run in memory.

    Example:
        >>> from agenttrace import trace
        >>> @trace
        ... def look_up(order_id: str) -> str:
        ...     return "shipped"
        >>> with recording() as recorded:
        ...     status = look_up("A-104")
        >>> recorded.evidence().executor[0].arguments
        {'order_id': 'A-104'}
    """
    with isolated(evidence=evidence, exporters=exporters):
        state = recorder.open_run(run or Run(run_id=source().new_id("run")))
        token = enter_scope(Scope(run=state))
        attached = Attached(run_context(state))
        try:
            yield Recording(state)
        finally:
            attached.detach()
            leave_scope(token)
            recorder.settle(state)
