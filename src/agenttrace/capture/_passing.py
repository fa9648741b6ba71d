"""Which exceptions that come up in the middle of our work are for the program, and go on.

Python may raise one between any two lines: Ctrl-C, the end of a task or a generator, and whatever
the handler of a signal raises, such as a timeout. To keep those would change what the program does.
"""

from __future__ import annotations

import signal
import threading
from asyncio import CancelledError
from types import FunctionType, MethodType
from typing import Any, Final

from agenttrace.capture._foreign import type_name

_STOPS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit, CancelledError)
_SCHEDULERS: Final = ("gevent.", "greenlet.", "eventlet.", "trio.", "anyio.")
"""Libraries that stop work by an exception of their own, which is no `Exception`."""


def is_the_programs(error: BaseException) -> bool:
    """Whether the program waits for this exception, and not whoever records it."""
    kind = type(error)
    if kind is RecursionError or kind is MemoryError:
        return False  # nobody's handler raises these, and there is no room to look
    if issubclass(kind, _STOPS):
        return True
    if not issubclass(kind, Exception) and type_name(kind).startswith(_SCHEDULERS):
        return True
    return _is_of_a_handler(error)


def let_pass(error: BaseException) -> None:
    """Raise what is for the program; anything else is the caller's to deal with."""
    if is_the_programs(error):
        raise error


def _is_of_a_handler(error: BaseException) -> bool:
    """Whether it was raised in the handler of a signal, which interrupted us."""
    if threading.current_thread() is not threading.main_thread():
        return False
    codes = {code for number in signal.valid_signals() if (code := _code(number)) is not None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _code(number: int) -> Any:
    handler: Any = signal.getsignal(number)
    if type(handler) is MethodType:
        handler = handler.__func__
    elif handler is not None and type(handler) is not FunctionType:
        handler = type(handler).__dict__.get("__call__")
    return handler.__code__ if type(handler) is FunctionType else None
