"""The first place of a run at which a value stood.

Every source is looked at once, in order, and the search ends at the first that holds the value
itself. A JSON text inside a text is read where it may hold the value, and the path leads through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agenttrace._dataclass import dataclass
from agenttrace.domain import JsonValue, Origin, Place, Rendering, Unseen
from agenttrace.records import JsonTextError, canonical, escape, parse_json
from agenttrace.scoring._lineage_needle import Needle, is_container
from agenttrace.scoring._lineage_sources import Order, Source, Timeline
from agenttrace.scoring._masks import looks_masked

_LONGEST_JSON: Final = 1_000_000
_SPOKEN: Final = frozenset({Place.SYSTEM, Place.USER, Place.ASSISTANT})
_TEXT_BLOCKS: Final = ("text", "input_text", "output_text")
_MAY_OPEN: Final = frozenset("{[ \t\r\n")
CALLED: Final = (Place.ARGUMENTS, Place.ADAPTER, Place.EXECUTOR)
"""Places inside calls; every other place is in a message or becomes one."""
Way = tuple[Any, str | int] | None
"""A key or an index and the way to the container it leads into; None is the whole."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a search ended."""

    exact: Origin | None
    """Where the value itself stood first."""
    rendered: Origin | None
    """Where another rendering stood before that, or at all."""
    unseen: tuple[Unseen, ...]
    """What was not recorded before that place; where there is none, in the part searched."""


class Texts:
    """Canonical texts of the arguments of one run, each made once.

    At three boundaries the same arguments are mostly equal: one look tells of all, and where not
    even the value's own text stands, nothing has to be looked into.
    """

    def __init__(self) -> None:
        self._of: dict[int, str | None] = {}

    def of(self, content: JsonValue) -> str | None:
        """The text of arguments that outlive this; None: they are no JSON object, or no JSON."""
        if not isinstance(content, Mapping):
            return None
        key = id(content)
        if key not in self._of:
            try:
                self._of[key] = canonical(content)
            except (TypeError, ValueError):
                self._of[key] = None
        return self._of[key]


def first_place(
    line: Timeline,
    needle: Needle,
    texts: Texts,
    before: Order | None = None,
    *,
    call: str | None = None,
) -> Hit:
    """Find a value among the sources.

    Args:
        texts: Of the arguments among the sources.
        before: Only what came to be earlier is looked at. None: everything.
        call: Key of a call whose own arguments are no rendering of the value: that they are like
            it is what is asked about.
    """
    rendered: Origin | None = None
    looked_into: dict[str, bool] = {}
    for source in line.sources:
        if before is not None and source.order >= before:
            break
        is_weak_asked = rendered is None
        if source.place in CALLED:
            is_weak_asked = is_weak_asked and source.call != call
            text = texts.of(source.content)
            if text is not None:
                if looked_into.get(text, False) >= is_weak_asked and text in looked_into:
                    continue
                looked_into[text] = is_weak_asked
                if not is_weak_asked and not needle.may_stand_in_object(text):
                    continue
        way, weak = _look(source, needle, is_weak_asked=is_weak_asked)
        if way is not _NOWHERE:
            found = origin_at(source, way)
            return Hit(found, rendered, _gaps(line, needle, source.order))
        if weak is not None:
            rendered = origin_at(source, *weak)
    unseen = {*_gaps(line, needle, before), *_hidden(line, before, texts)}
    return Hit(None, rendered, tuple(one for one in Unseen if one in unseen))


def holds(content: JsonValue, needle: Needle, texts: Texts | None = None) -> bool:
    """Whether a value itself stands in arguments, at any depth."""
    text = None if texts is None else texts.of(content)
    if text is not None and not needle.may_stand_in_object(text):
        return False
    source = Source((0, 0, 0), Place.ARGUMENTS, None, content)
    return _look(source, needle, is_weak_asked=False)[0] is not _NOWHERE


def origin_at(source: Source, way: Way, rendering: Rendering | None = None) -> Origin:
    """A place in words."""
    return Origin(
        place=source.place,
        turn=source.turn,
        path=_pointer(way) if source.place is Place.TOOL_RESULT else "",
        call=source.call,
        tool=source.tool,
        rendering=rendering,
    )


_NOWHERE: Final[Any] = object()
_Weak = tuple[Way, Rendering]


def _look(source: Source, needle: Needle, *, is_weak_asked: bool) -> tuple[Way, _Weak | None]:
    content, place = source.content, source.place
    if not isinstance(content, str):
        return _look_into(content, needle, place, is_weak_asked=is_weak_asked)
    weak: _Weak | None = None
    if is_weak_asked and (rendering := needle.rendered(content)) is not None:
        weak = None, rendering
    if not is_container(needle.value):
        is_read = place is Place.TOOL_RESULT and _is_json(content)
        if needle.is_same(content) or (not is_read and needle.in_prose(content)):
            return None, None
    if not _is_json(content) or not (weak or needle.may_stand_in(content)):
        return _NOWHERE, weak
    parsed = _parsed(content)
    if parsed is _NOWHERE:
        return (None, None) if needle.in_prose(content) else (_NOWHERE, weak)
    way, inner = _look_into(parsed, needle, place, is_weak_asked=is_weak_asked)
    return way, inner or weak


