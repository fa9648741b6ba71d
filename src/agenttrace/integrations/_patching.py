"""Methods of other people's classes, replaced by wrappers of ours and put back.

A wrapper calls the original once, with the arguments it was given. Taking it out restores the very
object that stood there. Where somebody has patched on top of ours, theirs stays, and ours below it
only passes calls on; installed again, the same wrapper wakes up and no second one is added.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Wrapper: TypeAlias = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""Takes the original and its arguments, the instance first; returns what the original returned.

Over a coroutine function it is one too.
"""

_MAX_LAYERS: Final = 50


class Patch:
    """One method of one class, under a wrapper of ours."""

    def __init__(self, owner: type, name: str, wrapper: Wrapper) -> None:
        self.is_on = False
        self._owner = owner
        self._name = name
        self._original = vars(owner)[name]
        self._ours = self._wrap(self._original, wrapper)

    def _wrap(self, original: Callable[..., Any], wrapper: Wrapper) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def method(*args: Any, **kwargs: Any) -> Any:
                if not self.is_on:
                    return await original(*args, **kwargs)
                return await wrapper(original, args, kwargs)

        else:

            @functools.wraps(original)
            def method(*args: Any, **kwargs: Any) -> Any:
                if not self.is_on:
                    return original(*args, **kwargs)
                return wrapper(original, args, kwargs)

        return method

    def install(self) -> None:
        """Put the wrapper in place, or wake it up where it still stands."""
        if not self._stands():
            setattr(self._owner, self._name, self._ours)
        self.is_on = True

    def remove(self) -> bool:
        """Put the original back; False where somebody's wrapper on top of ours was left."""
        self.is_on = False
        if vars(self._owner).get(self._name) is not self._ours:
            return not self._stands()
        setattr(self._owner, self._name, self._original)
        return True

    def fits(self) -> bool:
        """Whether this patch still belongs to what stands there now."""
        return vars(self._owner).get(self._name) is self._original or self._stands()

    def _stands(self) -> bool:
        """Whether ours is the current attribute, or below wrappers that name what they wrap."""
        current = vars(self._owner).get(self._name)
        for _ in range(_MAX_LAYERS):
            if current is None or current is self._ours:
                break
            current = getattr(current, "__wrapped__", None)
        return current is self._ours


_known: Final[dict[tuple[type, str], Patch]] = {}


def patch_of(owner: type, hook: str, wrapper: Wrapper) -> Patch:
    """The patch of a method: the one made before, as long as it belongs there.

    Args:
        hook: `Class.method`.
    """
    name = hook.partition(".")[2]
    patch = _known.get((owner, name))
    if patch is None or not patch.fits():
        patch = _known[owner, name] = Patch(owner, name, wrapper)
    return patch


@dataclass(frozen=True, slots=True)
class HookCheck:
    """Whether one method is still what a hook was written for."""

    hook: str
    """`Class.method`, as people know it."""
    fits: bool
    detail: str = ""
    """What does not fit."""


def check_method(owner: type | None, hook: str, parameters: tuple[str, ...]) -> HookCheck:
    """Whether a class still has a method that takes these parameters by name.

    Args:
        owner: The class; None where it is no longer there.
        hook: `Class.method`.
        parameters: Names that the method must have, in any order.
    """
    class_name, _, name = hook.partition(".")
    if owner is None:
        return HookCheck(hook, False, f"there is no class {class_name}")
    method = vars(owner).get(name)
    if not inspect.isfunction(method):
        return HookCheck(hook, False, f"{class_name} has no method {name} of its own")
    try:
        known = inspect.signature(method).parameters
    except (TypeError, ValueError) as error:
        return HookCheck(hook, False, f"its signature cannot be read: {error}")
    missing = [each for each in parameters if each not in known]
    if missing:
        return HookCheck(hook, False, f"it takes no {' and no '.join(missing)}")
    return HookCheck(hook, True)
