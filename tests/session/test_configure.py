"""`configure()`: what it refuses, what of it holds, and that a settled run is judged live."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

import agenttrace
from agenttrace.errors import ConfigurationError
from agenttrace.session._state import session


@pytest.mark.usefixtures("unconfigured")
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
        {"idle_s": float("nan")},
        {"idle_s": True},
        {"enabled": "yes"},
        {"enabled": 0},
        {"sample": 1.01},
        {"sample": "0.5"},
        {"cases": 3},
        {"cases": ["refund-amount"]},
        {"evidence": ""},
        {"exit_s": -0.1},
        {"memory_records": 0},
        {"memory_records": 10.0},
        {"memory_bytes": "much"},
        {"keep_days": 0},
        {"keep_bytes": True},
        {"mask_fields": "account_ref"},
        {"mask_fields": ["account_ref", 3]},
        {"mask_fields": 3},
        {"mask_fields": [" "]},
        {"mask_paths": ["profile/answer"]},
        {"mask_paths": [""]},
        {"mask": "account_ref"},
        {"mask": str},
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


# What holds


def lines_of(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if line.startswith("agenttrace")]


def test_other_values_in_a_second_call_are_refused_and_the_first_ones_stay(tmp_path):
    run_program(
        AGENT
        + textwrap.dedent("""
        import pytest
        from agenttrace.errors import ConfigurationError
        agenttrace.configure(evidence="first", idle_s=3)
        with pytest.raises(ConfigurationError, match="other values for evidence, sample"):
            agenttrace.configure(evidence="second", sample=0.5, idle_s=3)
        with agenttrace.run(): agent(1, 1)
        """),
        tmp_path,
    )

    assert [path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("rec-*.jsonl")] == [
        "first"
    ]


def test_a_second_call_with_what_is_in_force_already_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_IDLE_S", "7")

    done = run_program(
        AGENT
        + textwrap.dedent("""
        agenttrace.configure(evidence="runs")
        agenttrace.configure()
        agenttrace.configure(evidence="runs")
        agenttrace.configure(idle_s=7, sample=1)
        """),
        tmp_path,
    )

    assert done.stderr == ""


def test_a_first_call_after_recording_began_counts_from_the_next_run_on(tmp_path):
    done = run_program(
        AGENT
        + textwrap.dedent("""
        with agenttrace.run() as outer:
            agent(1, 1)
            agenttrace.configure(evidence="later")
            with agenttrace.run() as inner: agent(2, 2)
            agent(3, 3)
        print(outer.folder.parts[-3], len(outer.evidence().executor), outer.verdict.status)
        print(inner.folder.parts[-3], len(inner.evidence().executor), inner.verdict.status)
        """),
        tmp_path,
    )

    assert done.stdout.splitlines() == ["runs 2 pass", "later 1 pass"]


def test_what_a_provider_held_before_such_a_call_is_sent_at_the_end(tmp_path):
    done = run_program(
        AGENT
        + textwrap.dedent("""
        from agenttrace.session import _configure
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from agenttrace.exporters import RunSpanProcessor
        import atexit
        kept = InMemorySpanExporter()
        _configure.span_processors = lambda exporter: (RunSpanProcessor(kept),)
        atexit.register(lambda: print(sorted(s.name for s in kept.get_finished_spans())))
        agent(1, 1)
        with agenttrace.run(): agent(1, 1)
        agenttrace.configure(evidence=False)
        """),
        tmp_path,
    )

    assert done.stdout.count("agent_run") >= 1


@pytest.mark.usefixtures("unconfigured")
def test_a_folder_of_an_argument_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "taken").write_text("a file where the folder should be")

    with pytest.raises(ConfigurationError, match="cannot be written"):
        agenttrace.configure(evidence=tmp_path / "taken" / "runs")

    assert session.given is None


def test_a_folder_of_the_environment_that_cannot_be_written_is_one_warning(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file where the folder should be")
    monkeypatch.setenv("AGENTTRACE_EVIDENCE", str(tmp_path / "taken" / "runs"))

    done = run_program(
        AGENT
        + textwrap.dedent("""
        agenttrace.configure()
        print("configured")
        for _ in range(3):
            with agenttrace.run() as run: agent(1, 1)
            print(run.verdict.status)
        """),
        tmp_path,
    )

    assert done.stdout.split() == ["configured", "pass", "pass", "pass"]
    assert len(lines_of(done.stderr)) == 1


@pytest.mark.parametrize("start", ["agenttrace.configure()", "pass"])
def test_what_is_wrong_in_the_environment_or_project_is_said_once_and_harms_nothing(
    start, tmp_path, monkeypatch
):
    monkeypatch.setenv("AGENTTRACE_SAMPL", "0")
    monkeypatch.setenv("AGENTTRACE_IDLE_S", "soon")
    (tmp_path / "pyproject.toml").write_text("[tool.agenttrace\n")

    done = run_program(
        AGENT
        + textwrap.dedent(f"""
        {start}
        for _ in range(2):
            with agenttrace.run() as run: agent(1, 1)
            print(run.verdict.status)
        """),
        tmp_path,
    )

    assert done.stdout.split() == ["pass", "pass"]
    said = lines_of(done.stderr)
    assert len(said) == 3
    assert sum("AGENTTRACE_SAMPLE?" in line for line in said) == 1
    assert "Traceback" not in done.stderr


def test_importing_and_decorating_reads_no_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_SAMPL", "0")
    (tmp_path / "pyproject.toml").write_text("[tool.agenttrace\n")

    assert run_program(AGENT + "pay(3)\n", tmp_path).stderr == ""


def test_a_request_without_configure_is_recorded_as_the_project_says(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.agenttrace]\nevidence = 'kept'\n")

    run_program(
        """
        import agenttrace
        agenttrace.instrument()
        answer = {"id": "r", "object": "chat.completion", "model": "m",
                  "choices": [{"finish_reason": "stop", "index": 0,
                               "message": {"role": "assistant", "content": "hi"}}]}
        assert agenttrace.model_response(answer) == ()
        """,
        tmp_path,
    )

    (file,) = tmp_path.rglob("rec-*.jsonl")
    assert file.relative_to(tmp_path).parts[0] == "kept"


def test_the_recorder_is_told_every_setting(tmp_path):
    run_program(
        """
        import agenttrace
        from agenttrace.capture import recorder
        told = dict(
            enabled=True, sample=0.5, set_global=True, idle_s=1.5, exit_s=0.25, memory_records=7,
            memory_records_without_file=8, memory_bytes=9000, keep_days=3.0, keep_bytes=10_000,
        )
        agenttrace.configure(evidence="kept", **told)
        assert {name: getattr(recorder.settings, name) for name in told} == told
        assert recorder.settings.evidence.name == "kept"
        """,
        tmp_path,
    )


def test_a_call_can_switch_on_what_the_environment_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")

    done = run_program(
        AGENT
        + textwrap.dedent("""
        with agenttrace.run() as before: agent(1, 1)
        agenttrace.configure(enabled=True)
        with agenttrace.run() as after: agent(1, 1)
        print(len(before.records()), after.verdict.status)
        """),
        tmp_path,
    )

    assert done.stdout == "0 pass\n"


MASKED = """
import json
from agenttrace import model_response, trace
from agenttrace.errors import ConfigurationError

