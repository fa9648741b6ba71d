"""Scores artifacts with a fault and holds the verdict against what is due."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from agenttrace.domain import Boundary, Case, Evidence, RequiredCall, Status, Verdict
from agenttrace.readers import read_evidence
from agenttrace.scoring import score
from bench._localise_due import Point
from bench._localise_sample import Sample
from bench._localise_script import Script

MODES = ("plan", "alone")
ASPECTS = ("boundary", "kind", "path", "owner", "call", "second")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One verdict beside what was due."""

    seed: str
    kind: str
    mode: str
    """With a plan, or the records alone."""
    asked: tuple[str, ...]
    """Aspects that this fault has; empty where nothing may be found."""
    wrong: tuple[str, ...]
    is_alarm: bool = False
    """Something was found, or left open, where nothing was wrong."""
    is_unseen: bool = False
    """The evidence is byte for byte that of an untouched run."""
    strays: int = 0
    """Divergences that are not due."""
    due: str = ""
    said: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the verdict is as due."""
        return not self.wrong and not self.is_alarm


class Judge:
    """Reads artifacts from a file, as users do, and scores them with a plan and without."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name) / "evidence.jsonl"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def evidence(self, run_id: str, lines: Sequence[str], *, broken: int = 0) -> Evidence:
        """The evidence that a file of these lines holds.

        Args:
            broken: How many lines cannot be read, as they should.

        Raises:
            RuntimeError: A line cannot be read: the bench itself wrote it wrongly.
        """
        self._file.write_text("\n".join(lines) + "\n", encoding="ascii")
        found = read_evidence(self._file)
        if len(found.problems) != broken or list(found.records) != [run_id]:
            raise RuntimeError(f"{run_id}: the bench wrote what cannot be read: {found.problems}")
        return found.evidence(run_id)

    def untouched(self, script: Script, seed: str = "untouched") -> list[Judged]:
        """A clean run: nothing may be found."""
        evidence = self.evidence(script.run_id, script.lines())
        return [
            _nothing_due(seed, "untouched", mode, score(plan, evidence))
            for mode, plan in zip(MODES, (plan_of(script), None), strict=True)
        ]

    def sample(self, sample: Sample) -> list[Judged]:
        """A run with a fault, with a plan and without."""
        lines = sample.artifact.lines()
        broken = int(sample.artifact.broken is not None)
        evidence = self.evidence(sample.script.run_id, lines, broken=broken)
        due = sample.due
        if due.twin is not None and sorted(lines) != sorted(due.twin.lines()):
            raise RuntimeError(
                f"{sample.seed}: held to be another untouched run, and its evidence is another"
            )
        judged = []
        planned = plan_of(due.plan or sample.script, due.compare)
        for mode, plan in zip(MODES, (planned, None), strict=True):
            verdict = score(plan, evidence)
            points = due.planned if mode == "plan" else due.alone
            if due.open is not None:
                one = _open_due(sample, mode, due.open, verdict)
            elif points:
                one = _points_due(sample, mode, points, verdict)
            else:
                one = _nothing_due(sample.seed, sample.kind, mode, verdict)
                if due.twin is not None:
                    is_fair = one.is_right or verdict.status is Status.INCONCLUSIVE
                    one = replace(one, is_unseen=True, is_alarm=not is_fair)
            judged.append(one)
        return judged


def plan_of(script: Script, compare: str | None = None) -> Case:
    """A run's own calls as the plan."""
    calls = (call for turn in script.turns for call in turn.calls)
    required = tuple(RequiredCall(name=call.name, arguments=call.args) for call in calls)
    at = None if compare is None else Boundary(compare)
    return Case(case_id=script.case_id, required=required, compare=at)


def _nothing_due(seed: str, kind: str, mode: str, verdict: Verdict) -> Judged:
    is_clean = verdict.status is Status.PASS and verdict.first == "none"
    return Judged(
        seed=seed,
        kind=kind,
        mode=mode,
        asked=(),
        wrong=(),
        is_alarm=not is_clean or bool(verdict.divergences),
        due="nothing",
        said=_said(verdict),
    )


def _open_due(sample: Sample, mode: str, due: tuple[str, str], verdict: Verdict) -> Judged:
    said = (verdict.first.value, verdict.owner.value)
    wrong = [
        aspect
        for aspect, want, got in zip(("boundary", "owner"), due, said, strict=True)
        if want != got or verdict.status is not Status.INCONCLUSIVE
    ]
    return Judged(
        seed=sample.seed,
        kind=sample.kind,
        mode=mode,
        asked=("boundary", "owner"),
        wrong=tuple(wrong),
        due=f"inconclusive, {due[0]}, owner {due[1]}",
        said=_said(verdict),
    )


def _points_due(sample: Sample, mode: str, points: Sequence[Point], verdict: Verdict) -> Judged:
    first = points[0]
    found = verdict.divergences
    named = {
        "boundary": verdict.first.value == first.boundary,
        "kind": bool(found) and found[0].kind.value == first.kind,
        "path": bool(found) and found[0].path == first.path,
        "owner": verdict.owner.value == first.owner,
    }
    if first.calls:
        named["call"] = bool(found) and found[0].call in first.calls
    if len(points) > 1:
        listed = [(one.boundary.value, one.kind.value, one.path) for one in found]
        named["second"] = all((p.boundary, p.kind, p.path) in listed for p in points[1:])
    return Judged(
        seed=sample.seed,
        kind=sample.kind,
        mode=mode,
        asked=tuple(named),
        wrong=tuple(aspect for aspect, is_right in named.items() if not is_right),
        strays=max(0, len(found) - len(points)),
        due="; ".join(
            f"{p.boundary} {p.kind} {p.path or 'call'} {sorted(p.calls)[:3]} owner {p.owner}"
            for p in points
        ),
        said=_said(verdict),
    )


def _said(verdict: Verdict) -> str:
    listed = "; ".join(
        f"{one.boundary} {one.kind} {one.path or 'call'} {one.call} owner {one.owner}"
        for one in verdict.divergences[:5]
    )
    causes = ", ".join(f"{cause.code}: {cause.detail:.120}" for cause in verdict.causes[:3])
    return (
        f"{verdict.status}, first {verdict.first}, owner {verdict.owner}"
        f"{' [' + listed + ']' if listed else ''}{' (' + causes + ')' if causes else ''}"
    )
