"""Files of JSON values with the line of each value: `.json`, `.jsonl` and `.yaml`.

What cannot be read as JSON values is refused here, so that the form of a case need not know from
which notation it came.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from agenttrace.contracts._yaml import read_yaml
from agenttrace.errors import InvalidCaseError, UnreadableFileError
from agenttrace.records import JsonDocument, JsonTextError, Loc, Place, parse_json, places

Refuse = Callable[[InvalidCaseError], None]
"""What is done with a fault of the notation: raise it, or take it down and read on."""
Places = Callable[[Collection[Loc]], Mapping[Loc, Place]]


@dataclass(frozen=True, kw_only=True)
class Document:
    """One value of a file."""

    value: Any
    places: Places
    """Where values and all that stands around them are; what is not there is left out."""
    unread: Collection[Loc] = ()
    """Values that were refused when the notation was read, and stand as null."""

    def line_of(self, loc: Loc) -> int | None:
        """The line on which a value begins. None: nothing stands there."""
        place = self.places([loc]).get(loc)
        return None if place is None else place.line

    def nearest_line(self, loc: Loc, *, of_key: bool = False) -> int | None:
        """The line of a value or its key, or of the nearest value around it that is there."""
        return nearest_line(self.places([loc]), loc, of_key=of_key)


def nearest_line(known: Mapping[Loc, Place], loc: Loc, *, of_key: bool = False) -> int | None:
    """As `Document.nearest_line`, where the places of many were found at once."""
    for size in range(len(loc), -1, -1):
        place = known.get(loc[:size])
        if place is not None:
            return place.key_line if of_key and size == len(loc) else place.line
    return None


def raise_it(error: InvalidCaseError) -> None:
    """Stop at the first fault of the notation."""
    raise error


def read_documents(path: Path, refuse: Refuse = raise_it) -> Iterator[Document]:
    """The documents of one file: one in `.json`, one a line in `.jsonl`, any number in `.yaml`.

    Args:
        refuse: Is given each fault of the notation; what follows it is read where it can be.

    Raises:
        UnreadableFileError: The file is missing or cannot be opened.
        InvalidCaseError: Its name is none of a case file; and what `refuse` raises.
        MissingExtraError: It is YAML and the extra is not installed.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        if not path.exists():
            raise UnreadableFileError(str(path), os.strerror(errno.ENOENT))
        known = ", ".join(SUFFIXES)
        raise InvalidCaseError(str(path), f"is no case file by its name; known are {known}")
    text = _text_of(path, refuse)
    return iter(()) if text is None else read(text, str(path), refuse)


def _text_of(path: Path, refuse: Refuse) -> str | None:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(str(path), error.strerror or type(error).__name__) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(
            InvalidCaseError(str(path), "is no UTF-8 text", line=line, instead="save it as UTF-8")
        )
        return None


def _read_json(text: str, where: str, refuse: Refuse) -> Iterator[Document]:
    found = _json_document(text, where, refuse)
    if found is not None:
        yield Document(value=found.value, places=partial(places, text))


def _read_json_lines(text: str, where: str, refuse: Refuse) -> Iterator[Document]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            found = _json_document(line, where, refuse, number)
            if found is not None:
                yield Document(value=found.value, places=partial(_on_line, number))


def _read_yaml(text: str, where: str, refuse: Refuse) -> Iterator[Document]:
    for found in read_yaml(text, where, refuse):
        yield Document(
            value=found.value,
            places=partial(_among, found.places),
            unread=frozenset(found.unread),
        )


_READERS: Final[dict[str, Callable[[str, str, Refuse], Iterator[Document]]]] = {
    ".json": _read_json,
    ".jsonl": _read_json_lines,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}
SUFFIXES: Final = tuple(_READERS)


def _on_line(line: int, wanted: Collection[Loc]) -> dict[Loc, Place]:
    return dict.fromkeys(wanted, Place(line=line, key_line=line))


def _among(known: Mapping[Loc, Place], _wanted: Collection[Loc]) -> Mapping[Loc, Place]:
    return known


def _json_document(
    text: str, where: str, refuse: Refuse, line: int | None = None
) -> JsonDocument | None:
    try:
        document = parse_json(text)
    except JsonTextError as error:
        found = "the file ends in the middle of the JSON" if error.truncated else error.reason
        reason = f"is no JSON ({found}, column {error.column})"
        refuse(InvalidCaseError(where, reason, line=line or error.line))
        return None
    for one in document.duplicates:
        reason = f"has the key {one.pointer!r:.80} twice"
        refuse(InvalidCaseError(where, reason, line=line or one.line, instead="keep one of them"))
    return document
