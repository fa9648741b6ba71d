"""Whatever goes wrong at a guarded place of ours, the program does what it does without us.

The places are read off the sources (`tests.support.guarded`), so that a new one is tested, or fails
here until a program comes by it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import agenttrace
from agenttrace.capture import enter_scope, leave_scope, losses, record_response, recorder
from agenttrace.capture._guard import forget_faults
from agenttrace.capture._outbox import outbox
from agenttrace.capture._retention import retention
from agenttrace.capture._settler import Settler
from agenttrace.capture._snapshot import BULK_ITEMS
from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.domain import Case, Run, Status, ToolContract
from agenttrace.errors import AgentTraceError
from agenttrace.integrations import instrument, uninstrument
from agenttrace.integrations import threads as threads_hooks
from agenttrace.session import AgentRun, AsgiRuns, WsgiRuns, flush, run, run_headers
from agenttrace.session._live import LiveScoring
from agenttrace.testing import isolated
from tests.support.drafts import refund, response
from tests.support.guarded import Place, happening, places, reached
from tests.support.sdk_clients import Way

pytestmark = pytest.mark.slow

PLACES = places()
ELSEWHERE = {
    "starting over in a forked child": "test_a_fault_right_after_a_fork_leaves_the_child_running",
    "_BEGINNING": "test_a_fault_before_a_thread_begins_leaves_it_running",
    "clearing old evidence": "tests/capture/test_retention.py: on a thread of its own, in time",
}
"""Places that no program below comes by, by their name, and the test that does."""


WITHOUT_MANIFEST = (
    "opening a run",
    "closing a run",
    "settling a run",
    "ending the process",
    "f'instrumenting {each.name}'",
)
"""Places that are come by before there is a run, or that make its manifest: its end is missing."""


class FaultError(Exception):
    """Something of ours went wrong."""


class Panic(BaseException):
    """The same, by an exception that `except Exception` does not see."""


# Programs


@agenttrace.trace
def plain(value: Any) -> Any:
    return value


@agenttrace.trace(contract=ToolContract(rename={"given": "value"}))
def declared(value: Any) -> Any:
    return value


@agenttrace.trace
def change(value: list[int]) -> list[int]:
    value.append(1)
    return value


ERROR = ValueError("own")


@agenttrace.trace
def fail() -> None:
    raise ERROR


@agenttrace.trace
async def wait(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


@agenttrace.trace
def count(end: int) -> Iterator[int]:
    yield from range(end)


@agenttrace.trace
@contextlib.contextmanager
def opened(value: Any) -> Iterator[Any]:
    yield value


@agenttrace.adapter
def parse(call: dict[str, Any]) -> Any:
    if "args" not in call:
        raise KeyError(call["name"])
    return call["name"], call["args"]


def caught(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - compared by identity
        return error if error is ERROR else (type(error), str(error))


def tools() -> Any:
    mine: list[int] = []
    with opened("held") as held:
        pass
    return [
        plain({"order_id": "A-104", "nested": [{"x": object}]}),
        change(mine) is mine,
        mine,
        caught(fail),
        asyncio.run(wait("waited")),
        list(count(3)),
        held,
        caught(lambda: plain(1, 2)),  # type: ignore[call-arg]
        declared("a"),
        plain([{"n": n, "tags": ["x", (n,)]} for n in range(BULK_ITEMS)])[-1],
    ]


def dispatches() -> Any:
    with agenttrace.adapter(name="plain", call_id="c1", arguments={"value": 1}) as dispatch:
        dispatch.hand_on("plain", {"value": 1})
        done = plain(1)
    refused = caught(lambda: parse({"name": "plain"}))
    return [done, refused, parse({"name": "plain", "args": {"value": 2}}), plain(2)]


def responses() -> Any:
    return [
        type(record_response(response(refund()), None)),
        type(
            agenttrace.model_response(
                {
                    "id": "r",
                    "object": "chat.completion",
                    "model": "m",
                    "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "x"}}],
                }
            )
        ),
    ]


def asked(way: Way, *turns: Turn) -> Any:
    with ScriptedProvider(list(turns)) as provider:
        answer = caught(lambda: way.ask(provider))
    texts = [part.model_dump_json() for part in answer] if isinstance(answer, list) else answer
    return texts.model_dump_json() if hasattr(texts, "model_dump_json") else texts


TURN = Turn(calls=(ScriptedCall(name="plain", arguments='{"value": 1}'),))


def whole() -> Any:
    return [asked(Way("chat", False, False), TURN), asked(Way("messages", True, False), TURN)]


def streamed() -> Any:
    return [asked(Way("chat", False, True), TURN), asked(Way("messages", True, True), TURN)]


def broken_off() -> Any:
    cut = Turn(calls=TURN.calls, cut_after=2)
    return [
        [type(each) for each in (asked(Way("chat", kind, True), cut),)] for kind in (False, True)
    ]


CASE = Path(__file__).parents[1] / "support" / "case.json"


def agent_runs() -> Any:
    with run(CASE):
        plain(2)
    with run(agent_version="7") as one, one.phase("setup"), one.agent("billing"):
        one.set_output("done")
        one.event("no such event")
        plain(1)
    flush()


def threads() -> Any:
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(plain(1)))
    thread.start()
    thread.join(60)
    with ThreadPoolExecutor(1) as pool:
        return [pool.submit(plain, 2).result(60), seen]


def thread_pool() -> Any:
    from multiprocessing.pool import ThreadPool

    with ThreadPool(1) as pool:
        return pool.map(plain, [1, 2])


def requests() -> Any:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(plain(scope["path"]))

    async def send(message: Any) -> None:
        sent.append(message)

    def wsgi(environ: Any, start_response: Any) -> Any:
        return [plain(b"body")]

    def outside() -> None:
        scope = {"type": "http", "path": "/", "headers": []}
        asyncio.run(AsgiRuns(app)(scope, None, send))  # type: ignore[arg-type]
        sent.extend(WsgiRuns(wsgi)({}, None))

    contextvars.Context().run(outside)
    return [sent, type(run_headers())]


def implicit() -> Any:
    def outside() -> Any:
        return plain(1)

    found = contextvars.Context().run(outside)
    recorder.settle_implicit()
    return found


def read_back() -> Any:
    with run() as one:
        plain(1)
    with contextlib.suppress(AgentTraceError):
        one.evidence()


def judged_live() -> Any:
    live = LiveScoring()
    live.start()
    try:
        with run():
            plain(1)
        live.finish(60)
    finally:
        live.stop()


def set_up() -> Any:
    recorder.is_active = False
    try:
        recorder.activate()
    finally:
        recorder.is_active = True
    redactor, recorder._redactor = recorder._redactor, None
    try:
        return type(recorder.redactor).__name__
    finally:
        recorder._redactor = redactor


def hooked_again() -> Any:
    uninstrument("threading")
    instrument("threading")


def idle() -> Any:
    with run():
        waiting = recorder.open_run(Run(run_id="run-idle", implicit=True))
        Settler(recorder.settle).wait_for(waiting, 0.0)
        for _ in range(600):
            if waiting.is_closed or losses():
                break
            time.sleep(0.05)
    return plain(1)


def joined() -> Any:
    before, otel._TRACER_PROVIDER = otel._TRACER_PROVIDER, TracerProvider()
    try:
        with isolated(), run():
            return [responses(), plain(1), caught(fail)]
    finally:
        otel._TRACER_PROVIDER = before


def ended() -> Any:
    with isolated(exporters=[Taking()]):
        recorder.enders.append(int)
        recorder.last.append(int)
        with run():
            plain(1)
        flush()
        recorder.end_process()
        recorder.last.remove(int)
        outbox.is_inline = True
    return plain(2)


PROGRAMS: tuple[Callable[[], Any], ...] = (
    tools,
    dispatches,
    responses,
    agent_runs,
    threads,
    thread_pool,
    requests,
    implicit,
    read_back,
    judged_live,
    set_up,
    hooked_again,
    idle,
    joined,
    ended,
    whole,
    streamed,
    broken_off,
)
UNRECORDED = (set_up, hooked_again, idle, ended)
"""Programs about the recorder itself, which are nothing without it."""


ABOUT_OTHERS = (agent_runs, idle, joined, ended)
"""Programs whose faults are of runs of their own."""


class Taking(SpanExporter):
    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.SUCCESS


# Each place


@pytest.fixture(scope="module")
def without() -> dict[Callable[[], Any], Any]:
    """What each program gives while nothing is recorded and nothing hooked."""
    uninstrument()
    before, recorder.is_active = recorder.is_active, False
    set_up_before, recorder.set_up = recorder.set_up, None
    kept = recorder.settings
    recorder.reset(_off())
    try:
        return {p: p() if p not in UNRECORDED else _recorded(p) for p in PROGRAMS}
    finally:
        recorder.reset(kept)
        recorder.is_active, recorder.set_up = before, set_up_before


def _off() -> Any:
    from agenttrace.capture import Settings

    return Settings(enabled=False, evidence=None)


def _recorded(program: Callable[[], Any]) -> Any:
    with isolated():
        return program()


@contextlib.contextmanager
def recording(folder: Path) -> Iterator[AgentRun]:
    """One run, all of whose work is done on the thread that makes it."""
    outbox.drain()
    outbox.is_inline = True
    instrument()
    instrument("threading")
    try:
        with isolated(evidence=folder, exporters=[Taking()]), run(Case(case_id="c")) as made:
            yield made
    finally:
        outbox.is_inline = False
        uninstrument()


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> dict[Place, Callable[[], Any]]:
    """For each place the first program that comes by it."""
    found: dict[Place, Callable[[], Any]] = {}
    for program in PROGRAMS:
        with reached(PLACES) as here, recording(tmp_path_factory.mktemp("ways")):
            program()
        for place in here:
            found.setdefault(place, program)
    return found


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    monkeypatch.setattr(retention, "begin", lambda *_: None)  # a thread that comes when it likes
    forget_faults()
    yield
    outbox.is_inline = False
    forget_faults()


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Take away what a fault leaves in this context: the next place wants a clean one."""
    scope, span = enter_scope(None), otel_context.attach(otel_context.Context())
    try:
        yield
    finally:
        leave_scope(scope)
        otel_context.detach(span)


