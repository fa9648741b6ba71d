"""The demo's runs as a collector gets them: rebuilt from what was sent, they are the same runs."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from agenttrace import demo
from agenttrace.demo._scenarios import SCENARIOS
from agenttrace.records import assemble
from agenttrace.report import verdict_to_json
from agenttrace.scoring import score
from tests.support.otlp_receiver import otlp_receiver

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_what_was_sent_gives_equal_evidence_and_verdicts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mode: str,
):
    own = {"scenario", "shows", "sdk", "api", "mode", "streamed", "with_plan", "as_expected"}
    cases = {scenario.name: scenario.case() for scenario in SCENARIOS}

    with otlp_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", receiver.endpoint)
        demo.main(as_json=True, api="all", mode=mode, stream=None, plan=True, output=tmp_path)

    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    printed = {row["run_id"]: {k: v for k, v in row.items() if k not in own} for row in rows}
    records = sorted(receiver.records(), key=lambda record: record.run.run_id)
    rebuilt = {}
    for run_id, group in groupby(records, key=lambda record: record.run.run_id):
        evidence = assemble(list(group))
        verdict = score(cases[evidence.run.case_id or ""], evidence)
        rebuilt[run_id] = json.loads(json.dumps(verdict_to_json(verdict)))
    assert len(rebuilt) == 6 * len(SCENARIOS)
    # Texts of messages stay in the process, so what they tell is told there alone.
    places = {
        run_id: (row.pop("lineage"), printed[run_id]["lineage"]) for run_id, row in rebuilt.items()
    }
    assert rebuilt == {
        run_id: {k: v for k, v in row.items() if k != "lineage"} for run_id, row in printed.items()
    }
    assert [pair for pair in places.values() if claims_more(*pair)] == []
    assert any(one for _, one in places.values())


def claims_more(sent: dict[str, Any] | None, local: dict[str, Any] | None) -> bool:
    """Whether evidence without texts names a place that the whole evidence has otherwise, and does
    not say that texts are missing."""
    if sent is None or local is None:
        return sent is not local
    return any(
        sent[side] != local[side] and "messages" not in sent[unseen]
        for side, unseen in (("observed", "unseen"), ("expected", "expected_unseen"))
    )
