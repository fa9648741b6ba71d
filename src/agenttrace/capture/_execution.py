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
from agenttrace.capture._answered import answered_call
from agenttrace.capture._binding import Binder, binder_of, is_lasting, passes_its_class, underlying
from agenttrace.capture._context import Scope, enter_scope, leave_scope
from agenttrace.capture._fault import message_of, type_of
from agenttrace.capture._guard import failed, guard
from agenttrace.capture._recorder import recorder
from agenttrace.capture._snapshot import copied
from agenttrace.capture._snapshot_bulk import Bulk
from agenttrace.capture._snapshot_plain import is_flat
from agenttrace.capture._source import source
from agenttrace.capture._spans import Attached, OpenSpan, start_span, under
from agenttrace.capture._tool_facts import traced_tools
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
            traced_tools.runs(self.name, binder)
            if is_lasting(function):
                self._last = (function, skip, binder)
        return binder


class OpenExecution:
    """One execution that has begun.

    What the caller waits for is a copy of the arguments and of the result, and the span; what is
    made of the copies is made when its turn comes.
    """

    __slots__ = (
        "_attached",
        "_bulk",
        "_context",
        "_error",
        "_live",
        "_payload",
        "_plain",
        "_scope",
        "_span",
        "_token",
        "_tool",
        "is_ended",
        "run",
        "weight",
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
        self._tool = tool
        self._attached: Attached | None = None
        self._token: Any = None
        self._live: Mapping[str, Any] | None = None
        self._bulk: Bulk | None = None
        self._plain: JsonValue | Bulk = None
        self._error: tuple[str, str] | None = None
        self.weight = 0
        payload: dict[str, Any] = {"name": tool.name, "seq": run.tick()}
        self._payload = payload
        try:
            self._copy_arguments(tool, wrapped, args, kwargs)
        except BaseException as error:  # noqa: BLE001 - the tool runs in any case
            failed("copying arguments", error, run)
        reference, repeat = answered_call(scope, tool.name, self._digest)
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
                payload["parent"] = scope.execution.ref
        if scope.agent is not None:
            payload["agent"] = scope.agent
        if scope.phase is not Phase.RUN:
            payload["phase"] = scope.phase.value
        if scope.inferred:
            payload["inferred"] = True
        context, parent = run.placed(otel_context.get_current(), scope.execution)
        self._span: OpenSpan = start_span(
            run.tracer,
            tool.span,
            context=context,
            start_ns=source().now_ns(),
            # Ours are set with all others at the end, where nobody looks at them before.
            attributes=None if run.is_deferred else tool.attributes,
            link=link,
            parent=parent,
        )
        self._context = under(self._span, context)
        self._scope = Scope(run, scope.agent, scope.phase, self._span, inferred=scope.inferred)
        run.opened(self)
        run.leave(self, is_needed=False)  # else its arguments are read at its end

    def _copy_arguments(
        self,
        tool: Tool,
        wrapped: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> None:
        """Copy what the body is about to receive, by parameter name."""
        payload = self._payload
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
        if is_flat(live):
            self._plain = live  # ours alone, and nothing in it can change
            return
        self._live = live
        self._plain, self.weight = copied(live, self.run.mask.digest_text)
        if type(self._plain) is Bulk:
            self._bulk = self._plain

    def _digest(self) -> JsonValue:
        """The digest of the arguments, for whoever needs it before its turn."""
        payload = self._payload
        plain = self._plain = _built(self._plain)
        if "digest" not in payload and isinstance(plain, dict):
            text = canonical(plain)
            payload["digest"] = self.run.mask.digest_text(text)
            payload["length"] = len(text)
        return payload.get("digest")

    def work(self) -> None:
        """Mask and digest the copied arguments; in a forked child the parent's turn never came."""
        plain = self._plain = _built(self._plain)
        if not isinstance(plain, dict):
            return
        payload = self._payload
        arguments = payload["arguments"] = self.run.mask.mask_arguments(plain)
        self._digest()
        self._plain = None
        key = self._tool.idempotency_key
        if key is not None and isinstance(arguments.get(key), str | int):
            payload["idempotency_key"] = str(arguments[key])

    # While the body runs

    def attach(self) -> None:
        """Make the execution current, as its body is about to run."""
        self._token = enter_scope(self._scope)
        try:
            if self._attached is None:
                self._attached = Attached(self._context)
            else:
                self._attached.again()
        except BaseException as error:  # noqa: BLE001 - the tool runs in any case
            failed("attaching a context", error, loses=False)

    def detach(self) -> None:
        """The body does not run now."""
        is_here = self._token is not None and leave_scope(self._token)
        self._token = None
        if is_here and self._attached is not None:
            try:
                self._attached.detach()
            except BaseException as error:  # noqa: BLE001 - the tool has run
                failed("detaching a context", error, loses=False)

    def let_go(self) -> None:
        """Be current no more, whatever was interrupted; where nothing was, nothing is done."""
        token = self._token
        if token is not None:
            self._token = None
            leave_scope(token)
        if self._attached is not None:
            self._attached.let_go()

    # The end

    def returned(self, result: Any) -> None:
        """The body returned; the result is copied and left as it is."""
        self._payload.pop("count", None)
        try:
            kept, weight = copied(result, self.run.mask.digest_text)
        except BaseException as error:  # noqa: BLE001 - the program gets the result in any case
            self._payload["result_observed"] = False
            failed("copying a result", error, self.run)
            self._end(Ending.RETURNED)
        else:
            if type(kept) is Bulk:
                kept.let_go()
            self._end(Ending.RETURNED, kept, weight)

    def yielded(self, items: list[JsonValue], count: int, result: Any) -> None:
        """A generator was followed to its end; its items are its result."""
        if count > len(items):
            self.stopped(Ending.RETURNED)
        else:
            self.returned(items if result is None else [*items, result])

    def raised(self, error: BaseException) -> None:
        """The body raised, or was stopped from outside."""
        payload = self._payload
        if not (type(error) is TypeError and _is_from_call(error)):
            payload.pop("count", None)
        with guard("reading an exception", self.run):
            kind = payload["error_type"] = type_of(error)
            self._error = (kind, message_of(error))
        if issubclass(type(error), CancelledError | GeneratorExit):  # no foreign `__class__`
            self.stopped(Ending.CANCELLED)
        else:
            self.stopped(Ending.RAISED)

    def never_finished(self) -> None:
        """The process ends and the body still runs."""
        self._payload.pop("count", None)
        self.stopped(Ending.NEVER_FINISHED)

    def stopped(self, ending: Ending) -> None:
        """The body ended without a result, or with one that cannot be observed."""
        if ending is Ending.RETURNED:
            self._payload.pop("count", None)
        self._payload["result_observed"] = False
        self._end(ending)

    def _end(self, ending: Ending, result: JsonValue | Bulk = None, weight: int = 0) -> None:
        if self.is_ended:
            return
        self.is_ended = True
        run = self.run
        exit_plain: JsonValue | Bulk = None
        if self._live is not None:
            live, self._live = self._live, None
            bulk, self._bulk = self._bulk, None
            try:
                if bulk is None or not bulk.is_unchanged():
                    exit_plain, more = copied(live, run.mask.digest_text)
                    weight += more
                    if type(exit_plain) is Bulk:
                        exit_plain.let_go()
            except BaseException as error:  # noqa: BLE001 - the tool has run
                failed("comparing arguments at the end", error, run)
        end_ns = max(source().now_ns(), self._span.start_ns)
        run.ended(self)
        end = _End(self, ending, result, exit_plain, end_ns=end_ns, weight=weight + self.weight)
        run.leave(end)

    def write(
        self,
        ending: Ending,
        result: JsonValue | Bulk,
        exit_plain: JsonValue | Bulk,
        end_ns: int,
    ) -> None:
        """Make the record; called once its turn has come."""
        run, payload = self.run, self._payload
        with guard("copying arguments", run):
            self.work()
        if ending is not Ending.RETURNED:
            payload["ending"] = ending.value
        with guard("comparing arguments at the end", run):
            if exit_plain is not None:
                payload["exit_digest"] = run.mask.digest(_built(exit_plain))
            elif "digest" in payload:
                payload["exit_digest"] = payload["digest"]
        if result is not None:
            with guard("copying a result", run):
                payload["result_observed"] = False
                payload["result"] = run.mask.mask_value(_built(result))
                del payload["result_observed"]
        if self._error is not None:
            with guard("reading an exception", run):
                kind, message = self._error
                message = run.mask.mask_text(message)
                payload["error"] = f"{kind}: {message}" if message else kind
        run.write_plain(
            RecordKind.EXECUTION,
            self._span,
            payload,
            end_ns=end_ns,
            is_error=ending is Ending.RAISED,
        )


class _End:
    """The end of an execution, whose record is to be made."""

    __slots__ = ("_end_ns", "_ending", "_execution", "_exit_plain", "_result", "run", "weight")

    def __init__(
        self,
        execution: OpenExecution,
        ending: Ending,
        result: JsonValue | Bulk,
        exit_plain: JsonValue | Bulk,
        *,
        end_ns: int,
        weight: int,
    ) -> None:
        self._execution = execution
        self._ending = ending
        self._result = result
        self._exit_plain = exit_plain
        self._end_ns = end_ns
        self.run = execution.run
        self.weight = weight

    def work(self) -> None:
        """Make the record."""
        self._execution.write(self._ending, self._result, self._exit_plain, self._end_ns)


def _built(copy: JsonValue | Bulk) -> JsonValue:
    return copy.build() if type(copy) is Bulk else copy  # type: ignore[return-value]


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
    except BaseException as error:  # noqa: BLE001 - the tool runs in any case
        failed("recording an execution", error)
        return None


def _is_from_call(error: BaseException) -> bool:
    """Whether the call itself was refused: no frame stands below the one that made it."""
    trace = error.__traceback__
    return trace is not None and trace.tb_next is None
