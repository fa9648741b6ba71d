"""Two hundred secrets through everything that records; a byte search of all that leaves finds none.

What leaves is local evidence (the files and their names), spans as the standard OTLP exporter sends
them, artifacts, and whatever is logged.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pydantic
import pytest
from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

import agenttrace
from agenttrace.artifacts import write_artifact
from agenttrace.capture import Settings, failed, guard, recorder
from agenttrace.capture._guard import forget_faults
from agenttrace.demo._provider import ReceivedRequest, ScriptedCall, ScriptedProvider, Turn
from agenttrace.exporters import RunSpanProcessor
from agenttrace.integrations import instrument, uninstrument
from agenttrace.records import Record, RecordKind
from agenttrace.redaction import DROPPED, Redactor
from tests.redaction.seeded import PATH, Secret, found, seeded
from tests.support.otlp_receiver import OtlpReceiver, otlp_receiver
from tests.support.sdk_clients import WAYS, Way

pytestmark = pytest.mark.slow

KEY = b"0123456789abcdef0123456789abcdef"
SECRETS = seeded(200)


class Login(pydantic.BaseModel):
    user: str
    password: str
    note: str = ""


@dataclasses.dataclass
class Account:
    name: str
    api_key: str
    notes: list[str] = dataclasses.field(default_factory=list)


@agenttrace.trace
def call(**arguments: Any) -> Any:
    """A tool that does as it is told."""
    answer = arguments.pop("answer_with", None)
    if isinstance(answer, BaseException):
        raise answer
    return answer


@agenttrace.adapter
def parse(name: str, raw: str, call_id: str) -> Any:
    return json.loads(raw)


def behind(secret: Secret) -> dict[str, Any]:
    """The secret where it is known to be one."""
    if secret.field is None:
        return {"note": f"use {secret.text} today"}
    if secret.field == "answer":
        return {"profile": [{"answer": secret.text}]}
    return {secret.field: secret.text}


def by_trace(secret: Secret) -> None:
    """Everything that a decorated tool can receive, give and raise."""
    text, known = secret.text, behind(secret)
    prose = f"the value {text} was refused"
    call(**known)
    call(**known, answer_with={"said": prose, "rows": [{text: 1}, [text]], **known})
    call(
        deep={"rows": [known] if secret.field != "answer" else [text], f"k {text}": {text: text}},
        nested=json.dumps({"note": prose, **({} if secret.field == "answer" else known)}),
        twice=json.dumps({"inner": json.dumps({"x": text})}),
        cut=json.dumps({"a": 1, "note": text, "z": [text]})[:-2],
        data=text.encode(),
        around=f"before {text} after".encode(),
        array=bytearray(text, "utf-8"),
        path=Path("/tmp") / text.replace("/", "_") if "/" not in text else Path("/tmp"),
        names={text.encode(): 1, (text, 1): 2},
        more={text},
    )
    call(login=Login(user="ann", password=text, note=prose))
    call(account=Account("ann", text, [prose]), answer_with=Account("b", text))
    for error in (ValueError(prose), KeyError(text), OSError(2, prose, text), RuntimeError(known)):
        with suppress(Exception):
            call(**known, answer_with=error)
    if text.isdigit():
        call(number=int(text), answer_with=[int(text), {"total": int(text)}])


def by_hand(secret: Secret) -> None:
    """The model and the adapter by hand: prompts, schemas, texts, argument texts, refusals."""
    text, known = secret.text, behind(secret)
    stated = {
        (secret.field or "note"): {"type": "string", "default": text, "examples": [text]},
        "other": {"description": f"never say {text}", "enum": [text, "b"]},
    }
    # A path is one of arguments: a schema does not show that the value is a secret.
    schema = {"type": "object", "properties": {} if secret.field == "answer" else stated}
    raws = [
        json.dumps(known),
        json.dumps(known, ensure_ascii=False),
        json.dumps(known)[:-1],
        json.dumps(known)[: -len(text) // 2],
        json.dumps(known).replace('"', "'"),
        f"call({known})",
        "",
    ]
    agenttrace.model_response(
        chat(raws, f"I used {text}."),
        tools=[{"type": "function", "function": {"name": "call", "parameters": schema}}],
        messages=[
            {"role": "system", "content": f"be careful with {text}"},
            {"role": "user", "content": [{"type": "text", "text": f"my value is {text}"}]},
            {"role": "tool", "tool_call_id": "c9", "content": json.dumps({"got": text, **known})},
        ],
    )
    for place, raw in enumerate(raws):
        with suppress(ValueError):
            call(**parse("call", raw, f"c{place}"))
    with suppress(ValueError), agenttrace.adapter(name="call", call_id="c0", arguments=known):
        raise ValueError(f"{known} does not fit: {text}")


def by_run(run: agenttrace.session.AgentRun, secret: Secret) -> None:
    """What is put on record of a run itself."""
    text, known = secret.text, behind(secret)
    run.set_output(f"Done with {text}.")
    run.set_state({"rows": [known] if secret.field != "answer" else [], "log": [f"saw {text}"]})
    run.event("approval", call="c0", decision="approve", arguments=known, by=text)
    run.event("human_edit", call_id="c0", path="/note", before=text, after=f"x{text}")
    run.event("result_shown", call_id="c0", shown={"t": text})
    run.event("status", recorded=text, actual=text)
    run.event("mine", text=text, **known)


def chat(raws: list[str], text: str) -> dict[str, Any]:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "call", "arguments": raw}}
        for n, raw in enumerate(raws)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": calls}
    return {
        "id": "r",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }


class Written:
    """Everything that left while a test recorded."""

    def __init__(
        self, folder: Path, receiver: OtlpReceiver, log: Any, secrets: Sequence[Secret]
    ) -> None:
        self.folder = folder
        self.receiver = receiver
        self.secrets = secrets
        self._log = log
        self.artifact = b""

    def everything(self) -> bytes:
        files = sorted(self.folder.rglob("*"))
        parts = [path.read_bytes() for path in files if path.is_file()]
        parts += [str(path.relative_to(self.folder)).encode() for path in files]
        formatter = logging.Formatter()
        logged = [formatter.format(record) for record in self._log.records]
        parts += [self.artifact, *self.receiver.bodies, *(line.encode() for line in logged)]
        return b"\n".join(parts)


@pytest.fixture(params=["ours", "users"])
def written(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Written]:
    """Record into files and to a receiver, through our own provider or a user's."""
    caplog.set_level(logging.DEBUG, logger="agenttrace")
    with otlp_receiver() as receiver:
        exporter = OTLPSpanExporter(endpoint=receiver.endpoint)
        users = TracerProvider(shutdown_on_exit=False)
        if request.param == "users":
            users.add_span_processor(RunSpanProcessor(exporter))
            monkeypatch.setattr(otel, "_TRACER_PROVIDER", users)
        settings = Settings(
            evidence=tmp_path / "runs",
            make_processors=lambda: [RunSpanProcessor(exporter)],
            redactor=Redactor(KEY, paths=[PATH]),
        )
        # Where spans go is all that differs: fewer secrets show that as well.
        secrets = SECRETS if request.param == "ours" else SECRETS[::4]
        kept = Written(tmp_path / "runs", receiver, caplog, secrets)
        with recorder.replaced(settings):
            yield kept


