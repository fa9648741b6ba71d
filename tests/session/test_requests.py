"""A server's requests, each a run of its own, and runs that go on in another process."""

from __future__ import annotations

import asyncio
import contextvars
import io
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, ClassVar
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.util import FileWrapper

import pytest
from opentelemetry import baggage
from opentelemetry import trace as otel
from opentelemetry.baggage.propagation import W3CBaggagePropagator

import agenttrace
from agenttrace.capture import current_scope, losses
from agenttrace.capture._guard import forget_faults
from agenttrace.domain import Execution
from agenttrace.session import AgentRun, AsgiRuns, WsgiRuns, run, run_headers
from agenttrace.testing import isolated


@pytest.fixture(autouse=True)
def apart(tmp_path: Any) -> Iterator[None]:
    with isolated(evidence=tmp_path):
        yield


@agenttrace.trace
def work(value: Any = None) -> Any:
    return value


def values(of: AgentRun) -> list[Any]:
    return [r.payload.result for r in of.records() if isinstance(r.payload, Execution)]


async def receive() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def call(app: Any, **scope: Any) -> list[Any]:
    """Send one request, in a context that knows nothing of any run."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def main() -> None:
        await app({"type": "http", "path": "/", "headers": [], **scope}, receive, send)

    contextvars.Context().run(asyncio.run, main())
    return sent


class App:
    """Does some work for each request, and remembers its scopes."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        assert (await receive())["type"] == "http.request"
        work(scope["path"])
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        work("later")

    @property
    def runs(self) -> list[AgentRun]:
        return [scope["agenttrace.run"] for scope in self.scopes]


# ASGI


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_each_request_is_a_run_of_its_own(kind: str):
    app = App()
    served = AsgiRuns(app)
    assert [m["status"] for m in call(served, type=kind, path="/1")] == [200]
    call(served, type=kind, path="/2")

    assert [values(one) for one in app.runs] == [["/1", "later"], ["/2", "later"]]
    assert all(one.evidence().completeness.settled for one in app.runs)


def test_a_servers_start_and_stop_are_no_run():
    app = App()
    call(AsgiRuns(app), type="lifespan")

    assert "agenttrace.run" not in app.scopes[0]


def test_many_requests_at_once_are_kept_apart_also_with_one_run_to_begin_from():
    app = App()
    shared = run(agent_version="7")
    served = AsgiRuns(app, run=lambda scope: shared)

    async def main() -> None:
        async def send(message: Any) -> None:
            await asyncio.sleep(0)

        def scope(n: int) -> dict[str, Any]:
            return {"type": "http", "path": n, "headers": []}

        await asyncio.gather(*(served(scope(n), receive, send) for n in range(50)))

    contextvars.Context().run(asyncio.run, main())
    assert sorted(map(tuple, map(values, app.runs))) == [(n, "later") for n in range(50)]
    assert {one.evidence().run.agent_version for one in app.runs} == {"7"}


def test_the_request_says_what_its_run_is_or_that_it_is_none():
    app = App()
    served = AsgiRuns(
        app, run=lambda scope: run(run_id=f"job{scope['path']}") if scope["path"] != "/up" else None
    )
    call(served, path="/7")
    call(served, path="/up")

    assert app.scopes[0]["agenttrace.run"].id == "job/7"
    assert "agenttrace.run" not in app.scopes[1]


def test_what_the_application_raises_goes_on_and_its_run_has_ended():
    error = KeyError("own")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        raise error

    scopes: list[Any] = []
    with pytest.raises(KeyError) as caught:
        call(AsgiRuns(app))

    assert caught.value is error
    work("after")
    scopes[0]["agenttrace.run"].set_output("late")  # it is a run, and over
    assert values(scopes[0]["agenttrace.run"]) == []


