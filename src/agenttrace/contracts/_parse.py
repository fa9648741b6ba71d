"""One case document to one `Case`, or one sentence about the first thing that is wrong with it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agenttrace.contracts._forms import NEWEST_FORM, CaseForm, RequiredForm, SideForm
from agenttrace.contracts._rules import RuleForm
from agenttrace.contracts._values import described
from agenttrace.domain import (
    ArgumentRule,
    Boundary,
    Case,
    Contract,
    ForbiddenCall,
    LeakRule,
    Plan,
    RequiredCall,
    SequenceRule,
    SequenceSide,
)
from agenttrace.errors import InvalidCaseError
from agenttrace.records import dump_json, to_plain

LineOf = Callable[[tuple[str | int, ...]], int | None]
"""Keys and indexes of a value, from the document's root, to its line."""

_SHORT_DIGEST: Final = 16


def parse_case(document: Mapping[str, Any], where: str, *, line_of: LineOf | None = None) -> Case:
    """Turn the `case` object of a case file into a `Case`.

    Nothing is coerced and no unknown field is passed over: a case that is misread judges every row
    wrongly. Without a `revision` of its own the case gets `sha256:` and the first 16 hexadecimal
    digits of its content, so that a revision is never invented and equal cases have equal ones.

    Args:
        document: The case as JSON values.
        where: File or other source, for messages.
        line_of: Where a value stands in that file, for messages.

    Raises:
        InvalidCaseError: The document does not fit; it names the field, what was found, and where.

    Example:
        >>> parse_case({"id": "case-1", "required": []}, "here").required
        ()
    """
    if not isinstance(document, dict):
        reason = f"the case is {described(document)}, not an object"
        raise InvalidCaseError(where, reason, line=_line(line_of, ()))
    version = document.get("schema_version", NEWEST_FORM)
    if version.__class__ is int and version > NEWEST_FORM:
        reason = f"schema_version {version} is newer than {NEWEST_FORM}, the newest known here"
        raise InvalidCaseError(where, reason, line=_line(line_of, ("schema_version",)))
    try:
        form = CaseForm.model_validate(document)
    except ValidationError as error:
        raise _invalid(error, where, line_of) from None
    except RecursionError:
        raise InvalidCaseError(where, "the case is nested too deeply to be read") from None
    case = _to_case(form)
    if case.revision is None:
        case = replace(case, revision=content_revision(case))
    return case


def content_revision(case: Case) -> str:
    """The revision that follows from a case's content alone, its own `revision` left out."""
    text = dump_json(to_plain(replace(case, revision=None)))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()[:_SHORT_DIGEST]


def _to_case(form: CaseForm) -> Case:
    required = None if form.required is None else _required(form.required)
    return Case(
        case_id=form.id,
        revision=form.revision,
        intent=form.intent,
        required=() if form.plans and required is None else required,
        forbidden=tuple(
            ForbiddenCall(name=one.name, arguments=one.args) for one in form.forbidden or ()
        ),
        ordered=tuple(form.ordered or ()),
        sequence=tuple(
            SequenceRule(
                rule_id=one.id,
                before=_side(one.before),
                after=_side(one.after),
                same=tuple(one.same),
            )
            for one in form.sequence or ()
        ),
        max_calls=form.max_calls or {},
        min_calls=form.min_calls or {},
        once_per=form.once_per or {},
        plans=tuple(
            Plan(plan_id=one.id, required=_required(one.required), when=one.when)
            for one in form.plans or ()
        ),
        plan_by=form.plan_by,
        outcome=_rules(form.outcome or {}),
        leak=tuple(LeakRule(tool=one.tool, path=one.path) for one in form.leak or ()),
        agents=None if form.agents is None else frozenset(form.agents),
        ignore_args={tool: frozenset(names) for tool, names in (form.ignore_args or {}).items()},
        compare=None if form.compare is None else Boundary(form.compare),
        contract=Contract() if form.contract is None else form.contract.to_domain(),
    )


def _required(forms: Iterable[RequiredForm]) -> tuple[RequiredCall, ...]:
    return tuple(
        RequiredCall(name=one.name, arguments=one.args, rules=_rules(one.rules), why=one.why)
        for one in forms
    )


def _side(form: SideForm) -> SequenceSide:
    return SequenceSide(name=form.name, where=_rules(form.where))


def _rules(forms: Mapping[str, RuleForm]) -> dict[str, ArgumentRule]:
    return {pointer: form.to_domain() for pointer, form in forms.items()}


def _invalid(error: ValidationError, where: str, line_of: LineOf | None) -> InvalidCaseError:
    faults = error.errors(include_url=False, include_context=True, include_input=True)
    first = faults[0]
    loc = tuple(part for part in first["loc"] if part != "[key]")
    more = f" ({len(faults) - 1} more to repair in this case)" if len(faults) > 1 else ""
    return InvalidCaseError(
        where, f"{_place(loc)} {_reason(first)}{more}", line=_line(line_of, loc)
    )


def _place(loc: tuple[str | int, ...]) -> str:
    if not loc:
        return "the case"
    parts = (f".{p}" if str(p).isidentifier() else f"[{p!r:.60}]" for p in loc)
    return "".join(parts).removeprefix(".")


def _reason(fault: ErrorDetails) -> str:
    kind = fault["type"]
    if kind == "value_error":
        return str(fault["ctx"]["error"])
    if kind == "extra_forbidden":
        return "is an unknown field"
    if kind == "missing":
        return "is missing"
    found = described(fault["input"])
    if kind == "literal_error":
        return f"is {found}, not {fault['ctx']['expected']}"
    if kind in _NEEDED:
        return f"is {found}, not {_NEEDED[kind]}"
    return f"is {found}: {fault['msg'].lower()}"


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


def _line(line_of: LineOf | None, loc: tuple[str | int, ...]) -> int | None:
    """The line of the value, or of the nearest one around it: a missing field has none."""
    if line_of is None:
        return None
    lines = (line_of(loc[:size]) for size in range(len(loc), -1, -1))
    return next((line for line in lines if line is not None), None)
