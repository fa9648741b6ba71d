"""Whether a value fits a JSON Schema of a stated subset; the reference of case files lists it.

An answer is yes, no, or None: a digest or a mask stands where the value itself would be needed.
Nothing here recurses, each pair of schema and value is judged once, and the number of such pairs
is bounded, so that no schema and no value can block or break a process.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonObject, JsonValue
from agenttrace.errors import UnscorableError
from agenttrace.redaction import read_digest
from agenttrace.scoring._alike import Alike
from agenttrace.scoring._json_schema_asks import ASSERTIONS, Truth, applies_to, hides_names
from agenttrace.scoring._opaque import is_opaque

if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

Asking: TypeAlias = "Generator[tuple[JsonValue, JsonValue], Truth, Truth]"

MOST_STEPS: Final = 2_000_000
REF: Final = "#/$defs/"
"""What every reference begins with; the name of a definition follows."""
ANNOTATIONS: Final = frozenset(
    {
        "$comment", "$defs", "$schema", "default", "deprecated", "description", "examples",
        "format", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords that ask nothing of a value."""


class _Unasked:
    """Stands for the answer of a question that is being asked."""


_UNASKED: Final = _Unasked()


def fits_schema(schema: JsonObject, value: JsonValue) -> Truth:
    """Whether a value fits a schema; None where that hangs on what digests or masks hide.

    Numbers are equal by value for `enum`, `const` and `uniqueItems`, as JSON Schema says: `1` and
    `1.0` are, `1` and `true` are not.

    Raises:
        UnscorableError: A keyword is unknown, a reference leads nowhere or to itself, or the
            answer would take more than 2,000,000 steps.

    Example:
        >>> fits_schema({"type": "integer", "minimum": 1}, 10.0)
        True
        >>> fits_schema({"required": ["id"]}, {})
        False
    """
    return _Judge(schema).run(value)


class _Judge:
    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self.alike = Alike()
        self._known: dict[tuple[int, int], Truth | _Unasked] = {}

    def run(self, value: JsonValue) -> Truth:
        stack: list[tuple[tuple[int, int], Asking]] = []
        answer: Truth | _Unasked = self._ask(self.root, value, stack)
        while stack:
            pair, asking = stack[-1]
            try:
                part = next(asking) if isinstance(answer, _Unasked) else asking.send(answer)
            except StopIteration as end:
                stack.pop()
                answer = self._known[pair] = end.value
            else:
                answer = self._ask(*part, stack)
        assert not isinstance(answer, _Unasked), "the last question was answered"
        return answer

    def _ask(
        self,
        schema: JsonValue,
        value: JsonValue,
        stack: list[tuple[tuple[int, int], Asking]],
    ) -> Truth | _Unasked:
        """The answer where it is known; else the question is put on top of the others."""
        pair = (id(schema), id(value))
        if pair in self._known:
            known = self._known[pair]
            if isinstance(known, _Unasked):
                raise _refusal("refers to itself before it asks for a part of the value")
            return known
        if len(self._known) >= MOST_STEPS:
            raise _refusal(f"takes more than {MOST_STEPS:,} steps to judge one value")
        self._known[pair] = _UNASKED
        stack.append((pair, self._questions(schema, value)))
        return _UNASKED

    def _questions(self, schema: JsonValue, value: JsonValue) -> Asking:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise _refusal("holds something that is neither an object nor true nor false")
        truth: Truth = True
        for word, operand in schema.items():
            if word in ANNOTATIONS:
                continue
            if word in ASSERTIONS:
                truth = _both(truth, ASSERTIONS[word](operand, value, self.alike))
            elif word in _APPLICATORS:
                inner = _APPLICATORS[word](operand, value, schema, self.root)
                truth = _both(truth, (yield from inner))
            else:
                raise _refusal(f"has the unknown keyword {word!r:.60}")
            if truth is False:
                return False
        return truth


def _refusal(found: str) -> UnscorableError:
    return UnscorableError(
        f"A schema of a case {found}. The row was not judged. Correct the rule `schema`; "
        "docs/reference/cases.md lists the keywords."
    )


def _both(one: Truth, other: Truth) -> Truth:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _all_of(operand: Any, value: JsonValue, schema: JsonObject, root: JsonObject) -> Asking:
    truth: Truth = True
    for one in operand:
        truth = _both(truth, (yield one, value))
        if truth is False:
            break
    return truth


def _any_of(operand: Any, value: JsonValue, schema: JsonObject, root: JsonObject) -> Asking:
    truth: Truth = False
    for one in operand:
        answer = yield one, value
        if answer is True:
            return True
        if answer is None:
            truth = None
    return truth


def _one_of(operand: Any, value: JsonValue, schema: JsonObject, root: JsonObject) -> Asking:
    fitting = unknown = 0
    for one in operand:
        answer = yield one, value
        fitting += answer is True
        unknown += answer is None
        if fitting > 1:
            return False
    return None if unknown else fitting == 1


def _not(operand: Any, value: JsonValue, schema: JsonObject, root: JsonObject) -> Asking:
    answer = yield operand, value
    return None if answer is None else not answer


def _ref(operand: Any, value: JsonValue, schema: JsonObject, root: JsonObject) -> Asking:
    named = root.get("$defs")
    name = operand.removeprefix(REF).replace("~1", "/").replace("~0", "~")
    if not operand.startswith(REF) or not isinstance(named, Mapping) or name not in named:
        raise _refusal(f"refers to {operand!r:.60}, which is not there")
    return (yield named[name], value)


def _properties(operand: Any, value: Any, schema: JsonObject, root: JsonObject) -> Asking:
    applies = applies_to(value, "object")
    if not applies:
        return True if applies is False else None
    truth: Truth = True
    for name, one in operand.items():
        if name in value:
            truth = _both(truth, (yield one, value[name]))
        elif hides_names(value):
            truth = _both(truth, None)
        if truth is False:
            break
    return truth


def _additional(operand: Any, value: Any, schema: JsonObject, root: JsonObject) -> Asking:
    applies = applies_to(value, "object")
    if operand is True or applies is False:
        return True
    if applies is None:
        return None
    known = schema.get("properties")
    truth: Truth = True
    for name, item in value.items():
        if isinstance(known, Mapping) and name in known:
            continue
        answer = yield operand, item
        # A hidden name may be one of those that are known.
        is_hidden = answer is False and known and (read_digest(name) is not None or is_opaque(name))
        truth = _both(truth, None if is_hidden else answer)
        if truth is False:
            break
    return truth


def _items(operand: Any, value: Any, schema: JsonObject, root: JsonObject) -> Asking:
    applies = applies_to(value, "array") if operand is not True else False
    if not applies:
        return True if applies is False else None
    first = schema.get("prefixItems")
    truth: Truth = True
    for item in value[len(first) if isinstance(first, list | tuple) else 0 :]:
        truth = _both(truth, (yield operand, item))
        if truth is False:
            break
    return truth


def _prefix_items(operand: Any, value: Any, schema: JsonObject, root: JsonObject) -> Asking:
    applies = applies_to(value, "array")
    if not applies:
        return True if applies is False else None
    truth: Truth = True
    for one, item in zip(operand, value, strict=False):
        truth = _both(truth, (yield one, item))
        if truth is False:
            break
    return truth


_APPLICATORS: Final[Mapping[str, Callable[[Any, Any, JsonObject, JsonObject], Asking]]] = {
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "prefixItems": _prefix_items,
}

KEYWORDS: Final = ANNOTATIONS | ASSERTIONS.keys() | _APPLICATORS.keys()
"""Every keyword of the subset."""
