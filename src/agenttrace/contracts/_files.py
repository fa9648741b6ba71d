"""Files and folders of cases.

One broken case refuses the whole load: a case that is silently missing would leave its rows
unjudged, and nobody would see it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from agenttrace.contracts._documents import (
    SUFFIXES,
    Document,
    Refuse,
    raise_it,
    read_documents,
)
from agenttrace.contracts._parse import case_or_faults, invalid
from agenttrace.contracts._values import described
from agenttrace.domain import Case
from agenttrace.errors import InvalidCaseError, UnreadableFileError
from agenttrace.records import Loc

_FOR_EDITORS: Final = "$schema"
"""Field that tells an editor where the schema of the file is."""


def load_cases(path: Path | str, *more: Path | str) -> tuple[Case, ...]:
    """Load the cases of files and folders, in the order of paths, file names and places within.

    A `.json` file holds one case, a list of them, or an object with the list under `cases`; a
    `.jsonl` file one case a line; a `.yaml` file any of these in each of its documents. A folder is
    searched with all its subfolders, other files and hidden ones are passed over.

    Raises:
        UnreadableFileError: A path does not exist or cannot be opened.
        InvalidCaseError: A case does not fit, two have one id, or there is none.
        MissingExtraError: A file is YAML and the extra `yaml` is not installed.
    """
    cases: list[Case] = []
    places: dict[str, str] = {}
    for file in case_files((path, *more)):
        for document in read_documents(file):
            for loc, one in cases_in(document, str(file)):
                case, faults = case_or_faults(one)
                if case is None:
                    first = faults[0]
                    at = document.nearest_line((*loc, *first.loc), of_key=first.is_about_key)
                    raise invalid(faults, str(file), at)
                line = document.line_of((*loc, "id"))
                if case.case_id in places:
                    reason = (
                        f"the case id {case.case_id!r:.80} was already given at "
                        f"{places[case.case_id]}; each case needs its own"
                    )
                    raise InvalidCaseError(str(file), reason, line=line)
                places[case.case_id] = str(file) if line is None else f"{file}:{line}"
                cases.append(case)
    if not cases:
        searched = ", ".join(str(one) for one in (path, *more))
        raise InvalidCaseError(searched, f"there is no case here; looked for {', '.join(SUFFIXES)}")
    return tuple(cases)


def case_files(paths: Collection[Path | str]) -> Iterator[Path]:
    """The files that paths name, and those of case files' names in folders.

    Raises:
        UnreadableFileError: A folder cannot be listed.
    """
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        try:
            found = sorted(path.rglob("*"))
        except OSError as error:
            raise UnreadableFileError(str(path), error.strerror or "cannot be listed") from error
        for file in found:
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if not hidden and file.suffix.lower() in SUFFIXES and file.is_file():
                yield file


def cases_in(
    document: Document, where: str, refuse: Refuse = raise_it
) -> Iterator[tuple[Loc, Any]]:
    """Each case of a document, and where in it that stands."""
    value: Any = document.value
    loc: Loc = ()
    if isinstance(value, dict) and _FOR_EDITORS in value:
        named = value[_FOR_EDITORS]
        if not isinstance(named, str):
            reason = f"{_FOR_EDITORS} is {described(named)}, not the place of a schema"
            line = document.line_of((_FOR_EDITORS,))
            refuse(
                InvalidCaseError(where, reason, line=line, instead="write a text, or take it out")
            )
        value = {name: one for name, one in value.items() if name != _FOR_EDITORS}
    if isinstance(value, dict) and "cases" in value:
        for other in sorted(value.keys() - {"cases"}):
            place = document.places([(other,)]).get((other,))
            line = None if place is None else place.key_line
            reason = f"has the field {other!r:.60} beside cases"
            refuse(InvalidCaseError(where, reason, line=line, instead="cases stands alone"))
        value, loc = value["cases"], ("cases",)
        if not isinstance(value, list):
            reason = f"cases is {described(value)}, not a list"
            line = document.line_of(loc)
            refuse(InvalidCaseError(where, reason, line=line, instead="write a list"))
            return
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield (*loc, index), one
    else:
        yield loc, value
