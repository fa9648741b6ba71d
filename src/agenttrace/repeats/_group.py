"""Several runs of one case, counted as they come.

What is kept grows with what differs, not with the number of runs: figures, and for each call the
values that were seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agenttrace.domain import Evidence, First, Status, Verdict
from agenttrace.repeats._rates import interval, pass_at_k, pass_hat_k, pass_rate
from agenttrace.repeats._seen import Seen, calls_of
from agenttrace.repeats._slots import Slot, Variation, paired

MOST_K = 16
"""Up to this k, pass^k and pass@k are said by themselves; beyond, the figure asks for many runs."""
NOT_WHOLE = (First.JOIN, First.INSTRUMENTATION)
"""Rows whose records are not this run's or not all of them: no call of theirs is compared."""


@dataclass(frozen=True, kw_only=True)
class CaseRepeats:
    """What several runs of one case say together."""

    case_id: str
    case_revision: str | None
    versions: tuple[str, ...]
    """What the runs were told apart by, beside case and revision; empty: by nothing else."""
    runs: int
    passed: int
    failed: int
    inconclusive: int
    """Counted in no rate: neither the agent's success nor its failure."""
    pass_rate: float | None
    """Of the runs that passed or failed; None where there is none."""
    interval: tuple[float, float] | None
    """Wilson score interval of the pass rate."""
    confidence: float
    pass_hat: Mapping[int, float]
    """k to pass^k, for each k up to the number of counted runs, and at most 16."""
    pass_at: Mapping[int, float]
    """k to pass@k, likewise."""
    first_divergence: Mapping[str, int]
    """Boundary, or what must be repaired first, to runs."""
    owner: Mapping[str, int]
    causes: Mapping[str, int]
    """Why runs are inconclusive: code to runs."""
    variations: tuple[Variation, ...]
    compared: int
    """Runs whose calls were compared with each other."""
    notes: tuple[str, ...] = ()

    @property
    def counted(self) -> int:
        """Runs that passed or failed."""
        return self.passed + self.failed

    @property
    def is_unstable(self) -> bool:
        """Whether some runs passed and some failed."""
        return bool(self.passed and self.failed)


@dataclass
class _Group:
    """The runs of one case so far."""

    run_ids: set[str] = field(default_factory=set)
    again: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    firsts: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    versions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    slots: dict[str, list[Slot]] = field(default_factory=dict)
    compared: int = 0

    def add(self, verdict: Verdict, evidence: Evidence) -> None:
        run = evidence.run
        if run.run_id in self.run_ids:
            self.again += 1
            return
        self.run_ids.add(run.run_id)
        self.statuses[verdict.status] += 1
        self.firsts[verdict.first.value] += 1
        self.owners[verdict.owner.value] += 1
        self.causes.update({cause.code for cause in verdict.causes})
        for name, value in versions_of(evidence).items():
            self.versions[name].add(value)
        if verdict.first not in NOT_WHOLE:
            self._compare(calls_of(verdict, evidence))

    def _compare(self, calls: Iterable[Seen]) -> None:
        by_tool: dict[str, list[Seen]] = {tool: [] for tool in self.slots}
        for call in calls:
            by_tool.setdefault(call.name, []).append(call)
        for tool, seen in by_tool.items():
            slots = self.slots.setdefault(tool, [])
            made = set()
            for slot, call in paired(slots, seen):
                if slot is None:
                    here = Slot(call, len(slots) + 1)
                    here.left_out(tuple(call.places), self.compared)
                    slots.append(here)
                else:
                    here = slot
                here.add(call)
                made.add(here.number)
            for slot in slots:
                if slot.number not in made:
                    slot.left_out(slot.observed)
        self.compared += 1


