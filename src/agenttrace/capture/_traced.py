"""`@trace`: a tool that records each of its runs, and is in every other way the tool it was.

wrapt keeps binding, signature and kind at run time. What is recorded, and how, is decided at the
call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

from agenttrace.capture._binding import underlying
from agenttrace.capture._execution import Tool
from agenttrace.capture._follow import Runner, run_sync, runner_of
from agenttrace.capture._guard import guard
from agenttrace.capture._recorder import recorder
from agenttrace.capture._wrapper import BoundReference, Reference
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
        if not recorder.is_active:
            return wrapped(*args, **kwargs)
        # Asked at the call: over a classmethod or staticmethod the decorated object was no
        # function yet, and a span chosen then would close before the first await.
        function, _ = underlying(wrapped)
        last, runner = self._last
        if function is not last:
            runner = runner_of(function)
            self._last = (function, runner)
        return runner(self.tool, wrapped, args, kwargs)

    def decorated_again(self, function: Any) -> TracedTool:
        """The tool of a callable object that was pickled by value."""
        return TracedTool(function, self)

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

    def decorate(wrapped: ToolT) -> ToolT:
        if not callable(wrapped) and not isinstance(wrapped, classmethod | staticmethod):
            raise ConfigurationError(
                f"@trace decorates functions and other callables, not {type(wrapped).__name__}. "
                "Nothing was decorated. Put it on the function that runs the tool."
            )
        tool_name = name or callable_name(wrapped)
        recorder.traced[tool_name] = None
        if contract is not None:
            contracts[tool_name] = contract
        execute = Execute(Tool(tool_name, idempotency_key))
        return cast("ToolT", TracedTool(cast("Callable[..., Any]", wrapped), execute))

    return decorate if tool is None else decorate(tool)


contracts: dict[str, ToolContract] = {}
"""What decorated tools declared about themselves, by name."""


def callable_name(tool: Any) -> str:
    """The name of any callable: partials and callable objects have no `__name__` of their own."""
    for _ in range(16):
        found: Any = None
        with guard("naming a tool"):
            found = getattr(tool, "__name__", None)
        if isinstance(found, str) and found:
            return found
        inner = getattr(tool, "func", None) or getattr(tool, "__func__", None)
        if inner is None:
            break
        tool = inner
    return type(tool).__name__


def _execute(name: str, idempotency_key: str | None) -> Execute:
    recorder.traced[name] = None
    return Execute(Tool(name, idempotency_key))
