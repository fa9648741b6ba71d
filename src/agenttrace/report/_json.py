"""Verdicts as JSON values: the names that other tools rely on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agenttrace.domain import (
    BOUNDARIES,
    BoundaryFigures,
    Cause,
    Chain,
    Divergence,
    Lineage,
    Missing,
    Origin,
    Verdict,
)

_COUNTS = ("tp", "fp", "fn", "precision", "recall", "f1", "exact", "expected", "observed")


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """One row as JSON values.

    `first_divergence`, `kind`, `path`, `before` and `after` are those of the first divergence, and
    null where there is none; only in `divergences` can a side that is not there be told from null.
    Figures are null at a boundary that was not recorded, and where there is no plan.
    """
    first = verdict.divergences[0] if verdict.divergences else None
    figures = verdict.figures
    return {
        "case_id": verdict.case_id,
        "case_revision": verdict.case_revision,
        "run_id": verdict.run_id,
        "attempt": verdict.attempt,
        "request_ids": list(verdict.request_ids),
        "response_ids": list(verdict.response_ids),
        "evidence_digest": verdict.evidence_digest,
        "verdict": verdict.status.value,
        "first_divergence": verdict.first.value,
        "owner": verdict.owner.value,
        "kind": first.kind.value if first else None,
        "path": first.path if first else None,
        "before": _side(first.before) if first else None,
        "after": _side(first.after) if first else None,
        "compare": verdict.compare.value,
        "counts": _counts(figures),
        "boundaries": {
            boundary.value: None if at is None else {**_counts(at), **_calls(at)}
            for boundary in BOUNDARIES
            for at in [verdict.boundaries.get(boundary)]
        },
        **_calls(figures),
        "divergences": [_divergence(one) for one in verdict.divergences],
        "lineage": None if verdict.lineage is None else _lineage(verdict.lineage),
        "also": [boundary.value for boundary in verdict.also],
        "recovered": verdict.recovered,
        "plan": verdict.plan,
        "policy": list(verdict.policy),
        "causes": _causes(verdict.causes),
        "findings": _causes(verdict.findings),
        "chains": [_chain(chain) for chain in verdict.chains],
        "galtea_tool_correctness": verdict.galtea_tool_correctness,
        "ragas_tool_call_f1": verdict.ragas_tool_call_f1,
    }


def _counts(figures: BoundaryFigures | None) -> dict[str, Any]:
    return {name: getattr(figures.counts, name) if figures else None for name in _COUNTS}


def _calls(figures: BoundaryFigures | None) -> dict[str, Any]:
    return {
        "missing": list(figures.missing) if figures else None,
        "extra": list(figures.extra) if figures else None,
    }


def _divergence(divergence: Divergence) -> dict[str, Any]:
    made: dict[str, Any] = {
        "boundary": divergence.boundary.value,
        "kind": divergence.kind.value,
        "path": divergence.path,
        "call": divergence.call,
        "owner": divergence.owner.value,
    }
    for name in ("before", "after"):
        value = getattr(divergence, name)
        if not isinstance(value, Missing):
            made[name] = value
    if divergence.detail is not None:
        made["detail"] = divergence.detail
    return made


def _lineage(lineage: Lineage) -> dict[str, Any]:
    made: dict[str, Any] = {
        "path": lineage.path,
        **{
            name: _origin(getattr(lineage, name))
            for name in ("observed", "observed_earlier", "expected", "expected_earlier")
        },
        "carried_by": list(lineage.carried_by),
        "too_common": lineage.too_common,
        "expected_too_common": lineage.expected_too_common,
        "unseen": [one.value for one in lineage.unseen],
        "expected_unseen": [one.value for one in lineage.expected_unseen],
        "note": lineage.note,
    }
    for name in ("value", "expected_value"):
        value = getattr(lineage, name)
        if not isinstance(value, Missing):
            made[name] = value
    return made


def _origin(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {
        "place": origin.place.value,
        "turn": origin.turn,
        "path": origin.path,
        "call": origin.call,
        "tool": origin.tool,
        "match": "exact" if origin.rendering is None else "rendered",
        "rendering": None if origin.rendering is None else origin.rendering.value,
    }


def _side(value: Any) -> Any:
    return None if isinstance(value, Missing) else value


def _chain(chain: Chain) -> dict[str, Any]:
    return {
        "key": chain.key,
        "name": chain.name,
        "records": {boundary.value: list(refs) for boundary, refs in chain.records.items()},
        "linked_by": {ref: how.value for ref, how in chain.linked_by.items()},
    }


def _causes(causes: Iterable[Cause]) -> list[dict[str, str]]:
    return [{"code": cause.code, "detail": cause.detail} for cause in causes]
