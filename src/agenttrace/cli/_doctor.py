"""`agenttrace doctor`: say what is installed, hooked, writable and configured here.

It looks and changes nothing: no provider is set up, no library hooked, no folder made.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from opentelemetry import trace as otel

from agenttrace._version import __version__
from agenttrace.cli._output import put, put_json
from agenttrace.errors import ConfigurationError
from agenttrace.exporters import read_ledger
from agenttrace.integrations import supported
from agenttrace.redaction import find_redactor
from agenttrace.report import visible
from agenttrace.settings import Resolution, masking_of, resolve

_BASE: Final = ("opentelemetry-api", "opentelemetry-sdk", "wrapt", "pydantic")
_EXTRAS: Final = {
    "anthropic": "anthropic",
    "openai": "openai",
    "otlp": "opentelemetry-exporter-otlp-proto-http",
    "re2": "google-re2",
    "yaml": "PyYAML",
}
_SOURCES: Final = {"environment": "environment", "file": "key file"}
_MARKS: Final = {True: "ok  ", False: "FAIL", None: "-   "}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    section: str
    name: str
    state: str
    ok: bool | None = None
    """None: neither good nor bad."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with every finding"
    )


def run(options: argparse.Namespace) -> int:
    """Look at everything; 1 when something that was asked for cannot work."""
    resolved = resolve()
    findings = [
        *_versions(),
        *_settings(resolved),
        *_extras(),
        *_libraries(),
        *_tracing(),
        *_otlp(),
        *_evidence(resolved),
        *_ledger(resolved),
        *_masking(resolved),
    ]
    if options.json:
        put_json({"version": __version__, "findings": [asdict(one) for one in findings]})
    else:
        _print(findings)
    return int(any(one.ok is False for one in findings))


def _print(findings: list[Finding]) -> None:
    section = None
    for one in findings:
        if one.section != section:
            put(f"{'' if section is None else chr(10)}{one.section}")
            section = one.section
        put(f"  {_MARKS[one.ok]} {visible(one.name)}: {visible(one.state)}")


def _versions() -> Iterator[Finding]:
    section = "versions"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield Finding(section=section, name="agenttrace", state=__version__, ok=True)
    yield Finding(section=section, name="python", state=python, ok=True)
    for package in _BASE:
        found = _installed(package)
        yield Finding(
            section=section, name=package, state=found or "not installed", ok=found is not None
        )


def _settings(resolved: Resolution) -> Iterator[Finding]:
    """Each setting and where it came from; what the program passes to `configure()` comes first."""
    section = "settings"
    for name, one in resolved.settings.items():
        if one.setting.has_variable and not (one.setting.is_secret and one.value is None):
            yield Finding(section=section, name=name, state=one.state)
    for problem in resolved.problems:
        yield Finding(section=section, name=problem.name, state=problem.message, ok=False)


def _extras() -> Iterator[Finding]:
    for extra, package in _EXTRAS.items():
        found = _installed(package)
        state = (
            f"{package} {found}"
            if found
            else f'not installed; pip install "agenttrace-otel[{extra}]"'
        )
        yield Finding(section="extras", name=extra, state=state, ok=True if found else None)


def _libraries() -> Iterator[Finding]:
    section = "libraries"
    for library in supported():
        if library.installed is None:
            state = f"not installed (tested: {library.versions})"
            yield Finding(section=section, name=library.library, state=state)
            continue
        tested = "tested" if library.in_range else f"outside the tested {library.versions}"
        yield Finding(
            section=section,
            name=library.library,
            state=f"{library.installed}, {tested}",
            ok=bool(library.in_range) or None,
        )
        for hook in library.hooks:
            state = (
                "fits" if hook.fits else f"does not fit, so its calls are not seen: {hook.detail}"
            )
            name = f"{library.library} {hook.hook}"
            yield Finding(section=section, name=name, state=state, ok=hook.fits)


def _tracing() -> Iterator[Finding]:
    provider = type(otel.get_tracer_provider())
    named = f"{provider.__module__}.{provider.__qualname__}"
    is_set = provider.__name__ != "ProxyTracerProvider"
    state = named if is_set else "none is set in this process; runs use a private one until one is"
    yield Finding(section="tracing", name="TracerProvider", state=state, ok=is_set or None)
    for name in ("OTEL_SDK_DISABLED", "OTEL_TRACES_SAMPLER", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"):
        if name in os.environ:
            yield Finding(section="tracing", name=name, state=os.environ[name])


def _otlp() -> Iterator[Finding]:
    section = "OTLP"
    told = {
        name: text for name, text in os.environ.items() if name.startswith("OTEL_EXPORTER_OTLP")
    }
    if not told:
        state = "not configured; local evidence is written all the same"
        yield Finding(section=section, name="OTEL_EXPORTER_OTLP_*", state=state)
        return
    for name, text in sorted(told.items()):
        is_secret = "HEADERS" in name or "KEY" in name
        yield Finding(section=section, name=name, state="set, not shown" if is_secret else text)
    exporter = _installed(_EXTRAS["otlp"])
    state = f"installed, {exporter}" if exporter else 'missing; pip install "agenttrace-otel[otlp]"'
    yield Finding(section=section, name="exporter", state=state, ok=exporter is not None)


def _evidence(resolved: Resolution) -> Iterator[Finding]:
    folder = resolved["evidence"]
    if not isinstance(folder, Path):
        state = "none; records are kept in memory alone"
        yield Finding(section="local evidence", name="folder", state=state)
        return
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    is_writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    runs = sum(1 for path in folder.glob("*/*") if path.is_dir()) if folder.is_dir() else 0
    counted = "1 run" if runs == 1 else f"{runs} runs"
    state = f"{folder.absolute()}, {counted}" if is_writable else f"{nearest} is not writable"
    yield Finding(section="local evidence", name="folder", state=state, ok=is_writable)


def _ledger(resolved: Resolution) -> Iterator[Finding]:
    """What processes that ended here sent, and what they lost."""
    section = "ledger"
    folder = resolved["evidence"]
    number, exported, lost = read_ledger(folder) if isinstance(folder, Path) else (0, {}, {})
    if number == 0:
        state = "no process has sent or lost anything yet"
        yield Finding(section=section, name="processes", state=state)
        return
    yield Finding(section=section, name="processes", state=f"{number} have ended")
    for name, count in sorted(exported.items()):
        yield Finding(section=section, name=name, state=str(count))
    for name, count in sorted(lost.items()):
        yield Finding(section=section, name=f"recorder: {name}", state=str(count))


def _masking(resolved: Resolution) -> Iterator[Finding]:
    section = "masking"
    try:
        redactor = find_redactor(**masking_of(resolved))
    except ConfigurationError as error:
        yield Finding(section=section, name="key", state=str(error), ok=False)
        return
    if redactor is None:
        state = "there is none yet; the first recording makes one"
        yield Finding(section=section, name="key", state=state)
        return
    state = f"{redactor.key_id}, from the {_SOURCES.get(redactor.source, redactor.source)}"
    yield Finding(section=section, name="key", state=state, ok=True)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
