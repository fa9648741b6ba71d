"""Which values of a data set belong to one case and to no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from agenttrace.domain import Case, JsonObject, JsonValue
from agenttrace.records import canonical, escape
from agenttrace.scoring._expected import listed_calls
from agenttrace.scoring._lineage_needle import is_container, is_too_common
from agenttrace.scoring._opaque import is_opaque

_SHORTEST: Final = 3
_SMALLEST: Final = 100

Call = tuple[str, JsonObject]
"""Name and arguments."""


class CaseValues:
    """The argument values by which the cases of one data set are told from each other.

    A value is a case's own where it stands in its required or forbidden calls and in those of no
    other case, and where it is long enough not to stand anywhere by chance. It is made when it is
    first asked for, so that rows which pass pay nothing.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = tuple(cases)

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """Canonical text of each value to the one case that it belongs to."""
        return owners_of(self.calls)

    @cached_property
    def calls(self) -> Mapping[str, tuple[Call, ...]]:
        """Every call that a case requires or forbids, by the case's id."""
        return {case.case_id: calls_of(case) for case in self._cases}


def owners_of(calls: Mapping[str, Iterable[Call]]) -> dict[str, str]:
    """Canonical text of each value that stands in calls of one case alone, to that case."""
    found: dict[str, str | None] = {}
    for case_id, listed in calls.items():
        for _, value in values_of(listed):
            text = canonical(value)
            found[text] = case_id if found.get(text, case_id) == case_id else None
    return {text: case_id for text, case_id in found.items() if case_id is not None}


def calls_of(case: Case) -> tuple[Call, ...]:
    """The calls that a case requires or forbids."""
    listed = [(call.name, call.arguments) for call in listed_calls(case)]
    return (*listed, *((f.name, f.arguments) for f in case.forbidden if f.arguments))


def values_of(calls: Iterable[Call]) -> Iterator[tuple[str, JsonValue]]:
    """Every value of some calls that is no chance find, with its pointer."""
    for _, arguments in calls:
        for path, value in leaves(arguments):
            if is_telling(value):
                yield path, value


def is_telling(value: JsonValue) -> bool:
    """Whether a value says something where it is found: no short word and no small number."""
    if is_too_common(value) or is_container(value):
        return False
    if isinstance(value, str):
        return len(value.strip()) >= _SHORTEST or is_opaque(value)
    return isinstance(value, int | float) and abs(value) >= _SMALLEST


def leaves(value: Any) -> Iterator[tuple[str, JsonValue]]:
    """Every scalar of a JSON value with its pointer."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += ((f"{path}/{escape(str(key))}", item) for key, item in one.items())
        elif is_container(one):
            waiting += ((f"{path}/{n}", item) for n, item in enumerate(one))
        else:
            yield path, one