def raising(kind: type[BaseException]) -> Callable[[], object]:
    def act() -> None:
        raise kind("at a place of ours")

    return act


FAULTS: dict[str, Callable[[], object]] = {
    "exception": raising(FaultError),
    "base exception": raising(Panic),
    "slow": lambda: time.sleep(0.05),
    "recursive": lambda: plain("from inside"),
}


def test_a_program_comes_by_every_place(ways: dict[Place, Callable[[], Any]]):
    missed = {str(place) for place in PLACES if place not in ways and place.name not in ELSEWHERE}

    assert len(PLACES) > 60
    assert missed == set()


def works_again(folder: Path) -> None:
    """Whether recording goes on as if nothing had been."""
    with recording(folder) as made:
        assert plain("again") == "again"
        with agenttrace.adapter(name="plain", arguments={"value": 3}):
            assert plain(3) == 3
    whole = made.evidence()
    assert [one.arguments for one in whole.executor] == [{"value": "again"}, {"value": 3}]
    assert (whole.completeness.lost, whole.completeness.settled) == ({}, True)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_fault_of_ours_does_not_reach_the_program(  # noqa: PLR0917 - fixtures
    place: Place,
    fault: str,
    ways: dict[Place, Callable[[], Any]],
    without: dict[Callable[[], Any], Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
):
    program = ways.get(place)
    if program is None:
        assert place.name in ELSEWHERE
        return
    raises = fault in ("exception", "base exception")
    times = 2 if fault == "exception" else 1  # the second is counted, and not logged again
    verdicts = set()
    counted = 0
    for number in range(times):
        with (
            elsewhere(),
            happening(place, FAULTS[fault]) as happened,
            recording(tmp_path / str(number)) as made,
        ):
            assert program() == without[program]
        assert happened == [1]
        with contextlib.suppress(AgentTraceError):
            verdicts.add(made.verdict.status)
            counted += sum(
                number
                for cause, number in made.evidence().completeness.lost.items()
                if cause.startswith("error:")
            )

    faults = {cause: n for cause, n in losses().items() if cause.startswith("error:")}
    ours = [one for one in caplog.records if "could not finish" in one.message]
    assert sum(faults.values()) == (times if raises else 0), faults
    assert len(ours) == len(faults) == (1 if raises else 0)
    # A tool that is called from inside did run, and nobody had asked for it.
    assert verdicts <= {Status.PASS, Status.INCONCLUSIVE} or fault == "recursive"
    if raises and program not in ABOUT_OTHERS:
        if place.name in WITHOUT_MANIFEST:
            assert Status.PASS not in verdicts
        else:
            assert counted == (times if place.loses else 0)
    forget_faults()
    works_again(tmp_path / "again")


class DeadlineError(BaseException):
    """What a program's own handler of a signal raises; no `except Exception` of its own has it."""


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_what_the_handler_of_a_signal_raises_at_a_place_of_ours_reaches_the_program(
    place: Place, ways: dict[Place, Callable[[], Any]], tmp_path: Path
):
    program = ways.get(place)
    if program is None:
        assert place.name in ELSEWHERE
        return
    error = DeadlineError("in time")

    def handle(number: int, frame: Any) -> None:
        raise error

    before = signal.signal(signal.SIGUSR1, handle)
    caught_error = None
    try:
        with (
            elsewhere(),
            happening(place, lambda: signal.raise_signal(signal.SIGUSR1)),
            recording(tmp_path),
        ):
            program()
    except DeadlineError as reached_us:
        caught_error = reached_us
    finally:
        signal.signal(signal.SIGUSR1, before)
        recorder.is_active = True

    assert caught_error is error
    forget_faults()
    works_again(tmp_path / "again")


# Places that are not come by on this thread, or in this process


def test_a_fault_before_a_thread_begins_leaves_it_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(place: Any) -> None:
        raise Panic

    seen: list[Any] = []
    with recording(tmp_path), monkeypatch.context() as patched:
        patched.setattr(threads_hooks, "enter_scope", broken)
        thread = threading.Thread(target=seen.append, args=("ran",))
        thread.start()
        thread.join(60)

    assert seen == ["ran"]
    assert losses()["error:placing a thread that begins"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("kind", [FaultError, Panic])
def test_a_fault_right_after_a_fork_leaves_the_child_running(
    kind: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken() -> None:
        raise kind

    monkeypatch.setattr(recorder, "_renew", broken)
    with recording(tmp_path):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                counted = losses().get("error:starting over in a forked child")
                os._exit(0 if (plain(1), counted) == (1, 1) else 1)
            finally:
                os._exit(2)
        _, status = os.waitpid(child, 0)

    assert status == 0
