r"""Which patterns may judge a value: those whose running time is linear in its length.

Python's own engine can block a whole process on one value, so it only gets patterns of a stated
subset that cannot. Every other pattern needs the extra `re2`, or is refused where the case is
loaded. A pattern of the subset runs on Python's engine even where the extra is installed, so that
one pattern means the same everywhere.

The subset: literals, `.`, classes, `\d \w \s`, escapes, groups, alternatives, and repetitions of
one character or of a group of fixed length. Where a repetition and what follows it could take the
same character, the engine has to try every split; one such unbounded repetition is accepted when
no other unbounded one comes after it, and bounded ones while they leave at most 1,000 ways.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, NoReturn

from agenttrace.contracts._pattern_text import (
    EVERYTHING,
    Alternatives,
    Characters,
    Node,
    PatternTextError,
    Repeat,
    Series,
    read_pattern,
)
from agenttrace.scoring import TextMatcher

MOST_WAYS: Final = 1_000
MOST_CHARACTERS: Final = 10_000
MOST_REPEATS: Final = 10_000


class PatternError(ValueError):
    """A pattern is malformed, or its running time cannot be promised."""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> TextMatcher:
    """Compile a pattern that is matched in linear time.

    Raises:
        PatternError: The pattern is malformed, or it is outside the subset and the extra `re2` is
            not installed, or that engine does not take it either.
    """
    compiled = check_syntax(pattern)
    try:
        check_linear(pattern)
    except PatternError as error:
        return compiled_linear(pattern, error)
    return compiled


def check_linear(pattern: str) -> None:
    """Refuse a pattern whose running time on Python's engine is not promised to be linear.

    Raises:
        PatternError: It says which part is outside the subset.
    """
    count_ways(pattern)


def count_ways(pattern: str) -> int:
    """In how many ways Python's engine may try to match one text, unbounded repetitions aside.

    Raises:
        PatternError: As `check_linear`.
    """
    try:
        tree = read_pattern(pattern)
    except PatternTextError as error:
        raise PatternError(f"{pattern!r:.80} {error}") from error
    ways = _cost(tree, _End(follow=_NOTHING_FOLLOWS), pattern).ways
    if ways > MOST_WAYS:
        _refuse(pattern, f"leaves more than {MOST_WAYS} ways to match")
    return ways


def check_syntax(pattern: str) -> re.Pattern[str]:
    """Compile a pattern on Python's engine, whatever it costs to run.

    Raises:
        PatternError: It is no pattern.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise PatternError(
            f"{pattern!r:.80} is longer than the {MOST_CHARACTERS} characters that are read"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return re.compile(pattern)
    except RecursionError:
        raise PatternError(f"{pattern!r:.80} nests its groups too deeply") from None
    except (re.error, OverflowError, FutureWarning) as error:
        raise PatternError(f"{pattern!r:.80} is no pattern ({error})") from error


def _linear_engine() -> Any | None:
    """The module `re2`, or None where the extra is not installed."""
    try:
        return import_module("re2")
    except ImportError:
        return None


def compiled_linear(pattern: str, why: PatternError) -> LinearMatcher:
    """Compile a pattern by the engine of the extra `re2`.

    Args:
        why: Why Python's engine cannot be taken.

    Raises:
        PatternError: The extra is not installed, or the engine does not take the pattern.
    """
    engine = _linear_engine()
    if engine is None:
        raise PatternError(
            f"{why}, so matching it could take very long; simplify it, or install "
            'another engine: pip install "agenttrace-otel[re2]"'
        ) from why
    options = engine.Options()
    options.log_errors = False
    try:
        return LinearMatcher(engine.compile(pattern, options))
    except (engine.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(
            f"{pattern!r:.80} cannot be matched in linear time, and re2 refuses it too ({text})"
        ) from error


class LinearMatcher:
    """re2 takes no text with a lone surrogate; such a text fits no pattern."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def fullmatch(self, text: str, /) -> object | None:
        """Match the whole text."""
        return self._asked(self._compiled.fullmatch, text)

    def search(self, text: str, /) -> object | None:
        """Find a part of the text that fits."""
        return self._asked(self._compiled.search, text)

    @staticmethod
    def _asked(ask: Callable[[str], object | None], text: str) -> object | None:
        try:
            return ask(text)
        except UnicodeEncodeError:
            return None


_NOTHING_FOLLOWS: Final = Characters(ascii_bits=0, beyond=False)


@dataclass(frozen=True)
class _End:
    """What stands after the part that is looked at."""

    follow: Characters
    """Characters that may come first there."""
    unbounded: bool = False
    """Whether an unbounded repetition comes there."""


@dataclass(frozen=True)
class _Cost:
    first: Characters
    """Characters with which the part, or what follows where it may be empty, can begin."""
    ways: int
    """Ways in which the part can be matched against one text, leaving unbounded ones aside."""
    unbounded: bool
    """Whether an unbounded repetition stands in it or after it."""


def _cost(node: Node, end: _End, pattern: str) -> _Cost:
    if isinstance(node, Characters):
        return _Cost(first=node, ways=1, unbounded=end.unbounded)
    if isinstance(node, Series):
        return _sequence_cost(node, end, pattern)
    if isinstance(node, Alternatives):
        costs = [_cost(one, end, pattern) for one in node.branches]
        return _Cost(
            first=_union(cost.first for cost in costs),
            ways=sum(cost.ways for cost in costs),
            unbounded=any(cost.unbounded for cost in costs),
        )
    return _repeat_cost(node, end, pattern)


def _sequence_cost(node: Series, end: _End, pattern: str) -> _Cost:
    ways = 1
    for part in reversed(node.parts):
        cost = _cost(part, end, pattern)
        end = _End(follow=cost.first, unbounded=cost.unbounded)
        ways *= cost.ways
    return _Cost(first=end.follow, ways=ways, unbounded=end.unbounded)


def _repeat_cost(node: Repeat, end: _End, pattern: str) -> _Cost:
    if node.low == node.high == 1:
        return _cost(node.part, end, pattern)
    if node.low == 0 and node.high == 1:
        inner = _cost(node.part, end, pattern)
        return _Cost(
            first=inner.first.union(end.follow),
            ways=inner.ways + (not inner.first.is_disjoint(end.follow)),
            unbounded=inner.unbounded,
        )
    if max(node.low, node.high or 0) > MOST_REPEATS:
        _refuse(pattern, f"repeats a part more than {MOST_REPEATS} times")
    if not _is_fixed(node.part):
        _refuse(pattern, "repeats a group that holds a repetition or alternatives")
    inner = _cost(node.part, _End(follow=EVERYTHING), pattern)
    first = inner.first if node.low else inner.first.union(end.follow)
    clear = inner.first.is_disjoint(end.follow)
    if node.high is not None:
        ways = 1 if clear else node.high - node.low + 1
        return _Cost(first=first, ways=ways, unbounded=end.unbounded)
    if not clear and end.unbounded:
        _refuse(pattern, "has an unbounded repetition that can run into another one after it")
    return _Cost(first=first, ways=1, unbounded=True)


def _is_fixed(node: Node) -> bool:
    """Whether a part has one length and one way to match."""
    if isinstance(node, Characters):
        return True
    if isinstance(node, Series):
        return bool(node.parts) and all(_is_fixed(part) for part in node.parts)
    if isinstance(node, Repeat):
        return node.low == node.high and node.low > 0 and _is_fixed(node.part)
    return len(node.branches) == 1 and _is_fixed(node.branches[0])


def _union(many: Iterable[Characters]) -> Characters:
    total = _NOTHING_FOLLOWS
    for one in many:
        total = total.union(one)
    return total


def _refuse(pattern: str, reason: str) -> NoReturn:
    raise PatternError(f"{pattern!r:.80} {reason}")
