"""One call, as one boundary saw it."""

from __future__ import annotations

from agenttrace._dataclass import dataclass
from agenttrace.domain._json import JsonObject, JsonValue
from agenttrace.domain._words import Boundary, Ending, Phase


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """One structured request to run a tool, at the model or the adapter boundary.

    Identity fields say which call it was; name and arguments say what it was. Absence is None and
    is never filled in.
    """

    boundary: Boundary
    """Where it was seen."""

    ref: str
    """Unique name of this record within its evidence: `TRACE-SPAN` in hexadecimal, or
    `BOUNDARY/INDEX` where the record has no span."""

    name: str
    """Tool name as this boundary spelled it."""

    arguments: JsonObject | None = None
    """Complete arguments by parameter name. None: not readable, or the text is no JSON object."""

    raw: str | None = None
    """Argument text exactly as received. None: it was absent, or could not be had."""

    raw_observed: bool = True
    """False when the text existed but was out of reach, so that absent and unknown stay apart."""

    complete: bool | None = None
    """Whether the response said that the call was finished. None: not known."""

    raw_length: int | None = None
    """Characters of the recorded argument text, so that a later cut of it is seen."""

    error: str | None = None
    """Masked message of what went wrong here: a refusal, or the tool's own exception."""

    error_type: str | None = None
    """Type of that error, of low cardinality."""

    call_id: str | int | None = None
    """Provider's id of the call. None when the provider gave none. Never made up."""

    call_id_known: bool = True
    """False when the recorder could not know the id, so that its absence says nothing."""

    response_id: str | None = None
    """Provider's id of the response that held the call."""

    request_id: str | None = None
    """Our id of the request that was answered by it."""

    turn: int | None = None
    """Number of the response within its run, from 1."""

    index: int | None = None
    """Place of the call within its response, from 0."""

    finish_reason: str | None = None
    """Why the provider stopped, in the provider's word."""

    seq: int | None = None
    """Proven causal order within the run; never a clock."""

    at: int | None = None
    """Recorded clock, for people only."""

    agent: str | None = None
    """Which agent of the run made it."""

    phase: Phase = Phase.RUN
    """What the part of the run is for."""

    attempt: int = 1
    """Number of the whole run's restart, or of the framework's retry of this call."""

    link: str | None = None
    """`ref` of the earlier boundary's record that this one answers, noted at capture time."""

    parent: str | None = None
    """`ref` of the execution inside which this was made, or of the response inside which the
    provider ran it by itself."""

    digest: str | None = None
    """Keyed digest of the unmasked, untruncated arguments."""

    length: int | None = None
    """Bytes of the canonical arguments before any masking or cut."""

    inferred: bool = False
    """The context was lost, and the run is a guess: the only open one, or the thread starter's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution(ToolCall):
    """What the tool function really received, how often it ran and how that ended."""

    ending: Ending | None = Ending.RETURNED
    """How it ended. None: not known."""

    result: JsonValue = None
    """What it returned; null is a value."""

    result_observed: bool = True
    """False when the result was not recorded."""

    count: int = 1
    """How often the body was entered; 0: blocked, answered elsewhere, or failed before entry."""

    effect: bool | None = None
    """Whether the run had its side effect. None: not known."""

    exit_digest: str | None = None
    """Keyed digest of the arguments at the end; another one than `digest` means mutation."""

    defaults: tuple[str, ...] = ()
    """Parameters that the language filled in because the caller left them out."""

    idempotency_key: str | None = None
    """Key that makes repeated runs harmless, if the tool has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of the conversation, or the digest of one."""

    role: str
    """`system`, `user`, `assistant` or `tool`."""

    turn: int | None = None
    """The response that this message led to."""

    content: JsonValue = None
    """Text, or JSON for a tool's result. None: kept out of this copy of the evidence."""

    digest: str | None = None
    """Keyed digest of the content."""

    length: int | None = None
    """Bytes of the content."""

    call_id: str | int | None = None
    """The call that a tool's message answers."""

    tool: str | None = None
    """The tool that answered."""

    is_error: bool | None = None
    """Whether a tool's message says of itself that it is an error. None: it does not say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """One provider response, with or without calls."""

    ref: str
    """Unique name of this record within its evidence."""

    response_id: str | None = None
    """Provider's id."""

    request_id: str | None = None
    """Our id of the request, stamped on it before it was sent."""

    provider_request_id: str | None = None
    """Provider's id of the request."""

    provider: str | None = None
    """Who answered, by the field's well-known names."""

    model: str | None = None
    """Model that answered."""

    turn: int | None = None
    """Number of the response within its run, from 1."""

    finish_reason: str | None = None
    """Why the provider stopped, in its own word."""

    text: str | None = None
    """Text parts, joined. None: there were none, or they were kept out of this copy."""

    text_length: int | None = None
    """Bytes of the text parts; 0: there were none."""

    calls: int = 0
    """How many calls the response held."""

    tools_offered: tuple[str, ...] | None = None
    """Names of the tools in the request. None: not seen."""

    tools_digest: str | None = None
    """Digest of the offered tools with their schemas."""

    messages: tuple[Message, ...] = ()
    """Messages of the request that the response before it had not seen."""

    complete: bool = True
    """Whether a terminal event or a finish reason was seen."""

    error: str | None = None
    """What the provider answered instead."""

    seq: int | None = None
    """Proven causal order within the run."""

    agent: str | None = None
    """Which agent of the run asked."""

    phase: Phase = Phase.RUN
    """What the part of the run is for."""

    attempt: int = 1
    """Number of the whole run's restart."""
