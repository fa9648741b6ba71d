"""What arrives at a collector, and the same verdict made from it.

The standard OTLP exporter is used as it is: agenttrace adds it to its own provider when
OTEL_EXPORTER_OTLP_ENDPOINT is set. The collector here is a receiver of forty lines on the loopback.

Runs offline:  python examples/otlp_export.py
Needs the extra: pip install "agenttrace-otel[otlp]"
"""

from __future__ import annotations

import gzip
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import agenttrace
from agenttrace import adapter, trace
from agenttrace.readers import records_from_otlp_spans
from agenttrace.records import assemble
from agenttrace.session import flush

bodies: list[bytes] = []


class Receiver(BaseHTTPRequestHandler):
    """Answers every export with 200 and keeps its body."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        is_packed = self.headers.get("content-encoding") == "gzip"
        bodies.append(gzip.decompress(body) if is_packed else body)
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep the terminal for the example."""


@trace
def issue_refund(order_id: str, amount_cents: int) -> str:
    return f"refunded {amount_cents} for {order_id}"


CALL = '{"order_id": "A-104", "amount_cents": 9800}'
RESPONSE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "my-model",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "call_7",
                        "type": "function",
                        "function": {"name": "issue_refund", "arguments": CALL},
                    }
                ],
            },
        }
    ],
}


def my_agent() -> None:
    """One call, whose amount is halved on the way to the function."""
    agenttrace.model_response(RESPONSE)
    arguments = {"order_id": "A-104", "amount_cents": 9800}
    with adapter(name="issue_refund", call_id="call_7", arguments=arguments):
        issue_refund("A-104", arguments["amount_cents"] // 2)


def has_exporter() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def main() -> int:
    if not has_exporter():
        print('skipped: the exporter is missing; pip install "agenttrace-otel[otlp]"')
        return 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"

    agenttrace.configure(evidence=False)
    with agenttrace.run() as run:
        my_agent()
    flush()
    server.shutdown()

    found = [records_from_otlp_spans(body) for body in bodies]
    records = [record for part in found for record in part.records]
    print(f"{len(bodies)} exports with {len(records)} spans arrived:")
    for record in records:
        print(f"  {record.kind}: {getattr(record.payload, 'arguments', None) or ''}")
    evidence = assemble(records)
    print(f"evidence equal to the recorded one: {evidence.digest == run.evidence().digest}")
    verdict = agenttrace.score(None, evidence)
    print(f"{verdict.status}: first divergence at the {verdict.first}, owner: {verdict.owner}")
    for one in verdict.divergences:
        print(f"  {one.kind} {one.path}: {one.before} became {one.after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
