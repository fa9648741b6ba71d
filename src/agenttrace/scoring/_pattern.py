"""Patterns over texts: what compiles them, and how long a text they are asked about.

Python's own engine stands here until `contracts`, which loads cases, brings one of linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

    from agenttrace.scoring._protocols import TextMatcher, TextSearcher

    PatternCompiler = Callable[[str], TextMatcher]
    SearchCompiler = Callable[[str], TextSearcher]

LONGEST_TEXT: Final = 100_000
"""No pattern fits a text of more characters."""


_compilers: list[PatternCompiler] = [re.compile]
_searchers: list[SearchCompiler] = [re.compile]


def compile_patterns_with(
    compiler: PatternCompiler, searcher: SearchCompiler | None = None
) -> None:
    """Compile patterns by these from now on: `contracts` brings an engine of linear time.

    Args:
        compiler: For patterns that the whole text must fit.
        searcher: For patterns that a part of the text must fit; as before, where none is given.
    """
    _compilers[:] = [compiler]
    if searcher is not None:
        _searchers[:] = [searcher]
    _compiled.cache_clear()
    _searched.cache_clear()


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> TextMatcher:
    return _compilers[0](pattern)


@lru_cache(maxsize=512)
def _searched(pattern: str) -> TextSearcher:
    return _searchers[0](pattern)


def fits_whole(pattern: str, text: str) -> bool:
    """Whether the whole text fits a pattern."""
    return len(text) <= LONGEST_TEXT and _compiled(pattern).fullmatch(text) is not None


def fits_part(pattern: str, text: str) -> bool:
    """Whether some part of the text fits a pattern."""
    return len(text) <= LONGEST_TEXT and _searched(pattern).search(text) is not None
