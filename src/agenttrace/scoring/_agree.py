"""Chains that agree at every boundary, of which nothing further needs to be asked.

Most calls of most runs are these. What the walk asks of a chain is answered here at once where
each captured boundary holds one record of it with arguments, none refused, run once, and all of
them equal after declared changes:

- nothing was dropped, added, repeated, refused or left undone, for each boundary holds one;
- no name and no argument changed, for both stand in the text that is compared; where digests
  taken before masking are equal as well, they can only say so again;
- nothing declared was left undone, for nothing is declared that a tool would have to be handed;
- nothing ran against a decision, for none was taken in the run.

Anything else is walked question by question.
"""

from __future__ import annotations

from agenttrace.domain import Boundary, ToolCall
from agenttrace.scoring._link import Entry, Links
from agenttrace.scoring._row import Row


def agrees(row: Row, chain: Links) -> bool:
    """Whether walking the chain from its first record on would find nothing."""
    if not row.may_agree or len(chain.entries) != len(row.sight.captured):
        return False
    upper: Entry | None = None
    for here in chain.entries.values():
        entry = here[0]
        if len(here) > 1 or not entry.is_usual:
            return False
        if entry.boundary is Boundary.EXECUTOR and _changed_while_running(entry.call):
            return False
        if upper is not None and not is_handed_on_equal(upper, entry):
            return False
        upper = entry
    return True


def is_handed_on_equal(upper: Entry, lower: Entry) -> bool:
    """Whether two records of a chain are equal after declared changes, whatever else is known.

    Equal digests say that what was masked in one record alone is the same value in both: the lower
    record is then compared with the upper one's arguments, which is another question where the
    records themselves differ.
    """
    try:
        if upper.declared.key != lower.declared.key:
            return False
        digest = upper.call.digest
        return digest is None or digest != lower.call.digest or upper.form.key == lower.form.key
    except (ValueError, TypeError):  # no JSON; comparing the values says which, if it matters
        return False


def _changed_while_running(call: ToolCall) -> bool:
    exit_digest = getattr(call, "exit_digest", None)
    return exit_digest is not None and exit_digest != call.digest
