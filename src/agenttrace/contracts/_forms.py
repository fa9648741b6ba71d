"""The form of a case, as people write it; `cases.md` in the reference says what each field means.

What these models accept is checked for contradictions here, so that the domain types they turn
into need no second look.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agenttrace.contracts._contract_form import ContractForm
from agenttrace.contracts._rules import RuleForm
from agenttrace.contracts._values import (
    Count,
    FieldPointer,
    Form,
    Json,
    JsonFields,
    Name,
    Pointer,
)
from agenttrace.domain import MISSING
from agenttrace.records import at_pointer, canonical

Rules = dict[FieldPointer, RuleForm]

NEWEST_FORM = 1


class RequiredForm(Form):
    """One call that must be made."""

    name: Name
    args: JsonFields
    rules: Rules = Field(default_factory=dict)
    why: str | None = None

    @model_validator(mode="after")
    def _says_each_field_once(self) -> Self:
        for pointer in self.rules:
            if at_pointer(self.args, pointer, MISSING) is not MISSING:
                raise ValueError(f"gives {pointer} both a literal in args and a rule; keep one")
            above = next((p for p in self.rules if pointer.startswith(f"{p}/")), None)
            if above is not None:
                raise ValueError(f"has a rule for {pointer} inside the rule for {above}; keep one")
        return self


class ForbiddenForm(Form):
    """A call that nobody may make."""

    name: Name
    args: JsonFields | None = None
    why: str | None = None


class SideForm(Form):
    """Which calls one side of a sequence rule speaks of."""

    name: Name
    where: Rules = Field(default_factory=dict)


class SequenceForm(Form):
    """Every call that fits `after` needs an earlier one that fits `before`."""

    id: Name
    before: SideForm
    after: SideForm
    same: list[FieldPointer] = Field(default_factory=list)
    why: str | None = None


class PlanForm(Form):
    """One accepted way of doing it."""

    id: Name
    required: list[RequiredForm]
    when: Json = None
    why: str | None = None


class LeakForm(Form):
    """A field of a tool's result that must not reach the user."""

    tool: Name
    path: Pointer
    why: str | None = None


def _several(value: list[str]) -> list[str]:
    if len(value) < 2:
        raise ValueError(f"needs two or more tool names to say an order, and has {len(value)}")
    return value


class CaseForm(Form):
    """The whole case."""

    id: Name
    schema_version: int = NEWEST_FORM
    revision: Name | None = None
    intent: str | None = None
    why: str | None = None
    required: list[RequiredForm] | None = None
    forbidden: list[ForbiddenForm] | None = None
    ordered: Annotated[list[Name], AfterValidator(_several)] | None = None
    sequence: list[SequenceForm] | None = None
    max_calls: dict[Name, Count] | None = None
    min_calls: dict[Name, Count] | None = None
    once_per: dict[Name, FieldPointer] | None = None
    plans: list[PlanForm] | None = None
    plan_by: Literal["router", "any_of"] | None = None
    outcome: dict[Pointer, RuleForm] | None = None
    leak: list[LeakForm] | None = None
    agents: Annotated[list[Name], Field(min_length=1)] | None = None
    ignore_args: dict[Name, list[Name]] | None = None
    compare: Literal["model", "adapter", "executor"] | None = None
    contract: ContractForm | None = None

    @model_validator(mode="after")
    def _does_not_contradict_itself(self) -> Self:
        self._check_plans()
        _refuse_repeats("sequence", [rule.id for rule in self.sequence or ()])
        for tool, least in (self.min_calls or {}).items():
            most = (self.max_calls or {}).get(tool)
            if most is not None and most < least:
                raise ValueError(
                    f"asks for at least {least} calls of {tool!r} in min_calls and at most {most} "
                    "in max_calls; no run can do both"
                )
        return self

    def _check_plans(self) -> None:
        if bool(self.plans) != (self.plan_by is not None):
            raise ValueError("needs plans and plan_by together, or neither of them")
        if not self.plans:
            return
        if self.required or (self.required is None and "required" in self.model_fields_set):
            raise ValueError("has plans, so its own required must be [] or left out")
        _refuse_repeats("plans", [plan.id for plan in self.plans])
        has_when = ["when" in plan.model_fields_set for plan in self.plans]
        if self.plan_by == "router":
            if not all(has_when):
                raise ValueError("chooses the plan by router, so every plan needs when")
            _refuse_repeats("plans by when", [canonical(plan.when) for plan in self.plans])
        elif any(has_when):
            raise ValueError("chooses any of its plans, so none of them may have when")


def _refuse_repeats(what: str, names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"has {what} with {repeated[0]!r:.60} twice; each needs its own")
