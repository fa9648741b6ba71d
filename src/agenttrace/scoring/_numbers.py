"""JSON numbers as exactly what their text states."""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Any


def is_number(value: object) -> bool:
    """Whether a value is a JSON number; `true` is none."""
    return value.__class__ is int or value.__class__ is float


def exact(value: Any) -> Fraction:
    """A JSON number as exactly the number that its text states."""
    # Few rows compare numbers exactly, and it loads `decimal` and the abstract numbers.
    from fractions import Fraction  # noqa: PLC0415

    return Fraction(value) if value.__class__ is int else Fraction(repr(value))


def at_most(low: Any, high: Any) -> bool:
    """Whether one number is no higher than another, whatever types they have."""
    if low.__class__ is high.__class__ and is_number(low):
        return bool(low <= high)
    return exact(low) <= exact(high)
