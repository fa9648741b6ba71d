"""That lineage decides nothing: a verdict without it is the same otherwise."""

from __future__ import annotations

from dataclasses import replace

from agenttrace.scoring import score
from tests.builders import ARGS, case, clean_run, due


def test_lineage_can_be_left_out_and_changes_nothing_else():
    wrong = clean_run(("refund", {**ARGS, "cents": 8900}))
    whole, bare = (score(case(due()), wrong, lineage=asked) for asked in (True, False))

    assert (whole.lineage is None, bare.lineage) == (False, None)
    assert bare == replace(whole, lineage=None)
