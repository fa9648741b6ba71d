"""What the recorder was told: one frozen value, set once a process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

    from agenttrace.redaction import Redactor

DEFAULT_EVIDENCE: Final = Path(".agenttrace/runs")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How and where runs are recorded."""

    evidence: Path | None = DEFAULT_EVIDENCE
    """Folder of local evidence. None: records are kept in memory alone."""
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
    exit_s: float = 2.0
    """Longest wait for exporters when the process ends."""
    redactor: Redactor | None = None
    """Masks and keys. None: the default fields and the key that is found."""
