"""`@trace`: a tool that records each of its runs, and is in every other way the tool it was.

wrapt keeps binding, signature and kind at run time. What is recorded, and how, is decided at the
call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial, partialmethod
from types import MethodType
from typing import Any, Final, TypeVar, cast, overload

from agenttrace.capture._binding import is_lasting, underlying
from agenttrace.capture._context import current_unsampled
from agenttrace.capture._execution import Tool
from agenttrace.capture._follow import Runner, run_sync, runner_of
from agenttrace.capture._foreign import defines, instance_dict
from agenttrace.capture._recorder import recorder
from agenttrace.capture._tool_facts import traced_tools
from agenttrace.capture._wrapper import BoundReference, ObjectReference, Receiving, Reference
from agenttrace.domain import ToolContract
from agenttrace.errors import ConfigurationError

ToolT = TypeVar(
    "ToolT", bound="Callable[..., Any] | classmethod[Any, ..., Any] | staticmethod[..., Any]"
)


class BoundTracedTool(BoundReference):
    """A decorated method, bound."""


class TracedTool(Reference):
    """A decorated tool."""

    __bound_function_wrapper__ = BoundTracedTool


class TracedObject(ObjectReference):
    """A decorated callable object or class."""


_TRACED: Final = (TracedTool, BoundTracedTool, TracedObject)


class Execute:
    """What wrapt calls in place of the tool."""

    __slots__ = ("_last", "tool")

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self._last: tuple[Any, Runner] = (None, run_sync)

    def __call__(
        self, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        """Run the tool, recorded if anything is."""
        if not recorder.is_active or (recorder.sampling.is_used and current_unsampled()):
            return wrapped(*args, **kwargs)
        # Asked at the call: over a classmethod or staticmethod the decorated object was no
        # function yet, and a span chosen then would close before the first await.
        function, _ = underlying(wrapped)
        last, runner = self._last
        if function is not last:
            runner = runner_of(function)
            if is_lasting(function):
                self._last = (function, runner)
        return runner(self.tool, wrapped, args, kwargs)

    def decorated_again(self, wrapped: Any) -> TracedTool | TracedObject:
        """The callable, or a copy of it, as this tool."""
        wrapped, _ = _undecorated(wrapped)  # a method that was copied by its name
        binds = defines(wrapped, "__get__")
        return TracedTool(wrapped, self) if binds else TracedObject(wrapped, self)

    def __reduce__(self) -> Any:
        """By what it was made of; what was learned of the function is learned again."""
        return _execute, (self.tool.name, self.tool.idempotency_key)


@overload
def trace(tool: ToolT, /) -> ToolT: ...
@overload
def trace(
    *,
    name: str | None = None,
    contract: ToolContract | None = None,
    idempotency_key: str | None = None,
) -> Callable[[ToolT], ToolT]: ...
def trace(
    tool: ToolT | None = None,
    /,
    *,
    name: str | None = None,
    contract: ToolContract | None = None,
    idempotency_key: str | None = None,
) -> ToolT | Callable[[ToolT], ToolT]:
    """Record every run of a tool at the executor boundary.

    Each run's record holds the arguments the body received, by parameter name and with the
    defaults Python filled in; how the run ended; and what it returned. The call itself is not
    changed: not a value, an exception, an order or the signature. Nothing is recorded before
    `configure()`, `instrument()` or a `run`.

    Args:
        name: The tool's name where it is not the function's; the name its model knows it by.
        contract: What the tool's owner declares: renames, units, defaults and the like.
        idempotency_key: Name of the parameter whose value makes repeated runs harmless.

    Raises:
        ConfigurationError: What is decorated cannot be called, or the name is no text.

    Example:
        >>> @trace
        ... def get_order(order_id: str, currency: str = "USD") -> str:
        ...     return f"{order_id} in {currency}"
        >>> get_order("A-104")
        'A-104 in USD'
    """
    if name is not None and not isinstance(name, str):
        raise ConfigurationError(
            f"trace(name=...) takes the tool's name as text, not {type(name).__name__}. The tool "
            'was not decorated. Write @trace(name="issue_refund").'
        )
    if contract is not None and not isinstance(contract, ToolContract):
        raise ConfigurationError(
            f"trace(contract=...) takes a ToolContract, not {type(contract).__name__}. The tool "
            "was not decorated. Write @trace(contract=ToolContract(rename={...})), or give it "
            "tool_contract(...) of a JSON Schema or a pydantic model."
        )

    def decorate(wrapped: ToolT) -> ToolT:
        return cast("ToolT", _decorated(wrapped, name, contract, idempotency_key))

    return decorate if tool is None else decorate(tool)


def _decorated(
    wrapped: Any, name: str | None, contract: ToolContract | None, idempotency_key: str | None
) -> Any:
    kind = type(wrapped)
    if kind is classmethod or kind is staticmethod:
        # Inside, so that what is found in the class is still of the kind that Python looks for.
        inner = _decorated(wrapped.__func__, name, contract, idempotency_key)
        outer: Any = kind(inner)
        outer.__dict__.update(wrapped.__dict__)
        return outer
    if kind is partialmethod:
        inner = _decorated(wrapped.func, name, contract, idempotency_key)
        return partialmethod(inner, *wrapped.args, **wrapped.keywords)
    if not callable(wrapped) and not issubclass(kind, classmethod | staticmethod):
        raise ConfigurationError(
            f"@trace decorates functions and other callables, not {kind.__name__}. Nothing was "
            "decorated. Put it on the function that runs the tool, below @property and the like."
        )
    wrapped, before = _undecorated(wrapped)
    if before is not None:
        # One call is one record; what is said last is said of the same tool.
        name = name or before.name
        idempotency_key = idempotency_key or before.idempotency_key
        contract = contract or traced_tools.declared(before.name)
    tool_name = name or callable_name(wrapped)
    traced_tools.add(tool_name, contract)
    return Execute(Tool(tool_name, idempotency_key)).decorated_again(wrapped)


def _undecorated(wrapped: Any) -> tuple[Any, Tool | None]:
    """What a decorated tool, or a method of one, was before; anything else as it is."""
    kind = type(wrapped)
    if kind is MethodType:
        function, tool = _undecorated(wrapped.__func__)
        return (wrapped if tool is None else MethodType(function, wrapped.__self__)), tool
    if issubclass(kind, _TRACED):
        execute = wrapped._self_wrapper
        if isinstance(execute, Receiving):
            execute = execute.wrapper
        return wrapped.__wrapped__, execute.tool
    return wrapped, None


def callable_name(tool: Any) -> str:
    """The name of any callable: partials and callable objects have no `__name__` of their own."""
    for _ in range(16):
        found: Any = (instance_dict(tool) or {}).get("__name__")
        if found is None and defines(tool, "__name__"):
            with suppress(Exception):  # may be a property of the user's
                found = tool.__name__
        if type(found) is str and found:
            return found
        kind = type(tool)
        if issubclass(kind, partial):
            tool = tool.func
        elif kind is MethodType:
            tool = tool.__func__
        else:
            break
    return type(tool).__name__


def _execute(name: str, idempotency_key: str | None) -> Execute:
    traced_tools.add(name)
    return Execute(Tool(name, idempotency_key))
