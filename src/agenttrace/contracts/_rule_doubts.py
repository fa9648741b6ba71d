"""Rules of a case that cannot hold together, or not with what its tools are known to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agenttrace.contracts._form_faults import FormFault
from agenttrace.contracts._pointers import PointerTree
from agenttrace.contracts._values import counted
from agenttrace.domain import (
    MISSING,
    ArgumentRule,
    Boundary,
    Case,
    JsonObject,
    JsonValue,
    RequiredCall,
    RuleKind,
    ToolContract,
)
from agenttrace.errors import UnscorableError
from agenttrace.records import Loc, at_pointer, canonical, dump_json, split_pointer
from agenttrace.scoring import accepts, fits_schema, unmet_assertions

Plans = Sequence[tuple[Loc, Sequence[RequiredCall]]]
_MOST_ASKED: Final = 200_000
"""Questions about one case after which the others are left: a check has to end."""
_KINDS = ("array", "boolean", "integer", "null", "number", "object", "string")

_TYPES_OF: Final = {
    RuleKind.RANGE: {"integer", "number"},
    RuleKind.TOLERANCE: {"integer", "number"},
    RuleKind.REGEX: {"string"},
    RuleKind.LENGTH: {"array", "string"},
}
"""The types of which a value may be that such a rule is content with."""


def rule_doubts(case: Case, plans: Plans) -> Iterator[FormFault]:
    """Everything about a case's rules that its owner should look at."""
    for loc, required in plans:
        yield from _same_key_twice(case, loc, required)
        for index, call in enumerate(required):
            for pointer, rule in call.rules.items():
                at = (*loc, index, "rules", pointer)
                yield from _contradicts_itself(at, rule)
                if case.compare is not Boundary.MODEL:  # there the model's own names count
                    yield from _contradicts_tool(at, case, call.name, pointer, rule)
    yield from _two_defaults(plans)
    yield from _outcomes_apart(case)
    yield from _denied_assertions(case)
    for tool, least in case.min_calls.items():
        yield from _fewer_possible(case, tool, least)


def _contradicts_itself(at: Loc, rule: ArgumentRule) -> Iterator[FormFault]:
    """A schema whose own values, or names, its other keywords exclude."""
    schema = rule.operand
    if rule.kind is not RuleKind.SCHEMA or not isinstance(schema, Mapping):
        return
    for word in ("const", "enum"):
        if word in schema:
            rest = {name: one for name, one in schema.items() if name != word}
            listed: Any = schema[word] if word == "enum" else [schema[word]]
            if not any(may_fit(rest, one) for one in listed):
                yield FormFault(
                    loc=(*at, "schema", word),
                    found="allows no value that the other keywords of the schema allow",
                    instead="correct the one or the others",
                )
    properties = schema.get("properties")
    known: Mapping[str, JsonValue] = properties if isinstance(properties, Mapping) else {}
    needed: Any = schema.get("required", ())
    for index, name in enumerate(needed):
        closed = schema.get("additionalProperties") is False and name not in known
        if closed or known.get(name) is False:
            yield FormFault(
                loc=(*at, "schema", "required", index),
                found=f"requires {name!r:.60}, which the same schema does not allow",
                instead="add it to properties, or take it out here",
            )


def _contradicts_tool(
    at: Loc, case: Case, tool: str, pointer: str, rule: ArgumentRule
) -> Iterator[FormFault]:
    """A rule that what is known of the tool does not allow."""
    parts = split_pointer(pointer)
    if len(parts) != 1:
        return
    declared = case.contract.tool(tool)
    if rule.kind not in (RuleKind.SCHEMA, RuleKind.DEFAULT):
        yield from _excluded(at, declared, tool, parts[0], rule)
        return
    stated = parameter_of(declared, parts[0])
    if rule.kind is RuleKind.DEFAULT:
        filled = declared.defaults.get(parts[0], stated.get("default", MISSING))
        if filled is not MISSING and canonical(filled) != canonical(rule.operand):  # type: ignore[arg-type]
            yield FormFault(
                loc=(*at, "default"),
                found=f"is not {_text(filled)}, which {tool!r:.60} is declared to fill in",
                instead="write the tool's own default",
            )
        elif not may_fit(stated, rule.operand):
            yield FormFault(
                loc=(*at, "default"),
                found=f"does not fit the schema of {tool!r:.60}",
                instead="write a value that the tool takes",
            )
        return
    wanted, taken = _types(rule.operand), _types(stated)
    coerced = declared.coerce.get(parts[0])
    if coerced is not None:
        taken &= _types({"type": coerced})
    if not wanted & taken:
        yield FormFault(
            loc=(*at, "schema"),
            found=f"asks for {', '.join(sorted(wanted)) or 'no type'}, and {tool!r:.60} takes "
            f"{', '.join(sorted(taken)) or 'none of these'}",
            instead="ask for a type that the tool takes",
        )


def _excluded(
    at: Loc, declared: ToolContract, tool: str, name: str, rule: ArgumentRule
) -> Iterator[FormFault]:
    """A rule that no value is content with of those that a tool's schema takes."""
    if any(name in one for one in (declared.coerce, declared.unit, declared.normalize)):
        return  # the schema may be the one before that change
    stated = parameter_of(declared, name)
    listed: Any = {RuleKind.EQUALS: [rule.operand], RuleKind.ONE_OF: rule.operand}.get(rule.kind)
    wanted = _TYPES_OF.get(rule.kind)
    if listed is not None and not any(may_fit(stated, one) for one in listed):
        yield FormFault(
            loc=(*at, rule.kind),
            found=f"does not fit the schema of {tool!r:.60}",
            instead="write a value that the tool takes",
        )
    elif wanted is not None and not wanted & _types(stated):
        yield FormFault(
            loc=(*at, rule.kind),
            found=f"asks for {' or '.join(sorted(wanted))}, and {tool!r:.60} takes "
            f"{', '.join(sorted(_types(stated))) or 'none of these'}",
            instead="ask for what the tool takes",
        )


