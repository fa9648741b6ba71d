"""A streamed response whose parts are numbered blocks: a block opens, grows by pieces, closes.

Pieces belong to the block that opened last under their number. An opening that repeats the id of
the block already there opens nothing, as long as that one is not closed. A piece whose block was
never opened makes one without a name, because something was written there. Blocks stand in the
order in which they began.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from agenttrace.capture import CallDraft, ResponseDraft
from agenttrace.domain import JsonValue
from agenttrace.integrations._formats._assembly import Fragments
from agenttrace.integrations._formats._values import as_id, as_text, is_complete, joined


class _Block:
    def __init__(self, *, is_call: bool) -> None:
        self.is_call = is_call
        self.name = ""
        self.call_id: str | int | None = None
        self.by_provider = False
        self.is_closed = False
        self.text = Fragments()
        self.given: JsonValue = None
        """Arguments that came whole with the opening."""

    def draft(self, index: int) -> CallDraft:
        draft = self.text.call(self.name, self.call_id, index)
        draft = replace(draft, by_provider=self.by_provider)
        if self.given and not draft.raw and draft.raw_observed and isinstance(self.given, dict):
            return replace(draft, raw=None, raw_observed=False, arguments=self.given)
        return draft


class BlockStream:
    """What streams of blocks share; a format says which event means what."""

    def __init__(self) -> None:
        self.response_id: str | None = None
        self.model: str | None = None
        self.reason: str | None = None
        self.error: str | None = None
        self.is_stopped = False
        """Whether an event said that nothing more comes."""
        self._texts: list[str] = []
        self._blocks: list[_Block] = []
        self._by_key: dict[Hashable, _Block] = {}
        self._begun: list[str] = []

    @property
    def has_ended(self) -> bool:
        """Whether the provider has given a reason to stop, or said that it is over."""
        return self.reason is not None or self.is_stopped

    @property
    def begun(self) -> Sequence[str]:
        """Names of the calls so far."""
        return self._begun

    def open_text(self, key: Hashable) -> None:
        """A block of text begins."""
        self._add(key, _Block(is_call=False))

    def open_call(
        self,
        key: Hashable,
        name: JsonValue,
        call_id: JsonValue,
        *,
        given: JsonValue = None,
        by_provider: bool = False,
    ) -> None:
        """A call begins, or is told of again."""
        known = self._by_key.get(key)
        found = as_id(call_id)
        is_open = known is not None and known.is_call and not known.is_closed
        if known is not None and is_open and found is not None and known.call_id == found:
            return
        block = _Block(is_call=True)
        block.name = as_text(name) or ""
        block.call_id = found
        block.given = given
        block.by_provider = by_provider
        self._add(key, block)
        self._tell_begun()

    def close(self, key: Hashable) -> None:
        """A block is over; what opens under its number after that is another one."""
        if key in self._by_key:
            self._by_key[key].is_closed = True

    def add_text(self, key: Hashable, piece: JsonValue) -> None:
        """A piece of a text block."""
        if key not in self._by_key:
            self.open_text(key)
        if isinstance(piece, str):
            self._texts.append(piece)

    def add_to_call(self, key: Hashable, piece: JsonValue) -> bool:
        """A piece of a call's argument text; False where the block is no call of the agent's."""
        block = self._by_key.get(key)
        if block is None:
            block = _Block(is_call=True)
            self._add(key, block)
        if block.is_call:
            block.text.add(piece)
        return block.is_call

    def _add(self, key: Hashable, block: _Block) -> None:
        self._by_key[key] = block
        self._blocks.append(block)

    def _tell_begun(self) -> None:
        """A call without a name ends the list: it cannot be opened under one yet."""
        calls = [block for block in self._blocks if block.is_call]
        while len(self._begun) < len(calls) and calls[len(self._begun)].name:
            self._begun.append(calls[len(self._begun)].name)

    def draft(self) -> ResponseDraft:
        """The response as far as it came."""
        ended = self.has_ended
        calls: list[CallDraft] = []
        for block in self._blocks:
            if block.is_call:
                call = block.draft(len(calls))
                is_last = block is self._blocks[-1]
                complete = is_complete(call, self.reason, is_last=is_last, ended=ended)
                calls.append(replace(call, complete=complete))
        return ResponseDraft(
            response_id=self.response_id,
            provider_request_id=None,
            provider=None,
            model=self.model,
            finish_reason=self.reason,
            text=joined(self._texts),
            calls=tuple(calls),
            complete=ended,
            error=self.error,
        )
