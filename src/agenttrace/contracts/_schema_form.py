"""Which JSON Schemas a rule may hold: the keywords of the stated subset, each with its operand.

Everything that would ask nothing, or could never be met, is refused where the case is loaded: a
keyword that is passed over in silence judges every row wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from agenttrace.contracts._pattern_search import compile_search
from agenttrace.contracts._patterns import PatternError
from agenttrace.contracts._values import FormError, check_json, described
from agenttrace.records import Loc
from agenttrace.scoring import SCHEMA_KEYWORDS, SCHEMA_REF

_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_SCHEMA: Final = frozenset({"additionalProperties", "items", "not"})
_SCHEMAS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED: Final = frozenset({"$defs", "properties"})
_DEFINITIONS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
"""Where the definition of a tool holds the schema of its arguments."""
_REFERRING: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_READ_OF_TOOLS: Final = ("allOf", "anyOf", "enum", "oneOf", "properties", "required", "type")
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf"})
_COUNTS: Final = frozenset(
    {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
)
_NUMBERS: Final = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"})
_ENDS: Final = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minimum", "maximum"),
)
_ELSEWHERE: Final = {
    "definitions": "write $defs",
    "dependencies": "state it with anyOf",
    "nullable": "add null to type",
    "additionalItems": "write items beside prefixItems",
}
"""Keywords of other drafts, and what stands for them here."""


_At: TypeAlias = "tuple[_At, str | int] | None"
"""A place by the place around it: to spell each out would cost a deep schema its square."""


def _loc(at: _At) -> Loc:
    parts: list[str | int] = []
    while at is not None:
        at, part = at
        parts.append(part)
    return tuple(reversed(parts))


def check_schema(value: Any) -> Any:
    """Refuse a schema that is outside the subset, or that contradicts itself; name all faults."""
    if not isinstance(value, dict):
        raise FormError(f"is {described(value)}, not an object", "write a JSON Schema")
    check_json(value)
    faults = list(_faults(value))
    if not faults:
        faults = list(_circles(value))
    for one in faults:
        one.is_of_part = True
    if faults:
        faults[0].others = tuple(faults[1:])
        raise faults[0]
    return value


def _faults(root: dict[str, Any]) -> Iterator[FormError]:
    waiting: list[tuple[_At, Any]] = [(None, root)]
    while waiting:
        at, schema = waiting.pop()
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, dict):
            found = f"is {described(schema)}, not a schema"
            yield FormError(found, "write an object, or true or false", at=_loc(at))
            continue
        inner = list(_inner(schema, at))
        waiting += reversed(inner)
        for word, operand in schema.items():
            yield from _of_word(word, operand, (at, word), root)
        yield from _of_ends(schema, at)


def tool_schema(value: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments, taken out of a definition as a model is offered it.

    The schema may use more of JSON Schema than a rule's, so only an object that is none is refused.
    """
    function = value.get("function")
    held = function if isinstance(function, dict) else value
    inside = (held.get(key) for key in _DEFINITIONS)
    schema: dict[str, Any] = next((one for one in inside if isinstance(one, dict)), value)
    is_object = schema.get("type") == "object" or "properties" in schema
    if schema and not is_object and not _REFERRING & schema.keys():
        listed = ", ".join(schema)
        raise FormError(
            f"is an object with {listed:.80}, and no type: object and no properties",
            "write the JSON Schema of the tool's arguments, or the definition that holds it",
        )
    return schema


def tool_schema_faults(root: Mapping[str, Any]) -> Iterator[FormError]:
    """What is no JSON Schema in a tool's own schema, of the keywords that are read of one."""
    waiting: list[tuple[_At, Any]] = [(None, root)]
    while waiting:
        at, schema = waiting.pop()
        if not isinstance(schema, Mapping):
            continue
        waiting += reversed(list(_inner(schema, at)))
        for word in (one for one in _READ_OF_TOOLS if one in schema):
            needed = _needed(word, schema[word])
            if needed is not None:
                found = f"is {described(schema[word])}, which states nothing"
                yield FormError(found, f"write {needed}", at=_loc((at, word)))


def _inner(schema: Mapping[str, Any], at: _At) -> Iterator[tuple[_At, Any]]:
    """The schemas right inside a schema, where they stand as they should."""
    for word, operand in schema.items():
        if word in _SCHEMA and isinstance(operand, dict):
            yield (at, word), operand
        elif word in _SCHEMAS and isinstance(operand, list):
            yield from ((((at, word), index), one) for index, one in enumerate(operand))
        elif word in _NAMED and isinstance(operand, dict):
            yield from ((((at, word), name), one) for name, one in operand.items())


def _of_word(word: str, operand: Any, at: _At, root: Mapping[str, Any]) -> Iterator[FormError]:
    if word not in SCHEMA_KEYWORDS:
        near = get_close_matches(word, SCHEMA_KEYWORDS, n=1)
        instead = _ELSEWHERE.get(word) or (f"write {near[0]}" if near else None)
        yield FormError(
            "is no keyword that the schema of a rule may have",
            f"{instead}, or take it out" if instead else "take it out",
            at=_loc(at),
            is_about_key=True,
        )
        return
    needed = _needed(word, operand)
    if needed is not None:
        yield FormError(f"is {described(operand)}", f"write {needed}", at=_loc(at))
    elif word == "$ref":
        yield from _of_ref(operand, at, root)
    elif word == "pattern":
        try:
            compile_search(operand)
        except PatternError as error:
            yield FormError(
                f"has a pattern that was refused: {error}",
                "write one that docs/reference/cases.md says is linear, or use enum",
                at=_loc(at),
            )


