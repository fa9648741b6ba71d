"""Many verdicts in a few lines: how many rows passed, and where and whose the others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from agenttrace.domain import First, Owner, Status, Verdict

_STATUS_WORDS = {"pass": "passed", "fail": "failed", "inconclusive": "inconclusive"}


def summary_to_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The figures of `summary` by name.

    `exact` counts rows whose calls at the compared boundary are exactly the required ones, out of
    `planned`, the rows that have such figures; `fp` and `fn` are summed over the same rows.
    """
    statuses = Counter(verdict.status for verdict in verdicts)
    figures = [verdict.figures for verdict in verdicts]
    counts = [one.counts for one in figures if one is not None]
    return {
        "rows": len(verdicts),
        **{status.value: statuses[status] for status in Status},
        "planned": len(counts),
        "exact": sum(one.exact for one in counts),
        "fp": sum(one.fp for one in counts),
        "fn": sum(one.fn for one in counts),
        "first_divergence": _counted([v.first.value for v in verdicts], list(First)),
        "owner": _counted([v.owner.value for v in verdicts], list(Owner)),
    }


def summary(verdicts: Sequence[Verdict]) -> str:
    """A few lines on all rows, without a line's end.

    Example:
        >>> summary([]).splitlines()[0]
        '0 rows: 0 passed, 0 failed, 0 inconclusive'
    """
    found = summary_to_json(verdicts)
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
    return "\n".join(lines)


def _counted(words: Sequence[str], order: Sequence[str]) -> dict[str, int]:
    """How often each word occurs, in the order of the words' own list."""
    counts = Counter(words)
    return {str(word): counts[word] for word in order if counts[word]}
