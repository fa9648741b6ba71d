"""Where ids and times come from, so that a test can fix both."""

from __future__ import annotations

import os
import secrets
import time
from random import Random

from opentelemetry.sdk.trace.id_generator import IdGenerator

_random = Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random.seed)


class Source(IdGenerator):
    """Random ids and the wall clock.

    The ids do not come from the shared functions of `random`: a program that seeds them wants its
    own sequence undisturbed, and worker processes that seed them alike would all give the same ids.
    Nor from the system each time, which costs more than the rest of a span.
    """

    def generate_span_id(self) -> int:
        """64 bits that are not all zero."""
        return _random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        """128 bits that are not all zero."""
        return _random.getrandbits(128) or 1

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
