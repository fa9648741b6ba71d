"""What is wrong with one field of a case: where, what was found, what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from pydantic_core import ErrorDetails

from agenttrace.contracts._contract_form import ContractForm, EnvelopeForm
from agenttrace.contracts._forms import (
    AssertedForm,
    CaseForm,
    ForbiddenForm,
    LeakForm,
    PlanForm,
    RequiredForm,
)
from agenttrace.contracts._order_forms import SequenceForm, SideForm, StatesForm, StepForm
from agenttrace.contracts._rules import LengthForm, RangeForm, RuleForm, ToleranceForm
from agenttrace.contracts._values import FormError, described
from agenttrace.records import Loc

_MOST_PARTS: Final = 32
"""A longer way to a field is shown by its beginning and its end."""


@dataclass(frozen=True, kw_only=True)
class FormFault:
    """One fault of the form of a case; as text, the sentence about it."""

    loc: Loc = ()
    found: str
    instead: str = "write an object"
    is_about_key: bool = False
    """Whether the key is what is wrong, so that its line counts."""
    is_plain: bool = True
    """Whether what was found says what to write instead already."""
    of: Loc | None = None
    """The form that refuses it, where that is not the field itself."""

    def __str__(self) -> str:
        place = place_of(self.loc if self.of is None else self.of)
        return f"{place} {self.found}" if self.is_plain else f"{place} {self.found}; {self.instead}"


def place_of(loc: Loc) -> str:
    """A field as people write the way to it."""
    if not loc:
        return "the case"
    parts = [f".{p}"[:80] if str(p).isidentifier() else f"[{p!r:.60}]" for p in loc]
    if len(parts) > _MOST_PARTS:
        parts[_MOST_PARTS // 2 : -(_MOST_PARTS // 4)] = ["…"]
    return "".join(parts).removeprefix(".")


def form_faults(fault: ErrorDetails) -> Iterator[FormFault]:
    """The faults that one error of the forms' checks stands for."""
    is_key = "[key]" in fault["loc"]
    loc = tuple(part for part in fault["loc"] if part != "[key]")
    kind = fault["type"]
    if kind == "value_error":
        error = fault["ctx"]["error"]
        if not isinstance(error, FormError):
            error = FormError(str(error), "docs/reference/cases.md has the form")
        for one in (error, *error.others):
            yield FormFault(
                loc=(*loc, *one.at),
                of=None if one.is_of_part else loc,
                found=one.found,
                instead=one.instead,
                is_about_key=is_key or one.is_about_key,
                is_plain=False,
            )
        return
    if kind == "extra_forbidden":
        near = get_close_matches(str(loc[-1]), _FIELDS, n=1)
        instead = f"write {near[0]}, or take it out" if near else "take it out"
        yield FormFault(
            loc=loc, found="is an unknown field", instead=instead, is_about_key=True, is_plain=False
        )
    elif kind == "string_unicode":
        found = f"holds {described(fault['input'])}, with half of a surrogate pair"
        yield FormFault(loc=loc, found=found, instead="write whole characters", is_plain=False)
    elif kind == "missing":
        yield FormFault(loc=loc, found="is missing", instead=f"add {loc[-1]}")
    else:
        found = described(fault["input"])
        needed = fault["ctx"]["expected"] if kind == "literal_error" else _NEEDED.get(kind)
        yield FormFault(
            loc=loc,
            found=f"is {found}, not {needed}" if needed else f"is {found}: {fault['msg'].lower()}",
            instead="fill it in, or take it out"
            if kind in ("string_too_short", "too_short")
            else f"write {needed or 'what docs/reference/cases.md says of it'}",
            is_about_key=is_key,
        )


_NEEDED: Final = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "greater_than_equal": "0 or more",
    "int_type": "an integer",
    "list_type": "a list",
    "model_type": "an object",
    "string_too_short": "a text with something in it",
    "string_type": "a text",
    "too_short": "a list with something in it",
}
_FORMS: Final = (
    AssertedForm,
    CaseForm,
    ContractForm,
    EnvelopeForm,
    ForbiddenForm,
    LeakForm,
    LengthForm,
    PlanForm,
    RangeForm,
    RequiredForm,
    RuleForm,
    SequenceForm,
    SideForm,
    StatesForm,
    StepForm,
    ToleranceForm,
)
_FIELDS: Final = sorted(
    {one.alias or name for form in _FORMS for name, one in form.model_fields.items()}
)
