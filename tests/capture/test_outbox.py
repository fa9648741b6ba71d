"""Work that no caller waits for: done once, in order, by whoever has its turn; or counted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import agenttrace
from agenttrace.capture import _outbox as module
from agenttrace.capture._outbox import Outbox
from agenttrace.records import RunEnd
from agenttrace.testing import isolated, recording
from tests.support.waiting import until


class Losses:
    def __init__(self) -> None:
        self.causes: list[str] = []

    def count_lost(self, cause: str) -> None:
        self.causes.append(cause)


@agenttrace.trace
def work(number: int = 0) -> int:
    return number


def lines_under(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for file in folder.rglob("*.jsonl")
        for line in file.read_text("ascii").splitlines()[1:]
    ]


@pytest.fixture
def outbox() -> Outbox:
    return Outbox()


def test_work_is_done_in_the_order_in_which_it_was_left(outbox):
    done: list[int] = []
    for number in range(500):
        outbox.put(lambda number=number: done.append(number), Losses())
    assert outbox.drain()

    assert done == list(range(500))


def test_work_is_done_without_anybody_asking(outbox):
    done = threading.Event()
    for _ in range(3):
        outbox.put(done.set, Losses())
        until(done.is_set)
        done.clear()


def test_work_left_by_many_threads_is_each_done_once(outbox):
    done: list[tuple[int, int]] = []

    def leave(thread: int) -> None:
        for number in range(3_000):
            outbox.put(lambda number=number: done.append((thread, number)), Losses())
            if number % 700 == 0:
                outbox.drain()

    threads = [threading.Thread(target=leave, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(outbox.drain)

    assert len(done) == len(set(done)) == 12_000
    for thread in range(4):
        own = [number for who, number in done if who == thread]
        assert own == sorted(own)


def test_a_fault_of_one_piece_is_counted_and_the_next_is_done(outbox):
    done: list[int] = []
    losses = Losses()
    outbox.put(lambda: 1 // 0, losses)  # type: ignore[arg-type, return-value]
    outbox.put(lambda: done.append(1), losses)
    outbox.drain()

    assert done == [1]
    assert losses.causes == ["error:writing a record"]


def test_what_is_too_much_is_refused_and_counted(outbox, monkeypatch):
    monkeypatch.setattr(module, "MOST", 10)
    release, began = threading.Event(), threading.Event()
    losses, done = Losses(), []

    def stuck() -> None:
        began.set()
        release.wait(60)

    outbox.put(stuck, losses)
    until(began.is_set)
    for number in range(25):
        outbox.put(lambda number=number: done.append(number), losses)
    release.set()
    until(lambda: len(done) + len(losses.causes) == 25 and outbox.drain())

    assert done == list(range(10))
    assert losses.causes == ["outbox"] * 15


def test_heavy_work_is_refused_by_its_weight(outbox, monkeypatch):
    monkeypatch.setattr(module, "MOST_WEIGHT", 100)
    release, began = threading.Event(), threading.Event()
    losses = Losses()

    def stuck() -> None:
        began.set()
        release.wait(60)

    outbox.put(stuck, losses)
    until(began.is_set)
    for _ in range(5):
        outbox.put(lambda: None, losses, 60)
    release.set()

    assert losses.causes == ["outbox"] * 3
    until(outbox.drain)
    outbox.put(lambda: None, losses, 60)
    assert len(losses.causes) == 3


def test_a_caller_helps_where_the_thread_does_not_get_on(outbox, monkeypatch):
    monkeypatch.setattr(module, "HELP_FROM", 5)
    monkeypatch.setattr(outbox, "_is_awake", True)  # nobody is: its thread never gets a turn
    done: list[int] = []
    for number in range(100):
        outbox.put(lambda number=number: done.append(number), Losses())

    assert done == list(range(len(done)))
    assert 100 - len(done) <= 8


def test_nobody_waits_for_work_that_hangs(outbox):
    release, began = threading.Event(), threading.Event()

    def hangs() -> None:
        began.set()
        release.wait(60)

    outbox.put(hangs, Losses())
    until(began.is_set)
    outbox.put(lambda: None, Losses())

    assert not outbox.drain(timeout_s=0.05)
    release.set()
    until(outbox.drain)


def test_work_that_asks_for_all_to_be_done_does_not_wait_for_itself(outbox):
    answers: list[bool] = []
    outbox.put(lambda: answers.append(outbox.drain()), Losses())
    outbox.drain()

    assert answers == [False]


@pytest.mark.parametrize("how", ["no thread can be started", "the process ends"])
def test_without_a_thread_work_is_done_at_once(outbox, monkeypatch, how):
    if how == "the process ends":
        outbox.is_inline = True
    else:

        def refuses(self: threading.Thread) -> None:
            raise RuntimeError("can't create new thread at interpreter shutdown")

        monkeypatch.setattr(threading.Thread, "start", refuses)
    done: list[int] = []
    for number in range(3):
        outbox.put(lambda number=number: done.append(number), Losses())
        assert done == list(range(number + 1))


# As runs see it


def test_a_run_that_has_ended_holds_every_call_made_in_it():
    with isolated(), agenttrace.run() as run:
        for number in range(300):
            work(number)

    assert [one.result for one in run.evidence().executor] == list(range(300))
    assert run.verdict.status == "pass"


def test_what_a_tool_changes_after_its_call_does_not_show():
    @agenttrace.trace
    def add(items: list[int]) -> list[int]:
        return items

    items = [1]
    with recording() as recorded:
        result = add(items)
        items.append(2)
        result.append(3)

    (one,) = recorded.evidence().executor
    assert (one.arguments, one.result) == ({"items": [1]}, [1])


def test_a_secret_is_masked_in_what_is_recorded_right_after_it():
    @agenttrace.trace
    def log_in(password: str) -> str:
        return say(f"logged in with {password}")

    @agenttrace.trace
    def say(text: str) -> str:
        return text

    with recording() as recorded:
        log_in("correct horse battery")

    said = json.dumps([record.payload.result for record in recorded.records()[:2]])
    assert "correct horse" not in said


def test_through_a_provider_of_the_users_a_span_has_ended_when_its_call_returns(monkeypatch):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", provider)

    with isolated(), agenttrace.run():
        for number in range(3):
            work(number)
            (*_, span) = exporter.get_finished_spans()
            assert len(exporter.get_finished_spans()) == number + 1
            assert json.loads(span.attributes["gen_ai.tool.call.result"]) == number


def test_our_provider_hands_on_what_was_recorded_when_it_is_flushed():
    exporter = InMemorySpanExporter()
    with isolated(exporters=[exporter]) as recorder, agenttrace.run():
        work(1)
        assert recorder.providers._private.force_flush(10_000)
        assert [span.name for span in exporter.get_finished_spans()] == ["execute_tool work"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_what_waits_at_a_fork_is_written_by_the_parent_alone(tmp_path):
    with isolated(evidence=tmp_path), agenttrace.run() as run:
        for number in range(50):
            work(number)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            work(1_000)
            os._exit(0 if agenttrace.flush() else 1)
        assert os.waitpid(child, 0)[1] == 0

    assert sorted(one.result for one in run.evidence().executor) == [*range(50), 1_000]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_tool_that_forks_is_recorded_by_both_processes(tmp_path):
    @agenttrace.trace
    def forks(token: str) -> int:
        return os.fork()

    with isolated(evidence=tmp_path), agenttrace.run():
        child = forks("A-104")
        if child == 0:
            signal.alarm(60)
            os._exit(0 if agenttrace.flush() else 1)
        assert os.waitpid(child, 0)[1] == 0

    written = [one["payload"] for one in lines_under(tmp_path) if one["kind"] == "execution"]
    assert {one["result"] for one in written} == {0, child}
    assert len({json.dumps(one["arguments"]) for one in written}) == 1


def test_calls_made_while_the_process_ends_are_written(tmp_path):
    program = """
