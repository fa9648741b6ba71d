"""`configure()`: set once what is recorded where, and by which cases runs are judged.

A second call with the same values, or with fewer, changes nothing; other values are refused with a
warning, because half of a process recorded one way and half another is no evidence.
"""

from __future__ import annotations

import functools
import logging
import os
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace.export import SpanExporter

from agenttrace.capture import DEFAULT_EVIDENCE, Settings, guard, recorder, say
from agenttrace.errors import ConfigurationError
from agenttrace.exporters import load_otlp, span_processors
from agenttrace.redaction import load_redactor
from agenttrace.session._cases import CaseBook, Cases
from agenttrace.session._live import live_scoring
from agenttrace.session._state import session


def configure(
    *,
    evidence: str | os.PathLike[str] | bool | None = None,
    exporter: SpanExporter | None = None,
    set_global: bool | None = None,
    cases: Cases | None = None,
    live: bool | None = None,
    key: bytes | str | None = None,
    idle_s: float | None = None,
) -> None:
    """Set up recording; every argument may be left out.

    Spans go through the TracerProvider that the program set up. Where there is none they go through
    a private one, with an OTLP exporter if OTEL_EXPORTER_OTLP_ENDPOINT (or the one for traces) is
    set. Local evidence is written in any case. Called again, it changes nothing.

    Args:
        evidence: Folder of local evidence, `.agenttrace/runs` by default; False keeps records in
            memory alone.
        exporter: Where the private provider sends its spans, beside OTLP.
        set_global: Make the private provider the global one where there is none.
        cases: A file or folder of cases, or cases, by which runs that name a case id are judged.
        live: Judge each run when it settles and print the verdict to stderr.
        key: Secret that masked values and digests are made with; by default the one of the
            environment, of the project, or of the user.
        idle_s: Seconds without a record after which calls outside any run count as one run.

    Raises:
        ConfigurationError: An argument is none of what it may be, or the key that was found is
            unusable.
    """
    given = {
        name: value
        for name, value in (
            ("evidence", evidence),
            ("exporter", exporter),
            ("set_global", set_global),
            ("cases", cases),
            ("live", live),
            ("key", key),
            ("idle_s", idle_s),
        )
        if value is not None
    }
    _check(given)
    with session.lock:
        if session.given is not None:
            changed = [name for name in given if session.given.get(name) != given[name]]
            if changed:
                say(
                    logging.WARNING,
                    f"agenttrace.configure() was called again with other values for "
                    f"{', '.join(changed)}; the first ones stay. Configure once, at the start.",
                )
            return
        settings = _settings(given)
        session.given = given
        session.cases = CaseBook(cases)
        recorder.reset(settings)
        recorder.is_active = True
        if not recorder.providers.is_joined():
            load_otlp()
    if live:
        live_scoring.start()


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
    """Set up recording with the defaults, if nobody did."""
    if session.given is None and not recorder.is_active:
        configure()


def _settings(given: dict[str, Any]) -> Settings:
    evidence = given.get("evidence", True)
    folder: Path | None = DEFAULT_EVIDENCE
    if evidence is False:
        folder = None
    elif evidence is not True:
        folder = Path(evidence)
    exporter: SpanExporter | None = given.get("exporter")
    return Settings(
        evidence=None if folder is None else folder.absolute(),
        make_processors=functools.partial(span_processors, exporter),
        set_global=bool(given.get("set_global", False)),
        idle_s=float(given.get("idle_s", 5.0)),
        redactor=load_redactor(given.get("key")),
    )


def _check(given: dict[str, Any]) -> None:
    allowed: dict[str, tuple[type, ...]] = {
        "evidence": (str, os.PathLike, bool),
        "exporter": (SpanExporter,),
        "set_global": (bool,),
        "live": (bool,),
        "key": (bytes, str),
        "idle_s": (int, float),
    }
    for name, kinds in allowed.items():
        if name in given and not isinstance(given[name], kinds):
            words = " or ".join(kind.__name__ for kind in kinds)
            raise ConfigurationError(
                f"configure({name}=...) takes {words}, not {type(given[name]).__name__}. Nothing "
                "was configured. Correct the argument, or leave it out."
            )
    if given.get("idle_s", 1) <= 0:
        raise ConfigurationError(
            f"configure(idle_s={given['idle_s']}) must be more than 0 seconds. Nothing was "
            "configured. Correct the argument, or leave it out."
        )
