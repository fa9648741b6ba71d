"""What an integration hands to capture, kept as it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from agenttrace.capture import CallDraft, ResponseDraft, ToolOffer
from agenttrace.integrations import _by_hand, _exchange, _recorded


@dataclass(eq=False)
class Run:
    """Stands for a run: it only counts what is lost."""

    lost: list[str] = field(default_factory=list)

    def count_lost(self, cause: str) -> None:
        self.lost.append(cause)


@dataclass(frozen=True, eq=False)
class Request:
    """One request as `begin_request` was told of it; it is its own stamp."""

    tools: Sequence[ToolOffer] | None
    messages: Sequence[Any] | None
    previous_response_id: str | None
    run: Run


@dataclass
class Handed:
    """Everything an integration handed over, in order."""

    run: Run = field(default_factory=Run)
    requests: list[Request] = field(default_factory=list)
    responses: list[ResponseDraft] = field(default_factory=list)
    stamps: list[Any] = field(default_factory=list)
    opened: list[tuple[int, str]] = field(default_factory=list)

    def begin_request(
        self, tools: Any, messages: Any, previous_response_id: str | None = None
    ) -> Request:
        self.requests.append(Request(tools, messages, previous_response_id, self.run))
        return self.requests[-1]

    def record_response(self, draft: ResponseDraft, stamp: Any) -> tuple[str, ...]:
        self.responses.append(draft)
        self.stamps.append(stamp)
        return tuple(f"call-{place}" for place in range(len(draft.calls)))

    def open_response(self, stamp: Any, *, model: str | None) -> Opened:
        return Opened(self, stamp)

    @property
    def response(self) -> ResponseDraft:
        """The only response."""
        (response,) = self.responses
        return response

    @property
    def call(self) -> CallDraft:
        """The only call of the only response."""
        (call,) = self.response.calls
        return call


@dataclass(frozen=True)
class Opened:
    handed: Handed
    stamp: Any

    def open_call(self, place: int, name: str) -> str:
        self.handed.opened.append((place, name))
        return f"call-{place}"

    def close(self, draft: ResponseDraft) -> tuple[str, ...]:
        return self.handed.record_response(draft, self.stamp)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> Handed:
    """Put a collector in the place of capture, as far as integrations call it."""
    handed = Handed()
    for name in ("begin_request", "record_response", "open_response"):
        monkeypatch.setattr(_exchange, name, getattr(handed, name))
    for name in ("begin_request", "record_response"):
        monkeypatch.setattr(_by_hand, name, getattr(handed, name))
    monkeypatch.setattr(_recorded, "_current_run", lambda: handed.run)
    return handed
