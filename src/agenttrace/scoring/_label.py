"""Whether the reference itself holds.

A reference that is out of date, contradicts itself, or asks at the model for what the contract
lets the adapter supply is the label owner's to repair, and no agent is blamed by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agenttrace._dataclass import dataclass
from agenttrace.domain import (
    BOUNDARIES,
    AssertedValue,
    Boundary,
    BoundaryFigures,
    Case,
    Cause,
    Contract,
    Evidence,
    Missing,
    Owner,
    RequiredCall,
)
from agenttrace.records import canonical, escape
from agenttrace.scoring._declared import Declared, tool_name
from agenttrace.scoring._default_rules import defaults_of
from agenttrace.scoring._due import due_forms
from agenttrace.scoring._forms import pick
from agenttrace.scoring._match import match, value_at
from agenttrace.scoring._met import is_of_earlier_boundary, model_keeps_plan
from agenttrace.scoring._row import Row
from agenttrace.scoring._schema import breaks_schema, lacks_required


@dataclass(frozen=True, slots=True)
class LabelFault:
    """Why the reference cannot judge this run, and whose it is."""

    owner: Owner
    cause: Cause


def label_fault(
    row: Row, figures: BoundaryFigures | None, broken: Sequence[str], *, met: bool
) -> LabelFault | None:
    """The first fault of the reference; None where it holds, or where the run meets it.

    Args:
        figures: Figures at the compared boundary.
        broken: Rules broken there.
        met: Whether the plan is met there, as far as values are declared to be equal.
    """
    case, evidence, required = row.case, row.evidence, row.required
    compare, declared = row.compare, row.declared
    if case.plan_by == "router" and required is None:
        detail = f"no plan is written for the router's value {evidence.conduct.router_value!r:.60}"
        return _label_owner("no-plan-for-route", detail)
    for cause in _contradictions(case, required or ()):
        return LabelFault(Owner.LABEL_OWNER, cause)
    for cause in _asserted_otherwise((*evidence.tools.asserted, *case.asserted), required):
        return LabelFault(Owner.LABEL_OWNER, cause)
    if required is None or figures is None or met:
        return None
    versions = evidence.tools.versions
    noted = versions.get("reference")
    reference = case.tool_schema_version if noted is None else noted
    stated = [versions.get(boundary.value) for boundary in (compare, *BOUNDARIES)]
    used = next((version for version in stated if version is not None), None)
    if reference is not None and used is not None and canonical(reference) != canonical(used):
        detail = f"the reference is written for schema version {reference}, the run used {used}"
        return _label_owner("stale-reference", detail)
    if _asks_for_what_adapter_supplies(row, required):
        return _label_owner(
            "reference-of-later-boundary",
            "what the reference asks of the model is the adapter's declared work",
        )
    if _leaves_out_only_defaults(row):
        return _label_owner(
            "reference-lacks-default",
            f"compared at the {compare}, the reference leaves out values that the tool itself "
            "fills in; write them down, or compare at the model",
        )
    if is_of_earlier_boundary(row):
        return _label_owner(
            "reference-of-earlier-boundary",
            f"compared at the {compare}, the reference states the model's form of what the "
            "contract says the adapter changes",
        )
    for detail in _other_defaults(case, required, compare, declared):
        return _label_owner("reference-off-schema", detail)
    for call in required:
        if _is_off_schema(case, call, compare):
            return _label_owner(
                "reference-off-schema",
                f"the required call of {call.name!r} does not fit the tool's own schema",
            )
    if not broken and _only_reads_differ(case, evidence, figures) and not model_keeps_plan(row):
        return LabelFault(
            Owner.PRODUCT_OWNER,
            Cause(
                code="only-reads-differ",
                detail="the end state matches the intent and only declared reads differ",
            ),
        )
    return None


def _asserted_otherwise(
    asserted: Sequence[AssertedValue], required: Sequence[RequiredCall] | None
) -> Iterator[Cause]:
    if asserted:
        # Few cases state any.
        from agenttrace.scoring._asserted import asserted_otherwise  # noqa: PLC0415

        yield from asserted_otherwise(asserted, required)


def _is_off_schema(case: Case, call: RequiredCall, compare: Boundary) -> bool:
    """Whether a required call breaks its tool's schema, where nothing declared may mend that."""
    contract = case.contract.tool(call.name)
    schema = contract.schema
    if schema is None or compare is Boundary.MODEL or contract.declares_changes:
        return False
    ignored = case.ignore_args.get(call.name, frozenset())
    elsewhere = [*call.rules, *map(_pointer_to, ignored)]
    return breaks_schema(pick(call.arguments, ignored), schema) or lacks_required(
        call.arguments, schema, elsewhere
    )


