"""What a provider's finish reason says of the response it ended, whatever its dialect.

Every spelling that is known stands here once: recorders ask whether the last call can be whole,
the scorer asks whether the model ran out of room.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_OUT_OF_ROOM: Final = frozenset(
    {
        "length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
    }
)
_BROKEN_OFF: Final = _OUT_OF_ROOM | frozenset(
    {
        "blocklist",
        "cancelled",
        "content_filter",
        "content_filtered",
        "error",
        "failed",
        "guardrail_intervened",
        "incomplete",
        "language",
        "other",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "spii",
        "timeout",
    }
)


def is_out_of_room(finish_reason: str | None) -> bool:
    """Whether a limit of length ended the response; of several choices, any of them."""
    return any(part.strip().lower() in _OUT_OF_ROOM for part in (finish_reason or "").split(","))


def is_broken_off(finish_reason: str | None) -> bool:
    """Whether the response was ended before the model had ended it."""
    return (finish_reason or "").strip().lower() in _BROKEN_OFF
