"""The adapter boundary by hand: what turns a raw call into arguments, or refuses it.

A hook of a library does the same through the same records. What is handed on leaves a reference,
by which the decorated tool that runs next says which call it answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import Token
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, TypeVar, cast, overload

from opentelemetry import context as otel_context

from agenttrace import semconv
from agenttrace.capture._binding import body_of
from agenttrace.capture._call_id import CallNames, given_names, names_in
from agenttrace.capture._context import CallReference, Place, Scope, enter_scope, leave_scope
from agenttrace.capture._fault import message_of, type_of
from agenttrace.capture._guard import guard
from agenttrace.capture._recorder import recorder
from agenttrace.capture._snapshot import weighed
from agenttrace.capture._source import source
from agenttrace.capture._spans import start_span
from agenttrace.capture._wrapper import Reference
from agenttrace.domain import Boundary, JsonObject, JsonValue, Phase
from agenttrace.errors import ConfigurationError
from agenttrace.records import RecordKind, canonical

ParserT = TypeVar("ParserT", bound=Callable[..., Any])
_MAX_HANDED_ON: Final = 64


class _Adaptation:
    """One call on its way through the adapter."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.run = scope.run
        self.order = self.run.tick()
        self.started_ns = source().now_ns()
        self.context = self.run.context(otel_context.get_current(), scope.execution)
        self.plain: JsonObject | None = None
        self.weight = 0
        self._masked: JsonValue = None
        self._digest: str | None = None
        self._length = 0

    def read(self, arguments: Any) -> None:
        """Copy what is handed on, before anybody changes it."""
        with guard("copying arguments", self.run):
            plain, weight = weighed(arguments, self.run.mask.digest_text)
            if isinstance(plain, dict):
                self.plain, self.weight = plain, weight
                self._digest = self._masked = None
                self.run.deliver(self._mask)

    def _mask(self) -> None:
        """Mask what was copied: its secrets are known before the tool's own record is made."""
        if self._masked is None and self.plain is not None:
            self._masked = self.run.mask.mask_arguments(self.plain)

    def digest(self) -> JsonValue:
        """The digest of what is handed on, once it is needed."""
        if self._digest is None and self.plain is not None:
            text = canonical(self.plain)
            self._digest = self.run.mask.digest_text(text)
            self._length = len(text)
        return self._digest

    def start(self, names: CallNames) -> CallReference:
        """Start the span, linked to the model's call, and make what an execution will refer to."""
        call = self.run.model_calls.take(
            names.call_id, response_id=names.response_id, name=names.name, digest=self.digest
        )
        name = names.name or (call.name if call is not None else "")
        self.link = None if call is None else call.ref
        self.opened = start_span(
            self.run.tracer,
            f"{semconv.SPAN_ADAPT} {name}",
            context=self.context,
            start_ns=self.started_ns,
            link=self.link,
        )
        return CallReference(
            run=self.run,
            tool=name,
            ref=self.opened.ref,
            digest=self.digest,
            call_id=names.call_id if call is None else call.call_id,
            response_id=names.response_id if call is None else call.response_id,
            request_id=None if call is None else call.request_id,
            turn=None if call is None else call.turn,
            index=None if call is None else call.index,
        )

    def end(self, reference: CallReference, refusal: BaseException | None = None) -> None:
        """Write the record: what was handed on, or what refused it."""
        scope, run = self.scope, self.run
        payload: dict[str, Any] = {"name": reference.tool, "seq": self.order}
        error: tuple[str, str] | None = None
        if refusal is not None:
            kind = payload["error_type"] = type_of(refusal)
            error = (kind, message_of(refusal))
        known = {
            "call_id": reference.call_id,
            "response_id": reference.response_id,
            "request_id": reference.request_id,
            "turn": reference.turn,
            "index": reference.index,
            "link": self.link,
            "agent": scope.agent,
        }
        payload.update((name, value) for name, value in known.items() if value is not None)
        if reference.call_id is None:
            payload["call_id_known"] = False
        if scope.phase is not Phase.RUN:
            payload["phase"] = scope.phase.value
        if scope.inferred:
            payload["inferred"] = True
        end_ns = max(source().now_ns(), self.opened.start_ns)
        run.deliver(lambda: self._write(payload, error, end_ns), self.weight)

    def _write(self, payload: dict[str, Any], error: tuple[str, str] | None, end_ns: int) -> None:
        """Mask and digest what was copied, and write the record."""
        run = self.run
        if error is not None:
            kind, message = error[0], run.mask.mask_text(error[1])
            payload["error"] = f"{kind}: {message}" if message else kind
        elif self.plain is not None:
            self._mask()
            payload["arguments"] = self._masked
            payload["digest"] = self.digest()
            payload["length"] = self._length
        run.write_plain(
            RecordKind.ADAPT, self.opened, payload, end_ns=end_ns, is_error=error is not None
        )


