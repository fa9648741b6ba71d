"""`configure()`: what it refuses, and that a settled run is judged live."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import agenttrace
from agenttrace.errors import ConfigurationError
from agenttrace.session._state import session


@pytest.mark.parametrize(
    "wrong",
    [
        {"evidence": 3},
        {"exporter": "http://localhost:4318"},
        {"set_global": "yes"},
        {"live": 1},
        {"key": 7},
        {"key": "short"},
        {"idle_s": "5"},
        {"idle_s": 0},
        {"idle_s": -1.0},
    ],
    ids=str,
)
def test_an_argument_that_cannot_be_used_is_refused_and_configures_nothing(wrong):
    with pytest.raises(ConfigurationError):
        agenttrace.configure(**wrong)

    assert session.given is None


def run_program(program: str, tmp_path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    return done


AGENT = """
import agenttrace
from agenttrace.capture import CallDraft, ResponseDraft, begin_request, record_response
from agenttrace.domain import Case, RequiredCall

@agenttrace.trace
def pay(cents: int) -> str: return "done"

def agent(asked: int, paid: int) -> None:
    call = CallDraft("pay", "call_1", 0, '{"cents": %d}' % asked, complete=True)
    draft = ResponseDraft("resp_1", None, "openai", "gpt-x", "tool_calls", None, (call,))
    record_response(draft, begin_request(None, None))
    pay(paid)
"""


def test_each_settled_run_is_judged_live_on_stderr(tmp_path):
    done = run_program(
        AGENT
        + textwrap.dedent("""
        case = Case(case_id="pay-98", required=(RequiredCall(name="pay", arguments={"cents": 98}),))
        agenttrace.configure(live=True, cases=[case])
        with agenttrace.run("pay-98"): agent(98, 98)
        with agenttrace.run("pay-98"): agent(98, 9800)
        agent(1, 2)
        """),
        tmp_path,
    )

    assert done.stdout == ""
    verdicts = [line.split()[0] for line in done.stderr.splitlines() if line[:1].isupper()]
    # Without a plan and without a hook that links them, changed records are linked by name alone.
    assert verdicts == ["PASS", "FAIL", "INCONCLUSIVE"]
    assert "first divergence: executor" in done.stderr


def test_a_run_that_cannot_be_judged_says_why(tmp_path):
    done = run_program(
        AGENT
        + textwrap.dedent("""
        agenttrace.configure(live=True, evidence=False)
        with agenttrace.run("nobody-wrote-this"): agent(1, 1)
        """),
        tmp_path,
    )

    assert "nobody-wrote-this" in done.stderr
    assert "Traceback" not in done.stderr


def test_evidence_false_writes_no_run(tmp_path):
    run_program(
        AGENT
        + textwrap.dedent("""
        agenttrace.configure(evidence=False)
        with agenttrace.run(): agent(1, 1)
        """),
        tmp_path,
    )

    assert list(tmp_path.rglob("*.jsonl")) == []


def test_calls_outside_any_run_are_written_when_the_process_ends(tmp_path):
    run_program(AGENT + "agenttrace.configure()\nagent(1, 1)\n", tmp_path)

    (file,) = tmp_path.rglob("*.jsonl")
    assert [line.count('"kind":"run"') for line in file.read_text().splitlines()][-1] == 1


def test_a_secret_that_a_case_expects_is_not_printed(tmp_path):
    done = run_program(
        AGENT
        + textwrap.dedent("""
        @agenttrace.trace
        def login(password: str) -> str: return "in"

        needs = RequiredCall(name="login", arguments={"password": "hunter2-x"})
        agenttrace.configure(live=True, cases=[Case(case_id="c", required=(needs,))])
        with agenttrace.run("c"): login("hunter2-x")
        """),
        tmp_path,
    )

    assert "login" in done.stderr
    assert "hunter2" not in done.stderr
