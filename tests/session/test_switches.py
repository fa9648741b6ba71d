"""The switches: recording that is off, and runs that are left out by sampling."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace as otel

import agenttrace
from agenttrace.capture import begin_request, is_sampled, losses, record_response, recorder
from agenttrace.capture._guard import forget_faults
from agenttrace.capture._sampling import Sampling
from agenttrace.domain import Case
from agenttrace.errors import ConfigurationError, NoRunError
from agenttrace.testing import isolated
from tests.support.drafts import refund, response


@agenttrace.trace
def work(number: int = 0) -> int:
    return number


def run_program(program: str, folder, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


# Off

OFF = """
import os, sys, threading, agenttrace
from agenttrace.errors import NoRunError

@agenttrace.trace
def pay(cents: int) -> int: return cents

@agenttrace.trace
async def pay_later(cents: int) -> int: return cents

agenttrace.instrument()
{start}
with agenttrace.run("some-case") as run:
    assert pay(3) == 3
    with run.phase("setup"), run.agent("helper"), agenttrace.adapter(name="pay", arguments={{}}):
        assert pay(4) == 4
    run.set_output("x")
    run.event("approval", call="x")
    answer = {{"finish_reason": "stop", "index": 0, "message": {{"content": "hi"}}}}
    body = {{"id": "r", "object": "chat.completion", "model": "m", "choices": [answer]}}
    assert agenttrace.model_response(body) == ()
pay(5)
assert (run.folder, run.records()) == (None, ())
for ask in (lambda: run.verdict, run.evidence):
    try:
        ask()
    except NoRunError as error:
        assert "switched off" in str(error) and {origin!r} in str(error), str(error)
    else:
        raise SystemExit("it answered")
