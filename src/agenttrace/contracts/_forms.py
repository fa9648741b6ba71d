"""The form of a case, as people write it; `cases.md` in the reference says what each field means.

What these models accept is checked for contradictions here, so that the domain types they turn
into need no second look.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agenttrace.contracts._contract_form import ContractForm
from agenttrace.contracts._order_forms import Order, Rules, SequenceForm, StatesForm
from agenttrace.contracts._pointers import PointerTree
from agenttrace.contracts._rules import RuleForm
from agenttrace.contracts._values import (
    Count,
    FieldPointer,
    Form,
    FormError,
    Json,
    JsonFields,
    Name,
    Pointer,
    counted,
    described,
    refuse,
)
from agenttrace.domain import MISSING
from agenttrace.records import at_pointer, canonical

NEWEST_FORM = 1


class RequiredForm(Form):
    """One call that must be made."""

    name: Name
    """The tool, by the name that the compared boundary knows."""
    args: JsonFields
    """Literal values, all of them: what stands neither here nor in rules must not be there."""
    rules: Rules = Field(default_factory=dict)
    """JSON Pointer into the arguments to an argument rule."""
    why: str | None = None
    """For readers: why the call is due."""

    @model_validator(mode="after")
    def _says_each_field_once(self) -> Self:
        refuse(self._twice_said())
        return self

    def _twice_said(self) -> Iterator[FormError]:
        tree = PointerTree(self.rules)
        for pointer in self.rules:
            at = ("rules", pointer)
            if at_pointer(self.args, pointer, MISSING) is not MISSING:
                yield FormError(
                    f"gives {pointer:.60} both a literal in args and a rule", "keep one", at=at
                )
            around = tree.around(pointer)
            if around:
                yield FormError(
                    f"has a rule for {pointer:.60} inside the rule for {around[0]:.60}",
                    "keep one",
                    at=at,
                )


class ForbiddenForm(Form):
    """A call that nobody may make."""

    name: Name
    """The tool."""
    args: JsonFields | None = None
    """Arguments that make the call forbidden. Left out: any call of the tool is."""
    why: str | None = None
    """For readers."""


class PlanForm(Form):
    """One accepted way of doing it."""

    id: Name
    """Name of the plan, by which the verdict says which was used."""
    required: list[RequiredForm]
    """Calls that must be made."""
    when: Json = None
    """The router's value that chooses this plan; for plan_by: router alone."""
    why: str | None = None
    """For readers."""


class LeakForm(Form):
    """A field of a tool's result that must not reach the user."""

    tool: Name
    """The tool whose results hold the value."""
    path: Pointer
    """JSON Pointer to the value in a result, or to what holds it."""
    why: str | None = None
    """For readers."""


class AssertedForm(Form):
    """A value that the case's own written assertions state."""

    tool: Name
    """The tool."""
    path: FieldPointer
    """JSON Pointer to the argument."""
    value: Json
    """The value that the assertion states."""


def _version(value: object) -> object:
    if value is not None and value.__class__ not in (str, int, float):
        raise FormError(f"is {described(value)}, not a version", "write a text or a number")
    return value


Version = Annotated[Json, AfterValidator(_version)]


