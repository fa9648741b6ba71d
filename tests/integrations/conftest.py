"""Hooks in place for one test, and a collector where capture would be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agenttrace.integrations import instrument, uninstrument
from tests.support.handed import Handed, stand_in


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Handed]:
    """What the hooks hand over; faults of ours are raised, not swallowed."""
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    collector = stand_in(monkeypatch)
    instrument("openai", "anthropic")
    yield collector
    uninstrument()
