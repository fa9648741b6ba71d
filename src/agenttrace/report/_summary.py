"""Many verdicts in a few lines: how many rows passed, and where and whose the others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from agenttrace.domain import First, Owner, Status, Verdict

_STATUS_WORDS = {"pass": "passed", "fail": "failed", "inconclusive": "inconclusive"}


class Tally:
    """Verdicts counted one by one, for rows too many to be kept."""

    def __init__(self) -> None:
        self.rows = 0
        self.statuses: Counter[Status] = Counter()
        self._planned = self._exact = self._fp = self._fn = 0
        self._firsts: Counter[str] = Counter()
        self._owners: Counter[str] = Counter()

    def add(self, verdict: Verdict) -> None:
        """Count one row."""
        self.rows += 1
        self.statuses[verdict.status] += 1
        self._firsts[verdict.first.value] += 1
        self._owners[verdict.owner.value] += 1
        if verdict.figures is not None:
            counts = verdict.figures.counts
            self._planned += 1
            self._exact += counts.exact
            self._fp += counts.fp
            self._fn += counts.fn

    def to_json(self) -> dict[str, Any]:
        """The figures of `lines` by name.

        `exact` counts rows whose calls at the compared boundary are exactly the required ones, out
        of `planned`, the rows that have such figures; `fp` and `fn` are summed over the same rows.
        """
        return {
            "rows": self.rows,
            **{status.value: self.statuses[status] for status in Status},
            "planned": self._planned,
            "exact": self._exact,
            "fp": self._fp,
            "fn": self._fn,
            "first_divergence": _in_order(self._firsts, list(First)),
            "owner": _in_order(self._owners, list(Owner)),
        }

    def lines(self) -> list[str]:
        """A few lines on all rows."""
        found = self.to_json()
        rows = "1 row" if found["rows"] == 1 else f"{found['rows']} rows"
        status = (f"{found[name]} {word}" for name, word in _STATUS_WORDS.items())
        lines = [f"{rows}: {', '.join(status)}"]
        if found["planned"]:
            lines.append(
                f"exact: {found['exact']} of {found['planned']} rows with a plan · "
                f"false positives {found['fp']} · false negatives {found['fn']}"
            )
        for name, label in (("first_divergence", "first divergence"), ("owner", "owner")):
            parts = [f"{word} {count}" for word, count in found[name].items() if word != "none"]
            if parts:
                lines.append(f"{label}: {', '.join(parts)}")
        return lines


def summary_to_json(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """The figures of `summary` by name; those of `Tally.to_json`."""
    return _counted(verdicts).to_json()


def summary(verdicts: Iterable[Verdict]) -> str:
    """A few lines on all rows, without a line's end.

    Example:
        >>> summary([]).splitlines()[0]
        '0 rows: 0 passed, 0 failed, 0 inconclusive'
    """
    return "\n".join(_counted(verdicts).lines())


def _counted(verdicts: Iterable[Verdict]) -> Tally:
    tally = Tally()
    for verdict in verdicts:
        tally.add(verdict)
    return tally


def _in_order(counts: Counter[str], order: Sequence[str]) -> dict[str, int]:
    """How often each word occurs, in the order of the words' own list."""
    return {str(word): counts[word] for word in order if counts[word]}
