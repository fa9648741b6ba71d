"""Where a value came from: the first place of a run at which it stood."""

from __future__ import annotations

from enum import StrEnum

from agenttrace._dataclass import dataclass
from agenttrace.domain._json import MISSING, JsonValue, Missing


class Place(StrEnum):
    """What a value stood in first."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"
    ARGUMENTS = "arguments"
    ADAPTER = "adapter"
    EXECUTOR = "executor"


class Rendering(StrEnum):
    """How a value that was found is written otherwise than the one that was looked for."""

    RETYPED = "retyped"
    FORMATTED = "formatted"
    SCALED = "scaled"
    FOLDED = "folded"
    PUNCTUATION = "punctuation"
    DATE = "date"
    LOOSE_DIGEST = "loose_digest"


class Unseen(StrEnum):
    """What may hold a value and is not on record."""

    MESSAGES = "messages"
    TEXTS = "texts"
    RESULTS = "results"
    DIGESTS = "digests"
    MASKS = "masks"
    REST = "rest"


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """One place at which a value stood."""

    place: Place
    turn: int | None
    """Of a tool's result the turn of the call it answers, of any other message the response that
    it led to, of arguments the turn of their call. None: not known."""
    path: str = ""
    """JSON Pointer into a tool's result; empty for every other place."""
    call: str | None = None
    """Key of the call whose arguments or result it is."""
    tool: str | None = None
    """Name of that call's tool."""
    rendering: Rendering | None = None
    """How it is written otherwise there. None: it is the value itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lineage:
    """Where the values of a first divergence came from."""

    path: str
    """JSON Pointer of the value that is spoken of, into the arguments or into the result."""
    value: JsonValue | Missing = MISSING
    """The wrong value; missing where nothing stands there."""
    expected_value: JsonValue | Missing = MISSING
    """The value that should stand there; missing where none is stated."""
    observed: Origin | None = None
    """Where the wrong value stood first. None: that cannot be said."""
    observed_earlier: Origin | None = None
    """Where it stood before that in another rendering."""
    expected: Origin | None = None
    """Where the expected value stood first. None: nowhere, or that cannot be said."""
    expected_earlier: Origin | None = None
    """Where it stood before that in another rendering."""
    carried_by: tuple[str, ...] = ()
    """Keys of the calls whose arguments hold the wrong value, in order."""
    too_common: bool = False
    """The wrong value means nothing by itself, so no place is named for it."""
    expected_too_common: bool = False
    """So does the expected one."""
    unseen: tuple[Unseen, ...] = ()
    """What was not recorded and may hold the wrong value, earlier than where it was found."""
    expected_unseen: tuple[Unseen, ...] = ()
    """The same of the expected value. It stands nowhere only where this is empty."""
    note: str | None = None
    """A sentence for people, where the rest does not say it."""
