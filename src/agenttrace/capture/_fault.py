"""An exception as a record holds it: its type and a message, without running its own code."""

from __future__ import annotations

from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from types import MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from agenttrace.capture._foreign import class_dict, is_scalar, mro_of, type_name

_ARGS: Final[Any] = BaseException.__dict__["args"].__get__
_MAX_CHARS: Final = 4_000
_PATHS: Final = (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)


def type_of(error: BaseException) -> str:
    """Full name of the exception's type; built-in ones by their bare name."""
    return type_name(type(error)).removeprefix("builtins.")


def message_of(error: BaseException) -> str:
    """What the exception says; where foreign code has a part in that, only its plain arguments."""
    args: tuple[Any, ...] = _ARGS(error)
    plain = [arg for arg in args if is_scalar(arg)]
    if len(plain) == len(args) and _is_plainly_said(error):
        try:
            return _cut(str(error))
        except ValueError:  # a number of more digits than Python writes
            pass
    return _cut(", ".join(_text(arg) for arg in plain))


def _text(value: object) -> str:
    try:
        return str(value)
    except ValueError:
        return f"({type_name(type(value)).removeprefix('builtins.')})"


def _is_plainly_said(error: BaseException) -> bool:
    """Whether `str` runs no foreign code: a built-in `__str__`, over fields of plain values."""
    for base in mro_of(type(error)):
        own = class_dict(base)
        if "__str__" in own:
            kind = type(own["__str__"])
            if kind is not WrapperDescriptorType and kind is not MethodDescriptorType:
                return False
            fields = (one for one in own.values() if type(one) is MemberDescriptorType)
            return all(_is_plain(one.__get__(error)) for one in fields)
    return False


def _is_plain(field: object) -> bool:
    kind = type(field)  # what the standard library names files by is no foreign code either
    return is_scalar(field) or any(kind is path for path in _PATHS)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}… ({len(text)} characters)"
