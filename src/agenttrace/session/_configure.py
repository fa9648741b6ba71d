"""`configure()`: set once what is recorded where, and by which cases runs are judged.

A second call with the same values, or with fewer, changes nothing; other values are refused,
because half of a process recorded one way and half another is no evidence. Where recording began
before the first call, that call is in force from the next run on.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from opentelemetry.sdk.trace.export import SpanExporter

from agenttrace.capture import (
    Settings,
    check_folder,
    folder_problem,
    guard,
    recorder,
    say,
    unrecorded,
    warn_once,
)
from agenttrace.errors import ConfigurationError
from agenttrace.exporters import load_otlp, span_processors, write_ledger
from agenttrace.integrations import instrument
from agenttrace.redaction import load_redactor
from agenttrace.session._cases import CaseBook, Cases
from agenttrace.session._live import live_scoring
from agenttrace.session._state import session
from agenttrace.settings import ARGUMENT, Content, Resolution, masking_of, resolve


def configure(
    *,
    enabled: bool | None = None,
    evidence: str | os.PathLike[str] | bool | None = None,
    sample: float | None = None,
    cases: Cases | None = None,
    live: bool | None = None,
    exporter: SpanExporter | None = None,
    set_global: bool | None = None,
    content: Content | None = None,
    key: bytes | str | None = None,
    mask_fields: Iterable[str] | None = None,
    mask_paths: Iterable[str] | None = None,
    mask: Callable[[str], str] | None = None,
    threads: bool | None = None,
    idle_s: float | None = None,
    exit_s: float | None = None,
    memory_records: int | None = None,
    memory_records_without_file: int | None = None,
    memory_bytes: int | str | None = None,
    keep_days: float | Literal[False] | None = None,
    keep_bytes: int | str | Literal[False] | None = None,
) -> None:
    """Set up recording; every argument may be left out.

    What is left out is looked for in `AGENTTRACE_*`, then in `[tool.agenttrace]` of the nearest
    pyproject.toml, then in the standard `OTEL_*`. Spans go through the TracerProvider that the
    program set up. Where there is none they go through a private one, with an OTLP exporter if
    OTEL_EXPORTER_OTLP_ENDPOINT (or the one for traces) is set. Local evidence is written in any
    case. Called again with the same values, it changes nothing.

    Args:
        enabled: False records nothing at all, and a decorated tool costs next to nothing.
        evidence: Folder of local evidence, `.agenttrace/runs` by default; False keeps records in
            memory alone.
        sample: Share of runs that are recorded, from 0 to 1; each whole or not at all.
        cases: A file or folder of cases, or cases, by which runs that name a case id are judged.
        live: Judge each run when it settles and print the verdict to stderr.
        exporter: Where the private provider sends its spans, beside OTLP.
        set_global: Make the private provider the global one where there is none.
        content: `values` by default; `messages` exports texts of messages too, which otherwise stay
            in local evidence; `digest` keeps no value at all, but a keyed digest of each.
        key: Secret that masked values and digests are made with; by default the one of the
            environment, of the project, or of the user.
        mask_fields: Names of further fields whose values are masked.
        mask_paths: JSON pointers of further values in arguments; `*` stands for any key or index.
        mask: Called with each text that is not masked whole, before shapes of secrets are looked
            for; gives the text to record. Equal texts need equal answers, or nothing compares. It
            may be called from several threads; if it raises, the text is dropped.
        threads: Carry runs into threads and thread pools, as `instrument("threading")` does.
        idle_s: Seconds without a record after which calls outside any run count as one run.
        exit_s: Longest wait for exporters at the end of the process, in seconds.
        memory_records: Records of one run kept in memory beside its file.
        memory_records_without_file: The same where there is no file; more are lost and counted.
        memory_bytes: Text of one run's records kept in memory: a number, or text as `"64 MiB"`.
        keep_days: Runs last written to longer ago are removed; False keeps them.
        keep_bytes: Beyond this size of all runs the oldest are removed; False keeps them.

    Raises:
        ConfigurationError: An argument is none of what it may be, the folder of an argument cannot
            be written, the key that was found is unusable, or an earlier call gave other values.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    _set_up(given, is_implicit=False)