class Repeats:
    """Judged runs, brought together by case, revision and whatever else tells them apart."""

    def __init__(self, by: Iterable[str] = ()) -> None:
        """Start with none.

        Args:
            by: Versions that are counted apart, of those that `versions_of` knows.
        """
        self._by = tuple(by)
        self._groups: dict[tuple[str, str | None, tuple[str, ...]], _Group] = {}
        self.caseless = 0
        """Runs that name no case, so that nothing says which of them are repeats."""

    def add(
        self,
        verdict: Verdict,
        evidence: Evidence,
        *,
        case_id: str | None = None,
        case_revision: str | None = None,
    ) -> None:
        """Take one judged run; its records may be forgotten afterwards.

        Args:
            case_id: What it is a run of, where its own case id also numbers the try.
            case_revision: Revision of that case.
        """
        case_id = case_id or verdict.case_id or evidence.run.case_id
        if case_id is None:
            self.caseless += 1
            return
        revision = case_revision or evidence.run.case_revision or verdict.case_revision
        versions = versions_of(evidence)
        apart = tuple(f"{name} {versions.get(name, 'not recorded')}" for name in self._by)
        key = (case_id, revision, apart)
        self._groups.setdefault(key, _Group()).add(verdict, evidence)

    def cases(self, *, confidence: float = 0.95) -> list[CaseRepeats]:
        """What was found for each case, in the order in which the cases first came.

        Raises:
            ValueError: A confidence that is none.
        """
        revisions: dict[str, dict[str | None, int]] = defaultdict(dict)
        for (case_id, revision, _), group in self._groups.items():
            known = revisions[case_id]
            known[revision] = known.get(revision, 0) + len(group.run_ids)
        return [
            _result(key, group, confidence, revisions[key[0]])
            for key, group in self._groups.items()
        ]


def versions_of(evidence: Evidence) -> dict[str, str]:
    """What a run says of itself that may differ between two runs of one case."""
    run = evidence.run
    models = dict.fromkeys(one.model for one in evidence.responses or () if one.model)
    found = {
        "agent-version": run.agent_version,
        "prompt-version": run.prompt_version,
        "model": ", ".join(models) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


VERSIONS = ("agent-version", "prompt-version", "model")


def _result(
    key: tuple[str, str | None, tuple[str, ...]],
    group: _Group,
    confidence: float,
    revisions: Mapping[str | None, int],
) -> CaseRepeats:
    passed, failed = group.statuses[Status.PASS], group.statuses[Status.FAIL]
    counted = passed + failed
    ks = range(1, min(counted, MOST_K) + 1)
    slots = [slot for slots in group.slots.values() for slot in slots]
    return CaseRepeats(
        case_id=key[0],
        case_revision=key[1],
        versions=key[2],
        runs=len(group.run_ids),
        passed=passed,
        failed=failed,
        inconclusive=group.statuses[Status.INCONCLUSIVE],
        pass_rate=pass_rate(passed, counted),
        interval=interval(passed, counted, confidence=confidence),
        confidence=confidence,
        pass_hat={k: pass_hat_k(passed, counted, k) or 0.0 for k in ks},
        pass_at={k: pass_at_k(passed, counted, k) or 0.0 for k in ks},
        first_divergence=dict(sorted(group.firsts.items())),
        owner=dict(sorted(group.owners.items())),
        causes=dict(sorted(group.causes.items())),
        variations=tuple(variation for slot in slots for variation in slot.variations()),
        compared=group.compared,
        notes=tuple(_notes(key, group, slots, revisions)),
    )


def _notes(
    key: tuple[str, str | None, tuple[str, ...]],
    group: _Group,
    slots: list[Slot],
    revisions: Mapping[str | None, int],
) -> Iterable[str]:
    if len(revisions) > 1:
        listed = ", ".join(
            f"{revision or 'without revision'}: {runs}" for revision, runs in revisions.items()
        )
        yield (
            f"the case was run under {len(revisions)} revisions ({listed} runs); each is a "
            "contract of its own, so they are counted apart"
        )
    for name, values in group.versions.items():
        if len(values) > 1:
            yield (
                f"runs of {len(values)} {name}s are counted together "
                f"({', '.join(sorted(values))}); --by {name} tells them apart"
            )
    if group.again:
        yield f"{group.again} runs were given again and counted once"
    if any(slot.undecided for slot in slots):
        yield (
            "values are masked with different keys, so whether they are equal is not known; "
            "they are not listed as varying"
        )
