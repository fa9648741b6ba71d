"""What a case says of arguments that its tools do not have, or do not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from agenttrace.contracts._form_faults import FormFault
from agenttrace.contracts._rule_doubts import Plans, may_fit, parameter_of
from agenttrace.contracts._schema_form import tool_schema_faults
from agenttrace.domain import Boundary, Case, RequiredCall, SequenceSide, ToolContract
from agenttrace.records import Loc, split_pointer

_BY_ARGUMENT: Final = ("coerce", "defaults", "normalize")
_ARGUMENTS: Final = ("drop_null_optional", "drop_unknown", "fold_case")


def tool_doubts(case: Case, plans: Plans) -> Iterator[FormFault]:
    """Arguments that the parameters of a tool, as far as they are stated, say nothing of."""
    for loc, required in plans:
        for index, call in enumerate(required):
            yield from _of_required(case, (*loc, index), call)
    for at, tool, name in _named(case):
        yield from _unknown(case, at, tool, name)
    for tool, declared in case.contract.tools.items():
        for one in tool_schema_faults(declared.schema or {}):
            at = ("contract", "schemas", tool, *one.at)
            yield FormFault(loc=at, found=one.found, instead=one.instead)


def _of_required(case: Case, at: Loc, call: RequiredCall) -> Iterator[FormFault]:
    for name, value in call.arguments.items():
        yield from _unknown(case, (*at, "args", name), call.name, name)
        if case.compare is not Boundary.MODEL and not may_fit(
            parameter_of(case.contract.tool(call.name), name), value
        ):
            yield FormFault(
                loc=(*at, "args", name),
                found=f"does not fit the schema of {call.name!r:.60}",
                instead="write a value that the tool takes",
            )
    for pointer in call.rules:
        yield from _unknown(case, (*at, "rules", pointer), call.name, split_pointer(pointer)[0])
    yield from _left_out(case, at, call)


def _left_out(case: Case, at: Loc, call: RequiredCall) -> Iterator[FormFault]:
    """Arguments that the tool requires, and the call has not; none fills them in."""
    declared = case.contract.tool(call.name)
    needed = (declared.schema or {}).get("required")
    if case.compare is Boundary.MODEL or not isinstance(needed, list | tuple):
        return
    given = {*call.arguments, *declared.defaults, *case.ignore_args.get(call.name, ())}
    given |= {split_pointer(pointer)[0] for pointer in call.rules}
    for name in needed:
        if not isinstance(name, str) or name in given or name in declared.rename:
            continue
        if "default" not in parameter_of(declared, name):
            yield FormFault(
                loc=at,
                found=f"leaves out {name!r:.60}, which the schema of {call.name!r:.60} requires",
                instead="add it to args, or a rule for it",
            )


Named = Iterator[tuple[Loc, str, str]]
"""Where an argument is named, of which tool, and which."""


def _named(case: Case) -> Named:
    """Every place but the plans that names an argument of a tool."""
    for index, one in enumerate(case.forbidden):
        for name in one.arguments or ():
            yield ("forbidden", index, "args", name), one.name, name
    for tool, pointer in case.once_per.items():
        yield ("once_per", tool), tool, split_pointer(pointer)[0]
    for tool, names in case.ignore_args.items():
        for name in sorted(names):
            yield ("ignore_args", tool), tool, name
    yield from _named_by_orders(case)
    for tool, declared in case.contract.tools.items():
        for word in _BY_ARGUMENT:
            for name in getattr(declared, word):
                yield ("contract", word, tool, name), tool, name
        for word in _ARGUMENTS:
            for name in getattr(declared, word):
                yield ("contract", word, tool), tool, name


def _named_by_orders(case: Case) -> Named:
    sides: list[tuple[Loc, SequenceSide]] = []
    for index, rule in enumerate(case.sequence):
        sides.append((("sequence", index, "before"), rule.before))
        sides.append((("sequence", index, "after"), rule.after))
        for place, pointer in enumerate(rule.same):
            for side in (rule.before, rule.after):
                yield ("sequence", index, "same", place), side.name, split_pointer(pointer)[0]
    for index, machine in enumerate(case.states):
        for number, step in enumerate(machine.steps):
            sides.append((("states", index, "steps", number, "on"), step.on))
    for at, side in sides:
        for pointer in side.where:
            yield (*at, "where", pointer), side.name, split_pointer(pointer)[0]


def _unknown(case: Case, at: Loc, tool: str, name: str) -> Iterator[FormFault]:
    declared = case.contract.tool(tool)
    for stated, parameters in _parameters(declared):
        known = {*parameters, *declared.rename.values()}
        if stated == "its schema":
            known |= {*declared.rename, *declared.unit}  # it may be the one the model is offered
        elif case.compare is Boundary.MODEL:
            continue  # there the model's own names count
        if name not in known and not (at[0] == "contract" and stated == "drop_unknown"):
            yield FormFault(
                loc=at,
                found=f"is about {name!r:.60}, which is none of the parameters of {tool!r:.60} "
                f"that {stated} lists",
                instead=f"write one of {', '.join(_sorted(parameters)) or 'none'}, or list it "
                "there",
                is_about_key=at[-1] == name or str(at[-1]).startswith("/"),
            )
            return


def _parameters(declared: ToolContract) -> Iterator[tuple[str, Sequence[str]]]:
    """What lists the parameters of a tool, and which it lists."""
    if declared.drop_unknown:
        yield "drop_unknown", declared.drop_unknown
    schema = declared.schema or {}
    properties = schema.get("properties")
    is_closed = schema.get("additionalProperties") is False
    if isinstance(properties, Mapping) and (properties or is_closed):
        yield "its schema", tuple(properties)


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names)[:20]