class CaseForm(Form):
    """The whole case."""

    id: Name
    """The case's name, by which a run names it."""
    schema_version: int = NEWEST_FORM
    """Version of this form."""
    revision: Name | None = None
    """The case's revision. Left out: a digest of its content."""
    intent: str | None = None
    """What was wanted, for readers."""
    why: str | None = None
    """For readers."""
    required: list[RequiredForm] | None = None
    """Calls that must be made, as a multiset. []: none is due. Left out: there is no plan."""
    forbidden: list[ForbiddenForm] | None = None
    """Calls that no agent may make."""
    ordered: Order | None = None
    """Tool names, or groups of them: each may first occur only after those before it."""
    sequence: list[SequenceForm] | None = None
    """Every call that fits after needs an earlier one that fits before."""
    states: list[StatesForm] | None = None
    """State machines: which calls may be made in which state."""
    max_calls: dict[Name, Count] | None = None
    """Tool to the most calls of it."""
    min_calls: dict[Name, Count] | None = None
    """Tool to the fewest calls of it."""
    once_per: dict[Name, FieldPointer] | None = None
    """Tool to a JSON Pointer: two calls with one value there are a repeat."""
    plans: list[PlanForm] | None = None
    """Accepted alternatives, in place of required."""
    plan_by: Literal["router", "any_of"] | None = None
    """router: by the recorded router value; any_of: the one with the highest F1."""
    outcome: dict[Pointer, RuleForm] | None = None
    """JSON Pointer into the state after the run to an argument rule."""
    leak: list[LeakForm] | None = None
    """Fields of tools' results that must not stand in the final message."""
    agents: Annotated[list[Name], Field(min_length=1)] | None = None
    """Agents that the plan, the order and the counts are written for."""
    ignore_args: dict[Name, list[Name]] | None = None
    """Tool to arguments left out of every comparison."""
    asserted_values: list[AssertedForm] | None = None
    """Values that the case's own assertions state; a plan that states another is at fault."""
    tool_schema_version: Version = None
    """Version of the tools' schema that the case is written for."""
    compare: Literal["model", "adapter", "executor"] | None = None
    """Boundary that the case is written for; executor when left out."""
    contract: ContractForm | None = None
    """Declared, legitimate changes between model and tool."""

    @model_validator(mode="after")
    def _does_not_contradict_itself(self) -> Self:
        refuse(self._contradictions())
        return self

    def _contradictions(self) -> Iterator[FormError]:
        yield from self._faults_of_plans()
        yield from _repeats("sequence", [rule.id for rule in self.sequence or ()], "id")
        yield from _repeats("states", [rule.id for rule in self.states or ()], "id")
        for tool, least in (self.min_calls or {}).items():
            most = (self.max_calls or {}).get(tool)
            if most is not None and most < least:
                yield FormError(
                    f"asks for at least {counted(least)} calls of {tool!r:.60} in min_calls and at "
                    f"most {counted(most)} in max_calls",
                    "no run can do both: lower the one or raise the other",
                    at=("min_calls", tool),
                )

    def _faults_of_plans(self) -> Iterator[FormError]:
        if bool(self.plans) != (self.plan_by is not None):
            yield FormError(
                "has only one of plans and plan_by",
                "it needs plans and plan_by together, or neither of them",
                at=("plans" if self.plans else "plan_by",),
            )
            return
        if not self.plans:
            return
        if self.required or (self.required is None and "required" in self.model_fields_set):
            yield FormError(
                "has plans and calls beside them",
                "its own required must be [] or left out",
                at=("required",),
            )
        yield from _repeats("plans", [plan.id for plan in self.plans], "id")
        if self.plan_by == "router":
            for index, plan in enumerate(self.plans):
                if not _has_when(plan):
                    yield FormError(
                        f"chooses the plan by router, and the plan {plan.id!r:.60} has no when",
                        "every plan needs when",
                        at=("plans", index),
                    )
            values = [canonical(plan.when) for plan in self.plans if _has_when(plan)]
            if len(values) == len(self.plans):
                yield from _repeats("plans by when", values, "when")
        else:
            for index, plan in enumerate(self.plans):
                if _has_when(plan):
                    yield FormError(
                        f"chooses any of its plans, and the plan {plan.id!r:.60} has a when",
                        "none of them may have when",
                        at=("plans", index, "when"),
                    )


def _has_when(plan: PlanForm) -> bool:
    return "when" in plan.model_fields_set


def _repeats(what: str, names: list[str], key: str) -> Iterator[FormError]:
    """Every name that an earlier item of the list has, with the place of the later one."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield FormError(
                f"has {what} with {name!r:.60} twice",
                "each needs its own",
                at=(what.split(maxsplit=1)[0], index, key),
            )
        seen.add(name)
