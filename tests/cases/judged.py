"""The shared field cases, judged, beside what is written as right."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenttrace.domain import MISSING, Verdict
from agenttrace.records import canonical
from agenttrace.scoring import records_alone, score
from tests.cases.loader import Document, case_of, evidence_of

ROOT = Path(__file__).resolve().parents[2]


def shared_folder() -> Path:
    """Where the shared material lies: `AGENTTRACE_SHARED`, or beside the project."""
    return Path(os.environ.get("AGENTTRACE_SHARED") or ROOT.parent / "shared")


@dataclass(frozen=True)
class Judged:
    """One field case with what was said and what is right."""

    document: Document
    said: tuple[str, str, str] | None
    """Verdict, first divergence and owner; None where judging raised."""
    error: str | None
    differences: tuple[str, ...]
    """Where anything else differs: figures, rules, divergences, compatibility scores."""

    @property
    def right(self) -> tuple[str, str, str]:
        """Verdict, first divergence and owner as written."""
        right = self.document["right"]
        return right["verdict"], right["first_divergence"], right["owner"]

    @property
    def is_right(self) -> bool:
        """Whether verdict, first divergence and owner are as written."""
        return self.said == self.right

    @property
    def group(self) -> str:
        """The part of the kind before the slash."""
        return str(self.document["kind"]).split("/")[0]


def judge(document: Document) -> Judged:
    """Judge one field case; an exception is an answer too, and a wrong one."""
    try:
        case, evidence = case_of(document), evidence_of(document)
        verdict = score(case, evidence)
        alone = records_alone(case, evidence)
    except Exception as error:  # noqa: BLE001 - reported as the answer
        return Judged(document, None, f"{type(error).__name__}: {error}", ())
    said = (verdict.status.value, verdict.first.value, verdict.owner.value)
    return Judged(document, said, None, tuple(_differences(document, verdict, alone.value)))


def _differences(document: Document, verdict: Verdict, alone: str) -> list[str]:
    right = document["right"]
    figures = verdict.figures
    said: dict[str, Any] = {
        "missing": None if figures is None else sorted(map(canonical, figures.missing)),
        "extra": None if figures is None else sorted(map(canonical, figures.extra)),
        "counts": {
            name: None if figures is None else getattr(figures.counts, name)
            for name in right["counts"]
        },
        "policy": sorted(verdict.policy),
        "also": [boundary.value for boundary in verdict.also],
        "recovered": verdict.recovered,
        "plan": verdict.plan,
        "without_label": alone,
        "galtea_tool_correctness": verdict.galtea_tool_correctness,
    }
    wanted = {
        **{name: right.get(name) for name in said},
        "missing": None if right["missing"] is None else sorted(map(canonical, right["missing"])),
        "extra": None if right["extra"] is None else sorted(map(canonical, right["extra"])),
        "policy": sorted(right["policy"]),
        "also": right.get("also", []),
        "recovered": right.get("recovered", False),
    }
    if "ragas_tool_call_f1" in right:
        said["ragas_tool_call_f1"] = verdict.ragas_tool_call_f1
        wanted["ragas_tool_call_f1"] = right["ragas_tool_call_f1"]
    if "lineage" in right:
        said["lineage"], wanted["lineage"] = _lineage(verdict), right["lineage"]
    found = [
        f"{name}: said {said[name]}, right {wanted[name]}"
        for name in said
        if canonical(said[name]) != canonical(wanted[name])
    ]
    return found + _divergences(right["divergences"], verdict)


def _lineage(verdict: Verdict) -> dict[str, Any] | None:
    """Where the first divergence's value stood first, as a case writes it."""
    origin = verdict.lineage.observed if verdict.lineage is not None else None
    if origin is None:
        return None
    return {"turn": origin.turn, "place": origin.place.value, "path": origin.path}


def _divergences(right: list[dict[str, Any]], verdict: Verdict) -> list[str]:
    """The first exactly and the rest as a set; before and after decide nothing where left out."""
    said = [
        {
            name: value
            for name, value in {
                "boundary": one.boundary.value,
                "kind": one.kind.value,
                "path": one.path,
                "call": one.call,
                "before": one.before,
                "after": one.after,
            }.items()
            if value is not MISSING
        }
        for one in verdict.divergences
    ]
    places = {_place(one): one for one in said}
    if sorted(places) != sorted(map(_place, right)) or [_place(one) for one in said[:1]] != [
        _place(one) for one in right[:1]
    ]:
        return [f"divergences: said {said}, right {right}"]
    return [
        f"divergence: said {places[_place(one)]}, right {one}"
        for one in right
        if any(
            name not in places[_place(one)]
            or canonical(places[_place(one)][name]) != canonical(one[name])
            for name in one
        )
    ]


def _place(one: dict[str, Any]) -> tuple[str, str, str, str]:
    return one["boundary"], one["kind"], one["path"], one["call"]
