"""Argument rules as people write them: an object with exactly one kind of question."""

from __future__ import annotations

from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator

from agenttrace.contracts._pattern_search import compile_search
from agenttrace.contracts._patterns import PatternError, compile_pattern
from agenttrace.contracts._schema_form import check_schema
from agenttrace.contracts._values import Count, Form, FormError, Json, Number, counted
from agenttrace.domain import ArgumentRule, RuleKind
from agenttrace.scoring import compile_patterns_with, normalizer_names

compile_patterns_with(compile_pattern, compile_search)


def _pattern(value: str) -> str:
    try:
        compile_pattern(value)
    except PatternError as error:
        raise FormError(
            f"has a pattern that was refused: {error}",
            "write one that docs/reference/cases.md says is linear, or use one_of",
        ) from None
    return value


def _only_true(value: bool) -> bool:
    if not value:
        raise FormError("is false", "leave it out instead")
    return value


def known_normalizer(value: str) -> str:
    """Refuse a name under which no normalizer is registered."""
    if value not in normalizer_names():
        raise FormError(
            f"names the unknown normalizer {value!r:.40}",
            f"known: {', '.join(normalizer_names())}",
        )
    return value


NormalizerName = Annotated[str, AfterValidator(known_normalizer)]


class RangeForm(Form):
    """Numbers between two ends, both included."""

    min: Number = None
    """Lowest number."""
    max: Number = None
    """Highest number."""

    @model_validator(mode="after")
    def _has_an_order(self) -> Self:
        _check_ends(self)
        return self


class LengthForm(Form):
    """Length of a text or a list between two ends, both included."""

    min: Count | None = None
    """Shortest length."""
    max: Count | None = None
    """Longest length."""

    @model_validator(mode="after")
    def _has_an_order(self) -> Self:
        _check_ends(self)
        return self


class ToleranceForm(Form):
    """A number, and how far from it a value may be."""

    value: Number
    """The number."""
    abs: Number
    """How far from it a value may be."""

    @model_validator(mode="after")
    def _is_not_negative(self) -> Self:
        if self.abs < 0:
            raise FormError(
                "has a negative abs, which no value can meet", "write 0 or more", at=("abs",)
            )
        return self


_FIELD_OF: Final = {RuleKind.SCHEMA: "schema_"}
"""Fields that cannot have the name by which people write them."""
_NEVER_NULL: Final = (RuleKind.RANGE, RuleKind.TOLERANCE, RuleKind.LENGTH)


class RuleForm(Form):
    """One question to one value; `value` belongs to `normalizer` alone."""

    equals: Json = None
    """That value."""
    regex: Annotated[str, AfterValidator(_pattern)] = ""
    """A text that fits the whole pattern; linear patterns only."""
    range: RangeForm | None = None
    """A number between min and max, ends included."""
    tolerance: ToleranceForm | None = None
    """A number within abs of value."""
    one_of: list[Json] = Field(default_factory=list)
    """One of these values."""
    length: LengthForm | None = None
    """A text or list of a length between min and max."""
    normalizer: NormalizerName = ""
    """A value that equals value after the normalizer of this name."""
    value: Json = None
    """What normalizer compares with."""
    schema_: Annotated[Any, AfterValidator(check_schema)] = Field(default=None, alias="schema")
    """A value that fits this JSON Schema."""
    default: Json = None
    """That value, or nothing: the tool fills it in."""
    ignore: Annotated[bool, AfterValidator(_only_true)] = True
    """Anything, or nothing."""
    optional: Annotated[bool, AfterValidator(_only_true)] = False
    """The argument may be left out, too."""

    @model_validator(mode="after")
    def _asks_one_question(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            listed = ", ".join(RuleKind)
            found = " and ".join(kinds) or "none"
            raise FormError(f"asks {found}", f"exactly one is needed of: {listed}")
        if ("value" in self.model_fields_set) != (kinds == [RuleKind.NORMALIZER]):
            raise FormError(
                "has only one of normalizer and value",
                "it needs normalizer and value together, or neither of them",
            )
        if self.optional and kinds[0] in (RuleKind.IGNORE, RuleKind.DEFAULT):
            raise FormError(
                f"has optional beside {kinds[0]}, which needs no value anyway",
                "leave it out",
                at=("optional",),
            )
        if kinds[0] in _NEVER_NULL and getattr(self, kinds[0]) is None:
            raise FormError(
                f"has null for {kinds[0]}, which asks nothing",
                "say what is asked, or leave the rule out",
                at=(kinds[0],),
            )
        if kinds == [RuleKind.ONE_OF] and not self.one_of:
            raise FormError(
                "has an empty one_of, which no value can meet",
                "list the values that are right",
                at=("one_of",),
            )
        return self

    def _kinds(self) -> list[RuleKind]:
        return [kind for kind in RuleKind if _FIELD_OF.get(kind, kind) in self.model_fields_set]

    def to_domain(self) -> ArgumentRule:
        """The rule as the scorer knows it."""
        (kind,) = self._kinds()
        if kind is RuleKind.NORMALIZER:
            return ArgumentRule(
                kind=kind,
                operand=self.value,
                normalizer=self.normalizer,
                optional=self.optional,
            )
        operand: Any = getattr(self, _FIELD_OF.get(kind, kind))
        if isinstance(operand, Form):
            operand = {name: getattr(operand, name) for name in sorted(operand.model_fields_set)}
        return ArgumentRule(kind=kind, operand=operand, optional=self.optional)


def _check_ends(form: RangeForm | LengthForm) -> None:
    if form.min is None and form.max is None:
        raise FormError("has neither min nor max", "write one of them, or both")
    if form.min is not None and form.max is not None and form.min > form.max:
        raise FormError(
            f"has a min of {counted(form.min)} above its max of {counted(form.max)}, which no "
            "value can meet",
            "exchange them",
            at=("min",),
        )
