"""Patterns that a part of a text must fit, as JSON Schema's `pattern` asks.

A search begins anew at every character, so what is linear for a whole text may cost a square here.
A pattern that begins with `^` begins once and keeps the rules of whole texts. Any other must have
an end: at most 1,000 steps for one beginning, where an unbounded repetition at its very end takes
none, because the first part that fits ends the search.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from agenttrace.contracts._pattern_text import (
    Alternatives,
    Characters,
    Node,
    PatternTextError,
    Repeat,
    is_anchored,
    read_pattern,
)
from agenttrace.contracts._patterns import (
    PatternError,
    check_syntax,
    compile_pattern,
    compiled_linear,
    count_ways,
)
from agenttrace.scoring import TextMatcher, TextSearcher

MOST_STEPS: Final = 1_000


@lru_cache(maxsize=1024)
def compile_search(pattern: str) -> TextSearcher:
    """Compile a pattern that is searched for in linear time.

    `^` and `$` stand for the ends of the text, and `$` for no line end before it.

    Raises:
        PatternError: The pattern is malformed, or it is outside the subset and the extra `re2` is
            not installed, or that engine does not take it either.
    """
    check_syntax(pattern)
    at_start, at_end = is_anchored(pattern)
    try:
        tree = read_pattern(pattern)
    except PatternTextError as error:
        return compiled_linear(pattern, PatternError(f"{pattern!r:.80} {error}"))
    if isinstance(tree, Alternatives) and (at_start or at_end):
        raise PatternError(
            f"{pattern!r:.80} anchors one alternative only; write the alternatives into a group, "
            "such as ^(?:a|b)$"
        )
    if at_start and at_end:
        return _Whole(compile_pattern(pattern))
    body = pattern[at_start : len(pattern) - at_end]
    try:
        ways = count_ways(pattern)
        if not at_start:
            _check_steps(pattern, tree, ways, at_end=at_end)
    except PatternError as error:
        return compiled_linear(pattern, error)
    return _Beginning(body) if at_start else re.compile(rf"(?:{body})\Z" if at_end else body)


def _check_steps(pattern: str, tree: Node, ways: int, *, at_end: bool) -> None:
    steps = _longest(tree, open_end=not at_end)
    if steps is None or steps * ways > MOST_STEPS:
        found = "has a repetition without end" if steps is None else "tries too many ways"
        raise PatternError(
            f"{pattern!r:.80} {found} at each character it may begin at; begin it with ^"
        )


def _longest(node: Node, *, open_end: bool = False) -> int | None:
    """Most characters that a part can take; None where there is no end.

    Args:
        open_end: Anything may follow, so that an unbounded repetition at the end need not go on.
    """
    if isinstance(node, Characters):
        return 1
    if isinstance(node, Repeat):
        high = node.low if node.high is None and open_end else node.high
        inner = _longest(node.part)
        return None if high is None or inner is None else high * inner
    parts = node.branches if isinstance(node, Alternatives) else node.parts
    sizes = [
        _longest(part, open_end=open_end and (part is parts[-1] or isinstance(node, Alternatives)))
        for part in parts
    ]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return max(known, default=0) if isinstance(node, Alternatives) else sum(known)


class _Whole:
    """Anchored at both ends, a search is a match of the whole text."""

    def __init__(self, compiled: TextMatcher) -> None:
        self._compiled = compiled

    def search(self, text: str, /) -> object | None:
        return self._compiled.fullmatch(text)


class _Beginning:
    """Anchored at its beginning, a search begins once."""

    def __init__(self, body: str) -> None:
        self._compiled = re.compile(body)

    def search(self, text: str, /) -> object | None:
        return self._compiled.match(text)
