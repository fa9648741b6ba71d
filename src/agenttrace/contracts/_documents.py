"""Files of JSON values with the line of each value: `.json`, `.jsonl` and `.yaml`.

What cannot be read as JSON values is refused here, so that the form of a case need not know from
which notation it came.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agenttrace.contracts._parse import LineOf
from agenttrace.contracts._yaml import read_yaml
from agenttrace.errors import InvalidCaseError, UnreadableFileError
from agenttrace.records import JsonTextError, parse_json


@dataclass(frozen=True, kw_only=True)
class Document:
    """One value of a file."""

    value: Any
    line_of: LineOf


def read_documents(path: Path) -> Iterator[Document]:
    """The documents of one file: one in `.json`, one a line in `.jsonl`, any number in `.yaml`.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        InvalidCaseError: Its text is not what its name says, with the line.
        MissingExtraError: It is YAML and the extra is not installed.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        if not path.exists():
            raise UnreadableFileError(str(path), os.strerror(errno.ENOENT))
        known = ", ".join(SUFFIXES)
        raise InvalidCaseError(str(path), f"is no case file by its name; known are {known}")
    return read(_text_of(path), str(path))


def _text_of(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(str(path), error.strerror or type(error).__name__) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidCaseError(str(path), "is no UTF-8 text", line=line) from error


def _read_json(text: str, where: str) -> Iterator[Document]:
    yield Document(value=_json_value(text, where), line_of=lambda loc: _line_in(text, loc))


def _read_json_lines(text: str, where: str) -> Iterator[Document]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Document(value=_json_value(line, where, number), line_of=_always(number))


def _read_yaml(text: str, where: str) -> Iterator[Document]:
    for value, lines in read_yaml(text, where):
        yield Document(value=value, line_of=lines.get)


_READERS: Final[dict[str, Callable[[str, str], Iterator[Document]]]] = {
    ".json": _read_json,
    ".jsonl": _read_json_lines,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}
SUFFIXES: Final = tuple(_READERS)


def _always(line: int) -> LineOf:
    return lambda _loc: line


def _json_value(text: str, where: str, line: int | None = None) -> Any:
    try:
        document = parse_json(text)
    except JsonTextError as error:
        found = "the file ends in the middle of the JSON" if error.truncated else error.reason
        raise InvalidCaseError(
            where, f"is no JSON ({found}, column {error.column})", line=line or error.line
        ) from error
    if document.duplicates:
        first = document.duplicates[0]
        raise InvalidCaseError(
            where, f"has the key {first.pointer!r:.80} twice", line=line or first.line
        )
    return document.value


def _line_in(text: str, wanted: tuple[str | int, ...]) -> int | None:
    """The line on which a value of a valid JSON text begins. None: nothing stands there."""
    try:
        at = _after_space(text, 0)
        for part in wanted:
            found = _child(text, at, part)
            if found is None:
                return None
            at = found
    except (ValueError, RecursionError):
        return None
    return text.count("\n", 0, at) + 1


def _child(text: str, at: int, wanted: str | int) -> int | None:
    """Where a member of the object or list that begins here begins."""
    if text[at : at + 1] not in ("{", "["):
        return None
    is_object = text[at] == "{"
    at = _after_space(text, at + 1)
    index = 0
    while text[at] not in "}]":
        part: str | int = index
        if is_object:
            part, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        if part == wanted:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, at)
        if text[at] == ",":
            at = _after_space(text, at + 1)
        index += 1
    return None


_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
