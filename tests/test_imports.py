"""What importing the scorer may load, and that what is loaded late is there all the same."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from agenttrace._late import late_pattern

HEAVY = (
    "base64",
    "dataclasses",
    "datetime",
    "decimal",
    "fractions",
    "hashlib",
    "hmac",
    "html",
    "inspect",
    "ipaddress",
    "logging",
    "opentelemetry",
    "pathlib",
    "pydantic",
    "typing",
    "unicodedata",
    "urllib.parse",
    "wrapt",
    "yaml",
    "agenttrace.artifacts",
    "agenttrace.capture",
    "agenttrace.contracts",
    "agenttrace.readers",
    "agenttrace.records._assemble",
    "agenttrace.records._codec",
    "agenttrace.records._json_mask",
    "agenttrace.redaction._digests",
    "agenttrace.redaction._load",
    "agenttrace.redaction._redactor",
    "agenttrace.redaction._run_mask",
    "agenttrace.report",
    "agenttrace.scoring._json_schema",
    "agenttrace.scoring._leak_search",
    "agenttrace.settings",
)
"""What no import of the scorer needs: each would cost every program that judges a run."""

NEEDED = ("agenttrace.scoring._score", "agenttrace.scoring._match", "agenttrace.records._json_text")
"""The scorer itself is not put off."""

# A plain row asks nothing of rare rules, so that its verdict loads no more than the import.
VERDICT = """
from agenttrace.domain import ALL, Boundary, Case, Evidence, Execution, RequiredCall, Run
from agenttrace.scoring import score
ran = Execution(boundary=Boundary.EXECUTOR, ref="executor/0", name="pay", arguments={"cents": 1})
case = Case(case_id="a", required=(RequiredCall(name="pay", arguments={"cents": 2}),))
observed = {Boundary.EXECUTOR: ALL}
evidence = Evidence(run=Run(run_id="r", case_id="a"), observed=observed, executor=(ran,))
assert score(case, evidence).divergences or score(case, evidence).causes
"""


@pytest.mark.parametrize(
    "program",
    ["import agenttrace.scoring", "from agenttrace.scoring import score", VERDICT],
    ids=["import", "from", "verdict"],
)
def test_the_scorer_loads_what_it_needs_and_no_more(program):
    told = f"""
import sys
{program}
print(*(name for name in {HEAVY!r} if name in sys.modules))
print(*(name for name in {NEEDED!r} if name not in sys.modules))
"""
    # Isolated, and without `site`: its start files may load anything.
    path = [entry for entry in sys.path if entry]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {path!r}\n{told}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout.split()) == (0, []), done.stdout + done.stderr


@pytest.mark.parametrize("part", ["records", "redaction", "scoring"])
def test_every_name_of_a_package_that_loads_late_is_there(part):
    module = importlib.import_module(f"agenttrace.{part}")

    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name)
        assert name in vars(module)
    with pytest.raises(
        AttributeError, match=f"module 'agenttrace.{part}' has no attribute 'nothing'"
    ):
        _ = module.nothing


def test_a_late_pattern_answers_as_a_compiled_one():
    late = late_pattern("(a+)b")

    assert (late.fullmatch("aab")[1], late.search("caab").span(), late.sub("-", "abc")) == (
        "aa",
        (1, 4),
        "-c",
    )
    assert (late.pattern, late.groups) == ("(a+)b", 1)
