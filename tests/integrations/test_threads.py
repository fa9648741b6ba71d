"""Runs carried into threads: each record in the run that its work was given in, or marked."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from queue import Queue
from typing import Any

import anyio
import anyio.to_thread
import pytest
from opentelemetry import trace as otel

import agenttrace
from agenttrace import capture
from agenttrace.capture import CallDraft, ResponseDraft, hooks
from agenttrace.domain import Case, Execution, RequiredCall, Status
from agenttrace.integrations import instrument, instrumented, supported, uninstrument
from agenttrace.session import AgentRun
from agenttrace.testing import isolated

WAIT_S = 60


@pytest.fixture(autouse=True)
def carried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    instrument("threading")
    with isolated():
        yield
    uninstrument("threading")


@agenttrace.trace
def work(value: Any = None) -> Any:
    return value


@agenttrace.trace
def fail(error: BaseException) -> None:
    raise error


def executions(run: AgentRun) -> list[Execution]:
    return [r.payload for r in run.records() if isinstance(r.payload, Execution)]


def values(run: AgentRun) -> list[Any]:
    return sorted(one.result for one in executions(run))


def marks(run: AgentRun) -> set[bool]:
    return {one.inferred for one in executions(run)}


def in_a_thread(target: Callable[..., Any], *args: Any) -> None:
    thread = threading.Thread(target=target, args=args)
    thread.start()
    thread.join(WAIT_S)
    assert not thread.is_alive()


# Pools


def submit(pool: ThreadPoolExecutor, value: Any) -> Any:
    return pool.submit(work, value).result()


def mapped(pool: ThreadPoolExecutor, value: Any) -> Any:
    return next(iter(pool.map(work, [value])))


class Renamed(ThreadPoolExecutor):
    """A pool whose `submit` wraps what it is given, and which starts its own kind of thread."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        assert fn is work
        return super().submit(lambda: fn(*args, **kwargs))


def submitted_on_top(pool: ThreadPoolExecutor, value: Any) -> Any:
    with Renamed(1) as renamed:
        return renamed.submit(work, value).result()


def in_executor(pool: ThreadPoolExecutor, value: Any) -> Any:
    async def main() -> Any:
        return await asyncio.get_running_loop().run_in_executor(pool, work, value)

    return asyncio.run(main())


def to_thread(pool: ThreadPoolExecutor, value: Any) -> Any:
    async def main() -> Any:
        return await asyncio.to_thread(work, value)

    return asyncio.run(main())


def by_anyio(pool: ThreadPoolExecutor, value: Any) -> Any:
    async def main() -> Any:
        return await anyio.to_thread.run_sync(work, value)

    return anyio.run(main)


def nested(pool: ThreadPoolExecutor, value: Any) -> Any:
    def inner() -> Any:
        with ThreadPoolExecutor(1) as second:
            return submit(second, value)

    return pool.submit(inner).result()


