"""What the recorder was told: one frozen value, set once a process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agenttrace.settings import DEFAULT_EVIDENCE, Content

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

    from agenttrace.redaction import Redactor


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How and where runs are recorded."""

    enabled: bool = True
    """False: nothing is recorded, whoever asks for it."""
    evidence: Path | None = DEFAULT_EVIDENCE
    """Folder of local evidence. None: records are kept in memory alone."""
    sample: float = 1.0
    """Share of runs that are recorded; each whole or not at all."""
    make_processors: Callable[[], Sequence[SpanProcessor]] = tuple
    """What the private provider hands its spans to, made when it is first needed."""
    set_global: bool = False
    """Whether our provider becomes the global one where there is none."""
    idle_s: float = 5.0
    """Seconds without a record after which an implicit run settles."""
    memory_records: int = 2_000
    """Records of one run kept in memory; more are read back from its file."""
    memory_records_without_file: int = 50_000
    """The same where there is no file; more are lost, and counted."""
    memory_bytes: int = 64 << 20
    """Text of one run's records kept in memory, with and without a file."""
    exit_s: float = 2.0
    """Longest wait for exporters when the process ends."""
    keep_days: float | None = None
    """Runs last written to longer ago are removed. None: no run is removed for its age."""
    keep_bytes: int | None = None
    """Beyond this size of all runs the oldest are removed. None: none is removed for its size."""
    content: Content = "values"
    """What is kept: `values`, with texts of messages in local evidence alone; `messages`, which
    exports those texts too; or `digest`, no value at all."""
    redactor: Redactor | None = None
    """Masks and keys. None: the default fields and the key that is found."""
