"""Exceptions that a client raises in place of an answer, in words."""

from __future__ import annotations

from typing import Any, Final

from agenttrace.capture import ResponseDraft
from agenttrace.integrations._formats import error_text, failure, read_error

MAX_PAGE: Final = 2_000
"""Characters of an error body that is no JSON."""


def failure_of(error: BaseException) -> ResponseDraft:
    """What is recorded of an exception; not `complete` where no answer came at all."""
    response: Any = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    if status is None:
        return failure(describe(error), complete=False)
    body = getattr(error, "body", None)
    if not isinstance(body, dict):
        page = body if isinstance(body, str) else str(response.text)
        return failure(f"HTTP {status}: {page[:MAX_PAGE]}")
    told = read_error(body if "error" in body else {"error": body})
    said = "an error without a message" if told is None else told.error
    return failure(f"HTTP {status}: {said}", text=None if told is None else told.text)


def describe(error: BaseException) -> str:
    """An exception in words: its type, and what the provider or itself says."""
    body: Any = getattr(error, "body", None)
    said = (error_text(body) if isinstance(body, dict) else None) or str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