WAYS = [submit, mapped, submitted_on_top, in_executor, to_thread, by_anyio, nested]
THREAD_POOL_WAYS: list[Callable[[ThreadPool, Any], Any]] = [
    lambda pool, value: pool.apply(work, (value,)),
    lambda pool, value: pool.apply_async(func=work, args=(value,)).get(),
    lambda pool, value: pool.map(work, [value])[0],
    lambda pool, value: pool.starmap(work, [(value,)])[0],
    lambda pool, value: next(pool.imap(work, [value])),
    lambda pool, value: next(pool.imap(work, [value, value][:1], chunksize=2)),
    lambda pool, value: next(iter(pool.imap_unordered(work, [value]))),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_piece_of_work_is_recorded_in_the_run_that_gave_it(way: Any):
    # The worker is started in the first run, and serves the second and nobody's work after it.
    with ThreadPoolExecutor(1) as pool, agenttrace.run() as outer:
        with agenttrace.run() as one:
            assert way(pool, 1) == 1
        with agenttrace.run() as two:
            assert way(pool, 2) == 2
            with agenttrace.run() as three:
                assert way(pool, 3) == 3
        assert way(pool, 4) == 4

    assert [values(run) for run in (one, two, three, outer)] == [[1], [2], [3], [4]]
    assert marks(one) | marks(two) | marks(three) | marks(outer) == {False}


@pytest.mark.parametrize("way", THREAD_POOL_WAYS)
def test_a_multiprocessing_thread_pool_carries_runs_too(way: Any):
    with agenttrace.run() as outer, ThreadPool(1) as pool:
        with agenttrace.run() as one:
            assert way(pool, 1) == 1
        assert way(pool, 2) == 2

    assert (values(one), values(outer)) == ([1], [2])
    assert marks(one) | marks(outer) == {False}


def test_work_that_was_submitted_outside_any_run_is_in_none_of_the_workers_runs():
    with ThreadPoolExecutor(1) as pool:
        waiting = threading.Event()
        pool.submit(waiting.wait, WAIT_S)
        before = pool.submit(work, "before")
        with agenttrace.run() as one, agenttrace.run() as two:
            pool.submit(work, 2)
            waiting.set()
            before.result(WAIT_S)
        submit(pool, "after")
        with agenttrace.run() as three:
            submit(pool, 3)

    assert (values(one), values(two), values(three)) == ([], [2], [3])


def test_the_scope_of_an_agent_and_a_phase_comes_along():
    with ThreadPoolExecutor(1) as pool, agenttrace.run() as run:
        with run.agent("billing"), run.phase("setup"):
            submit(pool, 1)
        submit(pool, 2)

    first, second = executions(run)
    assert (first.agent, first.phase.value) == ("billing", "setup")
    assert (second.agent, second.phase.value) == (None, "run")


def test_a_dispatched_call_that_runs_in_a_pool_is_linked_to_its_dispatch():
    with ThreadPoolExecutor(4) as pool, agenttrace.run() as run:
        futures = []
        for number in range(8):
            with agenttrace.adapter(name="work", call_id=f"call_{number}", arguments={"value": 1}):
                futures.append(pool.submit(work, 1))
        for future in futures:
            future.result(WAIT_S)

    refs = {call.ref: call.call_id for call in run.evidence().adapter}
    assert sorted(refs[one.link] for one in executions(run) if one.link) == [
        f"call_{number}" for number in range(8)
    ]


def test_the_programs_own_context_variables_are_not_carried():
    mine = contextvars.ContextVar("mine", default="unset")
    mine.set("of the submitter")
    span = otel.NonRecordingSpan(otel.SpanContext(1, 1, is_remote=False))
    seen = []

    def look() -> None:
        seen.append((mine.get(), otel.get_current_span().get_span_context().is_valid))

    with ThreadPoolExecutor(1) as pool, agenttrace.run(), otel.use_span(span):
        pool.submit(look).result()
        in_a_thread(look)

    assert seen == [("unset", False)] * 2


def test_a_worker_stands_nowhere_between_two_pieces_of_work():
    seen = []

    class Spying(ThreadPoolExecutor):
        def _adjust_thread_count(self) -> None:
            if not self._threads:
                thread = threading.Thread(target=self.serve)
                self._threads.add(thread)
                thread.start()

        def serve(self) -> None:
            while (item := self._work_queue.get()) is not None:
                seen.append(capture.current_place())
                item.run()
                seen.append(capture.current_place())

    with Spying() as pool, agenttrace.run():
        submit(pool, 1)
        submit(pool, 2)
        pool._work_queue.put(None)

    assert seen == [None] * 4


# Threads that are started


class Own(threading.Thread):
    def run(self) -> None:
        self.value = work("own")


class Delegating(threading.Thread):
    def run(self) -> None:
        super().run()


THREADS: list[Callable[[], threading.Thread]] = [
    lambda: threading.Thread(target=work, args=("own",)),
    lambda: threading.Thread(target=work, kwargs={"value": "own"}, daemon=True),
    lambda: threading.Timer(0.001, work, ("own",)),
    Own,
    lambda: Delegating(target=work, args=("own",)),
]


@pytest.mark.parametrize("make", THREADS)
def test_a_thread_stands_where_it_was_started_and_says_that_it_is_a_guess(make: Any):
    with agenttrace.run() as outer, agenttrace.run() as run:
        thread = make()
        thread.start()
        thread.join(WAIT_S)

    assert (values(outer), values(run), marks(run)) == ([], ["own"], {True})


def test_a_thread_that_outlives_its_run_stands_nowhere():
    queue: Queue[Any] = Queue()

    def serve() -> None:
        while (value := queue.get()) is not None:
            work(value)
            queue.task_done()

    with agenttrace.run() as one:
        thread = threading.Thread(target=serve)
        thread.start()
        queue.put("of one")
        queue.join()
    with agenttrace.run() as outer, agenttrace.run() as two:
        queue.put("of none")
        queue.join()
        queue.put(None)
        thread.join(WAIT_S)

    assert (values(one), marks(one)) == (["of one"], {True})
    assert (values(outer), values(two)) == ([], [])


def test_a_long_lived_worker_never_answers_the_call_that_was_dispatched_when_it_was_started():
    queue: Queue[Any] = Queue()

    def serve() -> None:
        while (value := queue.get()) is not None:
            work(value)
            queue.task_done()

    thread = threading.Thread(target=serve)
    case = Case(
        case_id="c",
        required=tuple(RequiredCall(name="work", arguments={"value": n}) for n in (1, 2)),
    )
    with agenttrace.run(case) as run:
        for number in (1, 2):
            call = CallDraft("work", f"call_{number}", 0, f'{{"value": {number}}}', complete=True)
            draft = ResponseDraft(f"r{number}", None, "openai", "m", "tool_calls", None, (call,))
            capture.record_response(draft, capture.begin_request(None, None))
            given = {"value": number}
            with agenttrace.adapter(name="work", call_id=f"call_{number}", arguments=given):
                if number == 1:
                    thread.start()
                else:
                    queue.put(1)
                    queue.join()
                    queue.put(2)
                    queue.join()
        queue.put(None)
        thread.join(WAIT_S)

    assert [one.link for one in executions(run)] == [None, None]
    assert run.verdict.status is Status.PASS


def test_a_change_in_a_started_thread_is_never_pinned_on_anybody():
    case = Case(case_id="c", required=(RequiredCall(name="work", arguments={"value": 1}),))
    with agenttrace.run(case) as run:
        call = CallDraft("work", "call_1", 0, '{"value": 1}', complete=True)
        draft = ResponseDraft("r1", None, "openai", "m", "tool_calls", None, (call,))
        capture.record_response(draft, capture.begin_request(None, None))
        with agenttrace.adapter(name="work", call_id="call_1", arguments={"value": 1}):
            in_a_thread(work, 1)
            in_a_thread(work, 2)  # of this run, or of anything else

    verdict = run.verdict
    assert verdict.status is Status.INCONCLUSIVE
    assert [cause.code for cause in verdict.causes] == ["context-lost"]


def test_the_span_of_a_record_in_a_thread_is_below_the_execution_it_belongs_to():
    @agenttrace.trace
    def outer() -> None:
        in_a_thread(work, 1)
        with ThreadPoolExecutor(1) as pool:
            submit(pool, 2)
            pool.submit(record_by_hand).result()

    def record_by_hand() -> None:
        capture.record_response(
            ResponseDraft("r", None, "openai", "m", "stop", None, ()),
            capture.begin_request(None, None),
        )
        with agenttrace.adapter(name="work", arguments={}):
            pass

    with agenttrace.run() as run:
        outer()

    *inside, execution, _ = run.records()
    assert {record.parent_id for record in inside} == {execution.span_id}
    assert [one.parent for one in executions(run)[:2]] == [execution.ref] * 2


def test_a_run_that_is_over_is_not_kept_in_memory_by_a_thread_that_was_started_in_it():
    stop = threading.Event()
    with agenttrace.run() as run:
        thread = threading.Thread(target=stop.wait, args=(WAIT_S,))
        thread.start()
    state = weakref.ref(run._begun())
    del run
    agenttrace.flush()
    gc.collect()

    assert state() is None
    stop.set()
    thread.join(WAIT_S)


def test_nothing_of_a_run_is_recorded_in_threads_where_the_run_is_left_out():
    with ThreadPoolExecutor(1) as pool, agenttrace.run(sample=False) as run:
        submit(pool, 1)
        in_a_thread(work, 2)

    assert run.records() == ()


# The program is as it would be without


def outcome(program: Callable[[], Any]) -> Any:
    """What a program gives or raises, in a form that can be compared."""
    try:
        return program()
    except BaseException as error:  # noqa: BLE001 - compared
        return type(error), str(error)


def never_started() -> Any:
    return threading.Thread.__new__(threading.Thread).start()


def started_twice() -> Any:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    thread.start()


def submitted_after_shutdown() -> Any:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    pool.submit(work)


def cancelled() -> Any:
    hold = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold.wait, WAIT_S)
        future = pool.submit(work)
        was = future.cancel()
        hold.set()
        try:
            future.result()
        except CancelledError:
            return was, future.cancelled()


