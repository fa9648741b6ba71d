"""The contract a run is judged against, and what tools declare about themselves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from agenttrace._dataclass import dataclass, field
from agenttrace.domain._contract import Contract
from agenttrace.domain._evidence import AssertedValue
from agenttrace.domain._json import JsonObject, JsonValue
from agenttrace.domain._words import Boundary


class RuleKind(StrEnum):
    """What an argument rule asks of a value; `ignore` and `default` alone do without one."""

    EQUALS = "equals"
    REGEX = "regex"
    RANGE = "range"
    TOLERANCE = "tolerance"
    ONE_OF = "one_of"
    LENGTH = "length"
    NORMALIZER = "normalizer"
    SCHEMA = "schema"
    DEFAULT = "default"
    IGNORE = "ignore"


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentRule:
    """One question to one value."""

    kind: RuleKind
    operand: JsonValue = None
    """What the kind compares with: a value, a pattern, bounds, or choices."""
    normalizer: str | None = None
    """Name of the normalizer, for that kind alone."""
    optional: bool = False
    """Whether it is content where the argument is missing, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RequiredCall:
    """One call that must be made. Listed twice, it must be made twice."""

    name: str
    arguments: JsonObject
    """Literal values, without the fields that rules cover."""
    rules: Mapping[str, ArgumentRule] = field(default_factory=dict)
    """JSON Pointer into the arguments to rule."""
    why: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ForbiddenCall:
    """A call that no agent may make; without arguments, any call of the tool."""

    name: str
    arguments: JsonObject | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SequenceSide:
    """Which calls one side of a sequence rule speaks of."""

    name: str
    where: Mapping[str, ArgumentRule] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class SequenceRule:
    """Every call that fits `after` needs an earlier one that fits `before`."""

    rule_id: str
    before: SequenceSide
    after: SequenceSide
    same: tuple[str, ...] = ()
    """Pointers at which both calls must have equal values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StateStep:
    """A call that leads from one state to another."""

    source: str
    on: SequenceSide
    target: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StateMachine:
    """Which calls may be made in which state.

    A call that fits a step, and none that leaves the current state, breaks the rule; one that fits
    no step is not the machine's. Of several steps that fit, the first counts.
    """

    rule_id: str
    start: str
    steps: tuple[StateStep, ...]
    end: frozenset[str] | None = None
    """States in which a run may end. None: in any."""
    per: tuple[str, ...] = ()
    """Pointers; there is one machine for each tuple of values there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One accepted way of doing it."""

    plan_id: str
    required: tuple[RequiredCall, ...]
    when: JsonValue = None
    """The router's value that chooses it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeakRule:
    """A field of a tool's result that must not stand in the final message."""

    tool: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What a run should have done, as separate questions."""

    case_id: str
    revision: str | None = None
    intent: str | None = None
    required: tuple[RequiredCall, ...] | None = None
    """None: there is no plan, and the records are compared with each other alone."""
    forbidden: tuple[ForbiddenCall, ...] = ()
    ordered: tuple[str | tuple[str, ...], ...] = ()
    """Each later name may first occur only after the name before it. Names of a group have no
    order among each other."""
    sequence: tuple[SequenceRule, ...] = ()
    states: tuple[StateMachine, ...] = ()
    max_calls: Mapping[str, int] = field(default_factory=dict)
    min_calls: Mapping[str, int] = field(default_factory=dict)
    once_per: Mapping[str, str] = field(default_factory=dict)
    """Tool to the pointer at which two calls may not have the same value."""
    plans: tuple[Plan, ...] = ()
    plan_by: str | None = None
    """`router` or `any_of`; None without alternatives."""
    outcome: Mapping[str, ArgumentRule] = field(default_factory=dict)
    leak: tuple[LeakRule, ...] = ()
    agents: frozenset[str] | None = None
    """Agents that the plan, the order and the counts are written for. None: all."""
    ignore_args: Mapping[str, frozenset[str]] = field(default_factory=dict)
    asserted: tuple[AssertedValue, ...] = ()
    """Values that the case's written assertions state beside its plan."""
    tool_schema_version: JsonValue = None
    """Version of the tools' schemas that the plan was written for. None: the case does not say."""
    compare: Boundary | None = None
    """Boundary the reference is written for. None: the executor, unless the reader says other."""
    contract: Contract = field(default_factory=Contract)