def runs_of(
    kept: Written, record: Callable[[agenttrace.session.AgentRun, Secret], None]
) -> list[Record]:
    """Runs with twenty secrets each, written everywhere; the records of all."""
    records: list[Record] = []
    for start in range(0, len(kept.secrets), 20):
        with agenttrace.run() as run:
            for secret in kept.secrets[start : start + 20]:
                record(run, secret)
        records.extend(run.records())
    leave(kept, records)
    return records


def leave(kept: Written, records: Sequence[Record]) -> None:
    """Have everything written, as an artifact too."""
    recorder.flush(30)
    path = kept.folder / "saved.jsonl"
    write_artifact(path, records)
    kept.artifact = path.read_bytes()


def count(records: Sequence[Record], kind: RecordKind) -> int:
    return sum(record.kind is kind for record in records)


def test_none_is_found_of_what_tools_receive_give_and_raise(written: Written):
    records = runs_of(written, lambda run, secret: by_trace(secret))

    assert count(records, RecordKind.EXECUTION) > 9 * len(written.secrets)
    assert len(written.receiver.spans) == len(records)
    everything = written.everything()
    assert found(written.secrets, everything) == []
    assert found([Secret(KEY.decode(), None)], everything) == []


def test_none_is_found_of_what_is_handed_over_by_hand(written: Written):
    def record(run: agenttrace.session.AgentRun, secret: Secret) -> None:
        by_hand(secret)
        by_run(run, secret)

    records = runs_of(written, record)

    assert count(records, RecordKind.CALL) == 7 * len(written.secrets)
    assert count(records, RecordKind.EVENT) == 7 * len(written.secrets)
    assert len(written.receiver.spans) == len(records)
    assert found(SECRETS, written.everything()) == []


