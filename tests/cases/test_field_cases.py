"""Every shared field case is judged as written; skipped where the shared material is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.judged import judge, shared_folder
from tests.cases.loader import read_document

FOLDER = shared_folder() / "cases"
PATHS = sorted(FOLDER.glob("*.json"))


@pytest.mark.skipif(not PATHS, reason=f"no field cases at {FOLDER}")
def test_there_are_field_cases_to_judge():
    assert len(PATHS) > 100


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_field_case_is_judged_as_written(path: Path):
    judged = judge(read_document(path))

    assert judged.error is None
    assert judged.said == judged.right
    assert judged.differences == ()