def _pointer_to(name: str) -> str:
    return f"/{escape(name)}"


def _label_owner(code: str, detail: str) -> LabelFault:
    return LabelFault(Owner.LABEL_OWNER, Cause(code=code, detail=detail))


def _contradictions(case: Case, required: Sequence[RequiredCall]) -> Iterator[Cause]:
    if not (case.forbidden or case.max_calls or case.once_per):
        return
    wanted = Counter(call.name for call in required)
    for rule in case.forbidden:
        both = any(
            call.name == rule.name
            and (
                rule.arguments is None
                or (not call.rules and canonical(call.arguments) == canonical(rule.arguments))
            )
            for call in required
        )
        if both:
            yield Cause(code="contradiction", detail=f"{rule.name!r} is required and forbidden")
    for name, top in case.max_calls.items():
        low = max(wanted[name], case.min_calls.get(name, 0))
        if low > top:
            yield Cause(
                code="contradiction",
                detail=f"{name!r} is due {low} times, at most {top} are allowed",
            )
    for rule in case.forbidden:
        if rule.arguments is None and case.min_calls.get(rule.name):
            yield Cause(code="contradiction", detail=f"{rule.name!r} is forbidden and in min_calls")
    yield from _same_key_twice(case, required)


def _same_key_twice(case: Case, required: Sequence[RequiredCall]) -> Iterator[Cause]:
    """Calls that are due with one value where each must have its own."""
    for tool, pointer in case.once_per.items():
        due = [call.arguments for call in required if call.name == tool]
        found = [value_at(arguments, pointer) for arguments in due]
        keys = Counter(canonical(one) for one in found if not isinstance(one, Missing))
        if any(count > 1 for count in keys.values()):
            yield Cause(
                code="contradiction",
                detail=f"{tool!r} is due twice with one value at {pointer:.60}, "
                "where once_per allows one",
            )


def _asks_for_what_adapter_supplies(row: Row, required: Sequence[RequiredCall]) -> bool:
    """Whether the model's calls meet the plan once the adapter has done its declared supplying.

    Coercions, dropped values and normalizers are left out: a reference that is written for the
    model and states a type means it.
    """
    if row.compare is not Boundary.MODEL:
        return False
    case = row.case
    seen = row.sight.calls(Boundary.MODEL, case.agents) or []
    supplying = row.declared.without(
        "coerce", "drop_null_optional", "drop_unknown", "normalize", "fold_case"
    )
    if supplying.is_plain or all(s.form.args is None for s in seen):
        return False
    forms = [supplying(s.form) for s in seen]
    renamed = [
        RequiredCall(
            name=tool_name(call.name, case.contract), arguments=call.arguments, rules=call.rules
        )
        for call in required
    ]
    found = match(renamed, forms, case.ignore_args)
    return not found.missing and not found.extra


def _leaves_out_only_defaults(row: Row) -> bool:
    """Whether the plan is met once the defaults that the tools state are written into it."""
    if not row.declared.defaults:
        return False
    fill = Declared(Contract(), row.declared.defaults)
    seen = row.sight.calls(row.compare, row.case.agents) or []
    found = due_forms(row, fill, adapted=False).match([one.form for one in seen])
    return not found.missing and not found.extra


def _other_defaults(
    case: Case, required: Sequence[RequiredCall], compare: Boundary, declared: Declared
) -> Iterator[str]:
    """Rules that say another default than the tool itself, or the case's contract, states."""
    for tool, name, value in defaults_of(required, case.contract, compare):
        filled = {**declared.defaults.get(tool, {}), **case.contract.tool(tool).defaults}
        if name in filled and canonical(filled[name]) != canonical(value):
            yield f"the rule default of /{name:.60} is not what {tool!r:.60} itself fills in"


def _only_reads_differ(case: Case, evidence: Evidence, figures: BoundaryFigures) -> bool:
    if evidence.outcome.state_matches_intent is not True or not case.contract.read_only:
        return False
    different = [*figures.missing, *figures.extra]
    return all(
        isinstance(call, dict) and call.get("name") in case.contract.read_only for call in different
    )
