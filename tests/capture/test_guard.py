"""Faults of ours stay ours: counted, logged once a kind, in the manifest, never in the program."""

from __future__ import annotations

import logging

import pytest

import agenttrace
from agenttrace.capture import begin_request, failed, guard, losses, record_response, recorder
from agenttrace.capture._guard import forget_faults
from agenttrace.errors import NoRunError
from agenttrace.records import RunEnd
from agenttrace.testing import isolated
from tests.support.drafts import refund, response


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)
    forget_faults()
    yield
    forget_faults()


@agenttrace.trace
def work(number: int = 0) -> int:
    if number < 0:
        raise ValueError(number)
    return number


def lost(run: agenttrace.session.AgentRun) -> dict[str, int]:
    (end,) = [r.payload for r in run.records() if isinstance(r.payload, RunEnd)]
    return dict(end.manifest.lost)


class Broken:
    """Stands where a mask or a writer should be, and fails at everything."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(f"broken {name}")


def test_an_error_of_ours_is_kept_counted_and_logged_once(caplog):
    for _ in range(3):
        with guard("a test"):
            raise RuntimeError("ours")

    assert losses() == {"error:a test": 3}
    (record,) = caplog.records
    assert "Traceback (most recent call last):" in record.getMessage()
    assert record.getMessage().endswith("RuntimeError: ours")


def test_a_base_exception_is_not_ours_to_keep():
    with pytest.raises(KeyboardInterrupt), guard("a test"):
        raise KeyboardInterrupt


def test_strict_raises_what_would_be_counted(monkeypatch):
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")

    with pytest.raises(RuntimeError, match="ours"), guard("a test"):
        raise RuntimeError("ours")


def test_a_broken_mask_changes_no_result_and_no_exception():
    with isolated(), agenttrace.run() as run:
        state = run._begun()
        mask, state.mask = state.mask, Broken()
        assert work(1) == 1
        with pytest.raises(ValueError, match="-1"):
            work(-1)
        agenttrace.flush()
        assert record_response(response(refund()), begin_request(None, None)) == ()
        state.mask = mask

    assert lost(run)["error:copying arguments"] == 2
    assert "error:recording a model's call" in lost(run)


def test_a_broken_writer_leaves_a_counted_hole():
    with isolated(), agenttrace.run() as run:
        state = run._begun()
        state._kept.writer = Broken()
        assert work(1) == 1
        agenttrace.flush()
        state._kept.writer = None

    assert lost(run) == {"error:writing a record": 1}
    assert run.evidence().completeness.missing_seqs == (1,)


def test_a_recorder_that_cannot_open_runs_lets_the_program_run(monkeypatch):
    with isolated():
        with monkeypatch.context() as patched:
            patched.setattr(recorder, "providers", Broken())
            with agenttrace.run() as run:
                assert work(2) == 2
        with pytest.raises(NoRunError):
            run.evidence()


def test_a_fault_without_a_run_counts_against_every_open_one():
    with isolated(), agenttrace.run() as one, agenttrace.run() as two:
        failed("somewhere", RuntimeError())

    assert lost(one) == lost(two) == {"error:somewhere": 1}


def test_a_log_handler_that_raises_is_kept_off_the_program():
    class Bad(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            raise RuntimeError

    logger = logging.getLogger("agenttrace")
    bad = Bad()
    logger.addFilter(bad)
    try:
        with guard("a test"):
            raise RuntimeError("ours")
    finally:
        logger.removeFilter(bad)

    assert losses() == {"error:a test": 1}
