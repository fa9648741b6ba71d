"""Values that carriers like to change, through a real collector: every record comes back as it was.

What a limit cuts is the other half: it comes as a loss, and never as another value.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import agenttrace
from agenttrace import capture
from agenttrace.capture import CallDraft, ResponseDraft, ToolOffer
from agenttrace.records import record_to_plain
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.collector.chain import PATIENCE_S, PROTOCOLS, Chain, exporter_to, until_whole

pytestmark = pytest.mark.slow

ODD: dict[str, Any] = {
    "null": None,
    "empty": {},
    "nothing": [],
    "": "the empty key",
    "text": "",
    "zero": "\x00a\x00",
    "half": "\ud800 and \udfff",
    "key \ud800": 1,
    "emoji": "\U0001f600\u200d",
    "lines": "a\r\n\u2028\u0085b",
    "int": 2**53 + 1,
    "big": -(2**70),
    "huge": 10**400,
    "float": 1.0,
    "minus": -0.0,
    "tiny": 5e-324,
    "true": True,
    "deep": json.loads("[" * 400 + "]" * 400),
    "long": "x" * 200_000,
    "list": [1, 1.0, "1", True, None],
}
NAMES = ["pay", "", "p\u00e4y", "\ud800", "nul\x00", "x" * 3_000]
IDS: list[Any] = ["call_1", "", None, 7, 2**70, "\ud800", "\x00", "\u20ac"]


@agenttrace.trace
def echo(**arguments: Any) -> Any:
    return arguments


def one_run(**more: Any) -> AgentRun:
    with agenttrace.run(**more) as run:
        stamp = capture.begin_request(
            [ToolOffer("echo", {"type": "object", "properties": ODD})],
            [{"role": "user", "content": ODD["half"]}],
        )
        raws = [json.dumps(ODD), '{"a": "\ud800', "", None, '{"a":1,"a":2}', "NaN", "\x00"]
        calls = [
            CallDraft(NAMES[n % len(NAMES)], call_id, n, raws[n % len(raws)], complete=n % 2 == 0)
            for n, call_id in enumerate(IDS)
        ]
        capture.record_response(
            ResponseDraft("", "\ud800", "openai", "m\ud800", "stop", "", tuple(calls)), stamp
        )
        for name, call_id in zip(NAMES, IDS, strict=False):
            with agenttrace.adapter(name=name, call_id=call_id, arguments=ODD):
                echo(**ODD)
        run.event("approval", call="\ud800", decision="approve", by="")
        run.set_state({"odd": ODD})
        run.set_output("done \ud800")
    return run


def plain(run: AgentRun) -> dict[str, Any]:
    return {record.ref: record_to_plain(record, content=False) for record in run.records()}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"agent_version": "", "prompt_version": "\ud800", "name": "\ud800"},
        {"run_id": "run \ud800\x00", "case": "case \ud800", "case_revision": ""},
    ],
    ids=["plain", "versions", "ids"],
)
def test_every_record_comes_back_as_it_was(
    collector: Chain, caplog: pytest.LogCaptureFixture, protocol: str, options: dict[str, Any]
) -> None:
    collector.receiver.clear()
    with isolated(exporters=[exporter_to(collector.rotel, protocol)]) as recorder:
        run = one_run(**options)
        assert recorder.flush(PATIENCE_S)
    found = until_whole(collector.receiver, [run])

    assert found.unusable == {}
    come = {r.ref: record_to_plain(r, content=False) for r in found.records[run.id]}
    assert come == plain(run)
    assert found.evidence(run.id).digest == run.evidence().digest  # type: ignore[union-attr]
    assert run.evidence().completeness.lost == {}
    assert [r.message for r in caplog.records if r.name.startswith("opentelemetry")] == []