import atexit, sys, agenttrace
agenttrace.configure(evidence=sys.argv[1])
@agenttrace.trace
def work(n: int) -> int: return n
atexit.register(lambda: [work(n) for n in range(100, 103)])
with agenttrace.run(run_id="r-1"):
    for n in range(3): work(n)
work(50)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=60)

    written = [one for one in lines_under(tmp_path) if one["kind"] == "execution"]
    results = [one["payload"]["result"] for one in written]
    assert sorted(results) == [0, 1, 2, 50, 100, 101, 102]


def test_kept_and_refused_together_are_what_was_made(monkeypatch):
    monkeypatch.setattr(module, "MOST", 50)
    release, began = threading.Event(), threading.Event()

    def stuck() -> None:
        began.set()
        release.wait(60)

    with isolated(), agenttrace.run() as run:
        state = run._begun()
        state.deliver(stuck)
        until(began.is_set)
        for number in range(200):
            work(number)
        release.set()
        until(agenttrace.flush)

    (end,) = [r.payload for r in run.records() if isinstance(r.payload, RunEnd)]
    kept = len(run.evidence().executor)
    refused = end.manifest.lost["outbox"]
    assert kept < 200
    assert refused >= 200 - kept
    assert run.verdict.status == "inconclusive"


def test_a_caller_waits_for_a_thread_that_holds_its_turn_and_once_where_that_hangs(
    outbox, monkeypatch
):
    monkeypatch.setattr(module, "HELP_FROM", 5)
    release, began = threading.Event(), threading.Event()
    waits: list[float] = []

    class Turn:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if blocking and threading.current_thread() is threading.main_thread():
                waits.append(timeout)
            return self.lock.acquire(blocking, timeout)

        def release(self) -> None:
            self.lock.release()

        def __enter__(self) -> None:
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    def hangs() -> None:
        began.set()
        release.wait(60)

    outbox._turn = Turn()
    outbox.put(hangs, Losses())
    until(began.is_set)
    for _ in range(50):
        outbox.put(lambda: None, Losses())
    assert waits == [module._HELP_WAIT_S]
    release.set()
    until(outbox.drain)


def test_arguments_whose_turn_was_refused_are_read_at_the_end_and_nothing_is_lost(monkeypatch):
    release, began = threading.Event(), threading.Event()

    def stuck() -> None:
        began.set()
        release.wait(60)

    @agenttrace.trace
    def outer() -> None:
        """Its beginning was refused; its end is not."""
        monkeypatch.undo()

    with isolated(), agenttrace.run() as run:
        state = run._begun()
        state.deliver(stuck)
        until(began.is_set)
        monkeypatch.setattr(module, "MOST", 0)
        outer()
        release.set()
        until(agenttrace.flush)

    (one,) = run.evidence().executor
    assert (one.arguments, one.digest is not None) == ({}, True)
    assert run.verdict.status == "pass"
