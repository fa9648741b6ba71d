"""Values that stand for others: digests and masks, and what they still tell.

Two of one key say whether the values behind them are equal. Anything else that is asked of the
value itself cannot be decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace import redaction
from agenttrace.domain import JsonValue, Kind, Missing
from agenttrace.records import canonical
from agenttrace.redaction import WHOLE, Digest, contains_token, key_ids, read_digest

_CONTAINERS = ("object", "array")


def is_opaque(value: object) -> bool:
    """Whether a scalar is a digest, or holds a mask of ours."""
    return isinstance(value, str) and (
        value.startswith("[digest:") or ("[masked:" in value and bool(contains_token(value)))
    )


def holds_opaque(value: object) -> bool:
    """Whether a digest or a mask of ours stands anywhere in a value."""
    return bool(opaque_keys(value))


def opaque_keys(value: object) -> frozenset[str]:
    """Ids of the keys of every digest and mask in a value."""
    if value is None or isinstance(value, int | float | Missing):
        return frozenset()
    return contains_token(value) | key_ids(value)


def digest_of(value: object) -> Digest | None:
    """The digest that a value is, also of an object that is one as a whole."""
    if isinstance(value, Mapping) and len(value) == 1 and WHOLE in value:
        return read_digest(value[WHOLE])
    return read_digest(value)


def is_cut_down(value: object) -> bool:
    """Whether a value is the digest of a container, whose members are not known."""
    found = digest_of(value)
    return found is not None and found.type in _CONTAINERS


def same(left: JsonValue, right: JsonValue) -> bool:
    """Whether two values are equal, as far as that can be told; cut-down containers too."""
    if canonical(left) == canonical(right):
        return True
    if not key_ids(left) or not key_ids(right):
        return False
    one, other = _folded(left), _folded(right)
    return one.type == other.type and one.exact == other.exact


def _folded(value: JsonValue) -> Digest:
    return digest_of(value) or redaction.fold(value)


def is_respelled(left: object, right: object) -> bool:
    """Whether two unequal values differ in type or spelling alone."""
    one, other = _loose(left), _loose(right)
    return one is not None and one == other


def _loose(value: object) -> str | None:
    found = digest_of(value)
    if found is not None:
        return found.exact if found.type in _CONTAINERS else found.loose
    is_container = isinstance(value, Mapping | Sequence) and not isinstance(value, str)
    return redaction.fold(value).exact if is_container and key_ids(value) else None  # type: ignore[arg-type]


def digest_kind(before: JsonValue, after: JsonValue) -> Kind | None:
    """The kind of a change of which a digest is one side; None where there is none."""
    old, new = digest_of(before), digest_of(after)
    if old is None and new is None:
        return None
    types = [_type(before, old), _type(after, new)]
    if types[0] == types[1]:
        return Kind.VALUE_CHANGED
    is_json_text = "string" in types and not set(types).isdisjoint(_CONTAINERS)
    return Kind.NESTED if is_json_text and is_respelled(before, after) else Kind.TYPE_COERCED


def _type(value: JsonValue, digest: Digest | None) -> str:
    if digest is not None:
        return digest.type
    if isinstance(value, Mapping):
        return "object"
    return "array" if isinstance(value, list | tuple) else value.__class__.__name__


def is_unknown(before: JsonValue | Missing, after: JsonValue | Missing) -> str | None:
    """Why nothing says whether two unequal values are different; None: they are."""
    if isinstance(before, Missing) or isinstance(after, Missing):
        return None
    old, new = opaque_keys(before), opaque_keys(after)
    if old and new and old != new:
        return "they were made with different keys"
    if (key_ids(before) and _is_plain(after)) or (key_ids(after) and _is_plain(before)):
        return "one of them is a digest and the other is not"
    return None


def _is_plain(value: object) -> bool:
    """Whether a value stands there as it is, somewhere; null and what is empty always do."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, Sequence) and not isinstance(one, str):
            waiting.extend(one)
        elif one is not None and read_digest(one) is None:
            return True
    return False


def text_state(raw: str | None) -> str | None:
    """What kind of argument text a digest stands for; None for a text itself."""
    found = read_digest(raw)
    if found is None or not found.type.startswith("text_"):
        return None
    return found.type.removeprefix("text_")
