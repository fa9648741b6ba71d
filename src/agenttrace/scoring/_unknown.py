"""Values of which nothing says whether they differ, where the first divergence rests on them."""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.domain import Cause
from agenttrace.scoring._opaque import is_cut_down, is_unknown
from agenttrace.scoring._row import Row


def unknown_causes(row: Row) -> Iterator[Cause]:
    """Why the first divergence may be none: masks or digests that cannot be compared."""
    if not row.found:
        return
    first = row.in_order()[0].divergence
    why = is_unknown(first.before, first.after)
    if why is not None:
        detail = f"{first.path or 'the call':.80}: nothing says whether the values differ; {why}"
        yield Cause(code="other-key", detail=detail)
    inside = f"{first.path}/"
    rules = [at for call in row.required or () for at in call.rules if at.startswith(inside)]
    if rules and (is_cut_down(first.before) or is_cut_down(first.after)):
        yield Cause(
            code="undecidable",
            detail=f"{first.path:.80} is kept as one digest, and a rule asks for {rules[0]:.80}",
        )
