"""Where the values of a first divergence came from, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from agenttrace.domain import JsonValue, Lineage, Missing, Origin, Place, Unseen
from agenttrace.report._text import elided, value_text, visible

_WIDEST_VALUE: Final = 40
_MOST_CALLS: Final = 8
_CALLED: Final = (Place.ARGUMENTS, Place.ADAPTER, Place.EXECUTOR)
_UNSEEN: Final = {
    Unseen.MESSAGES: "some messages",
    Unseen.TEXTS: "some of the model's texts",
    Unseen.RESULTS: "some results",
    Unseen.DIGESTS: "what stands behind digests",
    Unseen.MASKS: "what stands behind masks",
    Unseen.REST: "what was not searched",
}


def lineage_text(lineage: Lineage) -> str:
    """The lineage as one sentence; empty where it says nothing that the divergence does not."""
    origins = (
        lineage.observed,
        lineage.observed_earlier,
        lineage.expected,
        lineage.expected_earlier,
    )
    is_nowhere = not isinstance(lineage.expected_value, Missing) and not (
        lineage.expected or lineage.expected_unseen or lineage.expected_too_common
    )
    is_own = lineage.observed is not None and lineage.observed.place is Place.ARGUMENTS
    is_told = any(one is not None and one.place not in _CALLED for one in origins)
    if not (is_told or is_own or is_nowhere or lineage.too_common):
        return ""
    return "; ".join(_parts(lineage))


def _parts(lineage: Lineage) -> Iterator[str]:
    if not isinstance(lineage.value, Missing):
        yield _side(
            lineage.value,
            lineage.observed,
            None if _is_expected(lineage) else lineage.observed_earlier,
            lineage.unseen,
            is_common=lineage.too_common,
        )
    if not isinstance(lineage.expected_value, Missing):
        said = _side(
            lineage.expected_value,
            lineage.expected,
            lineage.expected_earlier,
            lineage.expected_unseen,
            is_common=lineage.expected_too_common,
        )
        yield f"expected {said}"
    if lineage.carried_by:
        listed = ", ".join(map(visible, lineage.carried_by[:_MOST_CALLS]))
        more = len(lineage.carried_by) - _MOST_CALLS
        yield f"carried by {listed}" + (f" and {more} more" if more > 0 else "")


def _is_expected(lineage: Lineage) -> bool:
    """Whether the earlier rendering is the expected value itself, which is named anyway."""
    earlier, expected = lineage.observed_earlier, lineage.expected
    if earlier is None or expected is None or earlier.place is not Place.TOOL_RESULT:
        return False
    return replace(earlier, rendering=expected.rendering) == expected


def _side(
    value: JsonValue,
    origin: Origin | None,
    earlier: Origin | None,
    unseen: Iterable[Unseen],
    *,
    is_common: bool,
) -> str:
    shown = elided(value_text(value), _WIDEST_VALUE)
    if is_common:
        return f"{shown} is too common to have a place"
    hidden = " and ".join(_UNSEEN[one] for one in unseen)
    if origin is None:
        return f"{shown} cannot be placed: {hidden}" if hidden else f"{shown} nowhere in the run"
    text = f"{shown} {_origin(origin)}"
    if earlier is not None:
        text += f" (before that {_origin(earlier)})"
    return f"{text}, not counting {hidden}" if hidden else text


def _origin(origin: Origin) -> str:
    turn = "" if origin.turn is None else f" (turn {origin.turn})"
    word = "first in" if origin.rendering is None else f"{origin.rendering.value} in"
    if origin.place is Place.TOOL_RESULT:
        tool = "" if origin.tool is None else f" of {visible(origin.tool)}"
        path = f" {visible(origin.path)}" if origin.path else ""
        return f"{word} tool_result{tool}{turn}{path}"
    if origin.place in (Place.SYSTEM, Place.USER, Place.ASSISTANT):
        return f"{word} {origin.place.value} message{turn}"
    call = "" if origin.call is None else f" of {visible(origin.call)}"
    if origin.place is Place.ARGUMENTS:
        return f"{word} the model's own arguments{call}{turn}"
    return f"{word} the {origin.place.value}'s arguments{call}{turn}"
