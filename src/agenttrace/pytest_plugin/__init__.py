"""The face inside pytest: agent runs as tests, verdicts as outcomes.

pytest loads this at every start, also for projects that never record, so that what costs a tracer
is imported where a fixture is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agenttrace.testing import FixedSource, Recording


@pytest.fixture
def agenttrace_recording() -> Iterator[Recording]:
    """One run that is recorded in memory, apart from whatever is configured."""
    from agenttrace.testing import recording  # noqa: PLC0415

    with recording() as recorded:
        yield recorded


@pytest.fixture
def agenttrace_fixed() -> Iterator[FixedSource]:
    """Ids that count up and a clock that moves in steps, so that records can be compared as text.

    Name it before `agenttrace_recording`, or the run has an id of its own.
    """
    from agenttrace.testing import fixed_ids_and_clock  # noqa: PLC0415

    with fixed_ids_and_clock() as source:
        yield source
