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
    boundary: Boundary | None
    """None: it records no boundary, so nothing is missing where it does not fit."""
    hook: str
    """What is hooked, as people know it: `BaseClient._build_request`."""
    ok: bool
    detail: str = ""
    """The library's version, or what did not fit."""


_lock: Final = threading.RLock()
_hooks: Final[dict[tuple[str, str, str], HookReport]] = {}


def report_hook(
    library: str, boundary: Boundary | str | None, hook: str, ok: bool, detail: str = ""
) -> None:
    """Say whether a hook was installed and fits; the same hook again replaces what was said."""
    place = None if boundary is None else Boundary(boundary)
    with _lock:
        _hooks[library, str(place), hook] = HookReport(library, place, hook, ok, detail)


def withdraw_hooks(library: str) -> None:
    """Forget the hooks of a library: it was taken out again.

    Runs that are open lose by it: what comes now leaves no record.
    """
    with _lock:
        withdrawn = [_hooks.pop(key) for key in list(_hooks) if key[0] == library]
    if any(hook.boundary is not None for hook in withdrawn):
        lost(f"hook:{library}:withdrawn")


def hooks() -> tuple[HookReport, ...]:
    """Every hook reported so far, in the order of the reports."""
    return tuple(_hooks.values())
