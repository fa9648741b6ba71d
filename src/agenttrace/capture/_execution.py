"""The executor boundary: one run of a tool's body, from what it received to how it ended.

Arguments are copied and digested before the body can change them. The record is written when the
work ends; until then the execution counts as open.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry import context as otel_context

from agenttrace import semconv
from agenttrace.capture._binding import Binder, binder_of, passes_its_class, underlying
from agenttrace.capture._context import CallReference, Scope, enter_scope, leave_scope
from agenttrace.capture._fault import message_of, type_of
from agenttrace.capture._foreign import is_scalar
from agenttrace.capture._guard import failed, guard
from agenttrace.capture._recorder import recorder
from agenttrace.capture._snapshot import snapshot
from agenttrace.capture._source import source
from agenttrace.capture._spans import Attached, OpenSpan, start_span, under
from agenttrace.domain import Ending, JsonValue, Phase
from agenttrace.records import RecordKind, canonical

MAX_ITEMS: Final = 1_000
"""Items of a generator that are kept as its result."""


class Tool:
    """What is known of one decorated tool, once for all its calls."""

    __slots__ = ("_last", "attributes", "idempotency_key", "name", "span")

    def __init__(self, name: str, idempotency_key: str | None) -> None:
        self.name = name
        self.idempotency_key = idempotency_key
        self.span = f"{semconv.SPAN_EXECUTE} {name}"
        self.attributes: Mapping[str, Any] = {
            semconv.GEN_AI_OPERATION_NAME: semconv.OPERATION_EXECUTE_TOOL,
            semconv.GEN_AI_TOOL_NAME: name,
        }
        self._last: tuple[Any, int, Binder | None] = (None, 0, None)

    def binder(self, wrapped: Callable[..., Any]) -> Binder | None:
        """The binder of the function that is about to run; the last one is kept."""
        function, skip = underlying(wrapped)
        last, last_skip, binder = self._last
        if function is not last or skip != last_skip:
            binder = binder_of(function, skip)
            self._last = (function, skip, binder)
        return binder


class OpenExecution:
    """One execution that has begun."""

    __slots__ = (
        "_attached",
        "_context",
        "_live",
        "_payload",
        "_scope",
        "_span",
        "_token",
        "is_ended",
        "run",
    )

    def __init__(
        self,
        tool: Tool,
        scope: Scope,
        wrapped: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> None:
        run = self.run = scope.run
        self.is_ended = False
        self._attached: Attached | None = None
        self._token: Any = None
        self._live: Mapping[str, Any] | None = None
        payload: dict[str, Any] = {"name": tool.name, "seq": run.tick()}
        self._payload = payload
        with guard("copying arguments", run):
            self._read_arguments(tool, wrapped, args, kwargs)
        reference, repeat = _reference(scope, tool.name, payload.get("digest"))
        link = None
        if reference is not None:
            link = payload["link"] = reference.ref
            if repeat:
                payload["attempt"] = repeat + 1
            for field in ("call_id", "response_id", "request_id", "turn", "index"):
                value = getattr(reference, field)
                if value is not None:
                    payload[field] = value
        else:
            # No hook said which call this answers, so that no id stands here says nothing.
            payload["call_id_known"] = False
            if scope.execution is not None:
                payload["parent"] = scope.execution
        if scope.agent is not None:
            payload["agent"] = scope.agent
        if scope.phase is not Phase.RUN:
            payload["phase"] = scope.phase.value
        if scope.inferred:
            payload["inferred"] = True
        context = run.context(otel_context.get_current())
        self._span: OpenSpan = start_span(
            run.tracer,
            tool.span,
            context=context,
            start_ns=source().now_ns(),
            attributes=tool.attributes,
            link=link,
        )
        self._context = under(self._span, context)
        self._scope = Scope(
            run=run,
            agent=scope.agent,
            phase=scope.phase,
            execution=self._span.ref,
            inferred=scope.inferred,
        )
        run.opened(self)

    def _read_arguments(
        self,
        tool: Tool,
        wrapped: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> None:
        payload, mask = self._payload, self.run.mask
        binder = tool.binder(wrapped)
        bound = None if binder is None else binder.bind(args, kwargs)
        if bound is not None:
            live, filled = bound
            if args and passes_its_class(wrapped, args[0]):
                live = {name: value for name, value in live.items() if name != "cls"}
            if filled:
                payload["defaults"] = list(filled)
        else:
            live = {}
            if args:
                live["args"] = list(args)
            if kwargs:
                live["kwargs"] = dict(kwargs)
            if binder is not None:
                payload["count"] = 0  # until the body is known to have been entered
        plain = snapshot(live, digest=mask.digest_text)
        if not isinstance(plain, dict):
            return
        arguments = mask.mask_arguments(plain)
        payload["arguments"] = arguments
        text = canonical(plain)
        payload["digest"] = mask.digest_text(text)
        payload["length"] = len(text)
        for value in live.values():
            if not is_scalar(value):
                self._live = live
                break
        key = tool.idempotency_key
        if key is not None and isinstance(arguments.get(key), str | int):
            payload["idempotency_key"] = str(arguments[key])

    # While the body runs

    def attach(self) -> None:
        """Make the execution current, as its body is about to run."""
        self._token = enter_scope(self._scope)
        with guard("attaching a context", loses=False):
            self._attached = Attached(self._context)

    def detach(self) -> None:
        """The body does not run now."""
        if self._attached is not None:
            with guard("detaching a context", loses=False):
                self._attached.detach()
            self._attached = None
        if self._token is not None:
            leave_scope(self._token)
            self._token = None

    # The end

    def returned(self, result: Any) -> None:
        """The body returned; the result is copied and left as it is."""
        payload = self._payload
        payload.pop("count", None)
        with guard("copying a result", self.run):
            payload["result_observed"] = False
            kept = self.run.mask.mask_value(snapshot(result, digest=self.run.mask.digest_text))
            del payload["result_observed"]
            if kept is not None:
                payload["result"] = kept
        self._end(Ending.RETURNED)

    def yielded(self, items: list[JsonValue], count: int, result: Any) -> None:
        """A generator was followed to its end; its items are its result."""
        if count > len(items):
            self._payload["result_observed"] = False
            self._end(Ending.RETURNED)
        else:
            self.returned(items if result is None else [*items, result])

    def raised(self, error: BaseException) -> None:
        """The body raised, or was stopped from outside."""
        payload = self._payload
        if not (type(error) is TypeError and _is_from_call(error)):
            payload.pop("count", None)
        with guard("reading an exception", self.run):
            kind = payload["error_type"] = type_of(error)
            message = self.run.mask.mask_text(message_of(error))
            payload["error"] = f"{kind}: {message}" if message else kind
        if issubclass(type(error), CancelledError | GeneratorExit):  # no foreign `__class__`
            self.stopped(Ending.CANCELLED)
        else:
            self.stopped(Ending.RAISED)

    def never_finished(self) -> None:
        """The process ends and the body still runs."""
        self._payload.pop("count", None)
        self.stopped(Ending.NEVER_FINISHED)

    def stopped(self, ending: Ending) -> None:
        """The body ended without a result."""
        self._payload["result_observed"] = False
        self._end(ending)

    def _end(self, ending: Ending) -> None:
        if self.is_ended:
            return
        self.is_ended = True
        run, payload = self.run, self._payload
        if ending is not Ending.RETURNED:
            payload["ending"] = ending.value
        with guard("comparing arguments at the end", run):
            if self._live is None:
                if "digest" in payload:
                    payload["exit_digest"] = payload["digest"]
            else:
                payload["exit_digest"] = run.mask.digest(
                    snapshot(self._live, digest=run.mask.digest_text)
                )
        self._live = None
        run.ended(self)
        run.commit_plain(
            RecordKind.EXECUTION,
            self._span,
            payload,
            end_ns=max(source().now_ns(), self._span.start_ns),
            is_error=ending is Ending.RAISED,
        )


def begin(
    tool: Tool,
    wrapped: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> OpenExecution | None:
    """Begin an execution; None while nothing is recorded, or when that failed."""
    try:
        scope = recorder.scope()
        return None if scope is None else OpenExecution(tool, scope, wrapped, args, kwargs)
    except Exception as error:  # noqa: BLE001 - the tool runs in any case
        failed("recording an execution", error)
        return None


def _reference(scope: Scope, tool: str, digest: JsonValue) -> tuple[CallReference | None, int]:
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
        return _take_handed_on(scope, tool, digest), 0


def _take_handed_on(scope: Scope, tool: str, digest: JsonValue) -> CallReference | None:
    left = [r for r in scope.handed_on if r.tool == tool and not r.taken and r.run is scope.run]
    equal = [r for r in left if r.digest == digest and digest is not None]
    if not equal and len(left) != 1:
        return None
    found = equal[0] if equal else left[0]
    found.taken += 1
    return found


def _is_from_call(error: BaseException) -> bool:
    """Whether the call itself was refused: no frame stands below the one that made it."""
    trace = error.__traceback__
    return trace is not None and trace.tb_next is None
