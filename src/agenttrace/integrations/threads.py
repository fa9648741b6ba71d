"""Threads: which run the work in them belongs to.

Python hands no context variable to a thread, so a tool that runs in one would belong to no run, or
to whichever one is open. Two rules:

- **A piece of work that was submitted to a pool** (`ThreadPoolExecutor.submit` and `map`,
  `multiprocessing.pool.ThreadPool`) stands where it was submitted, and its worker stands nowhere
  before and after. Work submitted outside any run belongs to none of those that the worker has
  served. Nothing of this is a guess.
- **A thread that was started** stands where it was started, until that run is over. It may take
  other runs' work from a queue by then, so that all it records says `inferred`; the call that was
  being dispatched around the start is not passed on, because a later piece of work would answer it
  again. Workers of pools, and threads of ours, stand nowhere.

Only the one context variable of ours is carried, never the program's own. Asyncio carries context
by itself, `to_thread` and `run_in_executor` among it, and so does anyio. A context that the program
gives a thread (Python 3.14) is left as it is.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.thread import ThreadPoolExecutor
from contextvars import Context
from multiprocessing.pool import Pool, ThreadPool
from types import FunctionType, MethodType
from typing import Any, Final

from agenttrace.capture import (
    Place,
    ThreadMark,
    current_place,
    enter_scope,
    guard,
    inherited,
    instance_dict,
    leave_scope,
    recorder,
    report_hook,
    type_name,
)
from agenttrace.integrations._patching import HookCheck, Wrapper, check_method, patch_of

LIBRARY: Final = "threading"
_CARRYING: Final = "carrying a run into a thread"
_BEGINNING: Final = "placing a thread that begins"
_WORKERS: Final = (
    "agenttrace.",
    "concurrent.futures.",
    "multiprocessing.",
)
"""Modules of the standard library and of ours whose threads do anybody's work."""
_INHERITS: Final = bool(getattr(sys.flags, "thread_inherit_context", False))
"""Whether Python itself hands a thread a copy of its starter's context (3.14, free-threaded)."""

_submitting: Final = ThreadMark()
_started: Final[dict[int, Place]] = {}
"""Where threads stand that were started just now and have not begun, by the id of the object."""


class _Piece:
    """A callable that stands where it was submitted, whichever thread calls it."""

    __slots__ = ("_call", "_place")

    def __init__(self, call: Callable[..., Any], place: Place) -> None:
        self._call = call
        self._place = place

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        token = enter_scope(self._place)
        try:
            return self._call(*args, **kwargs)
        finally:
            leave_scope(token)
            # An exception keeps this frame, and would keep what the work was given alive.
            del self, args, kwargs


def check() -> tuple[HookCheck, ...]:
    """Whether each hook still fits this Python."""
    return tuple(check_method(owner, hook, names) for owner, hook, names, _ in _owners())


def instrument() -> Callable[[], None]:
    """Carry runs into threads; the result takes the hooks out again.

    A hook that does not fit is left out: the records of such threads are marked, or in no run.
    """
    installed = []
    for owner, hook, names, wrapper in _owners():
        checked = check_method(owner, hook, names)
        if checked.fits:
            patch = patch_of(owner, hook, wrapper)
            patch.install()
            installed.append(patch)
        report_hook(LIBRARY, None, hook, checked.fits, checked.detail)

    def uninstrument() -> None:
        for patch in installed:
            patch.remove()

    return uninstrument


def _owners() -> Iterator[tuple[type, str, tuple[str, ...], Wrapper]]:
    yield ThreadPoolExecutor, "ThreadPoolExecutor.submit", ("fn",), _submit
    for method in ("apply_async", "_map_async", "imap", "imap_unordered"):
        yield Pool, f"Pool.{method}", ("func",), _hand_out
    # In this order: what nobody takes is not left.
    yield threading.Thread, "Thread._bootstrap_inner", (), _begin
    yield threading.Thread, "Thread.start", (), _start


# Pools


def _submit(wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not recorder.is_active:
        return wrapped(*args, **kwargs)
    outer = _submitting.is_set()
    with guard(_CARRYING, loses=False):
        if len(args) > 1:
            args = (args[0], _Piece(args[1], current_place()), *args[2:])
        _submitting.put(True)
    try:
        return wrapped(*args, **kwargs)
    finally:
        _submitting.put(outer)


def _hand_out(wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with guard(_CARRYING, loses=False):
        if recorder.is_active and issubclass(type(args[0]), ThreadPool):
            if len(args) > 1:
                args = (args[0], _Piece(args[1], current_place()), *args[2:])
            elif "func" in kwargs:
                piece = _Piece(kwargs["func"], current_place())
                kwargs = {**kwargs, "func": piece}
    return wrapped(*args, **kwargs)


# Threads that are started


def _start(wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not recorder.is_active:
        return wrapped(*args, **kwargs)
    with guard(_CARRYING, loses=False):
        if args:
            _note(args[0])
    try:
        return wrapped(*args, **kwargs)
    except BaseException:
        _started.pop(id(args[0]) if args else 0, None)
        raise


def _note(thread: threading.Thread) -> None:
    """Note where a thread is to stand, for the moment when it begins."""
    fields = instance_dict(thread) or {}
    if fields.get("_context") is not None:
        return
    is_worker = _submitting.is_set() or _is_worker(thread, fields)
    place = None if is_worker else inherited(current_place())
    if place is not None or _INHERITS:
        _started[id(thread)] = place


def _is_worker(thread: threading.Thread, fields: dict[str, Any]) -> bool:
    if type_name(type(thread)).startswith(_WORKERS):
        return True
    target = fields.get("_target")
    if type(target) is MethodType:
        target = target.__func__
    if type(target) is not FunctionType:
        return False
    module = target.__globals__.get("__name__")
    return type(module) is str and f"{module}.".startswith(_WORKERS)


def _begin(wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In the new thread, before anything else."""
    if _started:
        with guard(_BEGINNING, loses=False):
            thread = args[0]
            if id(thread) in _started:
                context = (instance_dict(thread) or {}).get("_context")
                place = _started.pop(id(thread))
                if type(context) is Context:
                    context.run(enter_scope, place)  # the body runs in there
                else:
                    enter_scope(place)
    return wrapped(*args, **kwargs)