def _needed(word: str, operand: Any) -> str | None:
    """What should stand in place of an operand; None where it is right."""
    for words, needed, is_right in _OPERANDS:
        if word in words:
            return None if is_right(operand) else needed
    return None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_types(value: Any) -> bool:
    listed = [value] if isinstance(value, str) else value
    return _is_texts(listed) and bool(listed) and all(one in _TYPES for one in listed)


def _is_number(value: Any) -> bool:
    return value.__class__ in (int, float)


_OPERANDS: Final[tuple[tuple[frozenset[str], str, Callable[[Any], bool]], ...]] = (
    (frozenset({"type"}), f"one of {', '.join(_TYPES)}, or a list of them", _is_types),
    (
        frozenset({"enum"}),
        "a list with something in it",
        lambda one: isinstance(one, list) and bool(one),
    ),
    (frozenset({"required"}), "a list of names", _is_texts),
    (_NAMED, "an object of schemas", lambda one: isinstance(one, dict)),
    (_SCHEMAS, "a list of schemas", lambda one: isinstance(one, list) and bool(one)),
    (
        frozenset({"items"}),
        "one schema; a list of them is prefixItems",
        lambda one: isinstance(one, dict | bool),
    ),
    (_SCHEMA, "a schema", lambda one: isinstance(one, dict | bool)),
    (_COUNTS, "a whole number from 0", lambda one: one.__class__ is int and one >= 0),
    (_NUMBERS, "a number", _is_number),
    (frozenset({"multipleOf"}), "a number above 0", lambda one: _is_number(one) and one > 0),
    (frozenset({"uniqueItems"}), "true or false", lambda one: isinstance(one, bool)),
    (frozenset({"pattern", "$ref"}), "a text", lambda one: isinstance(one, str)),
)


def _of_ref(operand: str, at: _At, root: Mapping[str, Any]) -> Iterator[FormError]:
    known = root.get("$defs")
    names = known if isinstance(known, dict) else {}
    if _target(operand) not in names:
        listed = ", ".join(f"{SCHEMA_REF}{name}" for name in names)
        yield FormError(
            f"refers to {operand!r:.60}, which is not there",
            f"write one of {listed:.200}"
            if listed
            else f"refer to {SCHEMA_REF} and a name in $defs",
            at=_loc(at),
        )


def _target(operand: str) -> str | None:
    if not operand.startswith(SCHEMA_REF):
        return None
    return operand.removeprefix(SCHEMA_REF).replace("~1", "/").replace("~0", "~")


def _of_ends(schema: Mapping[str, Any], at: _At) -> Iterator[FormError]:
    for low, high in _ENDS:
        least: Any = schema.get(low)
        most: Any = schema.get(high)
        if _is_number(least) and _is_number(most) and least > most:
            yield FormError(
                f"is {described(least)}, above {high}, which is {described(most)}: no value can "
                "meet both",
                "exchange them",
                at=_loc((at, low)),
            )


def _circles(root: dict[str, Any]) -> Iterator[FormError]:
    """References that lead back to themselves without going into the value."""
    done: set[int] = set()
    for at, start in _everywhere(root):
        # A way is left when all that it leads to was looked at.
        way: list[tuple[int, Iterator[tuple[_At, Any]]]] = []
        open_ids: set[int] = set()
        asked: tuple[_At, Any] | None = (at, start)
        while asked is not None or way:
            if asked is not None and isinstance(asked[1], dict) and id(asked[1]) not in done:
                if id(asked[1]) in open_ids:
                    yield FormError(
                        "refers to itself before it asks for a part of the value, "
                        "so that it asks nothing",
                        "put properties or items between, or take it out",
                        at=_loc(asked[0]),
                    )
                    return
                open_ids.add(id(asked[1]))
                way.append((id(asked[1]), _in_place(asked[1], asked[0], root)))
            if not way:
                break
            asked = next(way[-1][1], None)
            if asked is None:
                number, _ = way.pop()
                open_ids.discard(number)
                done.add(number)


def _everywhere(root: dict[str, Any]) -> Iterator[tuple[_At, Any]]:
    waiting: list[tuple[_At, Any]] = [(None, root)]
    while waiting:
        at, schema = waiting.pop()
        if isinstance(schema, dict):
            yield at, schema
            waiting += _inner(schema, at)


def _in_place(
    schema: Mapping[str, Any], at: _At, root: Mapping[str, Any]
) -> Iterator[tuple[_At, Any]]:
    """The schemas that are asked about the same value."""
    for word in _IN_PLACE & schema.keys():
        yield from ((((at, word), index), one) for index, one in enumerate(schema[word]))
    if "not" in schema:
        yield (at, "not"), schema["not"]
    if "$ref" in schema:
        yield (at, "$ref"), root["$defs"][_target(schema["$ref"])]
