"""Spans of ours: started and ended here alone, with OpenTelemetry's own faults kept out.

A sampler or processor of the user's may raise, and a provider may give no ids. A record needs ids
in any case, so such a span is replaced by one that is not exported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)

from agenttrace.capture._guard import failed, guard
from agenttrace.capture._later_span import (
    LaterSpan,
    can_be_later,
    foreign_code,
    is_foreign_code_running,
)
from agenttrace.capture._source import source

if TYPE_CHECKING:
    from agenttrace.capture._run_state import RunState

_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_ERROR: Final = Status(StatusCode.ERROR)
__all__ = [
    "Attached",
    "OpenSpan",
    "context_of",
    "end_span",
    "ids_in",
    "is_foreign_code_running",
    "run_context",
    "start_span",
    "under",
]


class OpenSpan:
    """One span with what its record needs of it; its ids become text when they are asked for."""

    __slots__ = ("_ids", "_parent", "is_made_up", "span", "start_ns")

    def __init__(
        self, span: Span, ids: SpanContext, parent: SpanContext, start_ns: int, is_made_up: bool
    ) -> None:
        self.span = span
        self._ids = ids
        self._parent = parent
        self.start_ns = start_ns
        self.is_made_up = is_made_up
        """Its ids are ours: the provider gave none. It is not exported."""

    @property
    def is_heard(self) -> bool:
        """Whether anybody sees what is set on it."""
        span = self.span
        if type(span) is LaterSpan:
            return span.is_heard
        with guard("asking a span", loses=False):
            return span.is_recording()
        return False

    @property
    def trace_id(self) -> str:
        """32 hexadecimal digits."""
        return f"{self._ids.trace_id:032x}"

    @property
    def span_id(self) -> str:
        """16 hexadecimal digits."""
        return f"{self._ids.span_id:016x}"

    @property
    def parent_id(self) -> str | None:
        """16 hexadecimal digits; None where the span is a root."""
        return f"{self._parent.span_id:016x}" if self._parent.is_valid else None

    @property
    def ref(self) -> str:
        """Unique name of the record within its evidence."""
        return f"{self._ids.trace_id:032x}-{self._ids.span_id:016x}"


def start_span(
    tracer: otel.Tracer,
    name: str,
    *,
    context: Context,
    start_ns: int,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, Any] | None = None,
    link: str | None = None,
    parent: SpanContext | None = None,
) -> OpenSpan:
    """Start a span under the context's span; never fails.

    Args:
        link: `ref` of the record that this one answers.
        parent: Ids of the context's span, where they are known.
    """
    if parent is None:
        parent = ids_in(context)
    if not name.isascii():
        name = name.encode(errors="backslashreplace").decode()
    links = None if link is None else [Link(context_of(link))]
    if parent.is_valid and can_be_later(tracer):
        return _start_later(
            tracer,
            name,
            parent,
            start_ns=start_ns,
            context=context,
            kind=kind,
            attributes=attributes,
            links=links,
        )
    span: Span | None = None
    ids: SpanContext | None = None
    try:
        with foreign_code():
            span = tracer.start_span(
                name,
                context=context,
                kind=kind,
                attributes=attributes,
                links=links,
                start_time=start_ns,
            )
            ids = span.get_span_context()
    except BaseException as error:  # noqa: BLE001 - a sampler or a processor that raises
        failed("starting a span", error, loses=False)
        ids = None
    # A tracer that does nothing hands the parent back as it is.
    made_up = span is None or ids is None or not ids.is_valid or ids.span_id == parent.span_id
    if span is None or ids is None or made_up:
        trace_id = parent.trace_id if parent.is_valid else source().generate_trace_id()
        ids = SpanContext(trace_id, source().generate_span_id(), is_remote=False)
        span = NonRecordingSpan(ids)
    return OpenSpan(span, ids, parent, start_ns, made_up)


def _start_later(
    tracer: Any, name: str, parent: SpanContext, *, start_ns: int, **options: Any
) -> OpenSpan:
    span: Span
    if parent.trace_flags.sampled:
        span = LaterSpan(tracer, name, parent, start_ns=start_ns, **options)
    else:
        span_id, state = source().generate_span_id(), parent.trace_state
        span = NonRecordingSpan(SpanContext(parent.trace_id, span_id, False, trace_state=state))
    return OpenSpan(span, span.get_span_context(), parent, start_ns, False)


def end_span(
    span: OpenSpan,
    *,
    end_ns: int,
    attributes: Mapping[str, Any] | None = None,
    is_error: bool = False,
) -> None:
    """End a span with everything its record says; never fails."""
    with guard("ending a span", loses=False):
        if type(span.span) is LaterSpan:
            span.span.finish(attributes, end_ns, is_error=is_error)
            return
        with foreign_code():
            try:
                if attributes is not None:
                    span.span.set_attributes(attributes)
                if is_error:
                    span.span.set_status(_ERROR)
            finally:
                span.span.end(end_ns)


def context_of(ref: str) -> SpanContext:
    """The span that a reference names."""
    trace_id, _, span_id = ref.partition("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=_SAMPLED)


def under(span: OpenSpan, context: Context) -> Context:
    """The context, with this span as the current one."""
    return otel.set_span_in_context(span.span, context)


def ids_in(context: Context) -> SpanContext:
    """Ids of the span in this context; they are not valid where there is none."""
    return otel.get_current_span(context).get_span_context()


def run_context(run: RunState) -> Context:
    """The current context, with a run's span as the current one."""
    return under(run.span, otel_context.get_current())


class Attached:
    """A context that is current while a body runs, from step to step.

    A body may leave a context of its own current: between two items of a generator, or for its
    caller. That stays as the body left it, but for our span, which is no parent outside the body.
    """

    __slots__ = ("_context", "_left", "_outside", "_own")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._left: Context | None = None
        self._own: Context | None = None
        self.again()

    def again(self) -> None:
        """Make it current, or what the body left current where that still is."""
        now = otel_context.get_current()
        if now is self._left and self._own is not None:
            if self._own is not now:
                otel_context.attach(self._own)
            return
        self._outside = now
        otel_context.attach(self._context)

    def let_go(self) -> None:
        """Bring back the context before where this one is current still."""
        if otel_context.get_current() is self._context:
            otel_context.attach(self._outside)

    def detach(self) -> None:
        """Bring back the context before, unless we are in another one by now."""
        now = otel_context.get_current()
        self._left = self._own = None
        if now is self._context:
            otel_context.attach(self._outside)
            return
        self._left = self._own = now
        if otel.get_current_span(now) is otel.get_current_span(self._context):
            span = otel.get_current_span(self._outside)
            self._left = otel.set_span_in_context(span, now)
            otel_context.attach(self._left)
