"""Where a piece of work stands: its run, agent, phase, execution, and the call it answers.

One context variable of our own holds all of it. OpenTelemetry's context is not used: programs
attach empty contexts of their own, and a run would be lost there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agenttrace.domain import JsonValue, Phase

if TYPE_CHECKING:
    from agenttrace.capture._run_state import RunState
    from agenttrace.capture._spans import OpenSpan


@dataclass(slots=True, eq=False)
class CallReference:
    """What an adapter's hook leaves for the execution that answers its call."""

    run: RunState
    tool: str
    ref: str
    """The adapter's record."""
    digest: Callable[[], JsonValue]
    """Of the arguments handed on; made when it is asked for."""
    call_id: str | int | None = None
    response_id: str | None = None
    request_id: str | None = None
    turn: int | None = None
    index: int | None = None
    taken: int = 0
    """Executions that answered it so far."""


@dataclass(slots=True, eq=False)
class Scope:
    """Where the current piece of work stands; never changed once it is current."""

    run: RunState
    agent: str | None = None
    phase: Phase = Phase.RUN
    execution: OpenSpan | None = None
    """The execution inside which we are."""
    dispatch: CallReference | None = None
    """The one call that is being dispatched around us."""
    handed_on: tuple[CallReference, ...] = ()
    """Calls parsed before and not executed yet."""
    inferred: bool = False
    """The run was taken because it was the only open one."""


_scope: Final[ContextVar[Scope | None]] = ContextVar("agenttrace_scope", default=None)


def current_scope() -> Scope | None:
    """The scope of this context, if it still means something."""
    scope = _scope.get()
    if scope is not None and scope.run.is_closed and (scope.inferred or scope.run.run.implicit):
        return None
    return scope


def enter_scope(scope: Scope | None) -> Token[Scope | None]:
    """Make a scope current in this context."""
    return _scope.set(scope)


def leave_scope(token: Token[Scope | None]) -> bool:
    """Bring back the scope before; in another context than it was set in, nothing is done.

    Returns:
        Whether this is the context that it was set in.
    """
    try:
        _scope.reset(token)
    except (ValueError, RuntimeError):
        # Closed elsewhere: a generator finalised by the collector, or a fixture's teardown. That
        # context never had our scope, so there is nothing to take away.
        return False
    return True
