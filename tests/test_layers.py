"""What `lint-imports` cannot say: pure packages name nothing foreign, and no import hides.

An import inside a function to get round a cycle means that a name lives in the wrong layer.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "agenttrace"

PURE = (
    "_dataclass",
    "_late",
    "domain",
    "errors",
    "gate",
    "records",
    "redaction",
    "repeats",
    "report",
    "scoring",
    "semconv",
    "settings",
)
"""Standard library alone."""

MAY_IMPORT_LATE = ("__init__.py", "integrations/", "pytest_plugin/")
"""The lazy top level, modules whose import must not import the library they hook, and what pytest
loads at every start."""

LATE_EXTRAS = {"anthropic", "openai", "opentelemetry.exporter", "re2", "yaml"}
"""Packages of extras: whoever needs one may import it when it is asked for."""

LATE_FOR_COST = {
    "_dataclass.py: dataclasses",
    "records/_json_dump.py: decimal",
    "scoring/_broken.py: agenttrace.scoring._order",
    "scoring/_broken.py: agenttrace.scoring._states",
    "scoring/_broken.py: agenttrace.scoring._unordered",
    "scoring/_changes.py: unicodedata",
    "scoring/_declared.py: decimal",
    "scoring/_expected.py: agenttrace.scoring._asserted",
    "scoring/_label.py: agenttrace.scoring._asserted",
    "scoring/_leaks.py: agenttrace.scoring._leak_search",
    "scoring/_normalizers.py: datetime",
    "scoring/_normalizers.py: unicodedata",
    "scoring/_numbers.py: fractions",
    "scoring/_policy.py: agenttrace.scoring._unordered",
    "scoring/_rules.py: agenttrace.scoring._json_schema",
    "scoring/_rules.py: agenttrace.scoring._pattern",
    "scoring/_score.py: agenttrace.scoring._lineage",
    "scoring/_score.py: agenttrace.scoring._text_ownership",
}
"""What few rows need and every import of the scorer would pay for: tests/test_imports.py holds it
out, `bench/imports.py` has the figures."""

HEAVY = ("opentelemetry", "wrapt", "pydantic")


def modules(*parts: str) -> list[Path]:
    """Every module of these packages or modules; of everything when none is named."""
    found = [
        path
        for part in parts or (".",)
        for path in ((SOURCE / part).rglob("*.py") if (SOURCE / part).is_dir() else [])
    ]
    return sorted({*found, *(SOURCE / f"{part}.py" for part in parts)} & set(SOURCE.rglob("*.py")))


def imported(node: ast.AST) -> Iterator[str]:
    """Absolute names of the modules that one statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or "."


def foreign(path: Path) -> Iterator[str]:
    """Imports of a module that are neither the standard library nor ours."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for name in imported(node):
            root = name.partition(".")[0]
            if root not in sys.stdlib_module_names and root != "agenttrace":
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {name}"
            if name == "importlib":
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: imports by name at run time"


def late(path: Path) -> Iterator[str]:
    """Imports inside functions that are not of an extra."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text("utf-8"))
    inside = (n for f in ast.walk(tree) if isinstance(f, functions) for n in ast.walk(f))
    for node in inside:
        for name in imported(node):
            if f"{path.relative_to(SOURCE).as_posix()}: {name}" in LATE_FOR_COST:
                continue
            if not any(name == extra or name.startswith(f"{extra}.") for extra in LATE_EXTRAS):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {name}"


@pytest.mark.parametrize("part", PURE)
def test_what_judges_a_run_imports_the_standard_library_alone(part: str):
    paths = modules(part)

    assert paths, f"src/agenttrace/{part} has no module"
    assert [line for path in paths for line in foreign(path)] == []


def test_no_import_hides_in_a_function():
    paths = [
        path
        for path in modules()
        if not path.relative_to(SOURCE).as_posix().startswith(MAY_IMPORT_LATE)
    ]

    assert paths
    assert sorted({line for path in paths for line in late(path)}) == []


@pytest.mark.parametrize("part", PURE)
def test_what_judges_a_run_loads_no_tracer(part: str):
    program = f"""
import sys, agenttrace.{part}
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
