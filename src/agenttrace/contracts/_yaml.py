"""YAML as a notation for JSON values, and for nothing else.

YAML 1.1 reads `12:30:00` as 45000, `on` as true and `2026-11-30` as a date. A case that says a
value must say it exactly, so only null, true, false and JSON's own numbers are read as such; every
other plain text is text.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from agenttrace.domain import JsonValue
from agenttrace.errors import InvalidCaseError, MissingExtraError
from agenttrace.records import JsonTextError, Loc, Place, parse_json

_MOST_REPEATED: Final = 100_000
"""Aliases can make a small file a huge value."""
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_TAG: Final = "tag:yaml.org,2002:"
_NOTATIONS: Final = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ("~", "n", "N", "")),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), tuple("tTfF")),
    ("int", re.compile(r"-?(?:0|[1-9][0-9]*)\Z"), tuple("-0123456789")),
    (
        "float",
        re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z"),
        tuple("-0123456789"),
    ),
    ("nan", re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"), tuple("-+.")),
)


@dataclass(kw_only=True)
class YamlDocument:
    """One document of a YAML text."""

    value: Any = None
    places: dict[Loc, Place] = field(default_factory=dict)
    """The lines on which its values and their keys begin."""
    unread: set[Loc] = field(default_factory=set)
    """Values that were refused, and stand as null."""


def read_yaml(
    text: str, where: str, refuse: Callable[[InvalidCaseError], None]
) -> Iterator[YamlDocument]:
    """The documents of a YAML text.

    Args:
        refuse: Is given each thing that JSON cannot hold; where it returns, null stands there.
            What comes after a text that is no YAML is not read.

    Raises:
        MissingExtraError: PyYAML is not installed.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise MissingExtraError(extra="yaml", package="PyYAML") from error
    loader: Any = type("CaseLoader", (yaml.SafeLoader,), {"yaml_implicit_resolvers": {}})
    for name, pattern, first in _NOTATIONS:
        loader.add_implicit_resolver(_TAG + name, pattern, list(first))
    lines = _Lines(text)
    try:
        reader = loader(text)
    except yaml.reader.ReaderError as error:
        reason = f"is no YAML (the character {error.character:#x} is not allowed)"
        refuse(InvalidCaseError(where, reason, line=lines.at(error.position)))
        return
    try:
        while reader.check_node():
            yield _Values(where, lines, refuse).document(reader.get_node())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        line = None if mark is None else lines.of(mark)
        refuse(InvalidCaseError(where, f"is no YAML ({reason})", line=line))
    except RecursionError:
        line = lines.of(reader.get_mark())
        reason = "is nested too deeply to be read as YAML"
        instead = "nest it less, or write it as JSON"
        refuse(InvalidCaseError(where, reason, line=line, instead=instead))
    except (ValueError, OverflowError):  # what PyYAML lets out of an escape beyond Unicode
        reason = "is no YAML (an escape stands for no character)"
        refuse(InvalidCaseError(where, reason, line=lines.of(reader.get_mark())))
    except _TooMuchError as error:
        refuse(error.fault)
    finally:
        reader.dispose()


class _Lines:
    """Lines as editors count them: PyYAML also ends one at U+0085, U+2028 and U+2029."""

    def __init__(self, text: str) -> None:
        self._starts = [found.end() for found in _LINE_END.finditer(text)]

    def at(self, index: int) -> int:
        return bisect_right(self._starts, index) + 1

    def of(self, mark: Any) -> int:
        return self.at(mark.index)


class _TooMuchError(Exception):
    """A document is too large to be read on."""

    def __init__(self, fault: InvalidCaseError) -> None:
        super().__init__(fault)
        self.fault = fault


class _Values:
    """Turns nodes into JSON values and notes their lines."""

    def __init__(
        self, where: str, lines: _Lines, refuse: Callable[[InvalidCaseError], None]
    ) -> None:
        self.where = where
        self._lines = lines
        self._refuse = refuse
        self.made = YamlDocument()
        self.open: set[int] = set()
        self.seen: set[int] = set()
        self.repeated = 0

    def document(self, node: Any) -> YamlDocument:
        self.made.value = self.of(node, ())
        return self.made

    def of(self, node: Any, loc: Loc, key_node: Any = None) -> Any:
        line = self.line(node)
        self.repeated += id(node) in self.seen
        self.seen.add(id(node))
        if self.repeated > _MOST_REPEATED:
            reason = f"repeats more than {_MOST_REPEATED} values once aliases are resolved"
            raise _TooMuchError(InvalidCaseError(self.where, reason, line=line))
        key_line = line if key_node is None else self.line(key_node)
        self.made.places[loc] = Place(line=line, key_line=key_line)
        kind = node.id
        if kind == "scalar":
            return self.scalar(node, loc)
        if id(node) in self.open:
            return self.refuse(node, "holds a value that contains itself", loc)
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            return self.refuse(node, f"has the tag {node.tag!r:.60}, which JSON does not know", loc)
        self.open.add(id(node))
        value = self.mapping(node, loc) if kind == "mapping" else self.items(node, loc)
        self.open.discard(id(node))
        return value

    def items(self, node: Any, loc: Loc) -> list[Any]:
        return [self.of(item, (*loc, index)) for index, item in enumerate(node.value)]

    def mapping(self, node: Any, loc: Loc) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, item in node.value:
            key = self.key(key_node)
            if key is None:
                continue
            if key in made:
                self.refuse(key_node, f"has the key {key!r:.80} twice", instead="keep one of them")
            made[key] = self.of(item, (*loc, key), key_node)
        return made

    def key(self, node: Any) -> str | None:
        key = node.value if node.id == "scalar" and node.tag in (_TAG + "str", "!") else None
        if not isinstance(key, str):
            self.refuse(node, "has a key that is no text", instead="put it in quotes")
            return None
        if key == "<<" and node.style is None:
            reason = "merges with <<, which is not supported"
            self.refuse(node, reason, instead="repeat the fields")
            return None
        return key

    def scalar(self, node: Any, loc: Loc) -> Any:
        text, name = node.value, node.tag.removeprefix(_TAG)
        if name == "str" or node.tag == "!":
            return text
        if name == "null" and text.lower() in ("", "~", "null"):
            return None
        if name == "bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if name in ("int", "float") and _PATTERNS[name].fullmatch(text):
            return self.number(node, name, loc)
        if name == "nan":
            reason = f"holds {text}, which JSON has no text for"
            return self.refuse(node, reason, loc, instead="quote it if it is text")
        return self.refuse(node, f"has the tag {node.tag!r:.60}, which JSON does not know", loc)

    def number(self, node: Any, name: str, loc: Loc) -> JsonValue:
        try:
            # JSON's own reader takes integers of more digits than `int` does.
            return parse_json(node.value).value if name == "int" else _finite(node.value)
        except (JsonTextError, ValueError):
            reason = f"holds the number {node.value:.40}, which is too large"
            self.refuse(node, reason, loc, instead="write one that is finite, or quote it as text")
            return None

    def refuse(self, node: Any, reason: str, loc: Loc | None = None, *, instead: str = "") -> None:
        """Null for what JSON cannot hold, once it is said."""
        self._refuse(InvalidCaseError(self.where, reason, line=self.line(node), instead=instead))
        if loc is not None:
            self.made.unread.add(loc)

    def line(self, node: Any) -> int:
        return self._lines.of(node.start_mark)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


_PATTERNS: Final = {name: pattern for name, pattern, _ in _NOTATIONS}
