"""Waiting for a lock of ours, and marking a thread, also where threads are greenlets.

Under gevent many greenlets share one thread of the system. One that blocks in a lock of the system
holds up them all, and with them the one that has the lock. Locks of ours may be of the system even
then: a server such as gunicorn switches to greenlets after the program was loaded.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Final

_STEP_S: Final = 0.001


def take(lock: threading.Lock, taken: list[bool], timeout_s: float) -> bool:
    """Take a lock; false if it was not to be had in time.

    Python raises what the handler of a signal raises between any two calls, also right after a lock
    was taken. The interpreter itself notes that in the list, in the same call: whoever gives the
    list gives the lock back where it holds a true, whatever was raised.
    """
    taken.extend(map(lock.acquire, (False,)))
    if True in taken or not timeout_s:
        return True in taken
    if not are_green():
        taken.extend(map(lock.acquire, (True,), (timeout_s,)))
    else:
        until_s = time.monotonic() + timeout_s
        while True not in taken and time.monotonic() < until_s:
            time.sleep(_STEP_S)  # gevent's, which lets the others go on
            taken.extend(map(lock.acquire, (False,)))
    return True in taken


class ThreadMark:
    """A mark that the current thread or greenlet has, or has not.

    A `threading.local` of the system is one for all greenlets of a thread.
    """

    __slots__ = ("__weakref__", "_marked")

    def __init__(self) -> None:
        self._marked: set[int] = set()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._only_this)

    def is_set(self) -> bool:
        """Whether it is marked."""
        return threading.get_ident() in self._marked

    def put(self, is_marked: bool) -> None:
        """Mark it, or take the mark away."""
        if is_marked:
            self._marked.add(threading.get_ident())
        else:
            self._marked.discard(threading.get_ident())

    def _only_this(self) -> None:
        """In a forked child the other threads are gone, and their numbers come again."""
        self._marked = {threading.get_ident()} & self._marked


def are_green() -> bool:
    """Whether threads are greenlets of gevent in this process."""
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))
