"""wrapt's function wrappers, with copies and pickles as functions and methods have them.

The bare wrappers raise when they are copied or pickled. Frameworks do both to tools and to bound
methods, so a decorated one must take it as the undecorated one does.
"""

from __future__ import annotations

import copy
from importlib import import_module
from types import FunctionType
from typing import Any

from wrapt import BoundFunctionWrapper, FunctionWrapper


class BoundReference(BoundFunctionWrapper):  # type: ignore[type-arg]
    """A decorated method, bound; copies and pickles as a bound method does."""

    def __copy__(self) -> BoundReference:
        """The same method of the same object."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The same method, bound to a deep copy of its object."""
        owner = getattr(self.__wrapped__, "__self__", None)
        if owner is None or isinstance(owner, type):
            return self
        return getattr(copy.deepcopy(owner, memo), self.__wrapped__.__name__)

    def __reduce__(self) -> Any:
        """As `__reduce_ex__` says."""
        return self.__reduce_ex__(4)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By its object and its name, or by reference where there is no object."""
        owner = getattr(self.__wrapped__, "__self__", None)
        if owner is not None:
            return getattr, (owner, self.__wrapped__.__name__)
        return bound_at, (self.__wrapped__.__module__, self.__wrapped__.__qualname__)


class Reference(FunctionWrapper):  # type: ignore[type-arg]
    """A decorated function; a copy is itself, and it pickles by reference, as functions do."""

    __bound_function_wrapper__ = BoundReference

    def __copy__(self) -> Reference:
        """Itself."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Reference:
        """Itself."""
        return self

    def __reduce__(self) -> Any:
        """As `__reduce_ex__` says."""
        return self.__reduce_ex__(4)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By reference; a callable object by value, and decorated again where it arrives."""
        function = self.__wrapped__
        if isinstance(function, classmethod | staticmethod):
            function = function.__func__
        if type(function) is not FunctionType:
            wrapper: Any = self._self_wrapper
            return wrapper.decorated_again, (function,)
        if "<locals>" in function.__qualname__:
            # As for any local function: pickle says by itself that it cannot.
            return function.__qualname__
        if "." not in function.__qualname__:
            return function.__qualname__
        return written_at, (function.__module__, function.__qualname__)


def bound_at(module: str, qualname: str) -> Any:
    """The object of this name, as attribute access gives it."""
    owner, last = _owner(module, qualname)
    return getattr(owner, last)


def written_at(module: str, qualname: str) -> Any:
    """The object of this name, as it was written in its class."""
    owner, last = _owner(module, qualname)
    return next(kind.__dict__[last] for kind in owner.__mro__ if last in kind.__dict__)


def _owner(module: str, qualname: str) -> tuple[Any, str]:
    found: Any = import_module(module)
    *path, last = qualname.split(".")
    for part in path:
        found = getattr(found, part)
    return found, last