def _look_into(
    content: JsonValue, needle: Needle, place: Place, *, is_weak_asked: bool
) -> tuple[Way, _Weak | None]:
    """The first member that is the value, and the first that renders it, in document order.

    A message's own texts, and those of content blocks, are prose wherever they stand. The name of a
    member is content in a tool's result alone.
    """
    weak: _Weak | None = None
    is_message = place in _SPOKEN
    is_whole = needle.is_whole
    named = needle.value if place is Place.TOOL_RESULT else None
    name = named if isinstance(named, str) else None
    waiting: list[tuple[Way, Any, bool]] = [(None, content, True)]
    while waiting:
        way, one, is_prose = waiting.pop()
        if is_container(one):
            if is_whole and needle.is_same(one):
                return way, None
            waiting += _members(one, way, is_message=is_message)
            if name is not None and isinstance(one, Mapping) and name in one:
                return (way, name), None
            continue
        if needle.is_same(one):
            return way, None
        if isinstance(one, str):
            if _is_json(one) and needle.may_stand_in(one):
                inner = _parsed(one)
                if inner is not _NOWHERE:
                    waiting.append((way, inner, is_message))
                    continue
            if needle.in_prose(one) if is_prose else needle.in_member(one):
                return way, None
        if is_weak_asked and weak is None:
            weak = _weak(way, needle, one)
    return _NOWHERE, weak


def _members(one: Any, way: Way, *, is_message: bool) -> Iterator[tuple[Way, Any, bool]]:
    """The members of an object or a list, the last one first, and whether each is prose.

    Of a provider's block of text nothing but the text is content.
    """
    if not isinstance(one, Mapping):
        yield from (((way, n), one[n], is_message) for n in range(len(one) - 1, -1, -1))
    elif "text" in one and one.get("type") in _TEXT_BLOCKS:
        yield (way, "text"), one["text"], True
    else:
        for key in sorted(one, key=str, reverse=True):
            yield (way, key), one[key], is_message


def _weak(way: Way, needle: Needle, leaf: JsonValue) -> _Weak | None:
    rendering = needle.rendered(leaf)
    return None if rendering is None else (way, rendering)


def _is_json(text: str) -> bool:
    if text[:1] not in _MAY_OPEN or text.lstrip()[:1] not in ("{", "["):
        return False
    return not text.startswith(("[masked:", "[digest:"))


def _parsed(text: str) -> Any:
    if len(text) > _LONGEST_JSON:
        return _NOWHERE
    try:
        document = parse_json(text)
    except (JsonTextError, RecursionError):
        return _NOWHERE
    # Of a repeated key a reading keeps one value, and the text had them all.
    return _NOWHERE if document.duplicates else document.value


def _pointer(way: Way) -> str:
    parts: list[str] = []
    while way is not None:
        way, part = way
        parts.append(f"/{escape(part) if isinstance(part, str) else part}")
    return "".join(reversed(parts))


def _gaps(line: Timeline, needle: Needle, before: Order | None) -> tuple[Unseen, ...]:
    found = {gap for order, gap in line.gaps if before is None or order < before}
    if needle.budget.is_spent:
        found.add(Unseen.REST)
    if line.is_digested and any(
        Unseen.DIGESTS in _hides(one.content) for one in _until(line, before)
    ):
        found.add(Unseen.DIGESTS)
    return tuple(one for one in Unseen if one in found)


def _until(line: Timeline, before: Order | None) -> Iterator[Source]:
    for source in line.sources:
        if before is not None and source.order >= before:
            return
        yield source


_HIDES: Final = ('"[', '"<', "***", "[masked:", "[dropped:", "\\")
"""One of these stands in the canonical text of every object with a mask or a digest in it."""


def _hidden(line: Timeline, before: Order | None, texts: Texts) -> set[Unseen]:
    """What stands in the place of values among the sources: a value may be behind it."""
    found: set[Unseen] = set()
    for source in _until(line, before):
        text = texts.of(source.content) if source.place in CALLED else None
        if text is not None and not any(sign in text for sign in _HIDES):
            continue
        found |= _hides(source.content, is_foreign=line.is_foreign)
        if len(found) == 2:
            break
    return found


def _hides(content: JsonValue, *, is_foreign: bool = False) -> set[Unseen]:
    found: set[Unseen] = set()
    waiting: list[Any] = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if one.startswith("[digest:"):
                found.add(Unseen.DIGESTS)
            elif "[masked:" in one or "[dropped:" in one or (is_foreign and looks_masked(one)):
                found.add(Unseen.MASKS)
        elif isinstance(one, Mapping):
            waiting += one
            waiting += one.values()
        elif is_container(one):
            waiting += one
    return found
