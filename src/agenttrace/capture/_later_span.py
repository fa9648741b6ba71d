"""A span of our own provider that is made when its record is: until then it is its ids.

Most of what a span costs is making it, and through our own provider nobody sees it before its work
has ended and its record was made, on a thread of ours. Where no processor listens it is never made.
Whoever takes the current span and sets an attribute on it gets the real one at that moment.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Tracer
from opentelemetry.sdk.trace.sampling import DEFAULT_ON
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
)

from agenttrace import semconv
from agenttrace.capture._guard import failed
from agenttrace.capture._source import Source, source
from agenttrace.capture._waiting import ThreadMark

_ERROR: Final = Status(StatusCode.ERROR)
_foreign: Final = ThreadMark()
_making: Final = [threading.RLock()]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _making.__setitem__(0, threading.RLock()))


class foreign_code:  # noqa: N801 - reads as a statement: `with foreign_code():`
    """Around whatever may run a sampler or processor of the user's on this thread."""

    __slots__ = ("_outer",)

    def __enter__(self) -> None:
        self._outer = _foreign.is_set()
        _foreign.put(True)

    def __exit__(self, *_: object) -> None:
        _foreign.put(self._outer)  # also at a KeyboardInterrupt, or no more is recorded


def is_foreign_code_running() -> bool:
    """Whether this thread is inside a sampler or processor that we called.

    A tool that is called from there is not recorded: its span would call the processor again.
    """
    return _foreign.is_set()


class Queue(Protocol):
    """A processor that takes no span while it is full."""

    def is_full(self) -> bool:
        """Whether the next span would be dropped."""

    def drop(self) -> None:
        """Count a span that was not made for that."""


class Ids(Source):
    """Ids of our own provider's spans: of the source in use, which a test may change at any time.

    A span that is made later gets the id that it was known by until then.
    """

    def __init__(self, *, are_later: bool) -> None:
        self.are_later = are_later
        """Whether spans may be made later; not where the program's own spans stand beside them."""
        self.is_heard = False
        """Whether a processor listens to the provider."""
        self.queues: tuple[Queue, ...] | None = ()
        """The processors that listen; None: there are others, which take every span."""
        self._promised = threading.local()

    def generate_span_id(self) -> int:
        """The id that was promised to the span that is being made, or a new one."""
        promised: int = getattr(self._promised, "span_id", 0)
        if promised:
            self._promised.span_id = 0
            return promised
        return source().generate_span_id()

    def generate_trace_id(self) -> int:
        """A new id."""
        return source().generate_trace_id()

    def listen(self, processor: object) -> None:
        """Note a processor of the provider."""
        self.is_heard = True
        if self.queues is not None:
            is_queue = callable(getattr(processor, "is_full", None))
            self.queues = (*self.queues, cast("Queue", processor)) if is_queue else None

    def sheds(self) -> bool:
        """Whether a span that ends now would be taken by nobody; then it is counted as dropped."""
        queues = self.queues
        if not queues or not all(queue.is_full() for queue in queues):
            return False
        for queue in queues:
            queue.drop()
        return True

    def promise(self, span_id: int) -> None:
        """Give the next span that this thread makes this id; 0 takes it back."""
        self._promised.span_id = span_id


def can_be_later(tracer: otel.Tracer) -> bool:
    """Whether this tracer's spans can be made later: it is ours, and its sampler says what it will.

    The standard sampler lets a span go the way of its parent; any other has to be asked.
    """
    if type(tracer) is not Tracer or tracer.sampler is not DEFAULT_ON:
        return False
    ids = tracer.id_generator
    return type(ids) is Ids and ids.are_later