def parameter_of(declared: ToolContract, name: str) -> JsonObject:
    """What a tool's schema states of one parameter; nothing, where it has none."""
    properties = (declared.schema or {}).get("properties")
    stated = properties.get(name) if isinstance(properties, Mapping) else None
    return stated if isinstance(stated, Mapping) else {}


def _types(schema: Any) -> set[str]:
    """The types that a schema allows, as far as its own `type` says; all, where it is none."""
    stated = schema.get("type", _KINDS) if isinstance(schema, Mapping) else _KINDS
    listed = [stated] if isinstance(stated, str) else stated
    if not isinstance(listed, list | tuple) or any(one not in _KINDS for one in listed):
        listed = _KINDS
    return {*listed, "integer"} if "number" in listed else {*listed}


def may_fit(schema: JsonObject, value: JsonValue) -> bool:
    """Whether a tool's own schema may take a value."""
    try:
        return fits_schema(schema, value) is not False
    except (UnscorableError, ValueError, TypeError):
        return True  # a tool's own schema may use more of JSON Schema than rules do


def _two_defaults(plans: Plans) -> Iterator[FormFault]:
    """One argument of one tool that is said to have two defaults."""
    first: dict[tuple[str, str], JsonValue] = {}
    for loc, required in plans:
        for index, call in enumerate(required):
            for pointer, rule in call.rules.items():
                if rule.kind is RuleKind.DEFAULT:
                    known = first.setdefault((call.name, pointer), rule.operand)
                    if canonical(known) != canonical(rule.operand):
                        yield FormFault(
                            loc=(*loc, index, "rules", pointer, "default"),
                            found=f"is another default than {_text(known)}, which the case says "
                            f"of the same argument of {call.name!r:.60} elsewhere",
                            instead="write one default, or another rule",
                        )


def _outcomes_apart(case: Case) -> Iterator[FormFault]:
    """A rule inside the value of another that no value of the outer one is content with."""
    listed: dict[str, Any] = {}
    for pointer, rule in case.outcome.items():
        if rule.kind in (RuleKind.EQUALS, RuleKind.ONE_OF):
            listed[pointer] = [rule.operand] if rule.kind is RuleKind.EQUALS else rule.operand
    tree = PointerTree(listed)
    asked = 0
    for pointer, rule in case.outcome.items():
        for outer in tree.around(pointer):
            inner = pointer.removeprefix(outer)
            asked += len(listed[outer])
            if asked > _MOST_ASKED:
                return
            if not any(accepts(rule, at_pointer(one, inner, MISSING)) for one in listed[outer]):
                yield FormFault(
                    loc=("outcome", pointer),
                    found=f"asks for what the rule of {outer or 'the whole state'!r:.60} excludes",
                    instead="correct the one or the other",
                )


def _denied_assertions(case: Case) -> Iterator[FormFault]:
    if case.required is None and not case.plans:
        return
    denied = {id(one) for one in unmet_assertions(case)}
    for index, one in enumerate(case.asserted):
        if id(one) in denied:
            yield FormFault(
                loc=("asserted_values", index),
                found=f"states {_text(one.value)} at {one.tool:.60}{one.path:.60}, and a plan of "
                "the case says otherwise",
                instead="correct the one or the other",
            )


def _same_key_twice(case: Case, loc: Loc, required: Sequence[RequiredCall]) -> Iterator[FormFault]:
    for tool, pointer in case.once_per.items():
        used: set[str] = set()
        for index, call in enumerate(required):
            value = at_pointer(call.arguments, pointer, MISSING)
            if call.name != tool or value is MISSING:
                continue
            key = canonical(value)  # type: ignore[arg-type]
            if key in used:
                yield FormFault(
                    loc=(*loc, index),
                    found=f"requires a second call of {tool!r:.60} with the same value at "
                    f"{pointer:.60}, and once_per allows one",
                    instead="give it a value of its own, or take the tool out of once_per",
                )
            used.add(key)


def _fewer_possible(case: Case, tool: str, least: int) -> Iterator[FormFault]:
    """More calls asked for than `forbidden` or `once_per` leave possible."""
    if least and any(one.name == tool and one.arguments is None for one in case.forbidden):
        yield FormFault(
            loc=("min_calls", tool),
            found=f"asks for {counted(least)} calls of {tool!r:.60}, and forbidden allows none",
            instead="lower the one or take out the other",
        )
    most = _distinct_keys(case.contract.tool(tool), case.once_per.get(tool))
    if most is not None and least > most:
        yield FormFault(
            loc=("min_calls", tool),
            found=f"asks for {counted(least)} calls of {tool!r:.60}, and once_per leaves "
            f"{most}: the argument there has no more values",
            instead="lower it, or take the tool out of once_per",
        )


def _distinct_keys(declared: ToolContract, pointer: str | None) -> int | None:
    """How many values the argument of `once_per` can have; None where nothing bounds them."""
    parts = split_pointer(pointer) if pointer else ()
    needed: Any = (declared.schema or {}).get("required", ())
    if len(parts) != 1 or not isinstance(needed, list | tuple) or parts[0] not in needed:
        return None  # a call without the argument is no repeat
    stated = parameter_of(declared, parts[0])
    choices: Any = stated.get("enum")
    if isinstance(choices, list | tuple):
        return len({canonical(one) for one in choices})
    return 1 if "const" in stated else {"boolean": 2, "null": 1}.get(str(stated.get("type")))


def _text(value: Any) -> str:
    return f"{dump_json(value):.40}"
