"""What did not decide a row and should still be seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace.domain import BOUNDARIES, Boundary, Cause, Phase, ToolCall
from agenttrace.scoring._causes import completeness_findings, unusable_records
from agenttrace.scoring._row import Row


def findings(row: Row) -> list[Cause]:
    """Findings of one row, whatever its verdict; they decide nothing."""
    evidence = row.evidence
    found = completeness_findings(evidence) + unusable_records(evidence)
    at_executor = any(one.divergence.boundary is Boundary.EXECUTOR for one in row.found)
    if at_executor and not evidence.is_observed(Boundary.ADAPTER):
        found.append(
            Cause(
                code="adapter-not-recorded",
                detail="a change seen at the executor may have been made by the adapter",
            )
        )
    if evidence.responses and any(not response.complete for response in evidence.responses):
        found.append(
            Cause(code="response-unfinished", detail="a response ended without a finish reason")
        )
    unlike = [
        call
        for boundary in BOUNDARIES
        if not row.sight.is_usual(boundary)
        for call in evidence.at(boundary)
        if call.inferred or call.phase is not Phase.RUN
    ]
    if not unlike:
        return found
    found += _not_the_agents(unlike)
    inferred = sum(call.inferred for call in unlike)
    if inferred:
        found.append(
            Cause(
                code="context-lost",
                detail=f"{inferred} records took the run that was likely; their context was lost",
            )
        )
    return found


def _not_the_agents(calls: Sequence[ToolCall]) -> Iterator[Cause]:
    """Calls of set-up and evaluation: seen, reported, and left out of every comparison."""
    for phase in (Phase.SETUP, Phase.EVALUATION):
        names = [call.name for call in calls if call.phase is phase]
        if names:
            yield Cause(
                code=f"{phase}-calls",
                detail=f"{len(names)} of the {phase} phase, not the agent's: "
                f"{', '.join(dict.fromkeys(names)):.200}",
            )
