"""What is asked before blame: whether the evidence belongs here, and whether it is whole.

Whatever is missing, cut, dropped or foreign gives `inconclusive` with its cause. A loss that the
manifest proves not to concern a call is a finding, not a cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    BoundaryFigures,
    Case,
    Cause,
    Decision,
    Evidence,
    First,
    RequiredCall,
    ToolCall,
)
from agenttrace.records import canonical
from agenttrace.scoring._masks import holds_mask


def join_causes(case: Case | None, evidence: Evidence) -> list[Cause]:
    """Why the records may belong to another case or run; owner: the evaluation platform."""
    own = evidence.ownership
    found = list(foreign_records(evidence))
    scored = own.scored_case_id or (case.case_id if case is not None else None)
    if own.link_case_id is not None and scored is not None and own.link_case_id != scored:
        found.append(
            Cause(
                code="link-to-other-case",
                detail=f"the report's link leads to {own.link_case_id!r:.80}, "
                f"the scored artifact is of {scored!r:.80}",
            )
        )
    if own.reference_chosen_by in ("fallback", "position"):
        found.append(
            Cause(
                code="reference-not-by-id",
                detail=f"the reference was chosen by {own.reference_chosen_by}, not by its id",
            )
        )
    if case is not None:
        nameless = own.case_id_observed and own.case_id_in_trace is None
        if nameless and own.requests_of_case is None and evidence.run.case_id is None:
            found.append(
                Cause(
                    code="no-case-id",
                    detail="the trace carries no case id, and no request is known to be this "
                    "case's; by time alone they cannot be joined",
                )
            )
        for what, named in (
            ("the scored artifact", own.scored_case_id),
            ("the trace", own.case_id_in_trace),
            ("the run", evidence.run.case_id),
        ):
            if named is not None and named != case.case_id:
                found.append(
                    Cause(
                        code="other-case",
                        detail=f"{what} is of case {named!r}, judged is {case.case_id!r}",
                    )
                )
    return found


def foreign_records(evidence: Evidence) -> Iterator[Cause]:
    """Records that answer requests of another case or run."""
    own = evidence.ownership
    foreign = list(own.foreign_requests)
    if own.requests_of_case is not None:
        known = set(own.requests_of_case)
        foreign += [
            call.request_id
            for call in evidence.model
            if call.request_id is not None and call.request_id not in known
        ]
    if foreign:
        listed = ", ".join(dict.fromkeys(foreign))
        yield Cause(code="foreign-request", detail=f"not requested for this case: {listed:.200}")


def completeness_causes(evidence: Evidence) -> list[Cause]:
    """Why the evidence may not be whole; owner: instrumentation."""
    whole = evidence.completeness
    found = [*_recorded_losses(evidence), *_contradictions(evidence)]
    if not _holds_anything(evidence):
        if whole.requests_made:
            detail = f"{whole.requests_made} requests were made and no response was recorded"
        else:
            detail = "no provider response was recorded for the run"
        if evidence.responses:
            detail = "every request of the run was answered with an error"
        found.append(Cause(code="blank", detail=detail))
    else:
        recorded = whole.responses_recorded
        if recorded is None and evidence.responses is not None:
            recorded = len(evidence.responses)
        if whole.requests_made and recorded is not None and whole.requests_made > recorded:
            missing = whole.requests_made - recorded
            detail = f"{missing} requests have no recorded response"
            found.append(Cause(code="response-missing", detail=detail))
    return found


def completeness_findings(evidence: Evidence) -> list[Cause]:
    """Losses that the manifest proves to concern no call."""
    whole = evidence.completeness
    found = []
    for code, count in (("spans-dropped", whole.dropped), ("sampled-out", whole.sampled_out)):
        if count and whole.made is not None:
            found.append(
                Cause(code=code, detail=f"{count}; the manifest shows that every call arrived")
            )
    if whole.missing_seqs and whole.made is not None:
        count = len(whole.missing_seqs)
        found.append(
            Cause(
                code="sequence-hole",
                detail=f"{count} numbers never came; the manifest shows that every call arrived",
            )
        )
    return found


def unusable_records(evidence: Evidence) -> list[Cause]:
    """Records that came and could not be read: a cause only where the verdict needs them."""
    return [
        Cause(code="unusable-record", detail=f"{record.boundary}: {record.reason}")
        for record in evidence.completeness.unusable
    ]


def unobserved_causes(
    case: Case, evidence: Evidence, compare: Boundary, required_tools: Sequence[str]
) -> list[Cause]:
    """What the case asks about and nobody recorded."""
    found = []
    if case.outcome and evidence.outcome.final_state is None:
        found.append(
            Cause(
                code="state-not-recorded",
                detail="the case checks the final state and none was recorded",
            )
        )
    if case.leak and evidence.outcome.final_message is None:
        found.append(
            Cause(
                code="message-not-recorded",
                detail="the case checks the final message and none was recorded",
            )
        )
    client = case.contract.client_side_tools
    if evidence.is_observed(compare):
        blind = sorted(
            {t for t in required_tools if not evidence.sees(compare, t) and t not in client}
        )
        if blind:
            found.append(
                Cause(
                    code="tool-not-observed",
                    detail=f"{', '.join(blind):.200}: not recorded at the {compare}; "
                    "decorate the function with @trace, or instrument its library",
                )
            )
    return found


def answered_without_record(case: Case, evidence: Evidence) -> list[Cause]:
    """Calls whose answer went back to the model although no run of them was recorded.

    A manifest can prove that there was no run; so can a refusal, a cache, a guardrail or a person.
    """
    conduct = evidence.conduct
    if not (conduct.answers_in_history or evidence.outcome.messages or conduct.results_shown):
        return []
    guarded = conduct.guardrail is not None and conduct.guardrail.blocked
    answered = {canonical(call_id) for call_id in conduct.answers_in_history}
    answered |= {canonical(m.call_id) for m in evidence.outcome.messages if m.role == "tool"}
    answered |= {canonical(one.call_id) for one in conduct.results_shown}
    answered.discard(canonical(None))
    if evidence.completeness.made is not None or guarded or not answered:
        return []
    ran = {canonical(call.call_id) for call in evidence.executor}
    ran |= {canonical(call_id) for call_id in conduct.cache_hits}
    ran |= {canonical(call.call_id) for call in evidence.adapter if call.error is not None}
    ran |= {canonical(one.call) for one in conduct.approvals if one.decision is Decision.REJECT}
    lost = [
        call
        for call in evidence.model or evidence.adapter
        if canonical(call.call_id) in answered - ran
        and evidence.sees(Boundary.EXECUTOR, call.name)
        and call.name not in case.contract.client_side_tools
    ]
    if not lost:
        return []
    names = ", ".join(call.name for call in lost)
    return [Cause(code="run-not-recorded", detail=f"answered, with no run on record: {names:.200}")]


def boundary_not_recorded(boundary: Boundary, first: First = First.NONE) -> Cause:
    """The compared boundary was not recorded.

    Args:
        first: Where the recorded ones leave the plan: what came after may have mended that.
    """
    detail = f"the reference is compared at the {boundary} and that boundary was not recorded"
    if first.value in set(Boundary):
        detail += f"; the plan is left at the {first}: write compare: {first} to judge it there"
    return Cause(code="boundary-not-recorded", detail=detail)


def arguments_not_recorded(call: ToolCall) -> Cause:
    """A call of which nobody recorded what it was handed."""
    return Cause(
        code="arguments-not-recorded",
        detail=f"{call.name:.80} is on record at the {call.boundary} without what it was handed",
    )


def cannot_be_placed(boundary: Boundary) -> Cause:
    """A divergence at the first recorded boundary, with an unrecorded one before it."""
    return Cause(
        code="first-boundary-not-recorded",
        detail=f"the calls already differ from the plan at the {boundary}, the first boundary "
        "that was recorded; what happened before it is not known",
    )


def mask_causes(
    evidence: Evidence,
    figures: BoundaryFigures | None,
    required: Sequence[RequiredCall],
    compare: Boundary,
) -> list[Cause]:
    """Equal masks that do not say that the values behind them are equal."""
    if figures is None or not figures.counts.exact:
        return []
    digests, masking = evidence.integrity.digests, evidence.integrity.masking
    expected, observed = digests.get("value_expected"), digests.get("value_observed")
    if expected != observed and expected is not None and observed is not None:
        return [Cause(code="mask-collapsed", detail="different values carry one mask")]
    if expected is not None or masking is None or masking.method != "constant":
        return []
    if compare in masking.boundaries and any(holds_mask(call.arguments) for call in required):
        return [Cause(code="mask-collapsed", detail="every value carries the same mask")]
    return []


def _holds_anything(evidence: Evidence) -> bool:
    """Whether a provider's answer is on record, or a call where the model was not watched.

    Executions prove no response: where the model was watched and nothing came of it, the row is
    blank whatever ran. An error instead of an answer is none.
    """
    if evidence.responses is not None and evidence.is_observed(Boundary.MODEL):
        return bool(evidence.model) or any(one.error is None for one in evidence.responses)
    if any(evidence.at(boundary) for boundary in BOUNDARIES):
        return True
    return bool(evidence.completeness.responses_recorded or evidence.responses)


def _recorded_losses(evidence: Evidence) -> Iterator[Cause]:
    whole = evidence.completeness
    if whole.settled is False:
        yield Cause(code="unsettled", detail="the run had not ended when it was judged")
    if whole.late:
        yield Cause(code="late", detail=f"arrived after judging: {', '.join(whole.late):.200}")
    if whole.unfinished:
        yield Cause(code="never-finished", detail="executions were still open at the run's end")
    if whole.orphans:
        names = ", ".join(call.name for call in whole.orphans)
        yield Cause(code="orphans", detail=f"calls in traces of no run: {names:.200}")
    if whole.truncated:
        yield Cause(code="record-cut", detail=f"cut: {', '.join(whole.truncated):.200}")
    if whole.duplicates:
        yield Cause(
            code="recorded-twice",
            detail="one event was recorded twice: "
            + "; ".join(
                f"{d.boundary} by {', '.join(d.recorders) or ', '.join(d.response_ids)}"
                for d in whole.duplicates
            ),
        )
    if whole.conflicts:
        yield Cause(
            code="conflict",
            detail=f"unequal records of one reference or number: {', '.join(whole.conflicts):.200}",
        )
    yield from _uncounted(evidence)


def _uncounted(evidence: Evidence) -> Iterator[Cause]:
    whole = evidence.completeness
    holes = {
        "spans-dropped": whole.dropped or 0,
        "sampled-out": whole.sampled_out or 0,
        "sequence-hole": len(whole.missing_seqs),
        "lost": sum(whole.lost.values()),
    }
    if whole.made is None:
        for code, count in holes.items():
            if count:
                yield Cause(code=code, detail=f"{count} and no manifest says what they were")
        return
    for boundary, made in whole.made.items():
        here = len(evidence.at(boundary))
        if here < made:
            yield Cause(
                code="records-missing",
                detail=f"{made} records were made at the {boundary} and {here} arrived",
            )
    if whole.lost:
        causes = ", ".join(f"{name} {count}" for name, count in sorted(whole.lost.items()))
        yield Cause(code="lost", detail=f"the recorder lost: {causes:.200}")


def _contradictions(evidence: Evidence) -> Iterator[Cause]:
    whole, digests = evidence.completeness, evidence.integrity.digests
    for status in whole.statuses:
        if status.recorded != status.actual:
            yield Cause(
                code="status-contradicted",
                detail=f"recorded as {status.recorded}, known to be {status.actual}",
            )
    held = {
        boundary: {canonical(call.call_id) for call in evidence.at(boundary)}
        for boundary in {source.boundary for source in whole.source_calls}
    }
    for source in whole.source_calls:
        if canonical(source.call_id) not in held[source.boundary]:
            yield Cause(
                code="lost-in-conversion",
                detail=f"{source.name} stands in the raw {source.boundary} messages only",
            )
    raw = digests.get("raw_response")
    if raw is not None and digests.get("recorded_model", raw) != raw:
        yield Cause(code="record-wrong", detail="the model's record is not what was received")
    entry = digests.get("entry")
    if entry is not None and digests.get("recorded_executor", entry) != entry:
        yield Cause(code="record-wrong", detail="the executor's record is not what was received")
