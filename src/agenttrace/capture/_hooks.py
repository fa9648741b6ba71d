"""Which boundary of which library is recorded by which hook, and whether the hook still fits.

Integrations report here when they are installed; `doctor` lists it, and a hook that no longer fits
stands in every run's manifest, because what it should have recorded is missing there.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from agenttrace.capture._guard import lost
from agenttrace.domain import Boundary


@dataclass(frozen=True, slots=True)
class HookReport:
    """One hook of one library."""

    library: str
    boundary: Boundary
    hook: str
    """What is hooked, as people know it: `BaseClient._build_request`."""
    ok: bool
    detail: str = ""
    """The library's version, or what did not fit."""


_lock: Final = threading.RLock()
_hooks: Final[dict[tuple[str, str, str], HookReport]] = {}


def report_hook(
    library: str, boundary: Boundary | str, hook: str, ok: bool, detail: str = ""
) -> None:
    """Say whether a hook was installed and fits; the same hook again replaces what was said."""
    report = HookReport(library, Boundary(boundary), hook, ok, detail)
    with _lock:
        _hooks[library, report.boundary.value, hook] = report


def withdraw_hooks(library: str) -> None:
    """Forget the hooks of a library: it was taken out again.

    Runs that are open lose by it: what comes now leaves no record.
    """
    with _lock:
        keys = [key for key in _hooks if key[0] == library]
        for key in keys:
            del _hooks[key]
    if keys:
        lost(f"hook:{library}:withdrawn")


def hooks() -> tuple[HookReport, ...]:
    """Every hook reported so far, in the order of the reports."""
    return tuple(_hooks.values())
