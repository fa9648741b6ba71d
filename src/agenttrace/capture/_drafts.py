"""What an integration hands to capture: a provider's answer in plain words, before any record.

An integration reads its library's objects into these and decides nothing; numbering, masking,
digests, spans and links are made in one place, here in capture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agenttrace.domain import JsonObject, Message, Phase

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from agenttrace.capture._conversation import Heard
    from agenttrace.capture._run_state import RunState
    from agenttrace.capture._sampling import Unsampled


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """One tool of a request, as the model was told of it."""

    name: str
    schema: JsonObject | None = None
    """JSON Schema of its arguments. None: the request gave none."""


@dataclass(frozen=True, slots=True)
class CallDraft:
    """One call of a response, as the provider sent it."""

    name: str
    call_id: str | int | None
    """Provider's id. None when it gave none; never made up."""
    index: int | None
    """Place within the response, from 0."""
    raw: str | None
    """Argument text exactly as received. None: absent, or out of reach."""
    raw_observed: bool = True
    """False: there was a text, and it could not be had."""
    arguments: JsonObject | None = None
    """Arguments of formats that send an object in place of a text. Unused where `raw` is given."""
    complete: bool | None = None
    """Whether the response said that the call was finished. None: not known."""
    by_provider: bool = False
    """The provider ran it by itself, so that it reaches no tool of the agent."""


@dataclass(frozen=True, slots=True)
class ResponseDraft:
    """One provider response, with or without calls."""

    response_id: str | None
    provider_request_id: str | None
    provider: str | None
    model: str | None
    finish_reason: str | None
    """Why the provider stopped, in its own word."""
    text: str | None
    """Text parts, joined. None: there were none."""
    calls: tuple[CallDraft, ...] = ()
    complete: bool = True
    """Whether a terminal event or a finish reason was seen."""
    error: str | None = None
    """What the provider answered instead."""


@dataclass(frozen=True, slots=True)
class RequestStamp:
    """What a request carries, so that its answer finds the run that asked for it.

    An answer may be read in another thread, or after the program went on to another run; the
    context of that moment proves nothing.
    """

    request_id: str
    """Ours, made when the client built the request."""
    run: RunState | Unsampled = field(repr=False)
    agent: str | None
    phase: Phase
    inferred: bool
    """The run was taken because it was the only open one."""
    started_ns: int
    context: Context = field(repr=False)
    """OpenTelemetry's context of the request; the response's span belongs under its span."""
    previous_response_id: str | None = None
    tools_offered: tuple[str, ...] | None = None
    tools_digest: str | None = None
    messages: tuple[Message, ...] = ()
    """Those that no earlier request of the conversation held."""
    heard: Heard | None = field(default=None, repr=False)
    """By which the next request tells old messages from new ones."""
