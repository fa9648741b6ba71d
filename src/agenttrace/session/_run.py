"""`run`: one execution of the agent, from which a verdict can be asked.

Entering and leaving never raise, and neither does anything that is recorded in between; asking for
a verdict may, because then somebody waits for the answer.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Token
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

from agenttrace.capture import (
    Attached,
    Place,
    RunState,
    Scope,
    body_of,
    callable_name,
    current_scope,
    enter_scope,
    failed,
    guard,
    leave_scope,
    record_event,
    recorder,
    run_context,
)
from agenttrace.domain import Case, Evidence, JsonValue, Phase, Run, Verdict
from agenttrace.errors import (
    AgentTraceError,
    ConfigurationError,
    InvalidCaseError,
    NoRunError,
)
from agenttrace.records import Record
from agenttrace.session._cases import CaseLike, is_path, read_case
from agenttrace.session._configure import ensure_configured
from agenttrace.session._entered import Entered, pass_over_left, standing_run
from agenttrace.session._judge import evidence_of, given_cases, verdict_of
from agenttrace.session._opening import opened
from agenttrace.session._state import session

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class AgentRun:
    """One run; a context manager and a decorator, for plain and for asynchronous code."""

    def __init__(
        self,
        case: CaseLike | None,
        run: Run,
        phase: Phase,
        name: str | None,
        sample: bool | None = None,
    ) -> None:
        self._case = case
        self._run = run
        self._phase = phase
        self._agent = name
        self._sample = sample
        self._id: str | None = None
        self._unrecorded: str | None = None
        """Why nothing of it is recorded. None: it is, or it has not begun."""
        self._state: RunState | None = None
        self._case_error: AgentTraceError | None = None
        self._entered: list[Entered] = []
        """A run may be entered again inside itself; each time is a run of its own."""

    # The run's life

    def __enter__(self) -> AgentRun:
        """Begin the run."""
        entered = Entered()
        self._entered.append(entered)
        with guard("opening a run"):
            ensure_configured()
            case = self._read_case()
            has_case = case is not None or self._run.case_id is not None
            run, self._unrecorded = opened(self._run, self._sample, has_case=has_case)
            self._id = run.run_id
            if self._unrecorded is not None:
                self._state = None
                if recorder.is_active:
                    entered.unsampled = recorder.sampling.begin()
                    entered.token = enter_scope(entered.unsampled)
                return self
            if case is not None:
                revision = run.case_revision or case.revision
                run = replace(run, case_id=case.case_id, case_revision=revision)
            state = self._state = entered.state = recorder.open_run(run)
            if case is not None:
                given_cases[state] = case
            scope = Scope(run=state, agent=self._agent, phase=self._phase)
            entered.token = enter_scope(scope)
            entered.attached = Attached(run_context(state))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the run; the program's exception passes through as it is."""
        self._end(self._leave())

    def _leave(self) -> Entered:
        """What comes now in this context is no longer the run's."""
        entered = self._entered.pop() if self._entered else Entered()
        with guard("leaving a run"):
            own = entered.state or entered.unsampled
            if own is not None and entered.token is not None:
                if standing_run() in (None, own):
                    leave_scope(entered.token)
                else:
                    own.left = entered  # what was entered after it goes on
        with guard("detaching a context", loses=False):
            if entered.attached is not None:
                entered.attached.detach()
        with guard("leaving a run"):
            pass_over_left()
        return entered

    def _end(self, entered: Entered) -> None:
        with guard("closing a run"):
            if entered.state is not None:
                recorder.settle(entered.state)
            elif entered.unsampled is not None:
                recorder.sampling.end(entered.unsampled)

    async def __aenter__(self) -> AgentRun:
        """Begin the run."""
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the run."""
        self.__exit__(kind, error, traceback)

    def __call__(self, function: FunctionT) -> FunctionT:
        """Make each call of the function a run of its own.

        Raises:
            ConfigurationError: It cannot be called, or it is a generator: what its consumer does
                is not this run's.
        """
        if isinstance(function, classmethod | staticmethod):
            return cast("FunctionT", type(function)(self(function.__func__)))
        if not callable(function):
            raise ConfigurationError(
                f"run decorates functions and other callables, not {type(function).__name__}. "
                "Nothing was decorated. Put it on the function that runs the agent."
            )
        body = body_of(function)
        if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
            raise ConfigurationError(
                f"run decorates functions, and {callable_name(function)} is a generator, whose "
                "work is mixed with its consumer's. Nothing was decorated. Use `with run(...)` "
                "around the loop that consumes it."
            )
        if inspect.iscoroutinefunction(body):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                with self._again():
                    return await function(*args, **kwargs)

            return cast("FunctionT", run_async)

        @functools.wraps(function)
        def run_sync(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return cast("FunctionT", run_sync)

    def _again(self) -> AgentRun:
        return AgentRun(self._case, self._run, self._phase, self._agent, self._sample)

    def _read_case(self) -> Case | None:
        case = self._case
        if case is None or isinstance(case, Case):
            return case
        if not is_path(case):
            return None
        try:
            return read_case(case)
        except BaseException as error:  # noqa: BLE001 - no fault of ours costs the run its record
            # The agent runs in any case; whoever asks for the verdict is told.
            if not isinstance(error, AgentTraceError):
                reason = f"could not be read ({type(error).__name__}: {error!s:.200})"
                self._case_error = InvalidCaseError(os.fspath(case), reason)
            else:
                self._case_error = error
            failed("reading a run's case", error, loses=False)
            return None

    # What is put on record

    def set_output(self, text: str) -> None:
        """Record the run's last text to the user; it stays in local evidence."""
        self.event("output", value=text)

    def set_state(self, document: JsonValue) -> None:
        """Record the state of the world after the run."""
        self.event("state", value=document)

    def event(self, event_name: str, /, **data: Any) -> None:
        """Record what is no call: `approval`, `human_edit`, `guardrail` and others.

        The reference page on events has the names and their fields. An event that does not fit is
        counted, logged once, and left out.
        """
        with guard("recording an event"):
            if self._state is not None:
                record_event(self._state, event_name, data)

    @contextmanager
    def phase(self, phase: Phase | str) -> Iterator[AgentRun]:
        """Say what a part of the run is for: `setup`, `run`, or `evaluation`.

        Only calls of `run` are the agent's own.
        """
        with self._scoped(phase=phase):
            yield self

    @contextmanager
    def agent(self, name: str) -> Iterator[AgentRun]:
        """Say which agent works in a part of the run."""
        with self._scoped(agent=name):
            yield self

    @contextmanager
    def _scoped(self, **changes: Any) -> Iterator[None]:
        token: Token[Place] | None = None
        with guard("changing the scope"):
            if "phase" in changes:
                changes["phase"] = Phase(changes["phase"])
            state, scope = self._state, current_scope()
            if state is not None:
                mine = scope if scope is not None and scope.run is state else Scope(run=state)
                token = enter_scope(replace(mine, **changes))
        try:
            yield
        finally:
            if token is not None:
                leave_scope(token)

    # What can be asked

    @property
    def id(self) -> str:
        """The run's id.

        Raises:
            NoRunError: The run has not begun, and no id was given.
        """
        return self._run.run_id or self._id or self._begun().run.run_id

    @property
    def folder(self) -> Path | None:
        """The folder of the run's local evidence; None where it has none.

        Raises:
            NoRunError: The run has not begun.
        """
        return None if self._unrecorded is not None else self._begun().folder

    def records(self) -> tuple[Record, ...]:
        """Everything recorded so far.

        Raises:
            NoRunError: The run has not begun.
        """
        return () if self._unrecorded is not None else self._begun().records()

    def evidence(self) -> Evidence:
        """Everything recorded so far, as a verdict rests on it.

        Raises:
            NoRunError: The run has not begun, or nothing was recorded yet.
        """
        return evidence_of(self._begun())

    @property
    def verdict(self) -> Verdict:
        """The judgement, made when it is asked for.

        Raises:
            NoRunError: Nothing was recorded, or the run was left out by sampling or by a switch.
            UnknownCaseError: The run names a case that is not among the configured ones.
            AgentTraceError: The case or the evidence cannot be used.
        """
        if self._case_error is not None:
            raise self._case_error
        return verdict_of(self._begun(), session.cases)[0]

    def _begun(self) -> RunState:
        if self._unrecorded is not None:
            raise NoRunError(self._unrecorded)
        if self._state is None:
            raise NoRunError(
                "This run has not begun, or could not be recorded, so there is nothing to show. "
                "Use it as `with agenttrace.run(...) as run:`; the log says if it failed."
            )
        return self._state


