"""All that is wrong with files of cases, where loading stops at the first fault.

What loading refuses is a fault. What loads and no run can meet is a warning: the case file is
whole, and its owner should look at it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from agenttrace.contracts._documents import SUFFIXES, Document, nearest_line, read_documents
from agenttrace.contracts._doubts import doubts
from agenttrace.contracts._files import case_files, cases_in
from agenttrace.contracts._form_faults import FormFault, place_of
from agenttrace.contracts._parse import case_and_faults
from agenttrace.errors import (
    AgentTraceError,
    InvalidCaseError,
    MissingExtraError,
    UnreadableFileError,
)
from agenttrace.records import Loc, Place
from agenttrace.scoring import normalizer, normalizer_names

_SEE: Final = "correct it; docs/reference/cases.md has the form"


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseFault:
    """One thing that is wrong with a case file, or worth a look."""

    file: str
    line: int | None
    """From 1. None: the fault has no line, as that of a normalizer."""
    case_id: str | None
    """None: the fault is of no case, or of one without an id."""
    field: str | None
    """The way to the field, such as `required[1].args`. None: the case or the file as a whole."""
    found: str
    instead: str
    is_warning: bool = False


@dataclass(kw_only=True)
class CaseCheck:
    """What a check of case files found."""

    files: int = 0
    """Files that were read."""
    cases: int = 0
    """Cases in them, also those with faults."""
    faults: list[CaseFault] = field(default_factory=list)
    """Faults and warnings, file by file and in each by line."""
    unreadable: list[tuple[str, AgentTraceError]] = field(default_factory=list)
    """Paths that were not read, and why."""


def check_cases(path: Path | str, *more: Path | str, strict: bool = False) -> CaseCheck:
    """Read files and folders of cases, as `load_cases` does, and say all that is wrong.

    Two cases with one id are a fault of the later one, also in another file: `load_cases` refuses
    them together. Each known normalizer is run over its own pairs.

    Args:
        strict: Also warn of required calls that do not say why.
    """
    check = _Check(strict=strict)
    for one in (path, *more):
        check.add(one)
    made = check.made
    if not (made.cases or made.faults or made.unreadable):
        searched = ", ".join(str(one) for one in (path, *more))
        reason = f"there is no case here; looked for {', '.join(SUFFIXES)}"
        made.unreadable.append((searched, InvalidCaseError(searched, reason)))
    made.faults += _normalizer_faults()
    return made


@dataclass(frozen=True, kw_only=True)
class _Found:
    """One fault of a document, before its line is known."""

    loc: Loc
    """From the document's root."""
    case_id: str | None
    fault: FormFault
    is_warning: bool


class _Check:
    """The check while files are read."""

    def __init__(self, *, strict: bool) -> None:
        self.made = CaseCheck()
        self._strict = strict
        self._places: dict[str, str] = {}

    def add(self, path: Path | str) -> None:
        """Check one file, or all case files of one folder."""
        try:
            files = list(case_files([path]))
        except UnreadableFileError as error:
            self.made.unreadable.append((str(path), error))
            return
        for file in files:
            found: list[CaseFault] = []
            unread: list[CaseFault] = []
            try:
                for document in read_documents(file, partial(_take_down, unread, str(file))):
                    found += self._faults_of(document, str(file), unread)
                    unread.clear()
            except (UnreadableFileError, MissingExtraError, InvalidCaseError) as error:
                self.made.unreadable.append((str(file), error))
                continue
            self.made.files += 1
            self.made.faults += sorted([*found, *unread], key=lambda one: one.line or 0)

    def _faults_of(self, document: Document, file: str, unread: list[CaseFault]) -> list[CaseFault]:
        """All faults of one document.

        Args:
            unread: Faults of its notation, without the case they stand in.
        """
        found: list[_Found] = []
        ids: list[tuple[Loc, str | None]] = []
        for loc, one in cases_in(document, file, partial(_take_down, unread, file)):
            self.made.cases += 1
            named = one.get("id") if isinstance(one, dict) else None
            case_id = named if isinstance(named, str) and named else None
            ids.append((loc, case_id))
            case, faults = case_and_faults(one)
            warnings = () if case is None else tuple(doubts(case, strict=self._strict))
            for many, is_warning in ((faults, False), (warnings, True)):
                for fault in many:
                    full = (*loc, *fault.loc)
                    if not any(full[:size] in document.unread for size in range(len(full) + 1)):
                        found.append(
                            _Found(loc=full, case_id=case_id, fault=fault, is_warning=is_warning)
                        )
        # The places of all are found at once: each search reads the text from its beginning.
        wanted = [one.loc for one in found] + [at for loc, _ in ids for at in (loc, (*loc, "id"))]
        places = document.places(wanted)
        return [
            *(_with_case(one, ids, places) for one in unread),
            *(_case_fault(one, file, places) for one in found),
            *self._repeated(ids, file, places),
        ]

    def _repeated(
        self, ids: Iterable[tuple[Loc, str | None]], file: str, places: Mapping[Loc, Place]
    ) -> Iterator[CaseFault]:
        """Cases whose id an earlier one has."""
        for loc, case_id in ids:
            if case_id is None:
                continue
            line = nearest_line(places, (*loc, "id"))
            if case_id in self._places:
                yield CaseFault(
                    file=file,
                    line=line,
                    case_id=case_id,
                    field="id",
                    found=f"was already given at {self._places[case_id]}",
                    instead="give each case an id of its own",
                )
            else:
                self._places[case_id] = file if line is None else f"{file}:{line}"


def _take_down(found: list[CaseFault], file: str, error: InvalidCaseError) -> None:
    """Keep a fault of the notation; what follows it is read on."""
    found.append(
        CaseFault(
            file=file,
            line=error.line,
            case_id=None,
            field=None,
            found=error.found,
            instead=error.instead or _SEE,
        )
    )


def _with_case(
    fault: CaseFault, ids: Sequence[tuple[Loc, str | None]], places: Mapping[Loc, Place]
) -> CaseFault:
    """A fault of the notation with the case in whose lines it stands: the last to begin before it.

    Where several begin on one line it is nobody's.
    """
    starts = [nearest_line(places, loc) or 0 for loc, _ in ids]
    last = bisect_right(starts, fault.line or 0) - 1
    if last < 0 or starts.count(starts[last]) > 1:
        return fault
    return replace(fault, case_id=ids[last][1])


def _case_fault(one: _Found, file: str, places: Mapping[Loc, Place]) -> CaseFault:
    fault = one.fault
    return CaseFault(
        file=file,
        line=nearest_line(places, one.loc, of_key=fault.is_about_key),
        case_id=one.case_id,
        field=place_of(fault.loc) if fault.loc else None,
        found=fault.found,
        instead=fault.instead,
        is_warning=one.is_warning,
    )


def _normalizer_faults() -> Iterator[CaseFault]:
    for name in normalizer_names():
        for fault in normalizer(name).faults():
            yield CaseFault(
                file=f"normalizer {name}",
                line=None,
                case_id=None,
                field=None,
                found=fault,
                instead="correct the function, or the pairs it is registered with",
            )
