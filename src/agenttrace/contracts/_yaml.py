"""YAML as a notation for JSON values, and for nothing else.

YAML 1.1 reads `12:30:00` as 45000, `on` as true and `2026-11-30` as a date. A case that says a
value must say it exactly, so only null, true, false and JSON's own numbers are read as such; every
other plain text is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final, NoReturn

from agenttrace.errors import InvalidCaseError, MissingExtraError

Lines = dict[tuple[str | int, ...], int]

_MOST_VALUES: Final = 100_000
"""Aliases can make a small file a huge value."""
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


def read_yaml(text: str, where: str) -> Iterator[tuple[Any, Lines]]:
    """The documents of a YAML text, each with the lines on which its values begin.

    Raises:
        MissingExtraError: PyYAML is not installed.
        InvalidCaseError: The text is no YAML, or holds what JSON cannot.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise MissingExtraError(extra="yaml", package="PyYAML") from error
    loader: Any = type("CaseLoader", (yaml.SafeLoader,), {"yaml_implicit_resolvers": {}})
    for name, pattern, first in _NOTATIONS:
        loader.add_implicit_resolver(_TAG + name, pattern, list(first))
    try:
        for node in yaml.compose_all(text, Loader=loader):
            lines: Lines = {}
            yield _Values(where, lines).of(node, ()), lines
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        line = None if mark is None else mark.line + 1
        raise InvalidCaseError(where, f"is no YAML ({reason})", line=line) from error
    except RecursionError as error:
        raise InvalidCaseError(where, "is nested too deeply to be read") from error


class _Values:
    """Turns nodes into JSON values and notes their lines."""

    def __init__(self, where: str, lines: Lines) -> None:
        self.where = where
        self.lines = lines
        self.open: set[int] = set()
        self.made = 0

    def of(self, node: Any, loc: tuple[str | int, ...]) -> Any:
        self.made += 1
        if self.made > _MOST_VALUES:
            self.refuse(node, f"holds more than {_MOST_VALUES} values once aliases are resolved")
        self.lines[loc] = node.start_mark.line + 1
        kind = node.id
        if kind == "scalar":
            return self.scalar(node)
        if id(node) in self.open:
            self.refuse(node, "holds a value that contains itself")
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            self.refuse(node, f"has the tag {node.tag!r:.60}, which JSON does not know")
        self.open.add(id(node))
        value = self.mapping(node, loc) if kind == "mapping" else self.items(node, loc)
        self.open.discard(id(node))
        return value

    def items(self, node: Any, loc: tuple[str | int, ...]) -> list[Any]:
        return [self.of(item, (*loc, index)) for index, item in enumerate(node.value)]

    def mapping(self, node: Any, loc: tuple[str | int, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, item in node.value:
            key = self.scalar(key_node) if key_node.id == "scalar" else None
            if not isinstance(key, str):
                self.refuse(key_node, "has a key that is no text; put it in quotes")
            if key == "<<" and key_node.style is None:
                self.refuse(key_node, "merges with <<, which is not supported; repeat the fields")
            if key in made:
                self.refuse(key_node, f"has the key {key!r:.80} twice")
            made[key] = self.of(item, (*loc, key))
        return made

    def scalar(self, node: Any) -> Any:
        text, name = node.value, node.tag.removeprefix(_TAG)
        if name == "str" or node.tag == "!":
            return text
        if name == "null" and text.lower() in ("", "~", "null"):
            return None
        if name == "bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if name in ("int", "float") and _PATTERNS[name].fullmatch(text):
            return self.number(node, name)
        if name == "nan":
            self.refuse(node, f"holds {text}, which JSON has no text for; quote it if it is text")
        return self.refuse(node, f"has the tag {node.tag!r:.60}, which JSON does not know")

    def number(self, node: Any, name: str) -> int | float:
        try:
            value = int(node.value) if name == "int" else float(node.value)
        except ValueError as error:
            raise InvalidCaseError(
                self.where, f"holds a number that is too long ({error})", line=self.line(node)
            ) from error
        return value

    def line(self, node: Any) -> int:
        return int(node.start_mark.line) + 1

    def refuse(self, node: Any, reason: str) -> NoReturn:
        raise InvalidCaseError(self.where, reason, line=self.line(node))


_PATTERNS: Final = {name: pattern for name, pattern, _ in _NOTATIONS}
