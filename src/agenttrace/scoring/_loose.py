"""Equality as other tools have it, for the compatibility scores alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonValue
from agenttrace.records import canonical
from agenttrace.scoring._forms import CallForm

if TYPE_CHECKING:
    from typing import Final

_MAY_BE_RESPELLED: Final = ("true", "false", ".0", "e+")
"""One of these stands in the text of every truth value and of every float that is whole."""


def loose_key(form: CallForm, numbers: Iterator[int]) -> tuple[str, int | None]:
    """Canonical text in which numbers are equal as in Python: `1`, `1.0` and `true` are one.

    A call that holds NaN is equal to no other, so it gets a number of its own.
    """
    try:
        if not any(sign in form.key for sign in _MAY_BE_RESPELLED):
            return form.key, None
    except ValueError:
        pass  # NaN has no canonical text
    holder: list[JsonValue] = [form.args]
    unequal: int | None = None
    waiting: list[tuple[dict[str, JsonValue] | list[JsonValue], str | int]] = [(holder, 0)]
    while waiting:
        place, key = waiting.pop()
        value: JsonValue = place[key]  # type: ignore[index]
        if isinstance(value, Mapping):
            copy: dict[str, JsonValue] | list[JsonValue] = dict(value)
            waiting += [(copy, name) for name in value]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            copy = list(value)
            waiting += [(copy, index) for index in range(len(value))]
        elif isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
            place[key] = int(value)  # type: ignore[index]
            continue
        elif isinstance(value, float) and isnan(value):
            place[key] = None  # type: ignore[index]
            unequal = next(numbers)
            continue
        else:
            continue
        place[key] = copy  # type: ignore[index]
    return canonical([form.name, 0, holder[0]]), unequal
