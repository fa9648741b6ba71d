"""Which libraries can be recorded, and which are; the only place that turns hooks on and off.

Nothing here imports a library that the program has not imported: a library that is installed and
not loaded yet is hooked at the moment it is. `supported()` does import what is installed.
"""

from __future__ import annotations

import platform
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

import wrapt

from agenttrace.capture import guard, report_hook, warn_once, withdraw_hooks
from agenttrace.domain import Boundary
from agenttrace.errors import ConfigurationError, MissingExtraError
from agenttrace.integrations import anthropic, openai, threads
from agenttrace.integrations._patching import HookCheck
from agenttrace.integrations._sdk_client import ClientHooks


@dataclass(frozen=True, kw_only=True, slots=True)
class Integration:
    """One library and how it is hooked."""

    name: str
    """What `instrument()` calls it, and the name of its extra."""
    boundary: Boundary | None
    """None: it records none, and carries runs to where they would be lost."""
    package: str | None
    """Name of its distribution. None: it is part of Python, and `instrument()` has to name it."""
    oldest: tuple[int, ...]
    """First version it is tested with; older ones are not hooked."""
    below: tuple[int, ...]
    """First version it is not tested with; those are hooked where every signature still fits."""
    module: str
    """Module after whose import there is something to hook."""
    check: Callable[[], tuple[HookCheck, ...]]
    instrument: Callable[[], Callable[[], None]]

    @property
    def versions(self) -> str:
        """The tested range, as a requirement says it."""
        low, high = (".".join(map(str, bound)) for bound in (self.oldest, self.below))
        return f">={low},<{high}"


def _sdk(hooks: ClientHooks, *, oldest: int, below: int) -> Integration:
    """An SDK whose distribution, package and extra have one name; its major versions tested."""
    return Integration(
        name=hooks.sdk.library,
        boundary=Boundary.MODEL,
        package=hooks.sdk.library,
        oldest=(oldest,),
        below=(below,),
        module=hooks.sdk.module,
        check=hooks.check,
        instrument=hooks.instrument,
    )