def run(
    case: str | os.PathLike[str] | Case | None = None,
    *,
    agent_version: str | None = None,
    prompt_version: str | None = None,
    attempt: int = 1,
    case_revision: str | None = None,
    run_id: str | None = None,
    phase: Phase | str = Phase.RUN,
    name: str | None = None,
    sample: bool | None = None,
) -> AgentRun:
    """Record one execution of the agent, in a `with` statement or as a decorator.

    Entering sets up recording with the defaults if `configure()` was not called. As a decorator
    each call is a run of its own.

    Args:
        case: A case's id (looked up in `configure(cases=...)` when the verdict is asked for), a
            file that holds one case, or a case. None: the records are compared with each other.
        agent_version: Version of the agent's code.
        prompt_version: Version of its prompts.
        attempt: Number of this run among the repeats of its case, from 1.
        case_revision: Revision of the case, where its id alone is given.
        run_id: The run's id, where it was given elsewhere; by default a new one.
        phase: What the run's calls are for unless said otherwise.
        name: Name of the agent that works in it.
        sample: True records the run whatever share of runs is recorded, False leaves it out. By
            default a run of a case is recorded, and any other by its id.

    Raises:
        ConfigurationError: The phase is none of `setup`, `run`, `evaluation`, or `sample` is
            neither true nor false.

    Example:
        >>> from agenttrace.testing import isolated
        >>> with isolated(), run(agent_version="2026.11") as this:
        ...     this.set_output("Refunded 98.00 USD.")
        >>> this.evidence().outcome.final_message
        'Refunded 98.00 USD.'
    """
    if phase not in set(Phase):
        raise ConfigurationError(
            f"run(phase={phase!r:.40}) must be one of {', '.join(Phase)}. No run was made. Correct "
            "the phase, or leave it out."
        )
    if sample is not None and not isinstance(sample, bool):
        raise ConfigurationError(
            f"run(sample={sample!r:.40}) takes True or False, for this run alone. No run was made. "
            "The share of all runs is set with configure(sample=...)."
        )
    is_id = isinstance(case, str) and not is_path(case)
    made = Run(
        run_id=run_id or "",
        case_id=case if isinstance(case, str) and is_id else None,
        case_revision=case_revision,
        attempt=attempt,
        agent_version=agent_version,
        prompt_version=prompt_version,
    )
    return AgentRun(case, made, Phase(phase), name, sample)
