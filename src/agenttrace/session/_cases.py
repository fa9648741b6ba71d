"""Which case a run is judged by: one given as it is, a file, or an id in the configured cases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from agenttrace.contracts import load_cases
from agenttrace.domain import Case
from agenttrace.errors import ConfigurationError, UnknownCaseError
from agenttrace.scoring import CaseValues

CaseLike: TypeAlias = "str | os.PathLike[str] | Case"
Cases: TypeAlias = "str | os.PathLike[str] | Sequence[Case]"
_SUFFIXES: Final = frozenset({".json", ".jsonl", ".yaml", ".yml"})


class CaseBook:
    """The configured cases, read when one is first asked for."""

    def __init__(self, cases: Cases | None) -> None:
        self._cases = cases
        self._by_id: Mapping[str, Case] | None = None
        self.others: CaseValues | None = None
        """Values of all of them. None: they were not read yet."""

    def find(self, case_id: str) -> Case:
        """The case of this id.

        Raises:
            UnknownCaseError: No configured case has it.
            AgentTraceError: The configured cases cannot be read.
        """
        if self._by_id is None:
            cases = self._cases
            if isinstance(cases, str | os.PathLike):
                cases = load_cases(Path(cases))
            self._by_id = {case.case_id: case for case in cases or ()}
            self.others = CaseValues(self._by_id.values())
        if case_id not in self._by_id:
            raise UnknownCaseError(case_id, tuple(self._by_id))
        return self._by_id[case_id]


def is_path(case: CaseLike) -> bool:
    """Whether a case was given as a file."""
    if isinstance(case, Case):
        return False
    return isinstance(case, os.PathLike) or Path(case).suffix.lower() in _SUFFIXES


def read_case(path: str | os.PathLike[str]) -> Case:
    """The one case of a file.

    Raises:
        ConfigurationError: The file holds several cases, or none.
        AgentTraceError: It cannot be read.
    """
    found = load_cases(Path(path))
    if len(found) != 1:
        raise ConfigurationError(
            f"{os.fspath(path)} holds {len(found)} cases, and a run has one. The run was not "
            "judged. Pass the case's id to run(case=...) and the file to configure(cases=...)."
        )
    return found[0]
