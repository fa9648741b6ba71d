"""Every error agenttrace raises on purpose, each with a stable code.

Only scoring, reading and set-up raise. The recorder never does: it logs, counts and goes on.
"""

from __future__ import annotations


class AgentTraceError(Exception):
    """Base of all errors of this package; `code` is stable and documented."""

    code = "agenttrace"


class MissingExtraError(AgentTraceError):
    """Something optional was asked for and its package is not installed."""

    code = "missing-extra"

    def __init__(self, *, extra: str, package: str | None = None) -> None:
        super().__init__(
            f"The package {package or extra!r} is not installed, so nothing was done. "
            f'Install it with: pip install "agenttrace-otel[{extra}]"'
        )
        self.extra = extra


class ConfigurationError(AgentTraceError):
    """`configure()` or `instrument()` was asked for something that cannot be done."""

    code = "configuration"


class UnreadableFileError(AgentTraceError):
    """A file is missing, is no file, or cannot be opened."""

    code = "unreadable-file"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path}: cannot be read ({reason}). Nothing of it was used. "
            "Check the path and its permissions."
        )
        self.path = path


class UnwritableFileError(AgentTraceError):
    """A file cannot be written where it was asked for."""

    code = "unwritable-file"

    def __init__(self, path: str, reason: str, *, then: str = "") -> None:
        then = then or (
            "What was there before is unchanged. "
            "Check the folder, its permissions and the space on the disk."
        )
        super().__init__(f"{path}: cannot be written ({reason}). {then}")
        self.path = path


class MalformedFileError(AgentTraceError):
    """A line or a field of a file is not what it should be."""

    code = "malformed-file"

    def __init__(self, path: str, reason: str, *, line: int | None = None, then: str = "") -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {reason}. {then or 'Nothing of this line was used.'}")
        self.path = path
        self.line = line
        self.reason = reason


class UnreadableArtifactError(AgentTraceError):
    """An artifact was written by a newer version than this one can read."""

    code = "artifact-newer"

    def __init__(self, path: str, *, found: int, newest: int) -> None:
        super().__init__(
            f"{path}: artifact version {found} is newer than {newest}, the newest this agenttrace "
            "reads. Nothing of it was scored. Upgrade agenttrace, or re-record with this version."
        )
        self.path = path


class ChangedFileError(AgentTraceError):
    """A file is not what it was when it was first read, and its records were needed again."""

    code = "changed-file"

    def __init__(self, path: str, run_id: str, reason: str) -> None:
        super().__init__(
            f"{path}: changed while it was being read: {reason}. The run {run_id!r:.60} was not "
            "scored. Read the file again when nothing writes over it."
        )
        self.path = path


class TemporaryFileError(AgentTraceError):
    """What was read is more than is held in memory, and could not be put aside."""

    code = "temporary-file"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The temporary file that holds where each run stands cannot be used ({reason}). What "
            "was not yet scored was left out. Free space in the folder of temporary files, or "
            "name another one in the environment variable TMPDIR."
        )


class InvalidCaseError(AgentTraceError):
    """A case, its rules or its contract do not fit the documented form."""

    code = "invalid-case"

    def __init__(
        self, where: str, reason: str, *, line: int | None = None, instead: str = ""
    ) -> None:
        place = where if line is None else f"{where}:{line}"
        said = f"{reason}; {instead}" if instead else reason
        super().__init__(
            f"{place}: {said}. The case was not loaded and no row was judged by it. "
            "docs/reference/cases.md has the form."
        )
        self.where = where
        self.line = line
        self.reason = said
        self.found = reason
        self.instead = instead
        """What to write in its place, where one thing can be said."""


class UnknownCaseError(AgentTraceError):
    """A run names a case that none of the given files holds."""

    code = "unknown-case"

    def __init__(self, case_id: str, known: tuple[str, ...]) -> None:
        listed = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
        super().__init__(
            f"No case {case_id!r} was found, so the run was not judged by one. "
            f"Known cases: {listed or 'none'}. Check the id, or pass the folder that holds it: "
            "--cases for a command, configure(cases=...) in a program."
        )
        self.case_id = case_id


class UnknownCodeError(AgentTraceError):
    """An explanation was asked for of a code that no verdict holds."""

    code = "unknown-code"

    def __init__(self, wanted: str, near: tuple[str, ...]) -> None:
        like = f"Near to it: {', '.join(near)}. " if near else ""
        super().__init__(
            f"{wanted!r:.80} is no code of a verdict, so nothing of it was explained. {like}"
            "List all of them with: agenttrace explain"
        )
        self.wanted = wanted
        self.near = near


class UnscorableError(AgentTraceError):
    """A case asks for something this scorer cannot decide safely."""

    code = "unscorable"


class NoRunError(AgentTraceError):
    """A verdict was asked for where no run was recorded."""

    code = "no-run"
