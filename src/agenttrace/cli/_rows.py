"""Runs and cases brought together: each run is judged by the case whose id it carries.

A run that names a case which is not there is an error of its own row. Judged without its case it
might pass, and nobody would see that it was never compared with what it should have done.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from agenttrace.cli._output import Progress, say, say_error
from agenttrace.domain import Boundary, Case, Evidence, Verdict
from agenttrace.errors import AgentTraceError, UnknownCaseError
from agenttrace.readers import EvidenceSet
from agenttrace.readers.transcripts import AS_LOGGED
from agenttrace.records import Record
from agenttrace.redaction import Redactor, find_redactor
from agenttrace.scoring import CaseValues, expected_like, hide_expected, score
from agenttrace.settings import masking_of, resolve


@dataclass(frozen=True, kw_only=True)
class ScoredRow:
    """One judged run."""

    verdict: Verdict
    evidence: Evidence
    case: Case | None
    records: tuple[Record, ...]
    name: str
    """What `show` finds the run by."""
    source: str
    """The file or folder that `show` finds it in."""
    place: str | None = None
    """File and line of the row that the run was read from; None for recorded evidence."""
    hidden_by: Redactor | None = None
    """What hides the case's secrets where the case is shown. None: the records hide none."""

    def shown_case(self) -> Case | None:
        """The case for the eye: expected values in the form that the recorded ones have."""
        if self.case is None or self.hidden_by is None:
            return self.case
        return expected_like(self.case, self.evidence, self.hidden_by, is_shown=True)


class Rows:
    """The judged runs of some evidence, and whether anything could not be judged."""

    def __init__(
        self,
        evidence: EvidenceSet,
        cases: Mapping[str, Case] | None,
        *,
        compare: Boundary | None = None,
    ) -> None:
        """Prepare the rows; they are judged as they are reached.

        Args:
            cases: Cases by id. None: no cases were given, and records are compared with each
                other.
        """
        self.has_errors = False
        self._evidence = evidence
        self._cases = cases
        self._others = None if cases is None else CaseValues(cases.values())
        self._compare = compare

    def report_problems(self, run_id: str | None = None) -> None:
        """Say on stderr what of the files could not be read: of all, or of one run's files."""
        for problem in self._evidence.each_problem():
            if run_id is not None and problem.path not in self._evidence.places[run_id]:
                continue
            self.has_errors = True
            say(f"error [{problem.code}]: {problem}")

    def __iter__(self) -> Iterator[ScoredRow]:
        """Judge run after run; what cannot be judged is said on stderr."""
        progress = Progress("judged", len(self._evidence))
        for count, run_id in enumerate(self._evidence.records, start=1):
            try:
                yield self.judge(run_id)
            except AgentTraceError as error:
                self.has_errors = True
                first, *others = self._evidence.places[run_id]
                more = f" and {len(others)} more" if others else ""
                say_error(error, of=f"run {run_id} in {first}{more}")
            progress.at(count)

    def judge(self, run_id: str) -> ScoredRow:
        """Judge one run.

        Raises:
            UnknownCaseError: The run names a case that was not given.
            AgentTraceError: Its records do not fit together, or its case cannot be decided.
        """
        stored = self._evidence.stored(run_id)
        evidence = stored.evidence()
        case = self._case_of(evidence)
        masking = evidence.integrity.masking
        is_logged = masking is not None and masking.method == AS_LOGGED
        redactor = self._redactor if case is not None and not is_logged else None
        verdict = score(
            case, evidence, compare=self._compare, redactor=redactor, others=self._others
        )
        if case is not None and redactor is None and not is_logged:
            verdict = hide_expected(verdict, case, evidence, self._throwaway)
        places = stored.places
        return ScoredRow(
            verdict=verdict,
            evidence=evidence,
            case=case,
            records=stored.records,
            name=self.name_of(verdict),
            hidden_by=None if case is None or is_logged else redactor or self._throwaway,
            source=_place_of_all(places),
        )

    @cached_property
    def _redactor(self) -> Redactor | None:
        """Masks expected values as the recorder masked observed ones, where the key is here."""
        return find_redactor(**masking_of(resolve()))

    @cached_property
    def _throwaway(self) -> Redactor:
        """Hides expected secrets where the key is not here; it answers no question of equality."""
        return Redactor(secrets.token_bytes(32), **masking_of(resolve()))

    def _case_of(self, evidence: Evidence) -> Case | None:
        run = evidence.run
        if self._cases is None or run.case_id is None:
            return None
        case = self._cases.get(run.case_id)
        if case is None:
            raise UnknownCaseError(run.case_id, tuple(self._cases))
        if run.case_revision is not None and run.case_revision != case.revision:
            say(
                f"note: run {run.run_id} was recorded for revision {run.case_revision} of case "
                f"{case.case_id} and is judged by revision {case.revision}"
            )
        return case

    def name_of(self, verdict: Verdict) -> str:
        """What `show` finds the run by: its case, or itself where the case has several runs."""
        if not verdict.case_id:
            return verdict.run_id
        runs = islice(self._evidence.run_ids_of(verdict.case_id), 2)
        return verdict.case_id if len(list(runs)) == 1 else verdict.run_id

    @property
    def unasked(self) -> int:
        """How many runs name a case, where no cases were given."""
        return 0 if self._cases is not None else self._evidence.with_case

    def carries(self, case_id: str) -> bool:
        """Whether a run carries this case."""
        return next(self._evidence.run_ids_of(case_id), None) is not None


def _place_of_all(places: Sequence[str]) -> str:
    """The file, or the folder below which all of them are."""
    if len(places) == 1:
        return places[0]
    paths = [Path(place) for place in places]
    if len({path.is_absolute() for path in paths}) > 1:
        paths = [path.absolute() for path in paths]
    return os.path.commonpath(paths) or "."
