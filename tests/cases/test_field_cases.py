"""Every shared field case is judged as written; skipped where the shared material is not there."""

from __future__ import annotations

import pytest

from tests.cases.judged import judge, shared_folder
from tests.cases.loader import Document, read_documents

FOLDER = shared_folder() / "cases"
DOCUMENTS = list(read_documents(FOLDER)) if FOLDER.is_dir() else []


@pytest.mark.skipif(not DOCUMENTS, reason=f"no field cases at {FOLDER}")
def test_there_are_field_cases_to_judge():
    assert len(DOCUMENTS) > 100


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document["id"])
def test_a_field_case_is_judged_as_written(document: Document):
    judged = judge(document)

    assert judged.error is None
    assert judged.said == judged.right
    assert judged.differences == ()
