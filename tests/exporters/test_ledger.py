"""Every span is sent, lost, or waits; the counts outlive their process, and `doctor` reads them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agenttrace.cli import main
from agenttrace.domain import Case, RequiredCall, Status
from agenttrace.exporters import RunSpanProcessor, ledger, read_ledger
from agenttrace.readers import read_evidence
from agenttrace.scoring import score

WAIT_S = 60


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    ledger.renew()
    yield
    ledger.renew()


class Choosing(SpanExporter):
    """Takes, refuses or raises, by the name of a batch's first span."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        name = spans[0].name
        if name == "hold":
            self.go.wait(WAIT_S)
        if name == "raise":
            raise RuntimeError
        return SpanExportResult.FAILURE if name == "refuse" else SpanExportResult.SUCCESS


def end_spans(provider: TracerProvider, *names: str) -> None:
    for name in names:
        provider.get_tracer("t").start_span(name).end()


def provider_to(exporter: SpanExporter, monkeypatch: pytest.MonkeyPatch) -> TracerProvider:
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(RunSpanProcessor(exporter))
    return provider


def test_each_span_is_in_one_column(monkeypatch: pytest.MonkeyPatch):
    provider = provider_to(Choosing(), monkeypatch)
    for name in ("take", "refuse", "raise", "take"):
        end_spans(provider, name)
        provider.force_flush()
    provider.shutdown()
    end_spans(provider, "late")

    assert ledger.counts() == {
        "spans taken": 5,
        "spans sent": 2,
        "spans lost": 3,
        "batches made": 4,
        "batches sent": 2,
        "batches refused": 1,
        "lost: refused": 1,
        "lost: raised": 1,
        "lost: shut-down": 1,
    }


def test_what_a_full_queue_drops_and_what_waits_is_exact(monkeypatch: pytest.MonkeyPatch):
    exporter = Choosing()
    provider = provider_to(exporter, monkeypatch)
    end_spans(provider, *["hold"] * 1_000)
    counts = ledger.counts()
    kept = counts["spans waiting"]

    assert kept + counts["lost: queue-full"] == counts["spans taken"] == 1_000
    assert 4 <= kept <= 5
    exporter.go.set()
    provider.force_flush()
    assert (ledger.counts()["spans sent"], "spans waiting" in ledger.counts()) == (kept, False)


@contextmanager
def collector(status: int) -> Iterator[str]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


PROGRAM = """
import os, signal
import agenttrace
from agenttrace.capture import CallDraft, ResponseDraft, begin_request, record_response

@agenttrace.trace
def pay(cents: int) -> str: return "paid"

agenttrace.configure()
with agenttrace.run():
    call = CallDraft("pay", "call_1", 0, '{"cents": 98}', complete=True)
    draft = ResponseDraft("r1", None, "openai", "m", "tool_calls", None, (call,))
    record_response(draft, begin_request(None, None))
    with agenttrace.adapter(name="pay", call_id="call_1", arguments={"cents": 98}): pay(98)
    if CRASH:
        agenttrace.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""
CASE = Case(case_id="c", required=(RequiredCall(name="pay", arguments={"cents": 98}),))


def run_program(folder: Path, *, endpoint: str | None, crash: bool = False) -> int:
    known = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTTRACE_"))}
    if endpoint is not None:
        known["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
    known |= {"OTEL_EXPORTER_OTLP_TIMEOUT": "1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM).replace("CRASH", str(crash))],
        cwd=folder,
        env=known,
        timeout=WAIT_S,
        capture_output=True,
        check=False,
    )
    return done.returncode


def doctor(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    main(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return {one["name"]: one["state"] for one in findings if one["section"] == "ledger"}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, {"batches sent": "1", "spans sent": "5", "status 200": "1"}),
        (400, {"batches refused": "1", "lost: refused": "5", "status 400": "1"}),
        (None, {"lost: refused": "5", "no answer": "1"}),
    ],
)
def test_doctor_says_what_a_collector_took_and_refused(
    status: int | None,
    expected: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    with collector(status or 200) as endpoint:
        target = endpoint if status is not None else "http://127.0.0.1:1"
        assert run_program(tmp_path, endpoint=target) == 0

    found = doctor(capsys)
    if status is None and "spans waiting" in found:  # given up on at the end of the process
        expected = {"spans waiting": "5"}
    assert found["processes"] == "1 have ended"
    assert found["spans taken"] == "5"
    assert expected.items() <= found.items()
    (evidence,) = read_evidence(tmp_path / ".agenttrace" / "runs")
    assert score(CASE, evidence).status is Status.PASS


def test_a_process_that_sent_and_lost_nothing_leaves_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert run_program(tmp_path, endpoint=None) == 0

    assert list(tmp_path.rglob(".ledger*")) == []
    assert doctor(capsys) == {"processes": "no process has sent or lost anything yet"}


def test_a_process_that_is_killed_leaves_a_run_without_an_end(tmp_path: Path):
    with collector(200) as endpoint:
        code = run_program(tmp_path, endpoint=endpoint, crash=True)

    assert code == -signal.SIGKILL
    (evidence,) = read_evidence(tmp_path / ".agenttrace" / "runs")
    verdict = score(CASE, evidence)
    assert verdict.status is Status.INCONCLUSIVE
    assert "unsettled" in {cause.code for cause in verdict.causes}


def test_a_ledger_that_is_torn_or_foreign_is_read_as_far_as_it_goes(tmp_path: Path):
    good = {"exported": {"spans sent": 2}, "lost": {"memory": 1}}
    lines = [json.dumps(good), "[]", '{"exported": 3, "lost": {}}', '{"exp', "\ufffd", ""]
    (tmp_path / ".ledger").write_text("\n".join(lines))
    (tmp_path / ".ledger.old").write_text(json.dumps(good))

    assert read_ledger(tmp_path) == (2, {"spans sent": 4}, {"memory": 2})
