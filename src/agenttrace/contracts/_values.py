"""The kinds of value that a case's fields take: strict, and never another type made to fit.

pydantic's own unions would try one branch after the other and name both in the error; these say
in one sentence what was found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agenttrace.records import at_pointer

_LARGE: Final = 10**40


class FormError(ValueError):
    """What somebody wrote and cannot be, and what to write instead."""

    def __init__(
        self,
        found: str,
        instead: str,
        *,
        at: tuple[str | int, ...] = (),
        is_about_key: bool = False,
        is_of_part: bool = False,
    ) -> None:
        super().__init__(f"{found}; {instead}")
        self.found = found
        self.instead = instead
        self.at = at
        """Where it stands, below the form that refuses it."""
        self.is_about_key = is_about_key
        """Whether the key is what is wrong there."""
        self.is_of_part = is_of_part
        """Whether the sentence speaks of the place, and not of the form that refuses it."""
        self.others: tuple[FormError, ...] = ()
        """What else the same form refuses."""


def refuse(faults: Iterable[FormError]) -> None:
    """Raise the first of several faults, with the others on it; nothing, where there is none."""
    every = list(faults)
    if every:
        every[0].others = tuple(every[1:])
        raise every[0]


class Form(BaseModel):
    """Base of everything that people write: unknown fields and other types are refused."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,  # editors show them
    )


def described(value: object) -> str:
    """A value for an error message: its JSON type, and its beginning where that helps."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {value!r:.60}"
    if isinstance(value, int) and abs(value) >= _LARGE:
        return "a very large integer"
    if isinstance(value, int | float):
        return f"the number {value!r}"
    return f"of type {type(value).__name__}"


def counted(number: float) -> str:
    """A number for a message; Python refuses to write an integer of many digits."""
    if abs(number) < _LARGE:
        return str(number)
    return "10**40 or more" if number > 0 else "-10**40 or less"


def check_json(value: Any) -> Any:
    """Refuse what JSON cannot hold, at any depth; Python's own types only."""
    todo = [value]
    while todo:
        one = todo.pop()
        kind = one.__class__
        if kind is dict:
            for key in one:
                if key.__class__ is not str:
                    raise FormError(
                        f"holds a key that is {described(key)}, not text", "write it in quotes"
                    )
            todo.extend(one.values())
        elif kind is list:
            todo.extend(one)
        elif kind is float:
            if not math.isfinite(one):
                raise FormError(
                    "holds a number that is not finite, which JSON has no text for",
                    "write a finite number, or text",
                )
        elif one is not None and kind not in (str, int, bool):
            raise FormError(
                f"holds a value {described(one)}, which JSON cannot hold", "write a JSON value"
            )
    return value


def _number(value: Any) -> Any:
    is_float = value.__class__ is float
    if not (math.isfinite(value) if is_float else value.__class__ is int):  # of any length
        raise FormError(f"is {described(value)}, not a number", "write a number")
    return value


def _pointer(value: str) -> str:
    try:
        at_pointer(None, value, None)
    except ValueError:
        raise FormError(
            f"is {described(value)}, not a JSON Pointer",
            "start it with / and write ~ as ~0 and / as ~1 in names",
        ) from None
    return value


def _path_inside(value: str) -> str:
    if not value:
        raise FormError("is empty", "a JSON Pointer to a field, such as /amount, is needed")
    return _pointer(value)


Json: TypeAlias = Annotated[Any, AfterValidator(check_json)]
JsonFields: TypeAlias = Annotated[dict[str, Any], AfterValidator(check_json)]
Number: TypeAlias = Annotated[Any, AfterValidator(_number)]
Name: TypeAlias = Annotated[str, Field(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Pointer: TypeAlias = Annotated[str, AfterValidator(_pointer)]
FieldPointer: TypeAlias = Annotated[str, AfterValidator(_path_inside)]
