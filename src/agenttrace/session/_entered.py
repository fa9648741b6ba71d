"""What stands in a context because a run was entered there, and what stands once it was left.

Runs are left in the order in which they were entered inside each other, or not: two of them may be
closed crosswise. A run that is over must not come back then when the other one is left.
"""

from __future__ import annotations

from contextvars import Token

from agenttrace.capture import (
    Attached,
    Place,
    RunState,
    Scope,
    Unsampled,
    current_place,
    enter_scope,
)


class Entered:
    """What leaving a run takes back: of one entering that failed, nothing."""

    def __init__(self) -> None:
        self.state: RunState | None = None
        self.token: Token[Place] | None = None
        self.unsampled: Unsampled | None = None
        self.attached: Attached | None = None


def standing_run() -> RunState | Unsampled | None:
    """The run of this context, whether it is recorded or not."""
    place = current_place()
    return place.run if isinstance(place, Scope) else place if type(place) is Unsampled else None


def pass_over_left() -> None:
    """Bring back no run that was left before the one that was entered inside it."""
    while (standing := standing_run()) is not None and isinstance(standing.left, Entered):
        entered, standing.left = standing.left, None
        before = None if entered.token is None else entered.token.old_value
        enter_scope(None if before is Token.MISSING else before)
        if entered.attached is not None:
            entered.attached.let_go()