class Dispatch:
    """One dispatch, or a decorator with options: what `adapter(...)` gives back."""

    def __init__(
        self,
        names: CallNames,
        arguments: Mapping[str, Any] | None,
        tools: tuple[str, ...] | bool | None,
    ) -> None:
        self._names = names
        self._given = arguments
        self._tools = tools
        self._work: _Adaptation | None = None
        self._reference: CallReference | None = None
        self._token: Token[Place] | None = None

    def hand_on(self, name: str | None = None, arguments: Mapping[str, Any] | None = None) -> None:
        """Say what is handed on, where that is known only inside the block."""
        with guard("recording a dispatch"):
            if self._work is None or self._reference is None:
                return
            self._given = arguments
            self._work.read(arguments)
            if name is not None:
                self._reference.tool = name

    def __enter__(self) -> Dispatch:
        """Begin the dispatch; the decorated tool that runs inside answers its call."""
        with guard("recording a dispatch"):
            scope = recorder.scope()
            if scope is None:
                return self
            work = _Adaptation(scope)
            if self._given is not None:
                work.read(self._given)
            self._reference = work.start(self._names)
            self._work = work
            _observe(scope, self._tools, self._reference.tool)
            self._token = enter_scope(replace(scope, dispatch=self._reference, handed_on=()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the dispatch; an exception before the tool was entered is its refusal."""
        if self._token is not None:
            leave_scope(self._token)
        work, reference = self._work, self._reference
        self._token = self._work = self._reference = None
        with guard("recording a dispatch"):
            if work is None or reference is None:
                return
            work.end(reference, error if self._is_refusal(reference) else None)

    def _is_refusal(self, reference: CallReference) -> bool:
        """An exception of a tool that leaves no record of its own may be the tool's."""
        return not reference.taken and (self._given is None or reference.tool in recorder.traced)

    def __call__(self, parser: ParserT) -> ParserT:
        """Record every call of the parser."""
        if not callable(parser):
            raise ConfigurationError(
                f"adapter decorates the function that turns a raw call into arguments, not "
                f"{type(parser).__name__}. Nothing was decorated."
            )
        return cast("ParserT", Reference(parser, _Parse(self._names, self._tools)))


class _Parse:
    """What wrapt calls in place of the parser."""

    def decorated_again(self, parser: Any) -> Any:
        """The parser of a callable object that was pickled by value."""
        return Reference(parser, self)

    def __init__(self, names: CallNames, tools: tuple[str, ...] | bool | None) -> None:
        self._names = names
        self._tools = tools

    def __call__(
        self, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        work, names = self._begin(wrapped, args, kwargs)
        if work is None or names is None:
            return wrapped(*args, **kwargs)
        if inspect.iscoroutinefunction(body_of(wrapped)):
            return self._await(work, names, wrapped(*args, **kwargs))
        try:
            result = wrapped(*args, **kwargs)
        except BaseException as error:
            self._refused(work, names, error)
            raise
        self._handed_on(work, names, result)
        return result

    async def _await(self, work: _Adaptation, names: CallNames, inner: Any) -> Any:
        try:
            result = await inner
        except BaseException as error:
            self._refused(work, names, error)
            raise
        self._handed_on(work, names, result)
        return result

    def _begin(
        self, wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[_Adaptation | None, CallNames | None]:
        with guard("recording a call's adaptation"):
            scope = recorder.scope()
            if scope is not None:
                return _Adaptation(scope), names_in(self._names, wrapped, args, kwargs)
        return None, None

    def _refused(self, work: _Adaptation, names: CallNames, error: BaseException) -> None:
        with guard("recording a refusal", work.run):
            reference = work.start(names)
            _observe(work.scope, self._tools, reference.tool)
            work.end(reference, error)

    def _handed_on(self, work: _Adaptation, names: CallNames, result: Any) -> None:
        with guard("recording what was handed on", work.run):
            arguments = result
            if type(result) is tuple and len(result) == 2 and type(result[0]) is str:
                names, arguments = replace(names, name=result[0]), result[1]
            work.read(arguments)
            reference = work.start(names)
            _observe(work.scope, self._tools, reference.tool)
            work.end(reference)
            scope = recorder.scope()
            if scope is not None and scope.dispatch is None:
                # Stays in this context after we return, where the tool will be run.
                handed_on = (*scope.handed_on, reference)[-_MAX_HANDED_ON:]
                enter_scope(replace(scope, handed_on=handed_on))


def _observe(scope: Scope, tools: tuple[str, ...] | bool | None, name: str) -> None:
    if tools is None or isinstance(tools, tuple):
        scope.run.tally.observe(Boundary.ADAPTER, tools)
    elif name:
        scope.run.tally.observe(Boundary.ADAPTER, (name,))


@overload
def adapter(parser: ParserT, /) -> ParserT: ...
@overload
def adapter(
    *,
    name: str | None = None,
    call_id: str | int | None = None,
    response_id: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    sees: tuple[str, ...] | str | None = None,
) -> Dispatch: ...
def adapter(
    parser: ParserT | None = None,
    /,
    *,
    name: str | None = None,
    call_id: str | int | None = None,
    response_id: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    sees: tuple[str, ...] | str | None = None,
) -> ParserT | Dispatch:
    """Record by hand what an agent's own code makes of a model's call.

    As a decorator, for the function that turns a raw call into arguments: what it returns is what
    it hands on (the arguments, or the tool's name and the arguments), and an exception is its
    refusal. The name and the call's id are taken from the options, else from its own arguments: a
    text called `name`, `tool_name` or `tool` (else the first text), one called `call_id`,
    `tool_call_id` or `id`, or a call of an SDK or a dictionary with these.

    As a context manager, around the dispatch of one call: the decorated tool that runs inside
    answers that call, and an exception before it is entered is the refusal. Where the arguments are
    made inside the block, `hand_on(name, arguments)` says so.

    Nothing is changed: not a value, an exception or an order.

    Args:
        name: The tool's name as it is handed on.
        call_id: Provider's id of the call, which says which of the model's calls this is.
        response_id: Provider's id of the response, where call ids repeat.
        arguments: What is handed on.
        sees: Tools whose every call passes here, or `"all"`, so that a call without a record here
            is known to be lost. Left out, only what was recorded is known.

    Example:
        >>> import json
        >>> from agenttrace import adapter, trace
        >>> from agenttrace.testing import recording
        >>> @trace
        ... def issue_refund(order_id: str, amount_cents: int) -> str:
        ...     return "done"
        >>> @adapter
        ... def parse(name: str, raw: str, call_id: str) -> dict:
        ...     return json.loads(raw)
        >>> with recording() as recorded:
        ...     args = parse(
        ...         "issue_refund", '{"order_id": "A-104", "amount_cents": 9800}', "call_1"
        ...     )
        ...     done = issue_refund(**args)
        ...     with adapter(name="issue_refund", call_id="call_2", arguments=args):
        ...         done = issue_refund(**args)
        >>> [(str(record.kind), record.payload.call_id) for record in recorded.records()[:4]]
        [('adapt', 'call_1'), ('execution', 'call_1'), ('execution', 'call_2'), ('adapt', 'call_2')]
    """
    seen: tuple[str, ...] | bool | None = False
    if sees == "all":
        seen = None
    elif sees is not None:
        seen = (sees,) if isinstance(sees, str) else tuple(sees)
    names = given_names(name, call_id, response_id)
    dispatch = Dispatch(names, arguments, seen)
    return dispatch if parser is None else dispatch(parser)