def with_initializer() -> Any:
    seen: list[Any] = []
    with ThreadPoolExecutor(1, initializer=seen.append, initargs=("begun",)) as pool:
        return [pool.submit(work, 1).result(), *seen]


def broken_initializer() -> Any:
    with ThreadPoolExecutor(1, initializer=lambda: 1 / 0) as pool:
        return type(pool.submit(work).exception()).__name__


def hooked_exception() -> Any:
    seen: list[Any] = []
    before, threading.excepthook = threading.excepthook, seen.append
    error = ValueError("own")
    try:
        thread = threading.Thread(target=fail, args=(error,))
        thread.start()
        thread.join()
    finally:
        threading.excepthook = before
    (told,) = seen
    frames = []
    traceback = told.exc_traceback
    while traceback is not None:
        frames.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    return told.exc_value is error, told.thread is thread, frames[:2]


def of_a_thread() -> Any:
    thread = threading.Thread(target=work, args=(1,), name="named")
    before = thread.run, thread._target is work, sorted(vars(thread)), thread.name
    thread.start()
    during = thread.run, sorted({*vars(thread)} | {"_target", "_args", "_kwargs"}), thread.name
    thread.join()
    with pytest.raises(TypeError):
        pickle.dumps(thread)
    return before[1:], during[1:], sorted(vars(thread)), before[0].__func__ is thread.run.__func__


