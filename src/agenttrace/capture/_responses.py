"""The model boundary: a request is stamped when it is built, its answer recorded when it is read.

A response is opened and closed apart, because a stream's calls begin before the response ends, and
an executor that starts early links to a call that is not complete yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from agenttrace import semconv
from agenttrace.capture._context import Scope
from agenttrace.capture._conversation import Heard
from agenttrace.capture._drafts import CallDraft, RequestStamp, ResponseDraft, ToolOffer
from agenttrace.capture._guard import guard
from agenttrace.capture._model_calls import ModelCall
from agenttrace.capture._recorder import recorder
from agenttrace.capture._run_state import RunState
from agenttrace.capture._sampling import Unsampled
from agenttrace.capture._snapshot import snapshot
from agenttrace.capture._source import source
from agenttrace.capture._spans import OpenSpan, end_span, start_span, under
from agenttrace.domain import Boundary, JsonObject, JsonValue, Message, Phase, Response
from agenttrace.records import RecordKind, ToolSchema, canonical, parse_arguments


def begin_request(
    tools: Sequence[ToolOffer] | None,
    messages: Sequence[JsonValue] | None,
    previous_response_id: str | None = None,
) -> RequestStamp | None:
    """Stamp a request that a client is building, so that its answer finds its run.

    Called in the program's own context. None when that failed; the answer is then recorded without
    a stamp.

    Args:
        tools: What the request offers. None: it says nothing of tools.
        messages: The request's messages in the provider's own form, oldest first.
        previous_response_id: The response that the provider is to continue.
    """
    with guard("stamping a request"):
        scope = recorder.scope() if recorder.activate() else None
        if scope is None:
            return _left_out()
        run = scope.run
        run.in_order()
        request_id = run.tally.new_request()
        names: tuple[str, ...] | None = None
        digest: str | None = None
        fresh: tuple[Message, ...] = ()
        heard: Heard | None = None
        with guard("reading a request", run):
            if tools is not None:
                names = tuple(tool.name for tool in tools)
                digest = _offer(run, tools)
            if messages is not None:
                continued = previous_response_id is not None
                fresh, heard = run.conversations.new_of(messages, continued=continued)
        return RequestStamp(
            request_id=request_id,
            run=run,
            agent=scope.agent,
            phase=scope.phase,
            inferred=scope.inferred,
            started_ns=source().now_ns(),
            context=run.context(otel_context.get_current(), scope.execution),
            previous_response_id=previous_response_id,
            tools_offered=names,
            tools_digest=digest,
            messages=fresh,
            heard=heard,
        )
    return None


def _left_out() -> RequestStamp | None:
    """The stamp of a run of which nothing is recorded, whichever run its answer is read in."""
    unsampled = recorder.unsampled() if recorder.is_active and recorder.sampling.is_used else None
    if unsampled is None:
        return None
    return RequestStamp(
        request_id="",
        run=unsampled,
        agent=None,
        phase=Phase.RUN,
        inferred=False,
        started_ns=0,
        context=Context(),
    )


def record_response(draft: ResponseDraft, stamp: RequestStamp | None) -> tuple[str, ...]:
    """Record one whole provider response and its calls, under the run that asked for it.

    Args:
        stamp: What `begin_request` gave. None: the run is the current one.

    Returns:
        A reference for each call, in order; empty where nothing could be recorded.
    """
    with guard("recording a response", stamp.run if stamp else None):
        opened = open_response(stamp, model=draft.model)
        if opened is not None:
            return opened.close(draft)
    return ()


def open_response(stamp: RequestStamp | None, *, model: str | None) -> OpenResponse | None:
    """Begin a response; its span starts with the request. None while nothing is recorded."""
    if not recorder.activate():
        return None
    now = source().now_ns()
    if stamp is not None:
        if isinstance(stamp.run, Unsampled):
            return None
        run, context, started = stamp.run, stamp.context, min(stamp.started_ns, now)
        agent, phase, inferred = stamp.agent, stamp.phase, stamp.inferred
    else:
        scope: Scope | None = recorder.scope()
        if scope is None:
            return None
        run, started = scope.run, now
        context = run.context(otel_context.get_current(), scope.execution)
        agent, phase, inferred = scope.agent, scope.phase, scope.inferred
    context = run.context(context)
    span = start_span(
        run.tracer,
        f"{semconv.SPAN_RESPONSE} {model}" if model else semconv.SPAN_RESPONSE,
        context=context,
        start_ns=started,
        kind=SpanKind.CLIENT,
        attributes={semconv.GEN_AI_OPERATION_NAME: semconv.OPERATION_CHAT},
    )
    return OpenResponse(
        run,
        stamp,
        span,
        context=under(span, context),
        agent=agent,
        phase=phase,
        inferred=inferred,
    )


@dataclass(slots=True, eq=False)
class _OpenCall:
    span: OpenSpan
    order: int


class OpenResponse:
    """A response that is coming in."""

    def __init__(
        self,
        run: RunState,
        stamp: RequestStamp | None,
        span: OpenSpan,
        *,
        context: Context,
        agent: str | None,
        phase: Phase,
        inferred: bool,
    ) -> None:
        self._run = run
        self._stamp = stamp
        self._span = span
        self._context = context
        self._agent = agent
        self._phase = phase
        self._inferred = inferred
        self._calls: dict[int, _OpenCall] = {}

    def open_call(self, index: int, name: str) -> str:
        """Begin a call at its first fragment; its reference can be linked to from now on."""
        opened = self._calls.get(index)
        if opened is None:
            span = start_span(
                self._run.tracer,
                f"{semconv.SPAN_CALL} {name}",
                context=self._context,
                start_ns=source().now_ns(),
            )
            opened = self._calls[index] = _OpenCall(span, self._run.tick())
        return opened.span.ref

    def close(self, draft: ResponseDraft) -> tuple[str, ...]:
        """Record the response and its calls, whole or not."""
        run, stamp = self._run, self._stamp
        run.in_order()
        turn = run.next_turn(draft.response_id, stamp.previous_response_id if stamp else None)
        order = run.tick()
        refs: list[str] = []
        arguments = [self._arguments(call) for call in draft.calls]
        with guard("recording a response", run):
            self._record_response(draft, turn, order)
            if stamp is not None:
                run.conversations.remember(stamp.heard)
        for place, (call, unmasked) in enumerate(zip(draft.calls, arguments, strict=True)):
            with guard("recording a model's call", run):
                self.open_call(place, call.name)
                opened = self._calls.pop(place)
                refs.append(self._record_call(draft, call, unmasked, opened, turn))
        for left in self._calls.values():
            end_span(left.span, end_ns=source().now_ns())
        return tuple(refs)

    def _record_response(self, draft: ResponseDraft, turn: int, order: int) -> None:
        run, stamp = self._run, self._stamp
        text = draft.text
        messages = stamp.messages if stamp else ()
        payload = Response(
            ref=self._span.ref,
            response_id=draft.response_id,
            request_id=stamp.request_id if stamp else None,
            provider_request_id=draft.provider_request_id,
            provider=draft.provider,
            model=draft.model,
            turn=turn,
            finish_reason=draft.finish_reason,
            text=run.mask.mask_text(text) if text else None,
            text_length=len(text.encode("utf-8", "surrogatepass")) if text else 0,
            calls=len(draft.calls),
            tools_offered=stamp.tools_offered if stamp else None,
            tools_digest=stamp.tools_digest if stamp else None,
            messages=tuple(run.conversations.at_turn(message, turn) for message in messages),
            complete=draft.complete,
            error=run.mask.mask_text(draft.error) if draft.error is not None else None,
            seq=order,
            agent=self._agent,
            phase=self._phase,
        )
        end_ns = max(source().now_ns(), self._span.start_ns)
        run.commit(RecordKind.RESPONSE, self._span, payload, end_ns=end_ns)

    def _arguments(self, call: CallDraft) -> JsonObject | None:
        """The call's unmasked arguments; every call's secrets are known before one is masked."""
        unmasked: JsonObject | None = None
        with guard("reading a model's call", self._run):
            mask = self._run.mask
            given = call.arguments
            if call.raw is not None:
                given = parse_arguments(call.raw).value
                if given is None:
                    mask.mask_raw(call.raw)
            if given is not None:
                # What is over a limit is cut here as it will be at the boundaries after this one.
                plain = snapshot(given, digest=mask.digest_text)
                unmasked = plain if isinstance(plain, dict) else None
            elif call.raw is None and call.raw_observed:
                unmasked = {}
            if unmasked:
                self._run.mask.remember(unmasked)
        return unmasked

    def _record_call(
        self,
        draft: ResponseDraft,
        call: CallDraft,
        unmasked: JsonObject | None,
        opened: _OpenCall,
        turn: int,
    ) -> str:
        run, span = self._run, opened.span
        payload: dict[str, Any] = {"name": call.name, "turn": turn, "seq": opened.order}
        if call.raw is not None:
            payload["raw"] = run.mask.mask_raw(call.raw)
            payload["raw_length"] = len(payload["raw"])
        elif not call.raw_observed:
            payload["raw_observed"] = False
        digest: str | None = None
        if unmasked is not None:
            text = canonical(unmasked)
            payload["arguments"] = run.mask.mask_arguments(unmasked)
            payload["digest"] = digest = run.mask.digest_text(text)
            payload["length"] = len(text)
        request_id = self._stamp.request_id if self._stamp else None
        known = {
            "complete": call.complete,
            "call_id": call.call_id,
            "response_id": draft.response_id,
            "request_id": request_id,
            "index": call.index,
            "finish_reason": draft.finish_reason,
            "agent": self._agent,
        }
        payload.update((name, value) for name, value in known.items() if value is not None)
        if self._phase is not Phase.RUN:
            payload["phase"] = self._phase.value
        if self._inferred:
            payload["inferred"] = True
        if call.by_provider:
            payload["parent"] = self._span.ref
        end_ns = max(source().now_ns(), span.start_ns)
        run.commit_plain(RecordKind.CALL, span, payload, end_ns=end_ns)
        run.model_calls.add(
            ModelCall(
                ref=span.ref,
                name=call.name,
                call_id=call.call_id,
                response_id=draft.response_id,
                request_id=request_id,
                turn=turn,
                index=call.index,
                digest=digest,
            )
        )
        return span.ref


def _offer(run: RunState, tools: Sequence[ToolOffer]) -> str:
    """Digest of the offered tools; each schema is recorded once a run."""
    shapes: list[JsonValue] = []
    for tool in tools:
        schema = snapshot(tool.schema)
        shapes.append({"name": tool.name, "schema": schema})
        if not isinstance(schema, dict):
            continue
        digest = run.mask.digest(schema)
        key = f"{tool.name}\n{digest}"
        if key in run.schemas_sent:
            continue
        run.schemas_sent.add(key)
        span = run.start_span(semconv.SPAN_SCHEMA, start_ns=source().now_ns())
        shown = run.mask.mask_schema(schema)
        if not isinstance(shown, dict):
            continue
        payload = ToolSchema(tool=tool.name, schema=shown, digest=digest, boundary=Boundary.MODEL)
        run.commit(RecordKind.SCHEMA, span, payload, end_ns=max(source().now_ns(), span.start_ns))
    return run.mask.digest(shapes)
