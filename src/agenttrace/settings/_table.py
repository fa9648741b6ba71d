"""Every setting, once: its name, type, variable, default and meaning.

The arguments of `configure()`, what is read of the environment and of `pyproject.toml`, what
`doctor` shows and the table in the documentation all follow from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agenttrace.settings._kinds import (
    BYTES,
    BYTES_OR_NO_LIMIT,
    CASES,
    CONTENT,
    COUNT,
    DAYS,
    EXPORTER,
    FLAG,
    FOLDER,
    FUNCTION,
    NAMES,
    ONE,
    PAUSE,
    POINTERS,
    SECONDS,
    SECRET,
    SHARE,
    Kind,
)

PREFIX: Final = "AGENTTRACE_"
DEFAULT_EVIDENCE: Final = Path(".agenttrace/runs")


@dataclass(frozen=True, kw_only=True)
class Standard:
    """A variable of OpenTelemetry's that is asked where nothing of ours says more."""

    variable: str
    read: Callable[[str], Any]
    """The setting's value for this text; None: it says nothing."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting."""

    name: str
    """Argument of `configure()`, and key in `[tool.agenttrace]`."""
    kind: Kind
    default: Any
    means: str
    is_argument: bool = True
    has_variable: bool = True
    in_project: bool = True
    """Whether it may stand in `pyproject.toml`."""
    is_secret: bool = False
    """It is never shown."""
    standard: Standard | None = None

    @property
    def variable(self) -> str | None:
        """Its variable; None: it has none."""
        return f"{PREFIX}{self.name.upper()}" if self.has_variable else None

    @property
    def key(self) -> str | None:
        """Its key in `[tool.agenttrace]`; None: it has none."""
        return self.name if self.in_project else None


def _off_with_the_sdk(text: str) -> bool | None:
    return False if text.strip().lower() == "true" else None


TABLE: Final = (
    Setting(
        name="enabled",
        kind=FLAG,
        default=True,
        means="false: nothing is recorded, and a decorated tool costs next to nothing",
        standard=Standard(variable="OTEL_SDK_DISABLED", read=_off_with_the_sdk),
    ),
    Setting(
        name="evidence",
        kind=FOLDER,
        default=DEFAULT_EVIDENCE,
        means="folder of local evidence; false keeps records in memory alone",
    ),
    Setting(
        name="sample",
        kind=SHARE,
        default=1.0,
        means="share of runs that are recorded, each whole or not at all",
    ),
    Setting(
        name="cases",
        kind=CASES,
        default=None,
        means="cases by which runs that name a case id are judged",
    ),
    Setting(
        name="live",
        kind=FLAG,
        default=False,
        means="judge each run when it settles and print the verdict to stderr",
    ),
    Setting(
        name="exporter",
        kind=EXPORTER,
        default=None,
        means="where the private provider sends its spans, beside OTLP",
        has_variable=False,
        in_project=False,
    ),
    Setting(
        name="set_global",
        kind=FLAG,
        default=False,
        means="make the private provider the global one where there is none",
    ),
    Setting(
        name="content",
        kind=CONTENT,
        default="values",
        means="`messages` exports texts of messages too, which otherwise stay in local evidence; "
        "`digest` keeps no value at all, but a keyed digest of each",
    ),
    Setting(
        name="key",
        kind=SECRET,
        default=None,
        means="secret that masks and digests are made with: 64 hexadecimal digits, or any "
        "other 16 bytes and more; else the key file of the project or the user",
        in_project=False,
        is_secret=True,
    ),
    Setting(
        name="mask_fields",
        kind=NAMES,
        default=(),
        means="further fields whose values are masked, in any spelling of their names; "
        "separated by commas in the variable",
    ),
    Setting(
        name="mask_paths",
        kind=POINTERS,
        default=(),
        means="places inside arguments that are masked whatever their fields are called; `*` "
        "stands for any one key or index",
    ),
    Setting(
        name="mask",
        kind=FUNCTION,
        default=None,
        means="gets each text that is not masked whole, and gives the text to record",
        has_variable=False,
        in_project=False,
    ),
    Setting(
        name="threads",
        kind=FLAG,
        default=True,
        means="carry runs into threads and thread pools",
    ),
    Setting(
        name="idle_s",
        kind=PAUSE,
        default=5.0,
        means="time without a record after which calls outside any run count as one run",
    ),
    Setting(
        name="exit_s",
        kind=SECONDS,
        default=2.0,
        means="longest wait for exporters at the end of the process",
    ),
    Setting(
        name="memory_records",
        kind=COUNT,
        default=2_000,
        means="records of one run kept in memory beside its file; more are read back from it",
    ),
    Setting(
        name="memory_records_without_file",
        kind=COUNT,
        default=50_000,
        means="records of one run kept in memory where there is no file, or none can be "
        "written; more are lost and counted",
    ),
    Setting(
        name="memory_bytes",
        kind=BYTES,
        default=64 << 20,
        means="text of one run's records kept in memory, with and without a file",
    ),
    Setting(
        name="keep_days",
        kind=DAYS,
        default=30.0,
        means="runs that were last written to longer ago are removed; false keeps them",
    ),
    Setting(
        name="keep_bytes",
        kind=BYTES_OR_NO_LIMIT,
        default=2 << 30,
        means="beyond this size of all runs the oldest are removed; false keeps them",
    ),
    Setting(
        name="strict",
        kind=ONE,
        default=False,
        means="faults of the recorder are raised instead of counted, for tests and CI",
        is_argument=False,
        in_project=False,
    ),
)

BY_NAME: Final = {setting.name: setting for setting in TABLE}


def shown(value: Any) -> str:
    """A value for people, as the documentation and `doctor` write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Path):
        return value.as_posix()
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