def flush(timeout_s: float = 5.0) -> bool:
    """Write what was recorded so far, and hand its spans to the exporters of our own provider.

    Records are written a moment after the calls that they are of. Once this has returned true, what
    was recorded before is in the file, whatever happens to the process.

    Returns:
        False if not all was written, or taken by the exporters, in time.
    """
    with guard("flushing"):
        return recorder.flush(timeout_s)
    return False


def ensure_configured() -> None:
    """Set up recording with what the environment and the project say, if nobody did."""
    if session.given is None and not recorder.is_active:
        _set_up({}, is_implicit=True)


def _set_up(given: Mapping[str, Any], *, is_implicit: bool) -> None:
    resolved = resolve(given)
    with session.lock:
        if session.resolved is not None:
            changed = [name for name in given if resolved[name] != session.resolved[name]]
            if is_implicit or not changed:
                session.is_implicit = session.is_implicit and is_implicit
                return
            if not session.is_implicit:
                raise ConfigurationError(
                    "agenttrace.configure() was called again with other values for "
                    f"{', '.join(changed)}. The first ones stay in force, and nothing was changed. "
                    "Configure once, at the start of the process."
                )
        if not is_implicit:
            _check_folder(resolved)
        settings = _settings(resolved, is_implicit=is_implicit)
        if session.is_implicit:
            recorder.adopt(settings)
            live_scoring.stop()
        else:
            recorder.reset(settings)
        session.given = dict(given)
        session.resolved = resolved
        session.is_implicit = is_implicit
        session.cases = CaseBook(resolved["cases"])
        recorder.is_active = settings.enabled
        _report(resolved)
        if not settings.enabled:
            return
        if not recorder.providers.is_joined():
            load_otlp()
        if write_ledger not in recorder.last:
            recorder.last.append(write_ledger)
        if resolved["threads"]:
            instrument("threading")
        if resolved["live"]:
            live_scoring.start()


def _check_folder(resolved: Resolution) -> None:
    """A folder that an argument names must be one that can be written; others are warned of."""
    folder = resolved["evidence"]
    if not resolved["enabled"] or not isinstance(folder, Path):
        return
    if resolved.origin("evidence") != ARGUMENT:
        check_folder(folder)
    elif (reason := folder_problem(folder)) is not None:
        raise ConfigurationError(
            f"configure(evidence=...): {folder!s:.200} cannot be written ({reason}). Nothing was "
            "configured. Pass a folder that can, or evidence=False to keep records in memory."
        )


def _settings(resolved: Resolution, *, is_implicit: bool) -> Settings:
    folder = resolved["evidence"]
    exporter: SpanExporter | None = resolved["exporter"]
    key = resolved["key"] if resolved.origin("key") == ARGUMENT else None
    redactor = None
    if resolved["enabled"]:
        options = masking_of(resolved)
        if options["mask"] is not None:
            options["mask"] = unrecorded(options["mask"])
        redactor = load_redactor(key, is_strict=not is_implicit, **options)
    return Settings(
        enabled=resolved["enabled"],
        evidence=folder if isinstance(folder, Path) else None,
        sample=resolved["sample"],
        make_processors=functools.partial(span_processors, exporter),
        set_global=resolved["set_global"],
        idle_s=resolved["idle_s"],
        exit_s=resolved["exit_s"],
        memory_records=resolved["memory_records"],
        memory_records_without_file=resolved["memory_records_without_file"],
        memory_bytes=resolved["memory_bytes"],
        keep_days=resolved["keep_days"],
        keep_bytes=resolved["keep_bytes"],
        content=resolved["content"],
        redactor=redactor,
    )


def _report(resolved: Resolution) -> None:
    for problem in resolved.problems:
        warn_once(f"setting:{problem.name}", f"agenttrace: {problem.message}")
    if not resolved["enabled"]:
        origin = resolved.origin("enabled")
        say(logging.INFO, f"agenttrace records nothing in this process: off by {origin}.")


recorder.set_up = ensure_configured