@trace
def pay(accountRef: str, profile: dict, note: str) -> str:
    return "paid from " + accountRef

def agent(account, answer):
    arguments = {"accountRef": account, "profile": {"pet": {"answer": answer}}, "note": "a b"}
    call = {"id": "c1", "type": "function"}
    call["function"] = {"name": "pay", "arguments": json.dumps(arguments)}
    choice = {"index": 0, "finish_reason": "tool_calls"}
    choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    with agenttrace.run(case="c"):
        model_response(
            {"id": "r", "object": "chat.completion", "model": "m", "choices": [choice]}
        )
        pay(**arguments)
"""


@pytest.mark.parametrize("by", ["arguments", "variables", "project"])
def test_what_is_masked_besides_is_masked_in_evidence_and_in_what_a_case_expects(by, tmp_path):
    fields, paths = ["account_ref"], ["/profile/*/answer"]
    given, environ = "", {}
    if by == "arguments":
        given = f"mask_fields={fields}, mask_paths={paths}, "
    elif by == "variables":
        environ = {"AGENTTRACE_MASK_FIELDS": fields[0], "AGENTTRACE_MASK_PATHS": paths[0]}
    else:
        text = f"[tool.agenttrace]\nmask_fields = {fields}\nmask_paths = {paths}\n"
        (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    expected = {"accountRef": "ACC-1", "profile": {"pet": {"answer": "tommy"}}, "note": "a b"}
    case = {"id": "c", "required": [{"name": "pay", "args": expected}]}
    (tmp_path / "cases.json").write_text(json.dumps(case), "utf-8")
    set_up = "import os\n" + "".join(f"os.environ[{n!r}] = {v!r}\n" for n, v in environ.items())
    program = (
        set_up
        + "import agenttrace\n"
        + MASKED
        + f"""
agenttrace.configure({given}mask=lambda text: text.replace("paid", "-"), cases="cases.json")
agent("ACC-1", "tommy")
agent("ACC-2", "tommy")
agent("ACC-1", "kitty")
"""
    )
    run_program(program, tmp_path)

    files = list((tmp_path / ".agenttrace").rglob("*.jsonl"))
    assert len(files) == 3
    for path in files:
        text = path.read_text("utf-8")
        assert "[masked:account_ref:" in text
        assert not [word for word in ("ACC-1", "ACC-2", "tommy", "kitty", "paid") if word in text]
    score = [
        sys.executable,
        "-m",
        "agenttrace",
        "score",
        ".agenttrace/runs",
        "--cases",
        "cases.json",
        "--json",
    ]
    done = subprocess.run(
        score, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    said = sorted(row["verdict"] for row in rows)
    assert said == ["fail", "fail", "pass"], done.stderr
