"""Which run a piece of work belongs to, when it settles, and what comes late."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
import time
from collections.abc import Callable

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider

import agenttrace
from agenttrace.capture import RunState, begin_request, record_response, recorder
from agenttrace.domain import Ending, Execution
from agenttrace.records import RunEnd
from agenttrace.testing import isolated
from tests.support.drafts import refund, response
from tests.support.waiting import PATIENCE_S, until


@agenttrace.trace
def work(number: int = 0) -> int:
    return number


def in_bare_thread(function: Callable[[], object]) -> None:
    thread = threading.Thread(target=contextvars.Context().run, args=(function,))
    thread.start()
    thread.join()


def executions(run: agenttrace.session.AgentRun) -> list[Execution]:
    return [r.payload for r in run.records() if isinstance(r.payload, Execution)]


def ends(records: object) -> list[RunEnd]:
    return [r.payload for r in records if isinstance(r.payload, RunEnd)]


@pytest.fixture
def settled():
    """Runs that settled, in order."""
    with isolated(idle_s=0.1) as recorder:
        found: list[RunState] = []
        recorder.listeners.append(found.append)
        yield found


# Numbers


def test_records_are_numbered_without_gaps_by_many_threads():
    with isolated(), agenttrace.run() as run:
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(hammer,))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    seqs = [record.seq for record in run.records()]
    assert seqs == list(range(1, 8 * 50 + 2))
    (end,) = ends(run.records())
    assert (end.manifest.made, end.manifest.last_seq) == ({"executor": 400}, 401)


def hammer() -> None:
    for number in range(50):
        work(number)


# Lost context


def test_work_without_context_belongs_to_the_only_open_run_and_is_marked():
    with isolated(), agenttrace.run() as run:
        in_bare_thread(work)
        work()

    assert [one.inferred for one in executions(run)] == [True, False]


def test_of_two_open_runs_none_is_guessed(settled):
    with agenttrace.run() as one, agenttrace.run() as two:
        in_bare_thread(work)
    until(lambda: len(settled) == 3)

    assert executions(one) == executions(two) == []
    assert [state.run.implicit for state in settled] == [False, False, True]


# Implicit runs


def test_calls_outside_any_run_settle_as_one_run_when_idle(settled):
    def agent() -> None:
        stamp = begin_request(None, None)
        record_response(response(refund()), stamp)
        work()

    contextvars.Context().run(agent)
    until(lambda: len(settled) == 1)

    (state,) = settled
    kinds = [str(record.kind) for record in state.records()]
    assert state.run.implicit
    assert state.run.case_id is None
    assert kinds == ["response", "call", "execution", "run"]


def test_each_thread_of_work_is_an_implicit_run_of_its_own(settled):
    for _ in range(3):
        in_bare_thread(work)
    until(lambda: len(settled) == 3)

    assert len({state.run.run_id for state in settled}) == 3


def test_one_trace_is_one_implicit_run_across_threads(settled):
    tracer = TracerProvider().get_tracer("users")

    def request() -> None:
        with tracer.start_as_current_span("GET /") as root:
            context = otel_context.get_current()

            def in_pool() -> None:
                token = otel_context.attach(context)
                work(2)
                otel_context.detach(token)

            work(1)
            in_bare_thread(in_pool)
            traces.append(f"{root.get_span_context().trace_id:032x}")

    traces: list[str] = []
    contextvars.Context().run(request)
    until(lambda: len(settled) == 1)

    (state,) = settled
    assert len([r for r in state.records() if isinstance(r.payload, Execution)]) == 2
    assert {record.trace_id for record in state.records()} == set(traces)


def test_an_implicit_run_is_settled_at_the_latest_when_it_is_asked_for(settled):
    recorder.settings = recorder.settings.__class__(evidence=None, idle_s=60)
    contextvars.Context().run(work)

    recorder.settle_implicit()

    assert len(settled) == 1


def test_an_implicit_run_waits_for_open_executions(settled):
    @agenttrace.trace
    def slow() -> None:
        time.sleep(0.4)

    contextvars.Context().run(slow)
    until(lambda: len(settled) == 1)

    (end,) = ends(settled[0].records())
    assert (end.manifest.open_executions, end.manifest.made) == (0, {"executor": 1})


# Late and open


def test_an_execution_open_at_the_end_is_counted_and_its_late_end_makes_a_revision(settled):
    release = threading.Event()

    @agenttrace.trace
    def hangs() -> str:
        release.wait(PATIENCE_S)
        return "late"

    with agenttrace.run() as run:
        thread = threading.Thread(target=contextvars.copy_context().run, args=(hangs,))
        thread.start()
        until(lambda: len(settled) >= 0 and bool(run._begun().open_executions))
    early = run.evidence()
    release.set()
    thread.join()
    late = run.evidence()

    assert early.completeness.unfinished
    assert not early.executor
    assert late.completeness.unfinished == ()
    assert [one.result for one in late.executor] == ["late"]
    assert [end.manifest.revision for end in ends(run.records())] == [1, 2]
    assert late.completeness.missing_seqs == ()


def test_a_late_record_settles_its_run_again_by_itself(settled):
    with agenttrace.run() as run:
        context = contextvars.copy_context()
    context.run(work)

    until(lambda: len(settled) == 2)
    assert [end.manifest.revision for end in ends(run.records())] == [1, 2]


def test_what_still_runs_when_the_process_ends_never_finished(settled):
    release = threading.Event()

    @agenttrace.trace
    def hangs(order_id: str) -> None:
        release.wait(PATIENCE_S)

    with agenttrace.run() as run:
        thread = threading.Thread(target=contextvars.copy_context().run, args=(hangs, "A-104"))
        thread.start()
        until(lambda: bool(run._begun().open_executions))
    recorder.end_process()
    release.set()
    thread.join()

    (one,) = executions(run)
    assert (one.ending, one.arguments) == (Ending.NEVER_FINISHED, {"order_id": "A-104"})


def test_a_run_that_nobody_left_is_not_settled(settled):
    run = agenttrace.run()
    contextvars.copy_context().run(run.__enter__)
    recorder.end_process()

    (end,) = ends(run.records())
    assert not end.manifest.settled


# Contexts


def test_tasks_and_to_thread_keep_their_run(settled):
    async def agent(number: int) -> agenttrace.session.AgentRun:
        with agenttrace.run() as run:
            await asyncio.sleep(0)
            await asyncio.gather(
                asyncio.to_thread(work, number),
                asyncio.create_task(asyncio.to_thread(work, number)),
            )
        return run

    async def many() -> list[agenttrace.session.AgentRun]:
        return await asyncio.gather(*(agent(number) for number in range(20)))

    for number, run in enumerate(asyncio.run(many())):
        assert [one.arguments for one in executions(run)] == [{"number": number}] * 2


def test_users_spans_nest_under_the_run_and_ours_under_theirs():
    provider = TracerProvider()
    with isolated(), agenttrace.run() as run:
        with provider.get_tracer("users").start_as_current_span("step") as step:
            work()
        parent = step.parent

    execution, end = run.records()
    assert parent is not None
    assert f"{parent.span_id:016x}" == end.span_id
    assert execution.parent_id == f"{step.get_span_context().span_id:016x}"


def test_leaving_a_run_brings_the_context_before_back():
    before = otel.get_current_span()
    with isolated(), agenttrace.run():
        assert otel.get_current_span() is not before
    assert otel.get_current_span() is before


def test_a_run_closed_in_another_context_is_left_quietly(caplog):
    def fixture():
        with agenttrace.run() as run:
            yield run

    with isolated():
        running = fixture()
        run = contextvars.copy_context().run(next, running)
        with pytest.raises(StopIteration):
            next(running)

    assert ends(run.records())[0].manifest.settled
    assert caplog.records == []


def test_a_run_id_used_twice_gives_no_number_twice():
    with isolated():
        runs = []
        for _ in range(2):
            with agenttrace.run(run_id="mine") as run:
                work()
            runs.append(run)

    records = [record for run in runs for record in run.records()]
    assert len({(record.recorder_id, record.seq) for record in records}) == 4


def test_memory_is_bounded_and_a_file_holds_the_rest(tmp_path):
    settings = recorder.settings.__class__(evidence=tmp_path, memory_records=5)
    with recorder.replaced(settings), agenttrace.run() as run:
        for number in range(20):
            work(number)

    assert len(run._begun()._kept._plains) <= 5
    assert [record.seq for record in run.records()] == list(range(1, 22))


def test_without_a_file_what_does_not_fit_is_counted():
    settings = recorder.settings.__class__(evidence=None, memory_records_without_file=5)
    with recorder.replaced(settings), agenttrace.run() as run:
        for number in range(20):
            work(number)

    assert run._begun().open_executions == ()
    assert len(run.records()) == 5 + 1
    (end,) = ends(run.records())
    assert end.manifest.lost == {"memory": 15}


def test_lines_are_json(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        work()

    (file,) = run.folder.glob("*.jsonl")
    assert all(json.loads(line) for line in file.read_text("ascii").splitlines())
