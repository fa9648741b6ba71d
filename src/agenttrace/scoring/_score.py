"""Judging one run: join, complete, label, walk, in this order.

The first question that fails ends the search for blame. The answer is deterministic: the same
records give the same verdict, whatever order or process they came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace._dataclass import replace
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import (
    Boundary,
    BoundaryFigures,
    Case,
    Cause,
    Contract,
    Evidence,
    First,
    Kind,
    Owner,
    Status,
    Verdict,
)
from agenttrace.records import canonical
from agenttrace.scoring._blame import Blame, blame
from agenttrace.scoring._causes import (
    answered_without_record,
    boundary_not_recorded,
    completeness_causes,
    foreign_records,
    join_causes,
    mask_causes,
    unobserved_causes,
    unusable_records,
)
from agenttrace.scoring._default_rules import declared_by
from agenttrace.scoring._doubts import doubts
from agenttrace.scoring._expected import expected_like, needs_values
from agenttrace.scoring._figures import (
    all_figures,
    name_score,
    never_exact,
    plan_chosen,
    ragas_score,
)
from agenttrace.scoring._findings import findings
from agenttrace.scoring._gaps import gap_causes
from agenttrace.scoring._label import label_fault
from agenttrace.scoring._leaks import leak_findings
from agenttrace.scoring._link import Links, build_chains
from agenttrace.scoring._match import Due
from agenttrace.scoring._met import is_met, met_findings
from agenttrace.scoring._plan import find_plan_divergences
from agenttrace.scoring._policy import has_call_rules, rules_broken
from agenttrace.scoring._refusing import Refusing
from agenttrace.scoring._results import walk_results
from agenttrace.scoring._route import route_causes
from agenttrace.scoring._row import Row
from agenttrace.scoring._shown import hide_expected
from agenttrace.scoring._sight import Sight
from agenttrace.scoring._stated import with_stated
from agenttrace.scoring._undecided import assuming, settled
from agenttrace.scoring._walk import walk_chains

if TYPE_CHECKING:
    from agenttrace.scoring._case_values import CaseValues
    from agenttrace.scoring._protocols import ExpectedMasker


NO_CASE = Case(case_id="")


def score(
    case: Case | None,
    evidence: Evidence,
    *,
    compare: Boundary | None = None,
    redactor: ExpectedMasker | None = None,
    others: CaseValues | None = None,
    lineage: bool = True,
) -> Verdict:
    """Judge one run.

    Args:
        case: The contract. None: the records are compared with each other alone.
        compare: Boundary whose figures decide where the case names none; the executor.
        redactor: Masks expected values like the recorder did. Without it, masked values can only
            be compared among the records.
        others: Values of the data set that the case is one of. With them a call that carries
            another case's values is told from a trace that was brought to the wrong case.
        lineage: Whether to search a row that has a divergence for where its values came from,
            which takes longer than the judgement itself and decides nothing.

    Raises:
        UnscorableError: The case asks for a matching that cannot be bounded, or a value of the
            case or the evidence is none that JSON or a rule could hold.
    """
    with Refusing():
        asked = case
        if redactor is not None and case is not None:
            asked = expected_like(case, evidence, redactor)
        verdict = _settled(asked, evidence, compare, redactor)
        if verdict.divergences:
            verdict = _with_origins(verdict, asked, evidence, others, redactor, lineage=lineage)
        if redactor is None or case is None:
            return verdict
        return hide_expected(verdict, case, evidence, redactor, is_judged=True)


def _with_origins(
    verdict: Verdict,
    case: Case | None,
    evidence: Evidence,
    others: CaseValues | None,
    redactor: ExpectedMasker | None,
    *,
    lineage: bool,
) -> Verdict:
    """The verdict with where its values came from, and whose they are."""
    # A row without a divergence asks none of it.
    from agenttrace.scoring._lineage import with_lineage  # noqa: PLC0415
    from agenttrace.scoring._text_ownership import told_by_text  # noqa: PLC0415

    if lineage:
        verdict = with_lineage(verdict, evidence)
    if others is None or case is None:
        return verdict
    return told_by_text(verdict, case, evidence, others, redactor)


def _settled(
    case: Case | None,
    evidence: Evidence,
    compare: Boundary | None,
    redactor: ExpectedMasker | None,
    *,
    thorough: bool = False,
) -> Verdict:
    """The verdict, whatever the answers to questions that cannot be decided.

    Args:
        thorough: Ask everything, also where the records leave but one answer: it is the same one.
    """
    with assuming(True) as questions:
        verdict = _score(case, evidence, compare, redactor, thorough=thorough)
    if not questions.asked:
        return verdict
    with assuming(False) as others:
        other = _score(case, evidence, compare, redactor, thorough=thorough)
    return settled(verdict, other, [*questions.asked, *others.asked])


def _score(
    case: Case | None,
    evidence: Evidence,
    compare: Boundary | None,
    redactor: ExpectedMasker | None,
    *,
    thorough: bool,
) -> Verdict:
    asked = with_stated(case or NO_CASE, evidence)
    at = asked.compare or compare or Boundary.EXECUTOR
    sight = Sight(evidence, thorough=thorough)
    plan_id, required = plan_chosen(asked, sight, at)
    due = None if required is None else Due(required, asked.ignore_args, sight.write)
    by_boundary = all_figures(asked, sight, due)
    broken = rules_broken(asked, sight, at) if case is not None else ()
    row = _row(asked, sight, due, at, by_boundary)
    own = sight.calls(at, asked.agents)
    ragas = ragas_score(asked, due, own, by_boundary[at], thorough=thorough)
    result = _judge(row, case, by_boundary[at], broken, redactor)
    if any(cause.code == "blank" for cause in result.causes):
        by_boundary = {boundary: never_exact(one) for boundary, one in by_boundary.items()}
    return Verdict(
        case_id=case.case_id if case is not None else evidence.run.case_id,
        case_revision=case.revision if case is not None else evidence.run.case_revision,
        run_id=evidence.run.run_id,
        attempt=evidence.run.attempt,
        status=result.status,
        first=result.first,
        owner=result.owner,
        divergences=result.divergences,
        also=result.also,
        recovered=result.recovered,
        plan=plan_id,
        compare=at,
        boundaries=by_boundary,
        policy=tuple(broken),
        causes=result.causes,
        findings=(
            *findings(row),
            *met_findings(row, by_boundary[at]),
            *leak_findings(asked, evidence, broken),
        ),
        chains=tuple(chain.to_chain() for chain in row.chains),
        request_ids=_distinct(
            [c.request_id for c in evidence.model]
            + [r.request_id for r in evidence.responses or ()]
        ),
        response_ids=_distinct(
            [r.response_id for r in evidence.responses or ()]
            + [c.response_id for c in evidence.model]
        ),
        evidence_digest=evidence.digest,
        galtea_tool_correctness=name_score(asked.contract, required, own),
        ragas_tool_call_f1=ragas,
    )


def records_alone(case: Case | None, evidence: Evidence) -> First:
    """The first boundary that the records show by themselves, without plan, rules or identity.

    Raises:
        UnscorableError: As `score`.
    """
    with Refusing():
        with assuming(True):
            first = _records_alone(case, evidence)
        with assuming(False):
            other = _records_alone(case, evidence)
        return first if first is other else First.INSTRUMENTATION


def _records_alone(case: Case | None, evidence: Evidence) -> First:
    contract = case.contract if case is not None else Contract()
    bare = replace(NO_CASE, contract=contract, ignore_args=case.ignore_args if case else {})
    if any(foreign_records(evidence)):
        return First.JOIN
    if completeness_causes(evidence) or unusable_records(evidence):
        return First.INSTRUMENTATION
    row = _row(with_stated(bare, evidence), Sight(evidence), None, Boundary.EXECUTOR, {})
    if gap_causes(evidence, row.chains):
        return First.INSTRUMENTATION
    walk_chains(row)
    walk_results(row)
    _runtime_types(row)
    found = row.in_order()
    return First(found[0].divergence.boundary.value) if found else First.NONE


def _judge(
    row: Row,
    case: Case | None,
    at_compared: BoundaryFigures | None,
    broken: Sequence[str],
    redactor: ExpectedMasker | None,
) -> Blame:
    answer = _open(First.JOIN, Owner.EVALUATION_PLATFORM, join_causes(case, row.evidence))
    answer = answer or _open(
        First.INSTRUMENTATION, Owner.INSTRUMENTATION, _incomplete(row, at_compared, redactor)
    )
    met = is_met(row, at_compared)
    answer = answer or _label(row, at_compared, broken, met=met)
    if answer is not None:
        return answer
    find_plan_divergences(row)
    walk_chains(row)
    walk_results(row)
    _runtime_types(row)
    clean = not broken and met
    open_questions = doubts(row, clean=clean, reference_masked=redactor is not None)
    if open_questions:
        return _instrumentation(open_questions)
    result = blame(row, broken, met=met)
    if row.evidence.is_observed(row.compare) or not _asks_of_calls(row):
        return result
    return _instrumentation([boundary_not_recorded(row.compare, result.first)])


def _asks_of_calls(row: Row) -> bool:
    """Whether the case asks anything that the calls of the compared boundary must answer."""
    return row.required is not None or has_call_rules(row.case)


def _incomplete(
    row: Row, at_compared: BoundaryFigures | None, redactor: ExpectedMasker | None
) -> list[Cause]:
    tools = sorted({call.name for call in row.required or ()})
    found = completeness_causes(row.evidence) + gap_causes(row.evidence, row.chains)
    found += unobserved_causes(row.case, row.evidence, row.compare, tools)
    found += answered_without_record(row.case, row.evidence)
    if redactor is None and _is_digested(row.evidence) and needs_values(row.case):
        found.append(
            Cause(
                code="no-key",
                detail="every value is a digest, and without the key they were made with nothing "
                "says whether they are the expected ones",
            )
        )
    found += route_causes(row.case, row.evidence, row.required)
    found += mask_causes(row.evidence, at_compared, row.required or (), row.compare)
    if redactor is not None and row.required:
        for key_id in sorted(redactor.unknown_keys(row.evidence)):
            found.append(
                Cause(
                    code="other-key",
                    detail=f"values are masked with key {key_id}, which is not at hand; "
                    "whether they are the expected ones is not known",
                )
            )
    return found


def _label(
    row: Row, at_compared: BoundaryFigures | None, broken: Sequence[str], *, met: bool
) -> Blame | None:
    fault = label_fault(row, at_compared, broken, met=met)
    if fault is None:
        return None
    return Blame(
        status=Status.INCONCLUSIVE,
        first=First.LABEL,
        owner=fault.owner,
        causes=(fault.cause,),
    )


def _is_digested(evidence: Evidence) -> bool:
    masking = evidence.integrity.masking
    return masking is not None and masking.digests


def _open(first: First, owner: Owner, causes: Sequence[Cause]) -> Blame | None:
    if not causes:
        return None
    return Blame(status=Status.INCONCLUSIVE, first=first, owner=owner, causes=tuple(causes))


def _instrumentation(causes: Sequence[Cause]) -> Blame:
    return Blame(
        status=Status.INCONCLUSIVE,
        first=First.INSTRUMENTATION,
        owner=Owner.INSTRUMENTATION,
        causes=tuple(causes),
    )


def _row(
    case: Case,
    sight: Sight,
    due: Due | None,
    at: Boundary,
    figures: Mapping[Boundary, BoundaryFigures | None],
) -> Row:
    evidence = sight.evidence
    required = None if due is None else due.calls
    declared = declared_by(case, evidence, required, at)
    return Row(
        case=case,
        evidence=evidence,
        required=required,
        compare=at,
        declared=declared,
        chains=build_chains(evidence, declared, sight),
        due=due,
        sight=sight,
        figures=figures,
    )


def _runtime_types(row: Row) -> None:
    types = row.evidence.tools.runtime_types
    if types is None:
        return
    wanted = canonical(types.call_id)
    for chain in row.chains:
        if canonical(chain.lead.call.call_id) == wanted:
            _note_types(row, chain, types.declared, types.received)
            return


def _note_types(
    row: Row, chain: Links, declared: Mapping[str, str], received: Mapping[str, str]
) -> None:
    for path, name in declared.items():
        got = received.get(path)
        if got is not None and got != name:
            row.note(
                chain,
                Boundary.ADAPTER,
                Kind.TYPE_COERCED,
                Owner.ADAPTER,
                path=path,
                before=name,
                after=got,
            )


def _distinct(ids: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in ids if one is not None))
