"""The model's calls of one run, for the hooks that have to say which of them they answer.

A call id is not a key: some providers send none, some repeat one. Where it does not settle the
question, no link is made here, and linking is left to the scorer, which sees everything.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agenttrace.domain import JsonValue

_MAX_IDS: Final = 10_000


@dataclass(slots=True, eq=False)
class ModelCall:
    """Where a call of the model's was recorded."""

    ref: str
    name: str
    call_id: str | int | None
    response_id: str | None
    request_id: str | None
    turn: int | None
    index: int | None
    digest: str | None
    taken: int = 0
    """Adapter records that answered it so far."""


class ModelCalls:
    """The calls a run's responses held, by the provider's ids."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._by_id: OrderedDict[str | int, list[ModelCall]] = OrderedDict()

    def add(self, call: ModelCall) -> None:
        """Note a call; one without an id cannot be found again."""
        if call.call_id is None or call.call_id == "":
            return
        with self._lock:
            self._by_id.setdefault(call.call_id, []).append(call)
            self._by_id.move_to_end(call.call_id)
            while len(self._by_id) > _MAX_IDS:
                self._by_id.popitem(last=False)

    def take(
        self,
        call_id: str | int | None,
        *,
        response_id: str | None = None,
        name: str | None = None,
        digest: Callable[[], JsonValue] = lambda: None,
    ) -> ModelCall | None:
        """The call that an adapter is dealing with; None where the ids leave it open.

        Of a repeated id the calls not dealt with yet come first, the newest response's before
        older ones; within one response equal arguments decide, then the name.
        """
        if call_id is None or call_id == "":
            return None
        with self._lock:
            found = list(self._by_id.get(call_id, ()))
            if response_id is not None:
                found = [c for c in found if c.response_id in (response_id, None)] or found
            found = [c for c in found if not c.taken] or found
            if found:
                newest = (found[-1].response_id, found[-1].turn)
                found = [c for c in found if (c.response_id, c.turn) == newest]
            if len(found) > 1:
                made = digest()
                found = [c for c in found if c.digest == made] or found
            if len(found) > 1:
                found = [c for c in found if c.name == name] or found
            if len(found) != 1:
                return None
            found[0].taken += 1
            return found[0]
