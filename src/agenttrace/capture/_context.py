"""Where a piece of work stands: its run, agent, phase, execution, and the call it answers.

One context variable of our own holds all of it. OpenTelemetry's context is not used: programs
attach empty contexts of their own, and a run would be lost there.

A thread that was started by hand stands where it was started, as long as that run is open; it may
do other runs' work by then, so that its records say that their run is inferred.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import ref

from agenttrace.capture._sampling import Unsampled
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
    """The run was taken because it was the only open one, or is that of the thread's starter."""


class Inherited:
    """Where a thread was started. It keeps no run in memory that nobody else needs.

    The calls that were being dispatched there are left out: the thread may outlive them, and then
    they would be answered a second time.
    """

    __slots__ = ("_agent", "_execution", "_phase", "_run")

    def __init__(self, place: Scope | Unsampled) -> None:
        self._run: ref[RunState | Unsampled]
        if isinstance(place, Unsampled):
            self._run = ref(place)
            self._agent, self._phase, self._execution = None, Phase.RUN, None
        else:
            self._run = ref(place.run)
            self._agent, self._phase = place.agent, place.phase
            self._execution = place.execution

    def place(self) -> Scope | Unsampled | None:
        """What that is now; None where the run is over."""
        run = self._run()
        if run is None or isinstance(run, Unsampled):
            return run
        return Scope(run, self._agent, self._phase, self._execution, inferred=True)


Place: TypeAlias = "Scope | Unsampled | Inherited | None"

_scope: Final[ContextVar[Place]] = ContextVar("agenttrace_scope", default=None)


def current_place() -> Place:
    """What stands in this context, as it is: for carrying it into another one."""
    return _scope.get()


def inherited(place: Place) -> Inherited | None:
    """The same place for a thread that is started there."""
    return Inherited(place) if isinstance(place, Scope | Unsampled) else place


def current_scope() -> Scope | None:
    """The scope of this context, if it still means something."""
    scope = _scope.get()
    if type(scope) is Inherited:
        scope = scope.place()
    if type(scope) is not Scope:
        return None
    if scope.run.is_closed:
        if scope.inferred or scope.run.run.implicit:
            return None
        # Work of the run that goes on after its end, or work of nobody in a context that was left
        # in another thread: it comes late, and nobody is blamed for it.
        return replace(scope, inferred=True)
    return scope


def current_unsampled() -> Unsampled | None:
    """The run of which nothing is recorded, if this context stands in one."""
    place = _scope.get()
    if type(place) is Inherited:
        place = place.place()
    return place if type(place) is Unsampled and place.holds() else None


def enter_scope(scope: Place) -> Token[Place]:
    """Make a scope current in this context."""
    return _scope.set(scope)


def leave_scope(token: Token[Place]) -> bool:
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


def unrecorded(function: Callable[[str], str]) -> Callable[[str], str]:
    """A function of the program's that we call: nothing of its work is the agent's."""
    nowhere = Unsampled()

    def run(text: str) -> str:
        token = enter_scope(nowhere)
        try:
            return function(text)
        finally:
            leave_scope(token)

    return run
