"""Responses that hooks have recorded, so that one given by hand as well is not recorded twice."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Final
from weakref import WeakKeyDictionary

from agenttrace.capture import ResponseDraft, recorder

MAX_KEPT: Final = 1_000
"""Responses of one run that are remembered, the last ones."""

_Calls = tuple[tuple[str, str | int | None], ...]


class _Memory:
    def __init__(self) -> None:
        self.lock = threading.RLock()  # finalisers of the program's may record, too
        self.runs: WeakKeyDictionary[object, OrderedDict[str, tuple[_Calls, tuple[str, ...]]]] = (
            WeakKeyDictionary()
        )


_memory: Final = _Memory()


def _forget_lock() -> None:
    """In a forked child: another thread may have held it."""
    _memory.lock = threading.RLock()


os.register_at_fork(after_in_child=_forget_lock)


def remember(run: object | None, draft: ResponseDraft, refs: tuple[str, ...]) -> None:
    """Note a response that a hook has recorded; one without an id cannot be found again.

    Args:
        run: Whose it is. None: the current one's.
        refs: References of its calls.
    """
    run = _current_run() if run is None else run
    if run is None or not draft.response_id:
        return
    with _memory.lock:
        kept = _memory.runs.setdefault(run, OrderedDict())
        kept[draft.response_id] = _calls(draft), refs
        if len(kept) > MAX_KEPT:
            kept.popitem(last=False)


def recorded(draft: ResponseDraft) -> tuple[str, ...] | None:
    """References of the calls of a response that is on record in the current run; else None.

    The same id with other calls is another response: some servers give every response one id.
    """
    run = _current_run() if draft.response_id else None
    if run is None or draft.response_id is None:
        return None
    with _memory.lock:
        found = _memory.runs.get(run, OrderedDict()).get(draft.response_id)
    return found[1] if found is not None and found[0] == _calls(draft) else None


def _current_run() -> object | None:
    scope = recorder.scope()
    return None if scope is None else scope.run


def _calls(draft: ResponseDraft) -> _Calls:
    return tuple((call.name, call.call_id) for call in draft.calls)
