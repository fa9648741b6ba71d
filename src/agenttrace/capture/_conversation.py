"""Which messages of a request are new since the one before, without reading the old ones again.

A loop sends the whole conversation each time. Digesting all of it would cost more with each turn,
so old messages are recognised by count and by the digests at both ends; only where that does not
fit (a compacted or another conversation) is every message looked at.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agenttrace.capture._snapshot import snapshot
from agenttrace.domain import JsonValue, Message
from agenttrace.records import canonical
from agenttrace.redaction import RunDigests, RunMask

_MAX_CONVERSATIONS: Final = 64
_MAX_SEEN: Final = 20_000


@dataclass(frozen=True, slots=True)
class Heard:
    """What one request held, for telling the next one's messages apart."""

    first: str
    last: str
    count: int
    fresh: tuple[str, ...]
    """Digests of those that no answered request held."""


class Conversations:
    """What the answered requests of a run have held so far."""

    def __init__(self, mask: RunMask | RunDigests) -> None:
        self._mask = mask
        self._lock = threading.RLock()
        self._ends: OrderedDict[str, tuple[int, str]] = OrderedDict()
        """First digest of a conversation to its length and last digest."""
        self._seen: OrderedDict[str, None] = OrderedDict()

    def new_of(
        self, messages: Sequence[JsonValue], *, continued: bool = False
    ) -> tuple[tuple[Message, ...], Heard | None]:
        """The messages that no answered request held, and what to `remember` on the answer.

        They are not masked yet: the answer may show that a word of the prompt is a password.

        Args:
            continued: The provider keeps the conversation, so the request holds new ones only.
        """
        if not messages:
            return (), None
        plain = [snapshot(messages[0])]
        first = self._mask.digest(plain[0])
        with self._lock:
            known = self._ends.get(first)
        if known is not None and not continued and known[0] <= len(messages):
            count, last = known
            if self._mask.digest(snapshot(messages[count - 1])) == last:
                plain = [snapshot(message) for message in messages[count:]]
                digests = [self._mask.digest(message) for message in plain]
                end = digests[-1] if digests else last
                return self._read_all(plain), Heard(first, end, len(messages), tuple(digests))
        plain += [snapshot(message) for message in messages[1:]]
        digests = [first, *map(self._mask.digest, plain[1:])]
        with self._lock:
            old = set() if continued else self._seen.keys() & set(digests)
        new = [m for m, digest in zip(plain, digests, strict=True) if digest not in old]
        return self._read_all(new), Heard(first, digests[-1], len(messages), tuple(digests))

    def at_turn(self, message: Message, turn: int) -> Message:
        """A message as it is recorded: masked, with the response that it led to."""
        content = message.content
        mask = self._mask
        kept = mask.mask_text(content) if isinstance(content, str) else mask.mask_value(content)
        return replace(message, turn=turn, content=kept)

    def remember(self, heard: Heard | None) -> None:
        """Note that a request was answered: what comes after its messages is new."""
        if heard is None:
            return
        with self._lock:
            self._ends[heard.first] = (heard.count, heard.last)
            self._ends.move_to_end(heard.first)
            self._seen.update(dict.fromkeys(heard.fresh))
            while len(self._ends) > _MAX_CONVERSATIONS:
                self._ends.popitem(last=False)
            while len(self._seen) > _MAX_SEEN:
                self._seen.popitem(last=False)

    def _read_all(self, messages: Sequence[JsonValue]) -> tuple[Message, ...]:
        return tuple(made for message in messages for made in self._read(message))

    def _read(self, message: JsonValue) -> list[Message]:
        """One message in the words of the domain, from any provider's dialect."""
        if not isinstance(message, Mapping):
            return [self._message("user", message)]
        if message.get("type") == "function_call_output":
            return [self._message("tool", message.get("output"), message.get("call_id"))]
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            tool = message.get("name", message.get("tool_name"))
            return [self._result(content, message.get("tool_call_id"), message, tool)]
        if isinstance(content, Sequence) and not isinstance(content, str):
            results = [p for p in content if isinstance(p, Mapping) and _is_result(p)]
            if results:
                rest = [part for part in content if part not in results]
                shown = [
                    self._result(part.get("content"), part.get("tool_use_id"), part)
                    for part in results
                ]
                return [*shown, self._message("user", rest)] if rest else shown
        if not isinstance(role, str):
            return [self._message("assistant", message)]
        if message.keys() <= {"role", "content", "type"}:
            return [self._message(role, content)]
        return [self._message(role, {k: v for k, v in message.items() if k != "role"})]

    def _result(
        self,
        content: JsonValue,
        call_id: JsonValue,
        holder: Mapping[str, JsonValue],
        tool: JsonValue = None,
    ) -> Message:
        """A result handed back, and what its holder says of it."""
        is_error = holder.get("is_error")
        return replace(
            self._message("tool", content, call_id),
            tool=tool if isinstance(tool, str) else None,
            is_error=is_error if isinstance(is_error, bool) else None,
        )

    def _message(self, role: str, content: JsonValue, call_id: JsonValue = None) -> Message:
        text = content if isinstance(content, str) else canonical(content)
        length = len(text.encode("utf-8", "surrogatepass"))
        return Message(
            role="system" if role == "developer" else role,
            content=content,
            digest=self._mask.digest(content),
            length=length,
            call_id=call_id if isinstance(call_id, str | int) else None,
        )


def _is_result(part: Mapping[str, JsonValue]) -> bool:
    return part.get("type") == "tool_result"
