"""Declared changes of values that are not there: what of them digests and masks still decide.

A declared type is decided by the loose digest. A unit, a normalizer and a folded case would need
the value itself, so the row is judged as if they had been done, and as if they had not.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import JsonObject, JsonValue, ToolContract
from agenttrace.scoring._opaque import digest_of, is_opaque
from agenttrace.scoring._undecided import undecided

if TYPE_CHECKING:
    from typing import Final

_DONE: Final = "[declared]"
"""Stands on both sides for a value that is taken to be as declared."""


def without_values(args: JsonObject, declared: ToolContract, *, adapted: bool) -> JsonObject:
    """The arguments, with opaque values brought into the form in which they can be compared.

    Args:
        adapted: The call was seen after the model, where what is declared may be done already.
    """
    if not any(is_opaque(value) for value in args.values()):
        return args
    out: dict[str, JsonValue] = dict(args)
    for name in declared.unit:
        final = declared.rename.get(name, name)
        value = out.get(final)
        if is_opaque(value) and _may_be_number(value):
            if undecided(f"the unit of /{final}"):
                out[final] = _DONE
            elif not adapted:
                out[final] = f"{_DONE[:-1]} {value}]"  # equal to no value that was scaled
    for name, kind in declared.coerce.items():
        value = out.get(name)
        if is_opaque(value):
            out[name] = _coerced(name, value, kind)
    for name in declared.fold_case:
        value = out.get(name)
        if is_opaque(value) and undecided(f"the case of /{name}"):
            found = digest_of(value)
            out[name] = _DONE if found is None else f"{_DONE} {found.loose}"
    for name, how in declared.normalize.items():
        if is_opaque(out.get(name)) and undecided(f"the normalizer {how} of /{name}"):
            out[name] = _DONE
    return out


def _may_be_number(value: JsonValue) -> bool:
    found = digest_of(value)
    return found is None or found.type in ("integer", "number")


def _coerced(name: str, value: JsonValue, kind: str) -> JsonValue:
    """A value as its declared type: the loose digest, and which kind of type it may be read as."""
    found = digest_of(value)
    if found is None:
        return _DONE if undecided(f"the type of /{name}") else value
    numbers = ("integer", "number")
    if kind in numbers and found.type in (*numbers, "string"):
        return f"[read as number {found.loose}]"
    if kind == "boolean" and found.type in ("boolean", "string"):
        return f"[read as boolean {found.loose}]"
    if kind == "string" and found.type in (*numbers, "string"):
        return f"[read as string {found.loose}]"
    return value
