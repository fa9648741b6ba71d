"""Recording of one run with no value at all: a digest stands for each.

It takes the place of the masks of a run and answers to the same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Final, TypeVar

from agenttrace._dataclass import replace
from agenttrace.domain import JsonObject, JsonValue, Masking
from agenttrace.records import parse_arguments
from agenttrace.redaction._digest_text import WHOLE
from agenttrace.redaction._digests import Digester
from agenttrace.redaction._keyed import Keyed
from agenttrace.redaction._passing import let_pass
from agenttrace.redaction._schemas import BY_NAME, STATED
from agenttrace.redaction._tokens import DROPPED

if TYPE_CHECKING:
    from agenttrace.redaction._redactor import Redactor

_MOST_SEEN: Final = 10_000
_LONGEST_SEEN: Final = 64
_T = TypeVar("_T")


class RunDigests(Keyed):
    """Digests of what one run records; usable from several threads. Nothing here raises.

    What cannot be digested is dropped: `[dropped:mask-error]` stands in its place, and `errors`
    counts it.
    """

    forgotten: Final = 0
    """Nothing is remembered that could be forgotten."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(redactor)
        self._digester: Final[Digester] = redactor.digester
        self._seen: set[str] = set()
        """Short texts that stood as values, and so are more than names."""
        self._names: set[str] = set()
        """Names of fields that have no secret's shape."""
        self._lock = RLock()
        self.errors = 0

    def forget_threads(self) -> None:
        """Go on in a forked child, where nobody is left who could give a lock back."""
        self._lock = RLock()

    def mask_arguments(self, arguments: JsonObject) -> dict[str, JsonValue]:
        """A call's arguments, each leaf a digest."""
        made = self.mask_value(arguments)
        return made if isinstance(made, dict) else {DROPPED: None}

    def mask_value(self, value: JsonValue, name: str | None = None) -> JsonValue:
        """A JSON value, each leaf a digest."""
        dropped: JsonValue = DROPPED
        return self._guarded(lambda: self._tree(value), dropped)

    def mask_fields(self, data: JsonObject, kept: frozenset[str]) -> dict[str, JsonValue]:
        """What an event says, each leaf a digest, but for the fields that are no content."""
        return {key: one if key in kept else self.mask_value(one) for key, one in data.items()}

    def mask_schema(self, schema: JsonValue) -> JsonValue:
        """A tool's JSON Schema: its types and names stay; stated values and texts do not."""
        dropped: JsonValue = DROPPED
        return self._guarded(lambda: self._schema(schema), dropped)

    def _schema(self, node: JsonValue) -> JsonValue:
        if isinstance(node, list | tuple):
            return [self._schema(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        made: dict[str, JsonValue] = {}
        for key, item in node.items():
            if key in STATED:
                made[key] = self._tree(item)
            elif key in BY_NAME and isinstance(item, Mapping):
                made[key] = {name: self._schema(one) for name, one in item.items()}
            elif key not in _TEXTS or not isinstance(item, str):
                made[key] = self._schema(item)
        return made

    def mask_raw(self, text: str) -> str:
        """A call's own text as one digest, which says what kind of text it was."""
        if not text or text.isspace():
            return text
        state = parse_arguments(text).state
        return self._guarded(lambda: self._digester.raw(text, state), DROPPED)

    def mask_text(self, text: str) -> str:
        """A text as one digest; the empty text stays."""
        return self._guarded(lambda: str(self._digester.leaf(text)) if text else text, DROPPED)

    def remember(self, arguments: JsonObject) -> None:
        """Nothing: no text is kept in which a value could be found again."""

    def masking(self) -> Masking:
        """As `Redactor.masking`."""
        return replace(super().masking(), digests=True)

    def _tree(self, value: JsonValue) -> JsonValue:
        self._note(value)
        made = self._digester.tree(value, self._is_value)
        return {WHOLE: made} if isinstance(value, Mapping) and isinstance(made, str) else made

    def _note(self, value: JsonValue) -> None:
        waiting = [value]
        while waiting and len(self._seen) < _MOST_SEEN:
            one = waiting.pop()
            if isinstance(one, str):
                if len(one) <= _LONGEST_SEEN and not one.isalpha():
                    self._seen.add(one)
            elif isinstance(one, Mapping):
                waiting.extend(one.values())
            elif isinstance(one, list | tuple):
                waiting.extend(one)

    def _is_value(self, name: str) -> bool:
        if name in self._seen:
            return True
        if name in self._names:
            return False
        shapes = self._redactor.triggers.patterns_for(name)
        if any(True for shape in shapes for _ in shape.spans(name)):
            return True
        if len(self._names) < _MOST_SEEN:
            self._names.add(name)
        return False

    def _guarded(self, make: Callable[[], _T], dropped: _T) -> _T:
        try:
            return make()
        except Exception as error:  # noqa: BLE001 - a value that cannot be digested is not shown
            let_pass(error)
            with self._lock:
                self.errors += 1
            return dropped


_TEXTS: Final = frozenset({"description", "title", "$comment", "pattern"})
