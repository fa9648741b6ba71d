"""Files and folders of cases.

One broken case refuses the whole load: a case that is silently missing would leave its rows
unjudged, and nobody would see it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from agenttrace.contracts._documents import SUFFIXES, Document, read_documents
from agenttrace.contracts._parse import LineOf, parse_case
from agenttrace.contracts._values import described
from agenttrace.domain import Case
from agenttrace.errors import InvalidCaseError, UnreadableFileError

Loc = tuple[str | int, ...]


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
    for file in _files((path, *more)):
        for document in read_documents(file):
            for loc, one in _cases_in(document, str(file)):
                case = parse_case(one, str(file), line_of=_lines_below(document, loc))
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


def _files(paths: Collection[Path | str]) -> Iterator[Path]:
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


def _lines_below(document: Document, loc: Loc) -> LineOf:
    return lambda inner: document.line_of(loc + inner)


def _cases_in(document: Document, where: str) -> Iterator[tuple[Loc, Any]]:
    value: Any = document.value
    loc: Loc = ()
    if isinstance(value, dict) and "cases" in value:
        others = sorted(value.keys() - {"cases"})
        if others:
            reason = f"has the field {others[0]!r:.60} beside cases; cases stands alone"
            raise InvalidCaseError(where, reason, line=document.line_of((others[0],)))
        value, loc = value["cases"], ("cases",)
        if not isinstance(value, list):
            reason = f"cases is {described(value)}, not a list"
            raise InvalidCaseError(where, reason, line=document.line_of(loc))
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield (*loc, index), one
    else:
        yield loc, value
