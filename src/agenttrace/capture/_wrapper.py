"""wrapt's function wrapper, bound, copied and pickled as what it wraps would be.

The bare wrapper raises when it is copied or pickled, and binds to an object of its own kind.
Frameworks copy and pickle tools and bound methods, and hold methods weakly, so a decorated one must
take it as the undecorated one does: of a function, the bound form is a method like any other.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any, Final

from wrapt import BoundFunctionWrapper, CallableObjectProxy, FunctionWrapper

_Base: Final[Any] = FunctionWrapper.__mro__[1]
_CachedFunction: Final = type(functools.lru_cache(len))
_IMPLICIT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "__class_getitem__": classmethod,
    "__init_subclass__": classmethod,
    "__new__": staticmethod,
}


class BoundReference(BoundFunctionWrapper):  # type: ignore[type-arg]
    """What a descriptor of another kind than a function is when it is bound."""

    def __repr__(self) -> str:
        """As it says itself."""
        return repr(self.__wrapped__)

    def __copy__(self) -> BoundReference:
        """The same method of the same object."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The same method, bound to a deep copy of its object."""
        owner = self._self_instance
        if owner is None:
            return self
        copied = copy.deepcopy(owner, memo)
        return self._self_parent.__get__(copied, type(copied))

    def __reduce__(self) -> Any:
        """As `__reduce_ex__` says."""
        return self.__reduce_ex__(4)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By its descriptor and its object."""
        return bound_to, (self._self_parent, self._self_instance)


class _Copies:
    """How a decorated callable is shown, copied and pickled: as what it wraps."""

    __slots__ = ()  # and no annotations: they would stand before those of what is wrapped

    def __repr__(self: Any) -> str:
        """As it says itself."""
        return repr(self.__wrapped__)

    def __copy__(self: Any) -> Any:
        """Itself; of a callable object, a copy that is decorated too."""
        return self._copied(copy.copy)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        """Itself; of a callable object, a deep copy that is decorated too."""
        return self._copied(lambda wrapped: copy.deepcopy(wrapped, memo))

    def _copied(self: Any, make: Callable[[Any], Any]) -> Any:
        wrapped = self.__wrapped__
        copied = make(wrapped)
        return self if copied is wrapped else self._self_wrapper.decorated_again(copied)

    def __reduce__(self: Any) -> Any:
        """As `__reduce_ex__` says."""
        return self.__reduce_ex__(4)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        """By reference where its name leads to it; else what it wraps, decorated again there."""
        wrapped = self.__wrapped__
        name = getattr(wrapped, "__qualname__", None)
        module = getattr(wrapped, "__module__", None)
        if isinstance(name, str) and isinstance(module, str):
            try:
                found: Any = written_at(module, name)
            except (ImportError, AttributeError, LookupError, StopIteration):
                found = None
            if found is self and "." not in name:
                return name
            if issubclass(type(found), _Copies) and found.__wrapped__ is wrapped:
                return written_at, (module, name)
        return self._self_wrapper.decorated_again, (wrapped,)


class Reference(_Copies, FunctionWrapper):  # type: ignore[type-arg]
    """A decorated function, or another descriptor that gives something to call."""

    __bound_function_wrapper__ = BoundReference

    def __init__(self, wrapped: Any, wrapper: Any) -> None:
        if type(wrapped) is FunctionType:
            # Bound by us alone. As a built-in, it is not searched for a `__self__` at each call.
            _Base.__init__(self, wrapped, None, wrapper, None, "builtin")
        else:
            super().__init__(wrapped, wrapper)
        self._self_method: Reference | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method of the instance, as a function gives one."""
        kind = type(self.__wrapped__)
        if kind is FunctionType or kind is _CachedFunction:
            if instance is None:
                return self
            method = self._self_method
            if method is None:
                method = self.made_method()
            return MethodType(method, instance)
        if kind is MethodType:
            return self
        return super().__get__(instance, owner)

    def made_method(self) -> Reference:
        """What a bound method calls: told from `self`, because its first argument is an object."""
        method = type(self)(self.__wrapped__, Receiving(self._self_wrapper))
        method._self_method = method
        self._self_method = method
        return method

    def __set_name__(self, owner: Any, name: str) -> None:
        """Methods that Python binds to the class by their name alone are told by it too late."""
        implicit = _IMPLICIT.get(name)
        if implicit is not None and type(self.__wrapped__) is FunctionType:
            type.__setattr__(owner, name, implicit(self))
        else:
            super().__set_name__(owner, name)  # type: ignore[misc]


class ObjectReference(_Copies, CallableObjectProxy):  # type: ignore[type-arg]
    """A decorated callable object or class, which binds to nothing.

    A function's wrapper would be a descriptor, and would ask the object at each call for attributes
    that it may answer by code of its own.
    """

    def __init__(self, wrapped: Any, wrapper: Any) -> None:
        super().__init__(wrapped)
        self._self_wrapper = wrapper

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call it, recorded."""
        return self._self_wrapper(self.__wrapped__, None, args, kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        """Of a class; from CPython 3.13 on `inspect` does not look below what says it is one."""
        wrapped = self.__wrapped__
        if isinstance(wrapped, type):
            try:
                return inspect.signature(wrapped)
            except (TypeError, ValueError) as error:
                raise AttributeError("__signature__") from error
        found: inspect.Signature = wrapped.__signature__
        return found

    def __instancecheck__(self, instance: Any) -> bool:
        """Whether it is an instance of the class."""
        return isinstance(instance, self.__wrapped__)

    def __subclasscheck__(self, other: Any) -> bool:
        """Whether it is a subclass of the class."""
        return issubclass(other, self.__wrapped__)


class Receiving:
    """Calls a wrapper as if the method were bound already: its first argument is the object."""

    __slots__ = ("wrapper",)

    def __init__(self, wrapper: Any) -> None:
        self.wrapper = wrapper

    def __call__(
        self, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        if not args:
            return self.wrapper(wrapped, instance, args, kwargs)
        return self.wrapper(MethodType(wrapped, args[0]), args[0], args[1:], kwargs)

    def decorated_again(self, wrapped: Any) -> Any:
        """As the wrapper does, and bound as a method."""
        return self.wrapper.decorated_again(wrapped).made_method()

    def __reduce__(self) -> Any:
        """By its wrapper."""
        return Receiving, (self.wrapper,)


def bound_to(parent: Any, instance: Any) -> Any:
    """The descriptor, bound to the object."""
    return parent.__get__(instance, type(instance))


def written_at(module: str, qualname: str) -> Any:
    """The object of this name, as it was written in its module or class."""
    found: Any = import_module(module)
    *path, last = qualname.split(".")
    for part in path:
        found = getattr(found, part)
    if isinstance(found, type):
        found = next(kind.__dict__[last] for kind in found.__mro__ if last in kind.__dict__)
        inner = getattr(found, "__func__", None)  # of a classmethod or staticmethod
        return found if inner is None else inner
    return getattr(found, last)