def test_a_choice_that_fails_costs_the_request_nothing(monkeypatch: pytest.MonkeyPatch):
    forget_faults()
    app = App()

    def broken(scope: Any) -> AgentRun:
        raise RuntimeError

    assert len(call(AsgiRuns(app, run=broken))) == 1
    assert "agenttrace.run" not in app.scopes[0]
    assert losses() == {"error:making a request's run": 1}
    forget_faults()


def test_a_request_inside_a_run_of_this_process_belongs_to_it():
    app = App()

    async def main() -> None:
        await AsgiRuns(app)({"type": "http", "path": "/1", "headers": []}, receive, send)

    async def send(message: Any) -> None:
        pass

    with run() as outer:
        asyncio.run(main())

    assert values(outer) == ["/1", "later"]
    assert "agenttrace.run" not in app.scopes[0]


# From process to process


def test_a_run_goes_on_where_its_headers_lead():
    app = App()
    with run(agent_version="7") as caller:
        sent = run_headers()
        headers = [(name.encode(), text.encode()) for name, text in sent.items()]
        call(AsgiRuns(app, joins=True), headers=headers, path="/tool")

    assert list(sent) == ["baggage"]
    assert (app.runs[0].id, values(app.runs[0])) == (caller.id, ["/tool", "later"])
    assert values(caller) == ["/tool", "later"]
    whole = caller.evidence()
    assert (whole.completeness.settled, whole.run.agent_version) == (True, "7")


def test_headers_hold_the_runs_id_and_nothing_else():
    with run("secret-case", agent_version="secret") as this:
        token = otel.get_current_span()
        headers = run_headers()

    assert token is not None
    found = W3CBaggagePropagator().extract(headers)
    assert baggage.get_all(found) == {"agenttrace.run.id": this.id}


@pytest.mark.parametrize("run_id", ["customer-bob", "run-", "run-xyz", "run-12,b=c", "run-1 "])
def test_an_id_that_somebody_chose_stays_here(run_id: str):
    with run(run_id=run_id):
        assert run_headers() == {}


def test_outside_any_run_and_where_it_is_a_guess_there_are_no_headers():
    assert contextvars.Context().run(run_headers) == {}
    with run():
        assert contextvars.Context().run(run_headers) == {}


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"agenttrace.run.id=",
        b"agenttrace.run.id=customer-bob",
        b"agenttrace.run.id=run-..%2F..%2Fetc",
        b"agenttrace.run.id=run-%0a1",
        b"other=run-123456",
        b"\xff\xfe=,;;=%",
        b"a=" * 9_000,
    ],
)
def test_baggage_that_names_no_run_of_ours_joins_none(header: bytes):
    app = App()
    call(AsgiRuns(app, joins=True), headers=[(b"baggage", header)])

    assert app.runs[0].id not in header.decode("latin-1")
    assert values(app.runs[0]) == ["/", "later"]


def test_nobody_joins_a_run_uninvited():
    app = App()
    call(AsgiRuns(app), headers=[(b"baggage", b"agenttrace.run.id=run-123456")])

    assert app.runs[0].id != "run-123456"


def test_other_baggage_may_stand_beside_it_in_one_header_or_several():
    app = App()
    lines = [b"tenant=4", b"x=1,agenttrace.run.id=run-00aa", b"y=2"]
    call(AsgiRuns(app, joins=True), headers=[(b"baggage", line) for line in lines])

    assert app.runs[0].id == "run-00aa"


def test_a_job_goes_on_with_the_run_whose_id_its_message_carries():
    with run() as this:
        message = {"order": "A-104", "run_id": this.id}

    def worker() -> None:
        with run(run_id=message["run_id"]):
            work(message["order"])

    contextvars.Context().run(worker)
    assert values(this) == ["A-104"]


# WSGI


