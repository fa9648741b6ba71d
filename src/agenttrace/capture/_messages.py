"""What an error of ours says, as it may be logged: without the secrets of any run."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Final

from agenttrace.capture._outbox import outbox
from agenttrace.capture._run_state import RunState
from agenttrace.redaction import DROPPED, Redactor

_PATIENCE_S: Final = 0.1
_redactor: Final = Redactor(secrets.token_bytes(32), source="ephemeral")


def masked_message(text: str, runs: Iterable[RunState]) -> str:
    """An error's message without what these runs masked, and without well-known secrets.

    What waits to be masked is masked first. Where that cannot be done in a moment the message is
    dropped, because it may hold just that.
    """
    if not outbox.is_mine and not outbox.drain(_PATIENCE_S):
        return DROPPED
    for run in runs:
        text = run.mask.mask_text(text)
    return _redactor.for_run().mask_text(text)
