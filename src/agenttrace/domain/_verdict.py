"""What the scorer says about one run."""

from __future__ import annotations

from collections.abc import Mapping

from agenttrace._dataclass import dataclass, field
from agenttrace.domain._json import JsonValue, Missing
from agenttrace.domain._lineage import Lineage
from agenttrace.domain._words import Boundary, First, Kind, LinkedBy, Owner, Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """The records of one logical call, and how each link between them was made."""

    key: str
    """The call's id, or `BOUNDARY/INDEX` of its first record."""
    name: str
    records: Mapping[Boundary, tuple[str, ...]]
    """`ref` of each record, by boundary."""
    linked_by: Mapping[str, LinkedBy] = field(default_factory=dict)
    """`ref` of a record to how it was linked to the boundary before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Divergence:
    """Where a chain stops agreeing."""

    boundary: Boundary
    kind: Kind
    path: str
    """JSON Pointer into the arguments under the tool's own names; empty for the whole call."""
    call: str
    """The chain's key, or `required/INDEX` for a required call without a record."""
    before: JsonValue | Missing
    after: JsonValue | Missing
    owner: Owner
    detail: str | None = None
    """A sentence for people, where the kind alone does not say it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Figures of one multiset comparison; a ratio with nothing under it is None."""

    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None
    exact: bool
    expected: int
    observed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BoundaryFigures:
    """Counts and the calls behind them at one boundary."""

    counts: Counts
    missing: tuple[JsonValue, ...]
    """Required calls as they stand in the case."""
    extra: tuple[JsonValue, ...]
    """Observed calls that no required call takes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Why a row is inconclusive, or what a reader should know although it is not."""

    code: str
    """Stable word; the reference page lists all."""
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The judgement of one run."""

    case_id: str | None
    case_revision: str | None
    run_id: str
    attempt: int
    status: Status
    first: First
    owner: Owner
    divergences: tuple[Divergence, ...] = ()
    """The first one first; every later one is undeclared too."""
    also: tuple[Boundary, ...] = ()
    """Later boundaries with an undeclared change of their own in the same call."""
    recovered: bool = False
    """A call was refused and the model then repaired or repeated it."""
    plan: str | None = None
    """The accepted plan that was used, where there are alternatives."""
    compare: Boundary = Boundary.EXECUTOR
    """Boundary whose figures decide."""
    boundaries: Mapping[Boundary, BoundaryFigures | None] = field(default_factory=dict)
    """None: not recorded, or no plan."""
    policy: tuple[str, ...] = ()
    """Broken rules at the compared boundary."""
    causes: tuple[Cause, ...] = ()
    """Why the row is inconclusive."""
    findings: tuple[Cause, ...] = ()
    """What did not decide the row and should still be seen."""
    chains: tuple[Chain, ...] = ()
    request_ids: tuple[str, ...] = ()
    response_ids: tuple[str, ...] = ()
    evidence_digest: str | None = None
    lineage: Lineage | None = None
    """Where the values of the first divergence came from. None: there is none, or no value."""
    galtea_tool_correctness: int | None = None
    ragas_tool_call_f1: float | None = None

    @property
    def figures(self) -> BoundaryFigures | None:
        """Figures at the compared boundary."""
        return self.boundaries.get(self.compare)

    def __str__(self) -> str:
        """The verdict in a line, for a log or a `print`; the report has the whole picture."""
        row = self.case_id or self.run_id
        parts = [f"{self.status.upper()} {row}: first divergence {self.first}"]
        if self.divergences:
            one = self.divergences[0]
            parts.append(f"{one.kind}{' ' + one.path if one.path else ''} of call {one.call}")
            if not isinstance(one.before, Missing) and not isinstance(one.after, Missing):
                parts.append(f"{_short(one.before)} -> {_short(one.after)}")
        parts += [cause.detail for cause in self.causes[:1]]
        if self.owner is not Owner.NONE:
            parts.append(f"owner {self.owner}")
        return ", ".join(parts)


def _short(value: JsonValue) -> str:
    if isinstance(value, str) and value.startswith("[digest:") and value.count(":") == 5:
        _, kind, _, _, exact, _ = value.split(":")
        return f"<{kind} #{exact[:8]}>"
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:38]}…"
