"""`agenttrace explain`: say what a code of a verdict means, and what to do about it."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Final

from agenttrace.cli._output import put, put_json, say_error, terminal_width
from agenttrace.errors import UnknownCodeError
from agenttrace.report import EXPLANATIONS, Explanation, codes_like, explanations_of

_WIDEST: Final = 100
_NARROWEST: Final = 40
_PARTS: Final = (
    ("means", "what it means"),
    ("causes", "usual causes"),
    ("look", "what to look at"),
    ("declare", "to declare it"),
)
_INDENT: Final = "  "


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "codes",
        nargs="*",
        metavar="CODE",
        help="status, boundary, owner, kind, broken rule, cause, finding or place, as a verdict "
        "spells it; case, _ and - make no difference (default: lists all)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a code")


def run(options: argparse.Namespace) -> int:
    """Explain every code that is known; 2 when one is not."""
    found: list[Explanation] = [] if options.codes else list(EXPLANATIONS)
    has_unknown = False
    for wanted in options.codes:
        known = explanations_of(wanted)
        found += (one for one in known if one not in found)
        if not known:
            say_error(UnknownCodeError(wanted, codes_like(wanted)))
            has_unknown = True
    if options.json:
        for one in found:
            put_json({**asdict(one), "page": one.group.page})
        return 2 if has_unknown else 0
    width = max(_NARROWEST, min(_WIDEST, terminal_width()))
    for line in _pages(found, width) if options.codes else _list(found, width):
        put(line)
    return 2 if has_unknown else 0


def _pages(found: Iterable[Explanation], width: int) -> Iterator[str]:
    """Each code with all that is known of it."""
    for index, one in enumerate(found):
        if index:
            yield ""
        yield f"{one.code} ({one.group.heading})"
        for part, name in _PARTS:
            yield from textwrap.wrap(
                f"{name}: {getattr(one, part)}",
                width,
                initial_indent=_INDENT,
                subsequent_indent=_INDENT * 2,
                break_on_hyphens=False,
            )
        yield f"{_INDENT}page: {one.group.page}"


def _list(found: Iterable[Explanation], width: int) -> Iterator[str]:
    """Every code in a line, under its group."""
    column = 1 + max(len(one.code) for one in found)
    for index, (group, members) in enumerate(groupby(found, key=lambda one: one.group)):
        yield f"{chr(10) if index else ''}{group.heading}"
        for one in members:
            short = one.means.split(". ")[0].rstrip(".")
            room = max(1, width - column - len(_INDENT))
            yield f"{_INDENT}{one.code:{column}}{textwrap.shorten(short, room, placeholder='…')}"