assert run.id.startswith("run-")
assert agenttrace.flush()
print(threading.active_count(), os.listdir("."))
"""


@pytest.mark.parametrize(
    ("start", "environ", "origin"),
    [
        ("", {"AGENTTRACE_ENABLED": "0"}, "AGENTTRACE_ENABLED"),
        ("agenttrace.configure()", {"AGENTTRACE_ENABLED": "off"}, "AGENTTRACE_ENABLED"),
        ("", {"OTEL_SDK_DISABLED": "true"}, "OTEL_SDK_DISABLED"),
        ("agenttrace.configure(enabled=False, live=True)", {}, "configure(enabled=False)"),
    ],
    ids=str,
)
def test_off_is_no_file_no_thread_and_a_verdict_that_says_so(start, environ, origin, tmp_path):
    told = dict.fromkeys(("AGENTTRACE_ENABLED", "OTEL_SDK_DISABLED"), "") | environ

    out = run_program(OFF.format(start=start, origin=origin), tmp_path, **told)

    assert out == "1 []\n"


def test_a_decorated_tool_is_called_at_once_where_recording_is_off(tmp_path):
    program = """
    import sys, agenttrace
    @agenttrace.trace
    def pay() -> str: return sys._getframe(1).f_code.co_name
    agenttrace.configure(enabled=False)
    with agenttrace.run(): print(pay())
    """

    # Nothing of ours but the wrapper stands between the caller and the tool.
    assert run_program(program, tmp_path) == "__call__\n"


def test_recording_can_be_on_where_the_sdk_is_off(tmp_path):
    program = """
    import agenttrace
    @agenttrace.trace
    def pay() -> int: return 1
    with agenttrace.run() as run: pay()
    print(run.verdict.status, len(run.records()))
    """

    out = run_program(program, tmp_path, OTEL_SDK_DISABLED="true", AGENTTRACE_ENABLED="1")

    assert out == "pass 2\n"


# Sampling


@pytest.fixture
def sampled(tmp_path):
    """Recording in memory, at a share that is asked for."""
    with isolated(evidence=tmp_path):
        forget_faults()

        def at(share: float) -> None:
            recorder.settings = replace(recorder.settings, sample=share)
            recorder.sampling = Sampling(share, recorder.settings.idle_s)

        yield at


def files(folder) -> list[str]:
    return [path.parent.name for path in sorted(folder.rglob("*.jsonl"))]


def an_id(wanted: bool, share: float) -> str:
    return next(name for n in range(1_000) if is_sampled(name := f"r-{n}", share) is wanted)


def test_an_unsampled_run_records_nothing_and_says_so(sampled, tmp_path):
    sampled(0.5)

    with agenttrace.run(run_id=an_id(False, 0.5)) as run:
        record_response(response(refund(9800)), begin_request(None, None))
        with agenttrace.adapter(name="work", arguments={"number": 1}):
            assert work(1) == 1
        with run.phase("setup"), run.agent("a"):
            work(2)
        run.set_output("done")
    recorder.settle_implicit()

    assert (run.records(), run.folder, files(tmp_path)) == ((), None, [])
    assert losses() == {"unsampled": 1}
    with pytest.raises(NoRunError, match=r"left out by sampling \(sample is 0.5\)"):
        _ = run.verdict


def test_a_sampled_run_is_recorded_whole(sampled):
    sampled(0.5)

    with agenttrace.run(run_id=an_id(True, 0.5)) as run:
        for number in range(5):
            work(number)

    assert len(run.evidence().executor) == 5
    assert losses() == {}


def test_the_rule_is_the_documented_one():
    from hashlib import sha256

    for n in range(200):
        number = int.from_bytes(sha256(f"run-{n}".encode()).digest()[:8], "big")
        assert is_sampled(f"run-{n}", 0.25) is (number < 0.25 * 2**64)
        assert is_sampled(f"run-{n}", 1.0)
        assert not is_sampled(f"run-{n}", 0.0)
    kept = sum(is_sampled(f"run-{n}", 0.25) for n in range(10_000))
    assert 2_300 < kept < 2_700
    assert is_sampled("run-kept-1", 0.0)
    assert not is_sampled("run-left-1", 1.0)


def test_two_processes_of_a_run_agree(tmp_path):
    program = """
    import sys, agenttrace
    @agenttrace.trace
    def pay() -> int: return 1
    agenttrace.configure(sample=0.5)
    for n in range(20):
        with agenttrace.run(run_id=f"r-{n}"): pay()
    """
    run_program(program, tmp_path)
    run_program(program, tmp_path)

    runs = [list(folder.iterdir()) for folder in (tmp_path / ".agenttrace/runs").glob("*/*")]
    assert 0 < len(runs) < 20
    assert {len(recorders) for recorders in runs} == {2}


def test_a_run_of_a_case_is_recorded_at_any_share(sampled):
    sampled(0.0)

    for case in (Case(case_id="c"), "by-its-id"):
        with agenttrace.run(case) as run:
            work()
        assert len(run.evidence().executor) == 1
        assert run.id.startswith("run-kept-")
        assert is_sampled(run.id, 0.0)


def test_one_run_can_be_recorded_or_left_out_by_hand(sampled):
    sampled(0.0)
    with agenttrace.run(sample=True) as kept:
        work()
    sampled(1.0)
    with agenttrace.run(Case(case_id="c"), sample=False) as left:
        work()

    assert [one.name for one in kept.evidence().executor] == ["work"]
    assert is_sampled(kept.id, 0.0)
    with pytest.raises(NoRunError, match="sample=False"):
        _ = left.verdict
    assert not is_sampled(left.id, 1.0)


@pytest.mark.parametrize("wrong", ["yes", 0.5, 1])
def test_a_wish_for_one_run_is_true_or_false(wrong):
    with pytest.raises(ConfigurationError, match="takes True or False"):
        agenttrace.run(sample=wrong)


def test_a_run_inside_an_unsampled_one_is_a_run_of_its_own(sampled):
    sampled(1.0)

    with agenttrace.run(sample=False):
        work(1)
        with agenttrace.run() as inner:
            work(2)
            with agenttrace.run(sample=False):
                work(3)
            work(4)
        work(5)
    with agenttrace.run() as after:
        work(6)

    assert [one.arguments for one in inner.evidence().executor] == [{"number": 2}, {"number": 4}]
    assert [one.arguments for one in after.evidence().executor] == [{"number": 6}]


def test_a_decorated_function_decides_anew_for_each_call(sampled):
    sampled(0.5)
    seen: list[bool] = []

    @agenttrace.run()
    def agent() -> None:
        before = recorder.scope()
        seen.append(before is not None)

    for _ in range(64):
        agent()

    assert set(seen) == {True, False}


def test_work_of_an_unsampled_run_belongs_to_it_in_tasks_and_threads(sampled, tmp_path):
    sampled(1.0)

    async def agent() -> None:
        await asyncio.gather(*(asyncio.to_thread(work, n) for n in range(3)))

    with agenttrace.run(sample=False):
        asyncio.run(agent())
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(work, 9))
        thread.start()
        thread.join()
        # Its context is lost, and this is the only open run.
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    recorder.settle_implicit()

    assert files(tmp_path) == []


def test_work_without_a_context_is_not_given_to_the_sampled_one_of_two_open_runs(sampled):
    sampled(1.0)

    with agenttrace.run() as kept, agenttrace.run(sample=False):
        thread = threading.Thread(target=work, args=(1,))
        thread.start()
        thread.join()
    recorder.settle_implicit()

    assert [str(record.kind) for record in kept.records()] == ["run"]


def test_an_answer_to_an_unsampled_run_is_not_given_to_the_run_it_is_read_in(sampled):
    sampled(1.0)

    with agenttrace.run(sample=False):
        stamp = begin_request(None, None)
    with agenttrace.run() as other:
        record_response(response(refund(9800)), stamp)

    assert [str(record.kind) for record in other.records()] == ["run"]


def test_an_unsampled_agent_costs_no_record_in_generators_and_coroutines(sampled, tmp_path):
    sampled(1.0)

    @agenttrace.trace
    def count():
        yield from range(3)

    @agenttrace.trace
    async def later() -> int:
        return 1

    with agenttrace.run(sample=False):
        assert list(count()) == [0, 1, 2]
        assert asyncio.run(later()) == 1
    recorder.settle_implicit()

    assert files(tmp_path) == []


# Outside any run


def in_trace(trace_id: int, body) -> None:
    ids = otel.SpanContext(trace_id, 1, is_remote=False)
    token = otel_context.attach(otel.set_span_in_context(otel.NonRecordingSpan(ids)))
    try:
        contextvars.copy_context().run(body)
    finally:
        otel_context.detach(token)


def test_calls_outside_any_run_go_by_the_id_of_their_trace(sampled, tmp_path):
    sampled(0.5)
    traces = range(1, 41)

    for _ in range(2):
        for trace in traces:
            in_trace(trace, work)
    recorder.settle_implicit()

    kept = sum(is_sampled(f"{trace:032x}", 0.5) for trace in traces)
    made = [
        json.loads(line) for p in tmp_path.rglob("*.jsonl") for line in p.read_text().splitlines()
    ]
    executions = [line["trace_id"] for line in made if line.get("kind") == "execution"]
    assert 0 < kept < 40
    assert len(executions) == 2 * kept
    assert {int(one, 16) for one in executions} == {
        trace for trace in traces if is_sampled(f"{trace:032x}", 0.5)
    }
    assert losses() == {"unsampled": 40 - kept}


def test_calls_without_a_trace_are_left_out_together_until_they_are_idle(
    sampled, tmp_path, monkeypatch
):
    sampled(0.0)
    clock = [100.0]
    monkeypatch.setattr("agenttrace.capture._sampling.time.monotonic", lambda: clock[0])

    def calls() -> None:
        for _ in range(5):
            work()
            clock[0] += 4.0
        assert losses() == {"unsampled": 1}
        clock[0] += 6.0
        work()
        assert losses() == {"unsampled": 2}

    contextvars.copy_context().run(calls)

    assert files(tmp_path) == []
