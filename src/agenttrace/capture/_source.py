"""Where ids and times come from, so that a test can fix both."""

from __future__ import annotations

import secrets
import time

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator


class Source(RandomIdGenerator):
    """Random ids and the wall clock."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()

    def new_id(self, prefix: str) -> str:
        """A new unique id that starts with the prefix."""
        return f"{prefix}-{secrets.token_hex(12)}"


_current = [Source()]


def source() -> Source:
    """The source in use."""
    return _current[0]


def use_source(new: Source) -> Source:
    """Take ids and times from elsewhere; gives back what was in use."""
    old, _current[0] = _current[0], new
    return old
