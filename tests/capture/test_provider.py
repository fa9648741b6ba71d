"""Which TracerProvider spans go through, and that OpenTelemetry's own faults stay out.

The global provider can be set once a process, so each of these programs runs in one of its own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

SETUP = """
import agenttrace
from agenttrace import capture
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider, SpanProcessor, sampling
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

@agenttrace.trace
def work(number: int = 0) -> int:
    return number

def provider(*processors, **options):
    made = TracerProvider(**options)
    exported = InMemorySpanExporter()
    for one in processors: made.add_span_processor(one)
    made.add_span_processor(SimpleSpanProcessor(exported))
    return made, exported

def names(exported): return [span.name for span in exported.get_finished_spans()]
"""


def run_program(program: str, tmp_path, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SETUP + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        env={**__import__("os").environ, "AGENTTRACE_STRICT": "0", **environ},
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_global_provider_is_not_set_uninvited(tmp_path):
    run_program(
        """
        agenttrace.configure(evidence=False)
        with agenttrace.run() as run: work()
        assert isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider)
        assert len(run.records()) == 2
        """,
        tmp_path,
    )


def test_it_is_set_when_asked_for_and_nobody_set_one(tmp_path):
    run_program(
        """
        agenttrace.configure(evidence=False, set_global=True)
        with agenttrace.run(): work()
        assert isinstance(otel.get_tracer_provider(), TracerProvider)
        """,
        tmp_path,
    )


def test_a_provider_that_is_there_is_joined(tmp_path):
    run_program(
        """
        mine, exported = provider()
        otel.set_tracer_provider(mine)
        agenttrace.configure(evidence=False, set_global=True)
        with agenttrace.run(): work()
        assert otel.get_tracer_provider() is mine
        assert names(exported) == ["execute_tool work", "agent_run"], names(exported)
        """,
        tmp_path,
    )


def test_a_provider_that_comes_later_is_adopted_at_the_next_run(tmp_path):
    run_program(
        """
        agenttrace.configure(evidence=False)
        mine, exported = provider()
        with agenttrace.run() as first:
            work()
            otel.set_tracer_provider(mine)
            work()
        assert names(exported) == []
        with agenttrace.run(): work()
        assert names(exported) == ["execute_tool work", "agent_run"]
        assert len({record.trace_id for record in first.records()}) == 1
        """,
        tmp_path,
    )


def test_an_exporter_that_is_given_gets_the_private_providers_spans(tmp_path):
    run_program(
        """
        exported = InMemorySpanExporter()
        agenttrace.configure(evidence=False, exporter=exported)
        with agenttrace.run(): work()
        assert agenttrace.session.flush()
        assert names(exported) == ["execute_tool work", "agent_run"]
        """,
        tmp_path,
    )


def test_a_sampled_out_run_is_whole_in_local_evidence(tmp_path):
    run_program(
        """
        mine, exported = provider(sampler=sampling.ALWAYS_OFF)
        otel.set_tracer_provider(mine)
        agenttrace.configure(evidence=False)
        with agenttrace.run() as run: work()
        assert names(exported) == []
        assert len({r.ref for r in run.records()}) == 2
        assert run.evidence().executor[0].result == 0
        assert run.evidence().completeness.missing_seqs == ()
        """,
        tmp_path,
    )


@pytest.mark.parametrize(("method", "counted"), [("on_start", 1), ("on_end", 3)])
def test_a_processor_that_raises_is_kept_off_the_program(tmp_path, method, counted):
    log = run_program(
        f"""
        class Bad(SpanProcessor):
            def {method}(self, *args, **kwargs): raise RuntimeError("a processor's own fault")
        mine, exported = provider(Bad())
        otel.set_tracer_provider(mine)
        agenttrace.configure(evidence=False)
        with agenttrace.run() as run:
            assert [work(1), work(2)] == [1, 2]
        assert [one.result for one in run.evidence().executor] == [1, 2]
        assert run.evidence().completeness.missing_seqs == ()
        assert sum(agenttrace.capture.losses().values()) == {counted}
        """,
        tmp_path,
    )

    assert log.count("a processor's own fault") <= 2


def test_a_sampler_that_raises_is_kept_off_the_program(tmp_path):
    run_program(
        """
        class Bad(sampling.Sampler):
            def should_sample(self, *args, **kwargs): raise RuntimeError("no")
            def get_description(self): return "bad"
        mine, exported = provider(sampler=Bad())
        otel.set_tracer_provider(mine)
        agenttrace.configure(evidence=False)
        with agenttrace.run() as run:
            assert work(1) == 1
        assert run.evidence().executor[0].result == 1
        """,
        tmp_path,
    )


def test_a_tool_that_a_processor_calls_does_not_recurse(tmp_path):
    run_program(
        """
        class Curious(SpanProcessor):
            def on_start(self, span, parent_context=None): work(7)
            def on_end(self, span): work(8)
        mine, exported = provider(Curious())
        otel.set_tracer_provider(mine)
        agenttrace.configure(evidence=False)
        with agenttrace.run() as run: work(1)
        assert [one.arguments for one in run.evidence().executor] == [{"number": 1}]
        """,
        tmp_path,
    )


def test_an_exporter_that_never_comes_back_does_not_hold_the_end_of_the_process(tmp_path):
    run_program(
        """
        import threading
        from opentelemetry.sdk.trace.export import SpanExporter
        freed = threading.Event()
        class Stuck(SpanExporter):
            def export(self, spans): freed.wait()
            def shutdown(self): freed.wait()
        agenttrace.configure(evidence=False, exporter=Stuck())
        with agenttrace.run(): work()
        agenttrace.capture.recorder.end_process()
        freed.set()
        """,
        tmp_path,
    )


def test_configuring_twice_changes_nothing_and_other_values_are_refused(tmp_path):
    log = run_program(
        """
        from agenttrace.errors import ConfigurationError
        agenttrace.configure(evidence="one")
        agenttrace.configure()
        agenttrace.configure(evidence="one")
        with agenttrace.run() as first: pass
        refused = ""
        try:
            agenttrace.configure(evidence="two", idle_s=1)
        except ConfigurationError as error:
            refused = str(error)
        assert "other values for evidence, idle_s" in refused, refused
        with agenttrace.run() as second: pass
        assert first.folder.parent == second.folder.parent
        assert first.folder.parts[-3] == "one"
        """,
        tmp_path,
    )

    assert log == ""


def test_a_run_sets_up_recording_with_the_defaults(tmp_path):
    run_program(
        """
        with agenttrace.run() as run: work()
        """,
        tmp_path,
    )

    assert len(list((tmp_path / ".agenttrace" / "runs").rglob("*.jsonl"))) == 1