INTEGRATIONS: Final = {
    each.name: each
    for each in (
        _sdk(openai.HOOKS, oldest=2, below=4),
        _sdk(anthropic.HOOKS, oldest=2, below=3),
        Integration(
            name=threads.LIBRARY,
            boundary=None,
            package=None,
            oldest=(3, 11),
            below=(3, 14),
            module="threading",
            check=threads.check,
            instrument=threads.instrument,
        ),
    )
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Supported:
    """What `doctor` says of one library."""

    library: str
    extra: str | None
    """Name of its extra; None: it is part of Python."""
    versions: str
    """Tested range."""
    installed: str | None
    """Installed version; None: it is not installed."""
    in_range: bool | None
    """Whether that version is tested; None: it is not installed."""
    instrumented: bool
    hooks: tuple[HookCheck, ...] = ()
    """Each hook and whether it fits; empty where the library is not installed."""


class _Armed:
    """One library that was asked for; `take_out` is set once it was loaded and hooked."""

    def __init__(self) -> None:
        self.take_out: Callable[[], None] | None = None


_lock: Final = threading.RLock()
_armed: Final[dict[str, _Armed]] = {}
_awaited: Final[set[str]] = set()
"""Modules whose import is being waited for; such a wait cannot be taken back."""


def instrument(*names: str) -> tuple[str, ...]:
    """Record the calls that go through these libraries; without names, every one installed.

    `threading`, which carries runs into threads, is turned on by `configure()` or by its name.
    Doing it twice changes nothing. The library may be loaded before or later, and clients may be
    there already. A hook that does not fit the installed version is left out and reported to
    `doctor` and in each run's manifest; nothing is raised for it.

    Returns:
        All libraries that are instrumented now.

    Raises:
        ConfigurationError: a name is none of the known ones.
        MissingExtraError: a library was asked for by name and is not installed.
    """
    wanted = _known(names)
    for each in wanted:
        if names and not _is_installed(each):
            raise MissingExtraError(extra=each.name, package=each.package)
    asked = [each for each in wanted if names or each.package is not None]
    usable = [each for each in asked if _is_installed(each) and _is_new_enough(each)]
    with _lock:
        for each in usable:
            _armed.setdefault(each.name, _Armed())
    for each in usable:
        _hook_when_loaded(each)
    return instrumented()


def uninstrument(*names: str) -> tuple[str, ...]:
    """Take our hooks out of these libraries, or of all; every original object stands again.

    Where somebody else has patched on top of a hook, theirs stays and ours only passes calls on.

    Returns:
        The libraries that are still instrumented.

    Raises:
        ConfigurationError: a name is none of the known ones.
    """
    wanted = _known(names)
    with _lock:
        for each in wanted:
            armed = _armed.pop(each.name, None)
            if armed is not None and armed.take_out is not None:
                armed.take_out()
            withdraw_hooks(each.name)
    return instrumented()


def instrumented() -> tuple[str, ...]:
    """The libraries that are instrumented now, or will be when they are loaded."""
    with _lock:
        return tuple(sorted(_armed))


def supported() -> tuple[Supported, ...]:
    """Every library that can be recorded, whether it is installed and its hooks fit.

    Imports the installed ones; a library that cannot be imported has one hook that says why.
    """
    rows = []
    for each in INTEGRATIONS.values():
        installed = _installed_version(each)
        rows.append(
            Supported(
                library=each.name,
                extra=each.name if each.package is not None else None,
                versions=each.versions,
                installed=installed,
                in_range=None if installed is None else _in_range(each, installed),
                instrumented=each.name in instrumented(),
                hooks=() if installed is None else _check(each),
            )
        )
    return tuple(rows)


def _known(names: tuple[str, ...]) -> tuple[Integration, ...]:
    unknown = [name for name in names if name not in INTEGRATIONS]
    if unknown:
        raise ConfigurationError(
            f"There is no integration named {', '.join(map(repr, unknown))}, so nothing was "
            f"changed. Known are: {', '.join(sorted(INTEGRATIONS))}."
        )
    return tuple(INTEGRATIONS[name] for name in names or INTEGRATIONS)


def _hook_when_loaded(each: Integration) -> None:
    """Hook a loaded library now, another one as soon as it is loaded.

    No lock is held while another thread's import is waited for: that thread may want the lock.
    """
    with _lock:
        is_new = each.module not in _awaited and each.module not in sys.modules
        _awaited.update({each.module} if is_new else ())
    if is_new:
        registering: int | None = threading.get_ident()

        def loaded(_: object) -> None:
            # wrapt calls at once, under its own lock, where another thread has begun the import.
            if threading.get_ident() != registering:
                _hook(each)

        wrapt.register_post_import_hook(loaded, each.module)
        registering = None
    if each.module in sys.modules:
        _hook(each)


def _hook(each: Integration) -> None:
    """Install the hooks of a loaded library, if it is still asked for."""
    with guard(f"instrumenting {each.name}"):
        import_module(each.module)  # waits where another thread is still loading it
        with _lock:
            armed = _armed.get(each.name)
            if armed is not None and armed.take_out is None:
                armed.take_out = each.instrument()


def _check(each: Integration) -> tuple[HookCheck, ...]:
    try:
        return each.check()
    except Exception as error:  # noqa: BLE001 - importing a library may raise anything
        return (HookCheck(each.module, False, f"cannot be imported: {error}"),)


def _is_installed(each: Integration) -> bool:
    if each.module in sys.modules:
        return True
    try:
        return find_spec(each.module.partition(".")[0]) is not None
    except (ImportError, ValueError):  # a stand-in of somebody's tests has no spec
        return False


def _installed_version(each: Integration) -> str | None:
    if each.package is None:
        return platform.python_version()
    try:
        return version(each.package)
    except PackageNotFoundError:
        return "unknown" if _is_installed(each) else None


def _is_new_enough(each: Integration) -> bool:
    found = _installed_version(each) or "unknown"
    if _numbers(found) and _numbers(found) < each.oldest:
        detail = f"{each.package} {found} is older than {each.versions}"
        report_hook(each.name, each.boundary, each.module, False, detail)
        warn_once(
            f"old:{each.name}",
            f"{detail}, so its calls are not recorded. Upgrade {each.package}.",
        )
        return False
    return True


def _in_range(each: Integration, found: str) -> bool:
    return each.oldest <= _numbers(found) < each.below


def _numbers(found: str) -> tuple[int, ...]:
    """The leading numbers of a version; empty where it does not start with one."""
    parts = []
    for part in found.split("."):
        if not part.isdigit():
            break
        parts.append(int(part))
    return tuple(parts)
