"""Arguments of a call by the names of the function's own parameters, as Python would bind them.

`inspect.Signature.bind` costs more than everything else of a record together. Parameters are read
once a function, and a call is bound by a few dictionary operations; what does not fit is left to
the function itself, which raises its own TypeError.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from inspect import Parameter
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final

from wrapt import PartialCallableObjectProxy

from agenttrace.capture._foreign import class_dict, defines, instance_dict, mro_of
from agenttrace.capture._signature_schema import schema_of_parameters
from agenttrace.domain import JsonObject

_BOUND: Final = (BuiltinMethodType, MethodWrapperType)
_CachedFunction: Final = type(lru_cache(len))
_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Binder:
    """Binds calls of one function."""

    __slots__ = (
        "_by_keyword",
        "_defaults",
        "_function",
        "_keyword_rest",
        "_names",
        "_own",
        "_parameters",
        "_positional",
        "_receiver",
        "_rest",
    )

    def __init__(
        self,
        parameters: tuple[Parameter, ...],
        own: Binder | None = None,
        *,
        function: FunctionType | None = None,
        receiver: str | None = None,
    ) -> None:
        self._own = own
        self._parameters = parameters
        self._function = function
        self._receiver = receiver
        self._positional = tuple(p.name for p in parameters if p.kind in _POSITIONAL)
        self._by_keyword = frozenset(
            p.name
            for p in parameters
            if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        )
        self._names = tuple(
            p.name for p in parameters if p.kind in (*_POSITIONAL, Parameter.KEYWORD_ONLY)
        )
        self._defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}
        self._rest = next((p.name for p in parameters if p.kind is Parameter.VAR_POSITIONAL), None)
        self._keyword_rest = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)

    def bind(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...]] | None:
        """Arguments by name, and which of them Python filled in; None where the call does not fit.

        What does not fit the signature that the function shows may fit its own parameters. Further
        positional arguments stand as a list under the name of `*args`; further keywords stand
        beside the others, under their own names.
        """
        bound = self._bind(args, kwargs)
        if bound is None and self._own is not None:
            return self._own.bind(args, kwargs)
        if bound is not None and self._receiver is not None:
            bound[0].pop(self._receiver, None)
        return bound

    def schema(self) -> JsonObject:
        """What the signature says of the arguments, as a JSON Schema."""
        return schema_of_parameters(self._parameters, self._receiver)

    def _bind(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...]] | None:
        positional = self._positional
        bound = dict(zip(positional, args, strict=False))
        if len(args) > len(positional):
            if self._rest is None:
                return None
            bound[self._rest] = list(args[len(positional) :])
        extra: Mapping[str, Any] = {}
        if kwargs:
            count = len(bound)
            if self._by_keyword.issuperset(kwargs):
                bound.update(kwargs)
                if len(bound) < count + len(kwargs):
                    return None  # given twice
            else:
                if not self._keyword_rest:
                    return None
                extra = kwargs
                for name, value in kwargs.items():
                    if name in self._by_keyword:
                        if name in bound:
                            return None
                        bound[name] = value
        if len(bound) < len(self._names) or extra or self._rest is not None:
            return self._complete(bound, extra)
        return bound, ()

    def _complete(
        self, bound: dict[str, Any], kwargs: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...]] | None:
        filled: list[str] = []
        defaults = self._defaults if self._function is None else self._defaults_of(self._function)
        for name in self._names:
            if name not in bound:
                if name not in defaults:
                    return None
                bound[name] = defaults[name]
                filled.append(name)
        for name, value in kwargs.items():
            if name not in self._by_keyword:
                # A positional-only parameter may share its name with a further keyword.
                bound[name if name not in bound else f"**{name}"] = value
        return bound, tuple(filled)

    def _defaults_of(self, function: FunctionType) -> Mapping[str, Any]:
        """What Python fills in by now: a program may give a function other defaults."""
        values = function.__defaults__ or ()
        found = dict(zip(reversed(self._positional), reversed(values), strict=False))
        found.update(function.__kwdefaults__ or ())
        return found


def binder_of(function: Any, skip: int) -> Binder | None:
    """A binder for a function whose first parameters are not the call's; None: it tells nothing."""
    own = _own_binder(function, skip)
    try:
        signature = _signature(function)
    except (ValueError, TypeError):
        return own
    parameters = tuple(signature.parameters.values())
    receiver = None if skip or not parameters else _receiver(function, parameters[0].name)
    live = function if type(function) is FunctionType and own is None else None
    return Binder(parameters[skip:], own, function=live, receiver=receiver)


def _signature(function: Any) -> inspect.Signature:
    """What it shows; a callable object is not asked where its class's `__call__` tells."""
    body = body_of(function)
    if body is function or type(function) is partial:
        return inspect.signature(function)
    own = instance_dict(function) or {}
    if "__signature__" in own or "__wrapped__" in own:
        return inspect.signature(function)
    signature = inspect.signature(body)
    return signature.replace(parameters=tuple(signature.parameters.values())[1:])


def _receiver(function: Any, first: str) -> str | None:
    """The parameter that takes the object, where a method is called as the function it is.

    That is how a property calls it, and who takes it from its class.
    """
    if first != "self" or type(function) is not FunctionType:
        return None
    scope, _, _ = function.__qualname__.rpartition(".")
    return first if scope and not scope.endswith("<locals>") else None


def _own_binder(function: Any, skip: int) -> Binder | None:
    """A binder for what the code takes, where a function may show another signature."""
    if type(function) is not FunctionType or not (
        "__signature__" in function.__dict__ or "__wrapped__" in function.__dict__
    ):
        return None
    code, defaults, closure = function.__code__, function.__defaults__, function.__closure__
    bare = FunctionType(code, {}, None, defaults, closure)
    bare.__kwdefaults__ = function.__kwdefaults__
    return Binder(tuple(inspect.signature(bare).parameters.values())[skip:])


def underlying(wrapped: Callable[..., Any]) -> tuple[Any, int]:
    """The function that will run, and how many of its first parameters are bound already.

    Only types of the language are looked into; whatever else is called is asked as it is.
    """
    kind = type(wrapped)
    if kind is FunctionType:
        return wrapped, 0
    if kind is MethodType:
        return wrapped.__func__, 1  # type: ignore[attr-defined]
    if kind is PartialCallableObjectProxy:
        return wrapped.__wrapped__, 1  # type: ignore[attr-defined]
    return wrapped, 0


def is_lasting(function: Any) -> bool:
    """Whether this is no object that binding made for one call, which would hold its object."""
    kind = type(function)
    if kind is FunctionType or kind is _CachedFunction:
        return True
    return not any(kind is bound for bound in _BOUND) and not defines(function, "__get__")


def passes_its_class(wrapped: Any, first: Any) -> bool:
    """Whether a call hands a class method its class as a plain first argument.

    From CPython 3.13 on `classmethod` no longer binds what it wraps, so a decorator below it sees
    the bare function and the class.
    """
    if type(wrapped) is not FunctionType or not issubclass(type(first), type):
        return False
    code = wrapped.__code__
    return code.co_argcount > 0 and code.co_varnames[0] == "cls"


def body_of(called: Any) -> Any:
    """What says how a callable runs: of a callable object that is the `__call__` of its class."""
    while type(called) is partial:
        called = called.func
    for base in mro_of(type(called)):
        own = class_dict(base).get("__call__")
        if own is not None:
            return called if type(own) is WrapperDescriptorType else own
    return called
