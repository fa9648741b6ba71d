"""Which recorded call an execution answers, where a hook left that before it."""

from __future__ import annotations

from collections.abc import Callable

from agenttrace.capture._context import CallReference, Scope
from agenttrace.domain import JsonValue


def answered_call(
    scope: Scope, tool: str, digest: Callable[[], JsonValue]
) -> tuple[CallReference | None, int]:
    """The call that this execution answers, if a hook left that here, and how often it ran before.

    Inside a dispatch there is one call, and running it again is a repeat. Of calls that were parsed
    earlier the one with equal arguments is taken, else the only one left of that tool.
    """
    dispatch = scope.dispatch
    if dispatch is None and not scope.handed_on:
        return None, 0
    with scope.run.taking:
        if dispatch is not None:
            if dispatch.tool != tool or dispatch.run is not scope.run:
                return None, 0
            dispatch.taken += 1
            return dispatch, dispatch.taken - 1
        return _take_handed_on(scope, tool, digest()), 0


def _take_handed_on(scope: Scope, tool: str, digest: JsonValue) -> CallReference | None:
    left = [r for r in scope.handed_on if r.tool == tool and not r.taken and r.run is scope.run]
    equal = [r for r in left if digest is not None and r.digest() == digest]
    if not equal and len(left) != 1:
        return None
    found = equal[0] if equal else left[0]
    found.taken += 1
    return found
