"""The verdict of a run that this process recorded."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from agenttrace.capture import RunState, recorder
from agenttrace.domain import Case, Evidence, Verdict
from agenttrace.errors import NoRunError
from agenttrace.records import assemble
from agenttrace.scoring import score
from agenttrace.session._cases import CaseBook

given_cases: WeakKeyDictionary[RunState, Case] = WeakKeyDictionary()
"""Cases that were handed to their runs, which need no looking up."""


def evidence_of(state: RunState) -> Evidence:
    """Everything recorded of the run, by every recorder that wrote into its folder.

    Raises:
        NoRunError: Nothing was recorded yet.
    """
    if state.is_late:
        recorder.settle(state)
    records = state.records()
    if not records:
        raise NoRunError(
            f"Nothing was recorded of the run {state.run.run_id} yet, so there is no evidence. Ask "
            "again after a call, or after the run has ended."
        )
    return assemble(records)


def case_of(state: RunState, cases: CaseBook) -> Case | None:
    """The case a run is judged by; None: it has none.

    Raises:
        UnknownCaseError: The run names a case that is not among the configured ones.
    """
    given = given_cases.get(state)
    if given is None and state.run.case_id is not None:
        given = cases.find(state.run.case_id)
    return given


def verdict_of(state: RunState, cases: CaseBook) -> tuple[Verdict, Evidence]:
    """The run's verdict, and the evidence it rests on.

    Raises:
        AgentTraceError: There is nothing to judge, or no case where one is named.
    """
    evidence = evidence_of(state)
    case = case_of(state, cases)
    # A case that was handed to its run is of no data set that is known here.
    others = cases.others if case is not None and given_cases.get(state) is None else None
    return score(case, evidence, redactor=state.redactor, others=others), evidence
