"""One case document to one `Case`, or one sentence about the first thing that is wrong with it.

`case_and_faults` says all that is wrong, for whoever repairs a case; loading stops at the first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from agenttrace.contracts._form_faults import FormFault, form_faults
from agenttrace.contracts._forms import NEWEST_FORM, CaseForm, RequiredForm
from agenttrace.contracts._rules import RuleForm
from agenttrace.contracts._values import described
from agenttrace.domain import (
    ArgumentRule,
    AssertedValue,
    Boundary,
    Case,
    Contract,
    ForbiddenCall,
    LeakRule,
    Plan,
    RequiredCall,
    SequenceRule,
)
from agenttrace.errors import InvalidCaseError
from agenttrace.records import Loc, dump_json, to_plain

LineOf = Callable[[Loc], int | None]
"""Keys and indexes of a value, from the document's root, to its line."""

_SHORT_DIGEST: Final = 16
_PLANS: Final = frozenset({"plans", "plan_by"})
"""Fields that say nothing without each other."""
_OF_RULES: Final = frozenset({"rules", "where", "outcome"})
"""Fields that map pointers to rules, each of which can be left out by itself."""
_MOST_ROUNDS: Final = 16


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
    case, faults = case_or_faults(document)
    if case is None:
        loc = faults[0].loc
        lines = (line_of(loc[:n]) for n in range(len(loc), -1, -1)) if line_of is not None else ()
        raise invalid(faults, where, next((line for line in lines if line is not None), None))
    return case


def case_and_faults(document: Any) -> tuple[Case | None, tuple[FormFault, ...]]:
    """A case and all that is wrong with it; with faults it is what can be read all the same.

    Questions that several fields answer together are asked of the fields that fit: a run that
    nobody can make is found beside a misspelt field.
    """
    case, faults = case_or_faults(document)
    found = dict.fromkeys(faults)
    for _ in range(_MOST_ROUNDS):
        if case is not None or not isinstance(document, dict) or _newer(document):
            break
        unfit = {way for fault in faults if (way := _unfit(fault))}
        if not unfit and "id" in document:
            break
        # Whole fields go last: while one is there, its sound parts are asked too.
        left = _without(document, {way for way in unfit if len(way) > 1} or unfit)
        left.setdefault("id", "unnamed")
        case, faults = case_or_faults(left)
        found.update(dict.fromkeys(faults))
        document = left
    return case, tuple(found)


def _unfit(fault: FormFault) -> Loc:
    """What is left out, so that the rest can be asked.

    Never an item of a list: all after it would move up, and be reported at another place.
    """
    if fault.is_about_key:
        return fault.loc
    for size, part in enumerate(fault.loc[:-1], start=1):
        if part in _OF_RULES and isinstance(fault.loc[size], str):
            return fault.loc[: size + 1]
    return fault.loc[:1]


def _without(document: dict[str, Any], unfit: Iterable[Loc]) -> dict[str, Any]:
    left = dict(document)
    for loc in unfit:
        for way in [(name,) for name in _PLANS] if loc[0] in _PLANS and len(loc) == 1 else [loc]:
            _leave_out(left, way)
    return left


def _leave_out(left: Any, way: Loc) -> None:
    """Take a value out of its object, and copy what stands around it."""
    for part in way[:-1]:
        if isinstance(left, dict) and part not in left:
            return  # what stands around it is out already
        inner = left[part]
        left[part] = dict(inner) if isinstance(inner, dict) else list(inner)
        left = left[part]
    left.pop(way[-1], None)


def _newer(document: dict[str, Any]) -> bool:
    """Whether a case has a form that is not known here, so that no field of it can be judged."""
    version = document.get("schema_version", NEWEST_FORM)
    return version.__class__ is int and bool(version > NEWEST_FORM)


def invalid(faults: Sequence[FormFault], where: str, line: int | None) -> InvalidCaseError:
    """The error that refuses a case with these faults."""
    more = f" ({len(faults) - 1} more to repair in this case)" if len(faults) > 1 else ""
    return InvalidCaseError(where, f"{faults[0]}{more}", line=line)


def case_or_faults(document: Any) -> tuple[Case | None, tuple[FormFault, ...]]:
    """A case without a fault, or the faults that its fields have."""
    if not isinstance(document, dict):
        return None, (FormFault(found=f"is {described(document)}, not an object"),)
    if _newer(document):
        version = described(document["schema_version"])
        found = f"is {version}, newer than {NEWEST_FORM}, the newest known here"
        newer = FormFault(
            loc=("schema_version",),
            found=found,
            instead="upgrade agenttrace, or write the older form",
            is_plain=False,
        )
        return None, (newer,)
    try:
        form = CaseForm.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=True, include_input=True)
        return None, tuple(one for fault in faults for one in form_faults(fault))
    except RecursionError:
        deep = FormFault(found="is nested too deeply to be read", instead="nest it less")
        return None, (deep,)
    case = _to_case(form)
    if case.revision is None:
        case = replace(case, revision=content_revision(case))
    return case, ()


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
        ordered=tuple(tuple(one) if isinstance(one, list) else one for one in form.ordered or ()),
        sequence=tuple(
            SequenceRule(
                rule_id=one.id,
                before=one.before.to_domain(),
                after=one.after.to_domain(),
                same=tuple(one.same),
            )
            for one in form.sequence or ()
        ),
        states=tuple(one.to_domain() for one in form.states or ()),
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
        asserted=tuple(
            AssertedValue(tool=one.tool, path=one.path, value=one.value)
            for one in form.asserted_values or ()
        ),
        tool_schema_version=form.tool_schema_version,
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


def _rules(forms: Mapping[str, RuleForm]) -> dict[str, ArgumentRule]:
    return {pointer: form.to_domain() for pointer, form in forms.items()}
