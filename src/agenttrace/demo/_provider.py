"""A model provider on the loopback that plays a script, so that agents run with no network.

It speaks three wire formats, chat completions, responses and anthropic's messages, each as JSON or
as server-sent events.
What a turn says is sent as it stands: argument text is never parsed or repaired here, so a script
can hold text that is malformed, cut off or repeated.

Requests are answered in the order in which they arrive. Where several agents ask at once, give a
function instead of a list: it is handed the request and picks the turn.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

from agenttrace.demo._provider_formats import (
    chat_completion,
    chat_events,
    responses_events,
    responses_response,
)
from agenttrace.demo._provider_messages import message, message_events, message_text
from agenttrace.demo._provider_turns import Json, ScriptedCall, SseEvent, Turn

__all__ = ["ReceivedRequest", "Script", "ScriptedCall", "ScriptedProvider", "Turn"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceivedRequest:
    """One request as it arrived."""

    number: int
    """From 1, in order of arrival."""
    path: str
    headers: Mapping[str, str]
    body: Json


Script: TypeAlias = Sequence[Turn] | Callable[[ReceivedRequest], Turn]


class ScriptedProvider:
    """A loopback server that answers from a script while its `with` block is open.

    Args:
        script: Turns in order of arrival, or a function from the request to its turn. A request
            after the last turn gets status 500 and says so.
        name: Part of every id it gives out, so that two providers of one run stay apart.
        fragment: Characters of each streamed piece of argument text.

    Example:
        >>> with ScriptedProvider([Turn(text="hello")]) as provider:
        ...     provider.base_url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, script: Script, *, name: str = "demo", fragment: int = 8) -> None:
        self.name = name
        self.requests: list[ReceivedRequest] = []
        self._script = script
        self._fragment = fragment
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """What a client of the openai SDK takes as its `base_url`."""
        return f"{self.address}/v1"

    @property
    def address(self) -> str:
        """What a client of the anthropic SDK takes as its `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def receive(self, path: str, headers: Mapping[str, str], body: Json) -> Answer:
        """Note one request and say what answers it."""
        with self._lock:
            number = len(self.requests) + 1
            request = ReceivedRequest(number=number, path=path, headers=headers, body=body)
            self.requests.append(request)
        return Answer(f"{self.name}-{number:04d}", request, self._turn(request), self._fragment)

    def _turn(self, request: ReceivedRequest) -> Turn:
        if callable(self._script):
            return self._script(request)
        if request.number <= len(self._script):
            return self._script[request.number - 1]
        said = f"the script has {len(self._script)} turns; request {request.number} has none"
        return Turn(status=500, headers={"x-should-retry": "false"}, body=_error(said))


class Answer:
    """One turn, ready to be sent in the format that the request's path asks for."""

    def __init__(self, name: str, request: ReceivedRequest, turn: Turn, fragment: int) -> None:
        self.turn = turn
        self.status = turn.status
        request_id = f"req-{name}"
        self.headers = {"x-request-id": request_id, "request-id": request_id, **turn.headers}
        self.events: Iterator[SseEvent] | None = None
        self.ends_with_done = False
        self.body: str | bytes = ""
        self._make(name, request, fragment)

    def _make(self, name: str, request: ReceivedRequest, fragment: int) -> None:
        turn, path = self.turn, request.path.partition("?")[0]
        model = str(request.body.get("model", "scripted"))
        streamed = request.body.get("stream") is True
        if turn.body is not None:
            is_text = isinstance(turn.body, str | bytes)
            self.body = turn.body if is_text else json.dumps(turn.body)  # type: ignore[assignment]
        elif path.endswith("/chat/completions"):
            completion = chat_completion(f"chatcmpl-{name}", model, turn)
            self.body = json.dumps(completion)
            if streamed:
                self.events = chat_events(completion, fragment, turn)
                self.ends_with_done = True
        elif path.endswith("/responses"):
            response = responses_response(f"resp-{name}", model, turn)
            self.body = json.dumps(response)
            self.events = responses_events(response, fragment, turn) if streamed else None
        elif path.endswith("/messages"):
            made = message(f"msg-{name}", model, turn)
            self.body = message_text(made, turn)
            self.events = message_events(made, fragment, turn) if streamed else None
        else:
            self.status, self.body = 404, json.dumps(_error(f"no route {request.path}"))


def _error(text: str) -> Json:
    """An error in a form that all three formats read."""
    error = {"message": text, "type": "scripted", "param": None, "code": None}
    return {"type": "error", "error": error}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    provider: ScriptedProvider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show faults of a script; that a client hung up is none."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keep the terminal for the agent."""

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        answer = self.server.provider.receive(self.path, dict(self.headers), body)
        if answer.events is None:
            self._send(answer)
        else:
            self._stream(answer, answer.events)

    def do_GET(self) -> None:
        answer = self.server.provider.receive(self.path, dict(self.headers), {})
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        data = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response(answer.status)
        headers = {"content-type": "application/json", **answer.headers}
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, answer: Answer, events: Iterator[SseEvent]) -> None:
        self.send_response(answer.status)
        headers = {"content-type": "text/event-stream", **answer.headers}
        for name, value in {**headers, "transfer-encoding": "chunked"}.items():
            self.send_header(name, value)
        self.end_headers()
        turn = answer.turn
        for number, event in enumerate(events):
            if number and turn.delay_s:
                time.sleep(turn.delay_s)
            text = _sse(*event)
            if number == turn.cut_after:
                self._chunk(text[: len(text) // 2] if turn.cut_inside else "", ends=False)
                break
            self._chunk(text)
        if turn.cut_after is not None:
            self.close_connection = True
            return
        if answer.ends_with_done:
            self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _chunk(self, text: str, *, ends: bool = True) -> None:
        """Send one piece of the body; an empty one ends it."""
        data = text.encode()
        if data or ends:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _sse(kind: str | None, data: Json) -> str:
    label = f"event: {kind}\n" if kind else ""
    return f"{label}data: {json.dumps(data)}\n\n"
