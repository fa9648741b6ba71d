"""The one recorder of this process: which runs are open, and which run a piece of work belongs to.

Its id is renewed in a forked child, where numbers start again: two processes under one id would
give every number twice.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import util as processes
from pathlib import Path
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.context import Context

from agenttrace import semconv
from agenttrace.capture._context import (
    Scope,
    current_scope,
    current_unsampled,
    enter_scope,
    leave_scope,
)
from agenttrace.capture._guard import (
    count_owed,
    forget_faults,
    guard,
    is_strict,
    lost,
    mask_messages_with,
    on_unplaced,
)
from agenttrace.capture._lines import LineWriter, check_folder, folder_of, forget_files
from agenttrace.capture._messages import masked_message
from agenttrace.capture._outbox import outbox
from agenttrace.capture._passing import let_pass
from agenttrace.capture._provider import Providers
from agenttrace.capture._retention import retention
from agenttrace.capture._run_state import RunState, opening_attributes
from agenttrace.capture._sampling import Sampling, Unsampled
from agenttrace.capture._settings import Settings
from agenttrace.capture._settler import LATE_S, Settler
from agenttrace.capture._source import source
from agenttrace.capture._spans import ids_in, is_foreign_code_running, start_span
from agenttrace.capture._tool_facts import traced_tools
from agenttrace.domain import Run
from agenttrace.redaction import Redactor, let_pass_with, load_redactor

_MAX_IDS: Final = 10_000
Listener = Callable[[RunState], None]


class Recorder:
    """The recording of runs in this process."""

    def __init__(self) -> None:
        self.is_active = False
        """Whether anything asked for recording yet; before that, decorated tools just run."""
        self.listeners: list[Listener] = []
        """Told of each run that settles, on the thread that settled it."""
        self.closers: list[Listener] = []
        """Told of each run that is about to end, to record what is still open of it."""
        self.enders: list[Callable[[], None]] = []
        """Called when the process ends, after the last run has settled."""
        self.last: list[Callable[[], None]] = []
        """Called when the process ends, after the exporters."""
        self.traced = traced_tools
        """Tools that are decorated in this process."""
        self.set_up: Callable[[], None] | None = None
        """Called when something asks for recording, before anything is recorded."""
        self._is_exit_known = False
        self._renew()
        self.reset(Settings())

    def _renew(self) -> None:
        self.recorder_id = source().new_id("rec")
        self._lock = threading.RLock()
        self._settler = Settler(self.settle)

    def reset(self, settings: Settings) -> None:
        """Begin anew with other settings; runs that are open keep the old ones."""
        with self._lock:
            self.settings = settings
            self.providers = Providers(settings)
            self.sampling = Sampling(settings.sample, settings.idle_s)
            self._redactor = settings.redactor
            self._is_evidence_checked = False
            self._explicit: dict[int, RunState] = {}
            self._implicit: dict[str, RunState] = {}
            self._given_ids: OrderedDict[str, int] = OrderedDict()
            self._known: weakref.WeakSet[RunState] = weakref.WeakSet()

    def adopt(self, settings: Settings) -> None:
        """Go on with other settings; runs that are open keep the old ones, and end as they would.

        What the provider before still holds is sent when the process ends.
        """
        with self._lock:
            before = self.providers
            self.settings = settings
            self.providers = Providers(settings)
            self.sampling = Sampling(settings.sample, settings.idle_s)
            self._redactor = settings.redactor
            self._is_evidence_checked = False
        self.enders.append(lambda: before.shutdown(settings.exit_s))

    def activate(self) -> bool:
        """Begin to record, as something asks for it; false where recording is switched off."""
        if not self.is_active:
            with guard("setting up", loses=False):
                if self.set_up is not None:
                    self.set_up()
            self.is_active = self.settings.enabled
        return self.is_active

    @contextmanager
    def replaced(self, settings: Settings) -> Iterator[None]:
        """Record with other settings for a while, for tests; runs before and after are apart."""
        with self._lock:
            kept = {name: self.__dict__[name] for name in _REPLACED}
            self.reset(settings)
            self.is_active = True
            self.listeners, self.enders = [], []
        outside = enter_scope(None)
        try:
            yield
        finally:
            leave_scope(outside)
            self.settle_implicit()
            self.providers.shutdown(settings.exit_s)
            with self._lock:
                self.__dict__.update(kept)

    @property
    def redactor(self) -> Redactor:
        """What masks and signs, with the key that was given or found."""
        with self._lock:
            if self._redactor is None:
                with guard("finding the key"):
                    self._redactor = load_redactor(is_strict=False)
            if self._redactor is None:
                self._redactor = Redactor(secrets.token_bytes(32), source="ephemeral")
            return self._redactor

    # Runs

    def open_run(self, run: Run, *, context: Context | None = None) -> RunState:
        """Begin recording a run, with its span under the context's."""
        self.is_active = True
        now = source().now_ns()
        context = otel_context.get_current() if context is None else context
        tracer = self.providers.tracer()
        attributes = opening_attributes(run)
        span = start_span(
            tracer, semconv.SPAN_RUN, context=context, start_ns=now, attributes=attributes
        )
        if span.is_made_up:
            tracer = self.providers.private_tracer()
            span = start_span(
                tracer, semconv.SPAN_RUN, context=context, start_ns=now, attributes=attributes
            )
        recorder_id = self._recorder_id_for(run)
        state = RunState(
            run=run,
            settings=self.settings,
            recorder_id=recorder_id,
            tracer=tracer,
            redactor=self.redactor,
            span=span,
            writer=self._writer(run, recorder_id, now),
            is_deferred=self.providers.is_ours(tracer) and not is_strict(),
            tools=self.traced,
            on_late=lambda state: self._settler.wait_for(state, LATE_S),
        )
        with self._lock:
            self._known.add(state)
            if not run.implicit:
                self._explicit[id(state)] = state
        self._settle_at_exit()
        return state

    def settle(self, state: RunState, *, settled: bool = True) -> None:
        """Write the run's end, or its next revision, and tell who wants to know."""
        with guard("settling a run", state):
            count_owed()
            outbox.drain()
            with self._lock:
                self._explicit.pop(id(state), None)
                for key in [k for k, v in self._implicit.items() if v is state]:
                    del self._implicit[key]
            for closer in tuple(self.closers):
                with guard("closing what is open of a run", state):
                    closer(state)
            outbox.drain()
            state.close(settled=settled)
            for listener in tuple(self.listeners):
                with guard("telling of a settled run", loses=False):
                    listener(state)

    def settle_implicit(self) -> None:
        """Settle every run that is only waiting to go idle."""
        for state in self._settler.take_all():
            self.settle(state)

    # Which run

    def scope(self) -> Scope | None:
        """Where the current work stands; None while nothing asked for recording.

        Outside any run the work belongs to the only open one, if there is exactly one, and is
        marked; else to the implicit run of its root trace, or of its thread of work.
        """
        if not self.is_active:
            return None
        if is_foreign_code_running():
            lost("recursion")
            return None
        scope = current_scope()
        if scope is not None:
            return scope
        if current_unsampled() is not None:
            return None
        if self.sampling.is_used and self.unsampled() is not None:
            return None
        with self._lock:
            is_only = len(self._explicit) + self.sampling.open == 1
            only = list(self._explicit.values()) if is_only else []
        if only:
            return Scope(run=only[0], inferred=True)
        return self._implicit_scope()

    def unsampled(self) -> Unsampled | None:
        """The run that the current work belongs to, if nothing of that one is recorded."""
        found = current_unsampled()
        if found is not None or current_scope() is not None:
            return found
        if len(self._explicit) + self.sampling.open == 1:
            return self.sampling.first()
        ids = ids_in(otel_context.get_current())
        return self.sampling.of_trace(f"{ids.trace_id:032x}") if ids.is_valid else None

    def _implicit_scope(self) -> Scope | None:
        context = otel_context.get_current()
        ids = otel.get_current_span(context).get_span_context()
        key = f"{ids.trace_id:032x}" if ids.is_valid else None
        with self._lock:
            state = self._implicit.get(key) if key is not None else None
            if state is None or state.is_closed:
                run = Run(run_id=source().new_id("run"), implicit=True)
                left_out = self.sampling.of_run(run.run_id) if key is None else None
                if left_out is not None:
                    enter_scope(left_out)
                    return None
                state = self.open_run(run, context=context)
                self._implicit[key or run.run_id] = state
                self._settler.wait_for(state, self.settings.idle_s)
        scope = Scope(run=state)
        if key is None:
            # No trace says what belongs together; what follows in this context does.
            enter_scope(scope)
        return scope

    # The process

    def flush(self, timeout_s: float) -> bool:
        """Hand what our own provider holds to its exporters; false if not all was taken in time."""
        return outbox.drain(timeout_s) and self.providers.flush(timeout_s)

    def end_process(self) -> None:
        """Write the end of every run that is open, and let exporters finish for a moment."""
        end_s = time.monotonic() + self.settings.exit_s
        with guard("ending the process"):
            with self._lock:
                left = [state for state in self._known if state.open_executions]
                still_open = list(self._explicit.values())
            for state in left:
                for execution in state.open_executions:
                    execution.never_finished()
            outbox.is_inline = True
            outbox.drain()
            self.settle_implicit()
            for state in {*still_open, *(state for state in left if state.is_closed)}:
                # Whoever forked us ends the run; here only our own part of it ends.
                if not state.is_forked or state.has_records:
                    self.settle(state, settled=state.is_closed or state.is_forked)
        for ender in tuple(self.enders):
            with guard("ending the process", loses=False):
                ender()
        with guard("ending the exporters", loses=False):
            # The interpreter takes a part of the time itself, after the last of us.
            self.providers.shutdown(max(0.0, 0.75 * (end_s - time.monotonic())))
        for last in tuple(self.last):
            with guard("ending the process", loses=False):
                last()

    def after_fork(self) -> None:
        """Go on as another recorder, with the runs that were open at the fork."""
        with guard("starting over in a forked child"):
            outbox.renew()
            forget_faults()
            forget_files()
            known = list(self._known)
            explicit = list(self._explicit.values())
            self._renew()
            self._implicit = {}
            self._known = weakref.WeakSet(known)
            self._explicit = {id(state): state for state in explicit}
            self.providers.renew()
            for state in known:
                writer = None
                if state.writer is not None:
                    writer = LineWriter(state.writer.folder, state.run, self.recorder_id)
                state.adopt_in_child(self.recorder_id, writer)
            on_unplaced(self.count_unplaced)

    def _recorder_id_for(self, run: Run) -> str:
        """Ours, or one of its own where this process has recorded a run of this id before.

        Numbers begin again with each opening; under one recorder id each would come twice.
        """
        with self._lock:
            before = self._given_ids.pop(run.run_id, 0)
            self._given_ids[run.run_id] = before + 1
            if len(self._given_ids) > _MAX_IDS:
                self._given_ids.popitem(last=False)
        return f"{self.recorder_id}.{before + 1}" if before else self.recorder_id

    def _writer(self, run: Run, recorder_id: str, now: int) -> LineWriter | None:
        root = self.settings.evidence
        if root is None:
            return None
        if not self._is_evidence_checked:
            self._is_evidence_checked = True
            check_folder(root)
        retention.begin(self.settings, self._open_folders)
        return LineWriter(folder_of(root, run, now), run, recorder_id)

    def _open_folders(self) -> set[Path]:
        with self._lock:
            return {state.folder for state in self._known if state.folder and not state.is_closed}

    def _settle_at_exit(self) -> None:
        if self._is_exit_known:
            return
        self._is_exit_known = True  # a forked child has it from its parent
        atexit.register(self.end_process)

    def end_with_worker(self) -> None:
        """Write what is open when a child of multiprocessing ends: it leaves without atexit."""
        processes.Finalize(None, self.end_process, exitpriority=0)

    def count_unplaced(self, cause: str) -> None:
        with self._lock:
            states = [state for state in self._known if not state.is_closed]
        for state in states:
            state.count_lost(cause)


_REPLACED: Final = (
    "settings",
    "sampling",
    "providers",
    "is_active",
    "listeners",
    "enders",
    "_redactor",
    "_is_evidence_checked",
    "_explicit",
    "_implicit",
    "_given_ids",
    "_known",
)

recorder: Final = Recorder()
"""The recorder of this process."""

on_unplaced(recorder.count_unplaced)
let_pass_with(let_pass)
mask_messages_with(lambda text: masked_message(text, list(recorder._known)))
processes.register_after_fork(recorder, Recorder.end_with_worker)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=outbox.pause,
        after_in_parent=outbox.resume,
        after_in_child=recorder.after_fork,
    )
