"""Set-up that every test shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from agenttrace.session._state import session

# No deadline: two workers on two cores make single examples slow. In CI the examples are fixed, so
# that a failure there is one everybody can repeat; further Python versions look at fewer.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=15)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "local")
)

HERE = Path(__file__).parent
START_PROGRAMS = ("demo/test_demo", "docs", "examples", "collector")
"""Tests that start whole programs, and say little more on a further version of Python."""
PURE = ("scoring/test_schedules", "scoring/test_removals")
"""Long tests of code that is the same on every version."""
FIRST = (*START_PROGRAMS, *PURE, "ownership")
"""Files that take long: begun last, one of them would keep one worker busy and the others idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts whole programs, and begin with what takes long."""
    slow, first = (
        tuple(str(HERE / part) for part in parts) for parts in ((*START_PROGRAMS, *PURE), FIRST)
    )
    for item in items:
        if str(item.path).startswith(slow):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: not str(item.path).startswith(first))


@pytest.fixture(scope="session", autouse=True)
def only_variables_of_the_product() -> Iterator[None]:
    """Keep from programs under test what tells tests alone where material lies; they have read it.

    It would be named as an unknown setting of agenttrace.
    """
    place = os.environ.pop("AGENTTRACE_SHARED", None)
    yield
    if place is not None:
        os.environ["AGENTTRACE_SHARED"] = place


@pytest.fixture
def unconfigured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody called `configure()` in this process, as far as the test can see."""
    for name, value in (("given", None), ("resolved", None), ("is_implicit", False)):
        monkeypatch.setattr(session, name, value)
