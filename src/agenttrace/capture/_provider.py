"""Which TracerProvider spans go through: the user's where there is one, else a private one.

The global provider is never set uninvited. A provider that the user sets later is taken from the
next run on; a run that is open keeps the one it began with, so that its spans stay together.
"""

from __future__ import annotations

import threading

from opentelemetry import trace as otel
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from agenttrace import semconv
from agenttrace._version import __version__
from agenttrace.capture._guard import guard
from agenttrace.capture._later_span import Ids
from agenttrace.capture._outbox import outbox
from agenttrace.capture._settings import Settings


class Providers:
    """The user's provider or ours, and one tracer of each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.RLock()
        self._private: TracerProvider | None = None
        self._is_being_made = False
        self._private_tracer: otel.Tracer | None = None
        self._users: tuple[otel.TracerProvider, otel.Tracer] | None = None

    def tracer(self) -> otel.Tracer:
        """The tracer that a run beginning now records through."""
        with guard("joining the TracerProvider", loses=False):
            users = users_provider()
            if users is None and self._settings.set_global:
                users = self._become_global()
            if users is not None:
                if self._users is None or self._users[0] is not users:
                    self._users = (users, _tracer_of(users))
                return self._users[1]
        return self.private_tracer()

    def private_tracer(self) -> otel.Tracer:
        """The tracer of our own provider, made when it is first needed."""
        with self._lock:
            if self._private_tracer is None:
                if self._is_being_made:  # by this thread: a signal's handler came in between
                    return otel.NoOpTracer()
                self._is_being_made = True
                try:
                    self._private = _make_private(self._settings)
                    self._private_tracer = _tracer_of(self._private)
                finally:
                    self._is_being_made = False
            return self._private_tracer

    def renew(self) -> None:
        """Go on in a forked child, with the provider that the open runs record through."""
        self._lock = threading.RLock()
        self._is_being_made = False

    def is_joined(self) -> bool:
        """Whether the next run goes through a provider that the user set up."""
        users = users_provider()
        return users is not None and users is not self._private

    def is_ours(self, tracer: otel.Tracer) -> bool:
        """Whether spans of this tracer go through our own provider."""
        return tracer is self._private_tracer

    def flush(self, timeout_s: float) -> bool:
        """Hand what our own provider holds to its exporters; false if that took too long."""
        private = self._private
        return private is None or private.force_flush(int(timeout_s * 1000))

    def shutdown(self, timeout_s: float) -> None:
        """End our own provider, and wait no longer than this for its exporters."""
        private = self._private
        if private is None:
            return
        # A dead endpoint is retried for half a minute; a daemon thread does not hold the process.
        worker = threading.Thread(
            target=_shut, args=(private,), daemon=True, name="agenttrace-exit"
        )
        try:
            worker.start()
        except RuntimeError:
            # From CPython 3.12 on no thread can be started once the interpreter is ending.
            _shut(private)
            return
        worker.join(timeout_s)

    def _become_global(self) -> otel.TracerProvider | None:
        self.private_tracer()
        if self._private is not None:
            otel.set_tracer_provider(self._private)
        return self._private


def users_provider() -> otel.TracerProvider | None:
    """The global provider, if somebody set a real one."""
    provider = otel.get_tracer_provider()
    unset = isinstance(provider, otel.ProxyTracerProvider | otel.NoOpTracerProvider)
    return None if unset else provider


def _tracer_of(provider: otel.TracerProvider) -> otel.Tracer:
    return provider.get_tracer(semconv.SCOPE, __version__, schema_url=semconv.SCHEMA_URL)


def _make_private(settings: Settings) -> TracerProvider:
    ids = Ids(are_later=not settings.set_global)
    provider = _Private(resource=Resource.create(), id_generator=ids, shutdown_on_exit=False)
    processors: tuple[SpanProcessor, ...] = ()
    with guard("making an exporter", loses=False):
        processors = tuple(settings.make_processors())
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


def _shut(provider: TracerProvider) -> None:
    with guard("ending the exporters", loses=False):
        provider.shutdown()


class _Private(TracerProvider):
    """Our own provider, whose spans may be made and end a moment after their work."""

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Have a processor listen to the spans that end from now on."""
        super().add_span_processor(span_processor)
        if isinstance(self.id_generator, Ids):
            self.id_generator.listen(span_processor)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """End the spans whose work has ended, and hand all to the exporters."""
        outbox.drain(timeout_millis / 1000)
        return super().force_flush(timeout_millis)

    def shutdown(self) -> None:
        """End the spans whose work has ended, and the exporters."""
        outbox.drain()
        super().shutdown()
