"""What is loaded or compiled when it is first used, so that importing the scorer costs little."""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
"""As in `typing`, whose loading would be a tenth of what importing the scorer may cost."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names are loaded when they are first used.

    Args:
        package: Name of the package.
        homes: Public name to the module of the package that defines it, and behind a colon to its
            name there where that is another.
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own_name = home.partition(":")
        # Any name makes it give the module itself, not the outermost package.
        found = getattr(__import__(f"{package}.{module}", fromlist=["__name__"]), own_name or name)
        setattr(sys.modules[package], name, found)
        return found

    return find


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when it is first asked something."""
    late: Any = _LatePattern(pattern, flags)
    compiled: re.Pattern[str] = late
    return compiled


class _LatePattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._made_of = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Kept, so that the next question costs what it costs a compiled one.
        found = getattr(re.compile(*self._made_of), name)
        setattr(self, name, found)
        return found
