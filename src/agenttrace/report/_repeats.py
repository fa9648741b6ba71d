"""Several runs of one case, for a person and as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agenttrace.domain import Missing
from agenttrace.repeats import CaseRepeats, Variation, Varies
from agenttrace.report._text import elided, value_text, visible

_MOST_VARIATIONS: Final = 12
_MOST_VALUES: Final = 4
_WIDTH_OF_VALUE: Final = 40
_MOST_K: Final = 8


def repeats_to_json(case: CaseRepeats) -> dict[str, Any]:
    """One case as JSON values; what cannot be said of no run is null."""
    return {
        "case_id": case.case_id,
        "case_revision": case.case_revision,
        "versions": list(case.versions),
        "runs": case.runs,
        "passed": case.passed,
        "failed": case.failed,
        "inconclusive": case.inconclusive,
        "pass_rate": case.pass_rate,
        "interval": None if case.interval is None else list(case.interval),
        "interval_method": "wilson",
        "confidence": case.confidence,
        "pass_hat_k": {str(k): value for k, value in case.pass_hat.items()},
        "pass_at_k": {str(k): value for k, value in case.pass_at.items()},
        "unstable": case.is_unstable,
        "first_divergence": dict(case.first_divergence),
        "owner": dict(case.owner),
        "causes": dict(case.causes),
        "compared": case.compared,
        "variations": [_variation(one) for one in case.variations],
        "notes": list(case.notes),
    }


def repeats_lines(case: CaseRepeats, *, width: int = 80) -> list[str]:
    """One case in a few lines."""
    revision = f" @ {visible(case.case_revision)}" if case.case_revision else ""
    apart = "".join(f" · {visible(one)}" for one in case.versions)
    lines = [elided(f"{_word(case)}  {visible(case.case_id)}{revision}{apart}", width)]
    open_rows = f", {case.inconclusive} inconclusive (not counted)" if case.inconclusive else ""
    runs = "1 run" if case.runs == 1 else f"{case.runs} runs"
    lines.append(f"  {runs}: {case.passed} passed, {case.failed} failed{open_rows}")
    if case.pass_rate is not None and case.interval is not None:
        low, high = case.interval
        lines.append(
            f"  pass rate {case.pass_rate:.3f}, {case.confidence:.0%} interval "
            f"{low:.3f} to {high:.3f} of {case.counted} counted"
        )
    if case.counted > 1:
        shown = [f"{k}: {value:.3f}" for k, value in case.pass_hat.items() if k <= _MOST_K]
        lines.append(f"  pass^k  {'  '.join(shown)}")
    for label, counts in (("first divergence", case.first_divergence), ("causes", case.causes)):
        parts = [f"{name} {count}" for name, count in counts.items()]
        if parts and list(counts) != ["none"]:
            lines.append(elided(f"  {label}: {', '.join(parts)}", width))
    lines += _varying(case, width)
    lines += [f"  note: {visible(note)}" for note in case.notes]
    return lines


def repeats_summary(cases: Sequence[CaseRepeats]) -> list[str]:
    """All cases in a few lines; a case is the unit, however many runs it has."""
    several = [case for case in cases if case.counted > 1]
    unstable = sum(case.is_unstable for case in several)
    passing = sum(not case.failed for case in several)
    runs = sum(case.runs for case in cases)
    parts = [
        f"{unstable} unstable",
        f"{passing} passed every time",
        f"{len(several) - unstable - passing} failed every time",
        f"{len(cases) - len(several)} with fewer than two counted runs",
    ]
    lines = [f"{_many(len(cases), 'case')}, {_many(runs, 'run')}: {', '.join(parts)}"]
    means = list(mean_pass_hat(cases).items())
    if means:
        parts = [f"{k}: {mean:.3f} ({_many(count, 'case')})" for k, (mean, count) in means]
        lines.append(f"mean pass^k over cases  {'  '.join(parts[:_MOST_K])}")
    return lines


def mean_pass_hat(cases: Sequence[CaseRepeats]) -> Mapping[int, tuple[float, int]]:
    """k to the mean of pass^k over the cases with at least k counted runs, and how many those are.

    Means of different k are over different cases where the cases have not equally many runs.
    """
    by_k: dict[int, list[float]] = {}
    for case in cases:
        for k, value in case.pass_hat.items():
            by_k.setdefault(k, []).append(value)
    return {k: (sum(values) / len(values), len(values)) for k, values in sorted(by_k.items())}


def _word(case: CaseRepeats) -> str:
    """The answer of all counted runs, or that they differ."""
    if case.is_unstable:
        return "UNSTABLE"
    if not case.counted:
        return "INCONCLUSIVE"
    return "PASS" if case.passed else "FAIL"


def _varying(case: CaseRepeats, width: int) -> Iterator[str]:
    if case.compared < 2:
        return
    if not case.variations:
        yield f"  the calls of {case.compared} runs are equal at every boundary"
    for one in case.variations[:_MOST_VARIATIONS]:
        yield elided(f"  varies at the {one.boundary}: {_said(one)}", width)
    hidden = len(case.variations) - _MOST_VARIATIONS
    if hidden > 0:
        yield f"  and at {hidden} more places; --json has them"


def _said(one: Variation) -> str:
    call = f"{visible(one.tool)} (call {one.call})"
    if one.varies is Varies.TIMES:
        counts = dict(one.values)
        done = _DONE[one.boundary.value]
        if counts.keys() == {0, 1} and not one.more:
            return f"{call} {done} in {counts[1]} of {sum(counts.values())} runs"
        return f"how often {call} is {done}: {_values(one)}"
    if one.varies is Varies.ARGUMENT:
        return f"{call} {visible(one.path) or 'arguments'}: {_values(one)}"
    return f"{one.varies} of {call}: {_values(one)}"


_DONE: Final = {"model": "made", "adapter": "handed on", "executor": "run"}


def _values(one: Variation) -> str:
    shown = [
        f"{'absent' if isinstance(value, Missing) else elided(value_text(value), _WIDTH_OF_VALUE)} "
        f"in {_many(runs, 'run')}"
        for value, runs in one.values[:_MOST_VALUES]
    ]
    others = one.more + sum(runs for _, runs in one.values[_MOST_VALUES:])
    return ", ".join([*shown, *([f"others in {_many(others, 'run')}"] if others else [])])


def _variation(one: Variation) -> dict[str, Any]:
    return {
        "tool": one.tool,
        "call": one.call,
        "varies": one.varies.value,
        "path": one.path,
        "boundary": one.boundary.value,
        "values": [
            {"runs": runs} if isinstance(value, Missing) else {"value": value, "runs": runs}
            for value, runs in one.values
        ],
        "more": one.more,
    }


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
