"""The top level: every public name, loaded when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agenttrace


@pytest.mark.parametrize("name", agenttrace.__all__)
def test_every_public_name_is_there(name):
    assert getattr(agenttrace, name) is getattr(agenttrace, name)
    assert name in dir(agenttrace)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'tarce'"):
        _ = agenttrace.tarce


@pytest.mark.parametrize(
    ("imports", "light"),
    [
        ("import agenttrace", ("opentelemetry", "wrapt", "pydantic")),
        ("import agenttrace.scoring", ("opentelemetry", "wrapt", "pydantic")),
        ("from agenttrace import Case, Verdict, score", ("opentelemetry", "wrapt", "pydantic")),
        ("from agenttrace import trace, adapter", ("pydantic", "yaml", "openai")),
        ("from agenttrace import configure, run, instrument", ("openai", "anthropic")),
    ],
)
def test_a_name_loads_only_what_it_needs(imports, light):
    program = f"{imports}\nimport sys\nprint(*(n for n in {light!r} if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
