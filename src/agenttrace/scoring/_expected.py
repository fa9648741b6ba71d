"""A case whose values have the form that the evidence has: masked, or digests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agenttrace._dataclass import replace
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import (
    ArgumentRule,
    AssertedValue,
    Case,
    Contract,
    Evidence,
    RequiredCall,
    RuleKind,
    SequenceSide,
)

if TYPE_CHECKING:
    from typing import Final

    from agenttrace.scoring._protocols import ExpectedMasker, ExpectedValues

COMPARED: Final = (RuleKind.EQUALS, RuleKind.ONE_OF, RuleKind.DEFAULT)
"""Rules whose operand is a value, or values, of the field."""


def expected_like(
    case: Case, evidence: Evidence, redactor: ExpectedMasker, *, is_shown: bool = False
) -> Case:
    """The case, with each of its values masked or digested as the records are.

    Args:
        is_shown: For the eye alone: patterns and bounds of secret fields are hidden as well, so
            that the case judges nothing any more.
    """
    form = redactor.expected_by(evidence)
    listed = listed_calls(case)
    form.prepare((call.name, call.arguments) for call in listed)

    def rules(
        given: Mapping[str, ArgumentRule], tool: str | None = None
    ) -> dict[str, ArgumentRule]:
        return {at: _rule(form, at, rule, tool, is_shown) for at, rule in given.items()}

    def calls(given: Iterable[RequiredCall]) -> tuple[RequiredCall, ...]:
        return tuple(
            replace(
                call,
                arguments=form.arguments(call.arguments, call.name),
                rules=rules(call.rules, call.name),
            )
            for call in given
        )

    def side(given: SequenceSide) -> SequenceSide:
        return replace(given, where=rules(given.where, given.name))

    return replace(
        case,
        required=None if case.required is None else calls(case.required),
        plans=tuple(
            replace(plan, required=calls(plan.required), when=form.value(plan.when))
            for plan in case.plans
        ),
        forbidden=tuple(
            rule
            if rule.arguments is None
            else replace(rule, arguments=form.arguments(rule.arguments, rule.name))
            for rule in case.forbidden
        ),
        sequence=tuple(
            replace(rule, before=side(rule.before), after=side(rule.after))
            for rule in case.sequence
        ),
        states=tuple(
            replace(one, steps=tuple(replace(step, on=side(step.on)) for step in one.steps))
            for one in case.states
        ),
        asserted=tuple(
            replace(one, value=form.value(one.value, one.path, one.tool))
            for one in (case.asserted if is_shown else _unmet(case))
        ),
        outcome=rules(case.outcome),
        contract=_contract(form, case.contract),
    )


def _unmet(case: Case) -> tuple[AssertedValue, ...]:
    if not case.asserted:
        return ()
    # Few cases state any.
    from agenttrace.scoring._asserted import unmet  # noqa: PLC0415

    return unmet(case)


def _rule(
    form: ExpectedValues, pointer: str, rule: ArgumentRule, tool: str | None, is_shown: bool
) -> ArgumentRule:
    if rule.kind not in COMPARED and not is_shown:
        return rule
    operand = rule.operand
    if rule.kind is RuleKind.ONE_OF and isinstance(operand, list | tuple):
        return replace(rule, operand=[form.value(choice, pointer, tool) for choice in operand])
    return replace(rule, operand=form.value(operand, pointer, tool))


def _contract(form: ExpectedValues, contract: Contract) -> Contract:
    if not any(one.defaults for one in contract.tools.values()):
        return contract
    tools = {
        name: replace(one, defaults=form.arguments(one.defaults, name))
        for name, one in contract.tools.items()
    }
    return replace(contract, tools=tools)


def listed_calls(case: Case) -> list[RequiredCall]:
    """Every call that some plan of the case requires."""
    return [*(case.required or ()), *(call for plan in case.plans for call in plan.required)]


def needs_values(case: Case) -> bool:
    """Whether a case states values that records are compared with."""
    listed = listed_calls(case)
    asked = [rule for call in listed for rule in call.rules.values()]
    asked += case.outcome.values()
    for rule in case.sequence:
        asked += [*rule.before.where.values(), *rule.after.where.values()]
    asked += [
        one for machine in case.states for step in machine.steps for one in step.on.where.values()
    ]
    return (
        any(call.arguments for call in listed)
        or any(rule.arguments for rule in case.forbidden)
        or any(rule.kind in COMPARED for rule in asked)
        or any(plan.when is not None for plan in case.plans)
    )
