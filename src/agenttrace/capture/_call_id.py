"""Which call a parser was given, read from its arguments without touching foreign objects.

Only texts, dictionaries and calls of known SDKs are looked into; the latter through their instance
dictionaries, so that no property or `__getattr__` of anybody runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from agenttrace.capture._binding import binder_of, underlying
from agenttrace.capture._snapshot import snapshot

_IDS: Final = ("call_id", "tool_call_id", "id")
_NAMES: Final = ("name", "tool_name", "tool")
_SDKS: Final = ("openai", "anthropic", "google", "mistralai", "cohere", "groq", "ollama")


@dataclass(frozen=True, slots=True)
class CallNames:
    """How a call is called."""

    name: str | None = None
    call_id: str | int | None = None
    response_id: str | None = None


def given_names(name: object, call_id: object, response_id: object) -> CallNames:
    """What a program says of a call, as plain text and numbers; what is neither is not known."""
    known = {"name": name, "call_id": call_id, "response_id": response_id}
    plain: dict[str, Any] = {key: snapshot(value) for key, value in known.items()}
    return CallNames(
        name=plain["name"] if type(plain["name"]) is str else None,
        call_id=plain["call_id"] if type(plain["call_id"]) in (str, int) else None,
        response_id=plain["response_id"] if type(plain["response_id"]) is str else None,
    )


def names_in(
    given: CallNames,
    parser: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> CallNames:
    """The call's name and id: as given, else as the parser's own arguments have them."""
    if given.name is not None and given.call_id is not None:
        return given
    function, skip = underlying(parser)
    binder = binder_of(function, skip)
    bound = None if binder is None else binder.bind(args, kwargs)
    values: dict[Any, Any] = bound[0] if bound is not None else dict(enumerate(args))
    values.update(kwargs if bound is None else ())
    name, call_id = given.name, given.call_id
    if call_id is None:
        call_id = next((values[k] for k in _IDS if type(values.get(k)) in (str, int)), None)
    if name is None:
        name = next((values[k] for k in _NAMES if type(values.get(k)) is str), None)
    for value in values.values():
        fields = _fields(value)
        if fields is None:
            continue
        if call_id is None:
            call_id = next((fields[k] for k in _IDS if type(fields.get(k)) in (str, int)), None)
        if name is None:
            inner = _fields(fields.get("function")) or fields
            name = inner.get("name") if type(inner.get("name")) is str else None
    if name is None:
        name = next((value for value in values.values() if type(value) is str), None)
    return replace(given, name=name, call_id=call_id)


def _fields(value: Any) -> dict[Any, Any] | None:
    kind = type(value)
    if kind is dict:
        return dict(value)
    module = type.__getattribute__(kind, "__module__")
    if isinstance(module, str) and module.partition(".")[0] in _SDKS:
        try:
            fields = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return None
        return dict(fields) if type(fields) is dict else None
    return None