def in_thread_pool(use: Callable[[Any], Any]) -> Any:
    with ThreadPool(1) as pool:
        return use(pool)


PROGRAMS: list[Callable[[], Any]] = [
    never_started,
    started_twice,
    submitted_after_shutdown,
    cancelled,
    with_initializer,
    broken_initializer,
    hooked_exception,
    of_a_thread,
    lambda: ThreadPoolExecutor.submit(),  # noqa: PLW0108 - looked up while hooked
    lambda: ThreadPoolExecutor(1).submit(),
    lambda: ThreadPoolExecutor(1).submit(fn=work),
    lambda: ThreadPoolExecutor(1).submit(3).result(),
    lambda: ThreadPoolExecutor(1).submit(work, 1, 2).result(),
    lambda: threading.Thread.start(),  # noqa: PLW0108
    lambda: threading.Thread(target=3).start(),
    lambda: in_thread_pool(lambda pool: pool.apply_async()),
    lambda: in_thread_pool(lambda pool: pool.map(3, [1])),
    lambda: inspect.signature(ThreadPoolExecutor.submit),
    lambda: inspect.signature(threading.Thread.start),
    lambda: [threading.Thread.start.__qualname__, ThreadPoolExecutor.submit.__name__],
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_program_does_with_the_hooks_what_it_does_without(program: Callable[[], Any]):
    uninstrument("threading")
    without = outcome(program)
    instrument("threading")

    assert outcome(program) == without
    with agenttrace.run():
        assert outcome(program) == without


def test_the_same_exception_object_comes_out_of_a_future():
    error = KeyError("own")
    with ThreadPoolExecutor(1) as pool, agenttrace.run():
        future = pool.submit(fail, error)

        assert future.exception() is error


def test_what_a_piece_of_work_was_given_is_freed_as_it_would_be():
    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    with ThreadPoolExecutor(1) as pool, agenttrace.run():
        future = pool.submit(lambda given: 1 / 0, thing)
        assert type(future.exception()) is ZeroDivisionError
        future._exception = None  # its frames hold the arguments of the lambda itself
        del thing
        pool.submit(int).result()
        gc.collect()

        assert gone() is None


def test_the_hooks_leave_the_very_same_objects_behind():
    uninstrument("threading")
    places = [
        (ThreadPoolExecutor, "submit"),
        (threading.Thread, "start"),
        (threading.Thread, "_bootstrap_inner"),
    ]
    before = [vars(owner)[name] for owner, name in places]
    instrument("threading")
    between = [vars(owner)[name] for owner, name in places]
    uninstrument("threading")

    assert all(vars(o)[n] is then for (o, n), then in zip(places, before, strict=True))
    assert all(now is not then for now, then in zip(between, before, strict=True))


def test_every_hook_fits_and_taking_them_out_loses_no_record():
    (row,) = [row for row in supported() if row.library == "threading"]
    assert [hook for hook in row.hooks if not hook.fits] == []
    assert {hook.boundary for hook in hooks() if hook.library == "threading"} == {None}

    with agenttrace.run() as run:
        work(1)
        uninstrument("threading")

    assert run.evidence().completeness.lost == {}


def test_without_names_threads_are_left_to_configure():
    uninstrument()

    assert "threading" not in instrument()


@pytest.mark.parametrize(
    ("call", "variable", "expected"),
    [
        ("agenttrace.configure()", "", True),
        ("agenttrace.configure(threads=False)", "", False),
        ("agenttrace.configure()", "AGENTTRACE_THREADS=0", False),
        ("agenttrace.configure(enabled=False)", "", False),
        ("agenttrace.run().__enter__()", "", True),
    ],
)
def test_configure_turns_threads_on_unless_it_is_told_not_to(
    call: str, variable: str, expected: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
):
    if variable:
        monkeypatch.setenv(*variable.split("="))
    program = f"""
        import agenttrace
        from agenttrace.integrations import instrumented
        {call}
        print("threading" in instrumented())
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        cwd=tmp_path,
    )

    assert (done.stdout.strip(), done.stderr) == (str(expected), "")


def test_a_hundred_runs_at_once_over_one_pool_keep_their_work_apart():
    with ThreadPoolExecutor(8) as shared, ThreadPoolExecutor(16) as servers:

        def serve(number: int) -> tuple[int, list[Any], set[bool]]:
            with agenttrace.run() as run:
                futures = [shared.submit(work, number) for _ in range(5)]
                assert [future.result(WAIT_S) for future in futures] == [number] * 5
            return number, values(run), marks(run)

        for number, found, marked in servers.map(serve, range(100)):
            assert (found, marked) == ([number] * 5, {False})
    assert "threading" in instrumented()
