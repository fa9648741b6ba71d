"""What a provider answers in place of a response: an error body, in any dialect.

A refused call stands in some of these: Groq sends what the model had written along with the
refusal. The program was never given it as a call, so it is kept as the text that it was.
"""

from __future__ import annotations

from agenttrace.capture import ResponseDraft
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.integrations._formats._values import as_object, as_text, error_text

_BARE = frozenset({"__type", "code", "id", "message", "object", "param", "request_id", "type"})
"""Fields of an error that stands at the top of its body."""


def read_error(body: JsonValue) -> ResponseDraft | None:
    """The error of a body as a draft; None: the body holds none that is known."""
    if isinstance(body, list | tuple):
        return read_error(body[0]) if len(body) == 1 else None
    fields = as_object(body)
    found = fields.get("error") or fields.get("Error")
    if not found and _is_bare(fields):
        found = fields
    if not found:
        return None
    said = as_text(as_object(found).get("failed_generation"))
    return failure(error_text(found) or "an error without a message", text=said)


def _is_bare(fields: JsonObject) -> bool:
    if fields.get("object") == "error" or fields.get("type") == "error":
        return True
    return isinstance(fields.get("message"), str) and fields.keys() <= _BARE


def failure(error: str, *, text: str | None = None, complete: bool = True) -> ResponseDraft:
    """What is recorded where an error came in place of a response.

    Args:
        text: What the model had written, where the provider tells it.
    """
    return ResponseDraft(
        response_id=None,
        provider_request_id=None,
        provider=None,
        model=None,
        finish_reason=None,
        text=text,
        complete=complete,
        error=error,
    )