@pytest.mark.parametrize("way", [way for way in WAYS if way.api != "beta"], ids=str)
@pytest.mark.parametrize("written", ["ours"], indirect=True)
def test_none_is_found_through_a_real_client(written: Written, way: Way):
    ask_with_secrets(written, way)


@pytest.mark.parametrize(
    "way", [way for way in WAYS if way.is_streamed == way.is_async][:3], ids=str
)
@pytest.mark.parametrize("written", ["users"], indirect=True)
def test_none_is_found_through_a_real_client_and_a_users_provider(written: Written, way: Way):
    ask_with_secrets(written, way)


def ask_with_secrets(written: Written, way: Way) -> None:
    secrets = [one for n, one in enumerate(SECRETS) if n % 5 == WAYS.index(way) % 5]
    asked: list[Secret] = []

    def turn(request: ReceivedRequest) -> Turn:
        secret = asked[-1]
        arguments = json.dumps(behind(secret))
        return Turn(
            text=f"I take {secret.text}",
            calls=(
                ScriptedCall(name="call", arguments=arguments, call_id="c1"),
                ScriptedCall(name="call", arguments=arguments, call_id="c2"),
            ),
        )

    instrument(way.library)
    try:
        with agenttrace.run() as run, ScriptedProvider(turn, fragment=5) as provider:
            for secret in secrets:
                asked.append(secret)
                name = "input" if way.api == "responses" else "messages"
                said = [{"role": "user", "content": f"please use {secret.text} now"}]
                way.ask(provider, **{name: said})
                with agenttrace.adapter(name="call", call_id="c1", arguments=behind(secret)):
                    call(**behind(secret))
    finally:
        uninstrument()
    leave(written, run.records())

    assert len(run.evidence().model) == 2 * len(secrets)
    assert found(SECRETS, written.everything()) == []


class Refuses(SpanProcessor):
    """A processor of the user's that says in its error whatever it saw."""

    def on_end(self, span: ReadableSpan) -> None:
        raise ValueError(f"cannot take {dict(span.attributes or {})}")


def test_none_is_found_in_what_is_logged_of_our_own_faults(caplog: pytest.LogCaptureFixture):
    """A fault while the program's exception is on its way is raised during that exception."""
    caplog.set_level(logging.DEBUG, logger="agenttrace")
    settings = Settings(
        evidence=None, make_processors=lambda: [Refuses()], redactor=Redactor(KEY, paths=[PATH])
    )
    with recorder.replaced(settings), agenttrace.run() as run:
        for secret in SECRETS:
            call(**behind(secret))
            forget_faults()
            try:
                raise ValueError(f"refused: {secret.text}")
            except ValueError:
                failed("a test", RuntimeError(f"cannot write {secret.text}"), run._begun())
                with guard("a test"):
                    raise KeyError(secret.text) from None

    logged = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    assert logged.count("Traceback") > 2 * len(SECRETS)
    assert "cannot write [masked:" in logged
    assert found(SECRETS, logged.encode()) == []


def test_a_mask_of_the_users_that_raises_drops_the_value_and_is_counted():
    def refuse(text: str) -> str:
        if "secret plan" in text:
            raise ValueError(f"cannot mask {text}")
        return text

    settings = Settings(evidence=None, redactor=Redactor(KEY, mask=refuse))
    with recorder.replaced(settings):
        with agenttrace.run() as run:
            call(note="the secret plan", other="plain", answer_with=["the secret plan", 1])
        records = run.records()
        told = run.evidence()

    (execution,) = told.executor
    assert execution.arguments == {
        "note": DROPPED,
        "other": "plain",
        "answer_with": [DROPPED, 1],
    }
    assert execution.result == [DROPPED, 1]
    assert "secret plan" not in str(records)
    assert sum(told.completeness.lost.values()) == 3


def test_equal_values_have_equal_tokens_and_different_ones_different_in_a_whole_run():
    with recorder.replaced(Settings(evidence=None, redactor=Redactor(KEY))):
        with agenttrace.run() as run:
            for _ in range(2):
                for secret in SECRETS:
                    call(api_token=secret.text)
        shown = [str(one.arguments) for one in run.evidence().executor]

    assert shown[: len(SECRETS)] == shown[len(SECRETS) :]
    assert len(set(shown)) == len(SECRETS)
