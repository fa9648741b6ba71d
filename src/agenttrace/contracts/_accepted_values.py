"""Required calls from the accepted-values form of the Berkeley Function Calling Leaderboard.

There an answer is `{function: {parameter: [accepted, ...]}}`. An empty text among the accepted
values says that the parameter may be left out, and an accepted object holds such a list under each
of its keys. (BFCL v3, `possible_answer` files.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.contracts._values import FormError, check_json, described
from agenttrace.domain import ArgumentRule, JsonObject, JsonValue, RequiredCall, RuleKind
from agenttrace.errors import InvalidCaseError
from agenttrace.records import escape

_LEFT_OUT = ""
_MAX_DEPTH = 100


def required_from_accepted(
    answers: Sequence[Mapping[str, Any]], where: str = "accepted values"
) -> tuple[RequiredCall, ...]:
    """The calls that an answer in accepted-values form requires.

    One accepted value is a literal; several are `one_of`; objects are a `schema`. A number that is
    accepted as `5.0` is accepted as `5`, as there. Texts are compared as they stand: that scorer
    ignores case and some punctuation in every text, which here a rule has to say of each.

    Args:
        answers: The `ground_truth` of one row: a list with one object a call.
        where: The file and row, for messages.

    Raises:
        InvalidCaseError: The answer has another form; it names the function and the parameter.

    Example:
        >>> (call,) = required_from_accepted([{"area": {"base": [10], "unit": ["cm", ""]}}])
        >>> call.arguments, call.rules["/unit"].operand, call.rules["/unit"].optional
        ({'base': 10}, ['cm', ''], True)
    """
    if not isinstance(answers, list | tuple):
        raise _other_form(where, f"is {described(answers)}, not a list with one object a call")
    return tuple(_call(answer, where) for answer in answers)


def _call(answer: Any, where: str) -> RequiredCall:
    if not isinstance(answer, Mapping) or len(answer) != 1:
        raise _other_form(where, f"has {described(answer)} where one function's object is due")
    ((name, parameters),) = answer.items()
    if not isinstance(name, str) or not name:
        raise _other_form(where, f"has {described(name)} where a function's name is due")
    if not isinstance(parameters, Mapping):
        raise _other_form(where, f"has {described(parameters)} as the parameters of {name!r:.60}")
    arguments: dict[str, JsonValue] = {}
    rules: dict[str, ArgumentRule] = {}
    for parameter, accepted in parameters.items():
        if not isinstance(parameter, str):
            raise _other_form(where, f"has {described(parameter)} as a parameter of {name!r:.60}")
        place = f"{where}, {name:.60}.{parameter:.60}"
        choices = _choices(accepted, place)
        is_optional = _LEFT_OUT in choices
        if any(_holds_object(choice) for choice in choices):
            rule = ArgumentRule(
                kind=RuleKind.SCHEMA,
                operand=_schema_of(choices, place, _MAX_DEPTH),
                optional=is_optional,
            )
        elif len(choices) == 1 and not is_optional:
            arguments[parameter] = choices[0]
            continue
        else:
            rule = ArgumentRule(kind=RuleKind.ONE_OF, operand=choices, optional=is_optional)
        rules[f"/{escape(parameter)}"] = rule
    return RequiredCall(name=name, arguments=arguments, rules=rules)


def _choices(accepted: Any, place: str) -> list[JsonValue]:
    if not isinstance(accepted, list | tuple) or not accepted:
        found = f"has {described(accepted)} where a list of accepted values is due"
        raise _other_form(place, found)
    try:
        check_json(list(accepted))
    except FormError as error:
        raise _other_form(place, error.found) from None
    choices: list[JsonValue] = []
    for choice in accepted:
        choices.append(choice)
        if choice.__class__ is float and choice.is_integer():
            choices.append(int(choice))
    return choices


def _holds_object(value: JsonValue) -> bool:
    """Whether there is an object in a value or in a list of it, however deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            return True
        if isinstance(one, list | tuple):
            waiting.extend(one)
    return False


def _schema_of(choices: Sequence[JsonValue], place: str, depth: int) -> JsonObject:
    """A schema that takes each of these values, and nothing else."""
    if depth == 0:
        raise _other_form(place, f"is nested more than {_MAX_DEPTH} deep")
    plain = [choice for choice in choices if not _holds_object(choice)]
    options: list[JsonValue] = [{"enum": plain}] if plain else []
    for choice in choices:
        if isinstance(choice, Mapping):
            options.append(_object_schema(choice, place, depth))
        elif _holds_object(choice) and isinstance(choice, list | tuple):
            items: list[JsonValue] = [_schema_of([item], place, depth - 1) for item in choice]
            size = len(items)
            options.append(
                {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}
            )
    (only, *others) = options
    return {"anyOf": options} if others or not isinstance(only, Mapping) else only


def _object_schema(choice: Mapping[str, Any], place: str, depth: int) -> JsonObject:
    properties: dict[str, JsonValue] = {}
    required: list[JsonValue] = []
    for key, accepted in choice.items():
        values = _choices(accepted, f"{place}.{key!s:.60}")
        properties[key] = _schema_of(values, place, depth - 1)
        if _LEFT_OUT not in values:
            required.append(key)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _other_form(where: str, found: str) -> InvalidCaseError:
    return InvalidCaseError(
        where, found, instead="write {function: {parameter: [accepted, ...]}}, as BFCL does"
    )