class LaterSpan(Span):
    """A sampled span under a valid parent."""

    __slots__ = (
        "_attributes",
        "_context",
        "_ids",
        "_is_ended",
        "_is_shed",
        "_kind",
        "_links",
        "_made",
        "_name",
        "_start_ns",
        "_tracer",
    )

    def __init__(
        self,
        tracer: Tracer,
        name: str,
        parent: SpanContext,
        *,
        context: Context,
        start_ns: int,
        kind: SpanKind,
        attributes: Mapping[str, Any] | None,
        links: Sequence[Link] | None,
    ) -> None:
        self._tracer = tracer
        self._name = name
        self._ids = SpanContext(
            parent.trace_id,
            source().generate_span_id(),
            False,
            parent.trace_flags,
            parent.trace_state,
        )
        self._context = context
        self._start_ns = start_ns
        self._kind = kind
        self._attributes = attributes
        self._links = links
        self._made: Span | None = None
        self._is_ended = False
        self._is_shed = False

    # What it is asked while nothing needs the real one

    def get_span_context(self) -> SpanContext:
        """Its ids."""
        return self._ids

    def is_recording(self) -> bool:
        """Whether it has not ended."""
        return not self._is_ended if self._made is None else self._made.is_recording()

    @property
    def is_heard(self) -> bool:
        """Whether anybody sees what it says; asked when its work has ended.

        Where every queue is full it is dropped before anything is made of it, and counted so.
        """
        if self._made is not None or self._is_shed:
            return not self._is_shed
        ids = self._ids_of_provider()
        # The span of a run says what is missing, so that it is never dropped.
        self._is_shed = ids.is_heard and self._name != semconv.SPAN_RUN and ids.sheds()
        return ids.is_heard and not self._is_shed

    def _ids_of_provider(self) -> Ids:
        ids: Ids = self._tracer.id_generator  # type: ignore[assignment]
        return ids

    def finish(self, attributes: Mapping[str, Any] | None, end_ns: int, *, is_error: bool) -> None:
        """End it with everything its record says, made now if somebody listens."""
        if self.is_heard:
            with foreign_code():
                if self._made is None and attributes is not None:
                    self._attributes = {**(self._attributes or {}), **attributes}
                    attributes = None
                span = self._real()
                try:
                    if attributes is not None:
                        span.set_attributes(attributes)
                    if is_error:
                        span.set_status(_ERROR)
                finally:
                    span.end(end_ns)
        self._is_ended = True

    # What is for the real one

    def _real(self) -> Span:
        """The span, made at the latest now."""
        made = self._made
        if made is not None:
            return made
        with _making[0]:
            if self._made is None:
                self._made = NonRecordingSpan(self._ids)  # also for whom making it calls
                if not self._is_ended:
                    self._made = self._start()
            return self._made

    def _start(self) -> Span:
        ids = self._ids_of_provider()
        try:
            with foreign_code():
                ids.promise(self._ids.span_id)
                return self._tracer.start_span(
                    self._name,
                    context=self._context,
                    kind=self._kind,
                    attributes=self._attributes,
                    links=self._links,
                    start_time=self._start_ns,
                )
        except BaseException as error:  # noqa: BLE001 - a processor that raises
            failed("starting a span", error, loses=False)
            return NonRecordingSpan(self._ids)
        finally:
            ids.promise(0)

    def __getattr__(self, name: str) -> Any:
        """What only a span of the SDK has: its name, its attributes, its times."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._real(), name)

    def end(self, end_time: int | None = None) -> None:
        """End it."""
        self._real().end(end_time)

    def set_attributes(self, attributes: Any) -> None:
        """Set attributes."""
        self._real().set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        """Set an attribute."""
        self._real().set_attribute(key, value)

    def add_event(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Add an event."""
        self._real().add_event(name, *args, **kwargs)

    def add_link(self, context: SpanContext, attributes: Any = None) -> None:
        """Add a link."""
        self._real().add_link(context, attributes)

    def update_name(self, name: str) -> None:
        """Give it another name."""
        self._real().update_name(name)

    def set_status(self, status: Any, description: str | None = None) -> None:
        """Set its status."""
        self._real().set_status(status, description)

    def record_exception(self, exception: BaseException, *args: Any, **kwargs: Any) -> None:
        """Add an event that holds an exception."""
        self._real().record_exception(exception, *args, **kwargs)