class Quiet(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""


class Streamed(Iterator[bytes]):
    """An object of a framework's own that makes its body as it is sent."""

    closed: ClassVar[list[str]] = []

    def __init__(self, path: str) -> None:
        self._parts = iter([b"a", b"b"])
        self.path = path

    def __next__(self) -> bytes:
        part = next(self._parts)
        work(f"{self.path} {part.decode()}")
        return part

    def close(self) -> None:
        self.closed.append(self.path)


class Response:
    """An answer that makes its iterator when it is sent, as some frameworks' do."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __iter__(self) -> Iterator[bytes]:
        work(f"{self.path} begins")
        return Streamed(self.path)

    def close(self) -> None:
        Streamed.closed.append(self.path)


class Sized(Response):
    """One that also says how many parts it has."""

    def __len__(self) -> int:
        return 2


def generated(path: str) -> Iterator[bytes]:
    for part in (b"a", b"b"):
        work(f"{path} {part.decode()}")
        yield part


BODIES: dict[str, tuple[Callable[[str], Any], bytes, list[str]]] = {
    "/list": (lambda path: [b"ab"], b"ab", []),
    "/tuple": (lambda path: (b"a", b"b"), b"ab", []),
    "/generator": (generated, b"ab", ["/generator a", "/generator b"]),
    "/object": (Streamed, b"ab", ["/object a", "/object b"]),
    "/response": (Response, b"ab", ["/response begins", "/response a", "/response b"]),
    "/sized": (Sized, b"ab", ["/sized begins", "/sized a", "/sized b"]),
    "/file": (lambda path: FileWrapper(io.BytesIO(b"ab")), b"ab", []),
}


@pytest.mark.parametrize("path", BODIES)
def test_a_wsgi_request_is_a_run_until_its_body_is_sent(path: str):
    body, text, during = BODIES[path]
    environs: list[Any] = []

    def app(environ: Any, start_response: Any) -> Any:
        environs.append(environ)
        start_response("200 OK", [("Content-Type", "text/plain")])
        work(environ["PATH_INFO"])
        return body(environ["PATH_INFO"])

    answers = []
    for application in (app, WsgiRuns(app)):
        with make_server("127.0.0.1", 0, application, handler_class=Quiet) as server:
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            url = f"http://127.0.0.1:{server.server_port}{path}"
            with urllib.request.urlopen(url, timeout=60) as answer:
                read = answer.read()
                kept = {k: v for k, v in answer.headers.items() if k != "Date"}
            thread.join(60)
        answers.append((read, kept))

    assert answers[0] == answers[1]
    assert answers[0][0] == text
    made = environs[1]["agenttrace.run"]
    assert values(made) == [path, *during]
    assert made.evidence().completeness.settled
    assert "agenttrace.run" not in environs[0]
    assert Streamed.closed == ([path] * 2 if path in ("/object", "/response", "/sized") else [])
    Streamed.closed.clear()


def test_a_wsgi_body_that_is_dropped_or_read_elsewhere_ends_its_run():
    made: list[AgentRun] = []

    def app(environ: Any, start_response: Any) -> Any:
        made.append(environ["agenttrace.run"])
        return generated("/x")

    def serve() -> None:
        served = WsgiRuns(app)
        served({}, None)  # never read, never closed
        body: Any = served({}, None)
        assert current_scope() is None
        elsewhere = threading.Thread(target=lambda: (list(body), body.close()))
        elsewhere.start()
        elsewhere.join(60)
        with pytest.raises(TypeError):
            WsgiRuns(lambda environ: [])({}, None)  # type: ignore[arg-type, misc]
        assert current_scope() is None

    contextvars.Context().run(serve)
    assert [values(one) for one in made] == [[], ["/x a", "/x b"]]
    assert made[1].evidence().completeness.settled
    assert made[0].records()[-1].kind == "run"


def test_a_header_that_is_too_long_names_no_run_and_is_not_logged(caplog: pytest.LogCaptureFixture):
    header = f"agenttrace.run.id=run-0123,{'x' * 100_000}"
    scope = {"type": "http", "headers": [(b"baggage", header.encode())]}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Nothing."""

    asyncio.run(AsgiRuns(app, joins=True)(scope, None, None))

    assert scope["agenttrace.run"].id != "run-0123"
    assert "x" * 100 not in caplog.text
