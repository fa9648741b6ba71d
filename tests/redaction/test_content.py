"""What leaves under each setting of `content`: values, message texts too, or no value at all."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

import agenttrace
from agenttrace.artifacts import write_artifact
from agenttrace.capture import recorder
from agenttrace.domain import Case, RequiredCall, Status
from agenttrace.integrations import model_response
from agenttrace.readers import read_evidence
from agenttrace.records import assemble
from agenttrace.redaction import Redactor, key_ids, read_digest
from agenttrace.scoring import score
from agenttrace.session import AgentRun
from agenttrace.testing import isolated
from tests.redaction.seeded import found, seeded
from tests.redaction.test_secrets_everywhere import by_hand, by_run, by_trace
from tests.support.otlp_receiver import OtlpReceiver, otlp_receiver

VALUES = ("A-104", "980017342", "Ada Lovelace", "Kindly refund", "I shall refund", "Refunded it")
CASE = Case(
    case_id="refund",
    required=(RequiredCall(name="issue", arguments={"order": "A-104", "cents": 980017342}),),
)


@agenttrace.trace
def issue(order: str, cents: int, who: str = "Ada Lovelace") -> dict[str, Any]:
    return {"order": order, "who": who, "cents": cents}


@agenttrace.trace
def refuse(order: str) -> None:
    raise ValueError(f"no refund of {order} for Ada Lovelace")


def a_run(*, executed: int = 980017342) -> AgentRun:
    arguments = {"order": "A-104", "cents": 980017342}
    calls = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for call_id, name, given in (
            ("c1", "issue", arguments),
            ("c2", "refuse", {"order": "A-104"}),
        )
    ]
    body = {
        "id": "r",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "I shall refund it",
                    "tool_calls": calls,
                },
            }
        ],
    }
    schema = {"type": "object", "properties": {"who": {"default": "Ada Lovelace"}}}
    tool = {"type": "function", "function": {"name": "issue", "parameters": schema}}
    with agenttrace.run(CASE) as run:
        asked = [{"role": "user", "content": "Kindly refund A-104, 980017342 cents"}]
        model_response(body, tools=[tool], messages=asked)
        with agenttrace.adapter(name="issue", call_id="c1", arguments=arguments):
            issue("A-104", executed)
        with (
            pytest.raises(ValueError, match="no refund"),
            agenttrace.adapter(name="refuse", call_id="c2", arguments={"order": "A-104"}),
        ):
            refuse("A-104")
        run.event("approval", call="c1", decision="approve", arguments=arguments, by="Ada Lovelace")
        run.set_output("Refunded it, 980017342 cents")
        run.set_state({"refunds": [{"order": "A-104", "cents": 980017342}]})
    return run


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with otlp_receiver() as receiver:
        yield receiver


def written(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in folder.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("content", "local", "exported"),
    [
        ("values", set(VALUES), {"A-104", "980017342", "Ada Lovelace"}),
        ("messages", set(VALUES), set(VALUES)),
        ("digest", set(), set()),
    ],
)
def test_each_setting_keeps_and_exports_what_it_says(
    content: Any, local: set[str], exported: set[str], receiver: OtlpReceiver, tmp_path: Path
):
    exporter = OTLPSpanExporter(endpoint=receiver.endpoint)
    with isolated(evidence=tmp_path, exporters=[exporter], content=content):
        run = a_run()
        assert recorder.flush(10)
        records, verdict = run.records(), run.verdict
        redactor = recorder.redactor

    in_files, on_wire = written(tmp_path), b"\n".join(receiver.bodies)
    assert {value for value in VALUES if value.encode() in in_files} == local
    assert {value for value in VALUES if value.encode() in on_wire} == exported
    write_artifact(tmp_path / "saved.jsonl", records)
    (from_file,) = read_evidence(tmp_path / "saved.jsonl").records.values()
    for carried in (from_file, receiver.records()):
        made = assemble(carried)
        assert made.digest == run.evidence().digest
        judged = score(CASE, made, redactor=redactor)
        assert (judged.status, judged.first) == (verdict.status, verdict.first)


def test_every_leaf_is_a_digest_of_its_type_and_length():
    with isolated(content="digest"):
        made = a_run().evidence()

    arguments = made.model[0].arguments or {}
    order, cents = read_digest(arguments["order"]), read_digest(arguments["cents"])
    raw = read_digest(made.model[0].raw)
    assert order is not None
    assert cents is not None
    assert raw is not None
    assert (order.type, order.length, cents.type, cents.length) == ("string", 5, "integer", None)
    assert (raw.type, raw.length) == ("text_object", len('{"order": "A-104", "cents": 980017342}'))
    assert made.integrity.masking is not None
    assert made.integrity.masking.digests
    assert key_ids([made.executor[0].result, made.outcome.final_state])


def test_figures_and_the_changed_argument_are_those_that_values_give():
    said = []
    for content in ("values", "digest"):
        with isolated(content=content):
            verdicts = [a_run().verdict, a_run(executed=980017343).verdict]
        said.append(
            [
                (one.status, one.first, one.figures.counts, [d.path for d in one.divergences])
                for one in verdicts
                if one.figures is not None
            ]
        )

    assert said[0] == said[1]
    assert said[1][1][3][:1] == ["/cents"]


def test_another_key_at_hand_is_inconclusive_and_never_a_failure():
    with isolated(content="digest"):
        made = a_run().evidence()

    for redactor in (None, Redactor(b"another key of the same length..")):
        assert score(CASE, made, redactor=redactor).status is Status.INCONCLUSIVE


def test_no_secret_is_found_where_every_value_is_a_digest(
    receiver: OtlpReceiver, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG, logger="agenttrace")
    secrets = seeded(60)
    exporter = OTLPSpanExporter(endpoint=receiver.endpoint)
    with isolated(evidence=tmp_path, exporters=[exporter], content="digest"):
        with agenttrace.run() as run:
            for secret in secrets:
                by_trace(secret)
                by_hand(secret)
                by_run(run, secret)
        assert recorder.flush(10)

    data = b"\n".join([written(tmp_path), *receiver.bodies, caplog.text.encode()])
    assert run.evidence().completeness.lost == {}
    assert found(secrets, data) == []


def test_limits_keep_the_full_length_and_a_digest_of_the_whole():
    with isolated(), agenttrace.run() as run:
        issue("x" * (2 << 20), 1)
        issue("x" * (2 << 20) + "y", 1)
    first, second = (one.arguments["order"]["$cut"] for one in run.evidence().executor)

    assert (first["length"], second["length"]) == (2 << 20, (2 << 20) + 1)
    assert first["head"] == second["head"]
    assert first["digest"] != second["digest"]


def test_a_text_over_the_limit_is_cut_alike_at_every_boundary():
    long = {"order": "x" * (2 << 20), "cents": 1}
    body = {
        "id": "r",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "issue", "arguments": json.dumps(long)},
                        }
                    ],
                },
            }
        ],
    }
    for content in ("values", "digest"):
        with isolated(content=content), agenttrace.run() as run:
            model_response(body)
            with agenttrace.adapter(name="issue", call_id="c1", arguments=long):
                issue(**long)
        assert run.verdict.divergences == ()
