"""An exception as a record holds it: its type and a message, without running its own code."""

from __future__ import annotations

from types import MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

_ARGS: Final[Any] = BaseException.__dict__["args"].__get__
_OWN_STR: Final = (WrapperDescriptorType, MethodDescriptorType)
_PLAIN: Final = (str, int, float, bool, bytes, type(None))
_MAX_CHARS: Final = 4_000


def type_of(error: BaseException) -> str:
    """Full name of the exception's type; built-in ones by their bare name."""
    kind = type(error)
    module = type.__getattribute__(kind, "__module__")
    if module == "builtins" or not isinstance(module, str):
        return kind.__qualname__
    return f"{module}.{kind.__qualname__}"


def message_of(error: BaseException) -> str:
    """What the exception says; of one with a `__str__` of its own, only its plain arguments."""
    args: tuple[Any, ...] = _ARGS(error)
    plain = [arg for arg in args if type(arg) in _PLAIN]
    kind = type(error)
    if len(plain) == len(args):
        own = next((k.__dict__["__str__"] for k in kind.__mro__ if "__str__" in k.__dict__), None)
        if isinstance(own, _OWN_STR):
            return _cut(str(error))
    return _cut(", ".join(str(arg) for arg in plain))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}… ({len(text)} characters)"
