"""Expected values in the form that observed ones have, for a scorer that has the key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agenttrace.domain import BOUNDARIES, Evidence, JsonObject, JsonValue
from agenttrace.records import canonical, split_pointer
from agenttrace.redaction._places import MaskedPlaces
from agenttrace.redaction._run_digest import RunDigests
from agenttrace.redaction._run_mask import RunMask
from agenttrace.redaction._tokens import TOKEN, contains_token

if TYPE_CHECKING:
    from agenttrace.redaction._redactor import Redactor

_MOST_TOKENS: Final = 8
_MOST_PAIRS: Final = 10_000
_LONGEST: Final = 100_000


class Expected:
    """Masks or digests a case's values as the records of one run were.

    A run masks by value what it masked once by name, so a text of the case may hold a secret that
    nothing in the case gives away. Beside the masked text that was observed in its place it does:
    what stands where a token stood is that secret if it has the token. Where all observed values of
    an argument are tokens, the expected one is masked too.
    """

    def __init__(self, redactor: Redactor, evidence: Evidence) -> None:
        self._redactor = redactor
        masking = evidence.integrity.masking
        self._run: RunMask | RunDigests
        self._places: MaskedPlaces | None = None
        self._observed: dict[str, list[JsonObject]] = {}
        if masking is not None and masking.digests:
            self._run = redactor.digests_for_run()
            return
        self._run = redactor.for_run()
        for boundary in BOUNDARIES:
            for call in evidence.at(boundary):
                if call.arguments is not None and redactor.key_id in contains_token(call.arguments):
                    self._observed.setdefault(call.name, []).append(call.arguments)
        if self._observed:
            seen = (
                (call.name, call.arguments)
                for boundary in BOUNDARIES
                for call in evidence.at(boundary)
                if call.name in self._observed and call.arguments is not None
            )
            self._places = MaskedPlaces(seen, redactor.key_id, redactor.token)

    def prepare(self, calls: Iterable[tuple[str, JsonObject]]) -> None:
        """Note the secrets of every expected call before the first is masked."""
        run = self._run
        if isinstance(run, RunDigests):
            return
        left = _MOST_PAIRS
        for name, arguments in calls:
            run.remember(arguments)
            for seen in self._observed.get(name, ())[:left]:
                left -= 1
                for stated, masked in _pairs(arguments, seen):
                    for value, token in self._behind(stated, masked):
                        run.learn(value, token)

    def arguments(self, arguments: JsonObject, tool: str) -> dict[str, JsonValue]:
        """Arguments of a call of a tool."""
        masked = self._run.mask_arguments(arguments)
        if self._places is not None:
            self._places.mask(tool, (), masked)
        return masked

    def value(
        self, value: JsonValue, pointer: str | None = None, tool: str | None = None
    ) -> JsonValue:
        """A single value, of a field where that has a place; a tool's argument where it has one."""
        path = () if pointer is None else split_pointer(pointer)
        masked = self._at(path, value)
        if self._places is None or tool is None:
            return masked
        return self._places.mask(tool, path, masked)

    def _at(self, path: tuple[str, ...], value: JsonValue) -> JsonValue:
        """The value as it is masked at its place: for its field, one around it, or the path."""
        if isinstance(self._run, RunDigests):
            return self._run.mask_value(value)
        for part in reversed(path):
            value = {part: value}
        masked = self._run.mask_value(value)
        for _ in path:
            if not isinstance(masked, Mapping):
                return masked  # it was dropped
            masked = next(iter(masked.values()))
        return masked

    def _behind(self, stated: JsonValue, masked: str) -> Iterator[tuple[str, str]]:
        """What of a stated value each token of the masked text stands for."""
        text = stated if isinstance(stated, str) else canonical(stated)
        tokens = [match[0] for match in TOKEN.finditer(masked)]
        if len(tokens) > _MOST_TOKENS or max(len(text), len(masked)) > _LONGEST:
            return
        literals = [re.escape(part) for part in TOKEN.split(masked)[:: TOKEN.groups + 1]]
        found = re.fullmatch("(.+?)".join(literals), text, re.DOTALL)
        for value, token in zip(found.groups() if found else (), tokens, strict=False):
            match = TOKEN.fullmatch(token)
            whole: JsonValue = stated if len(tokens) == 1 and token == masked else value
            if match is not None and self._redactor.token(whole, match[1]) == token:
                yield value, token


def _pairs(stated: JsonValue, seen: JsonValue) -> Iterator[tuple[JsonValue, str]]:
    """Stated scalars beside the texts with tokens that were observed at their places."""
    waiting = [(stated, seen)]
    while waiting:
        one, other = waiting.pop()
        if isinstance(other, str):
            is_scalar = isinstance(one, str | int | float) and not isinstance(one, bool)
            if is_scalar and "[masked:" in other and one != other:
                yield one, other
        elif isinstance(other, Mapping) and isinstance(one, Mapping):
            waiting += [(one[key], item) for key, item in other.items() if key in one]
        elif isinstance(other, Sequence) and isinstance(one, list | tuple):
            waiting += zip(one, other, strict=False)
