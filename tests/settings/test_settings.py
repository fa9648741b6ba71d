"""Settings: where each value comes from, and what becomes of one that cannot be used."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

import pytest

import agenttrace
from agenttrace.capture import Settings
from agenttrace.errors import ConfigurationError
from agenttrace.settings import BY_NAME, PREFIX, TABLE, resolve, shown

ROOT = Path(__file__).parents[2]
WITH_VARIABLE = [setting for setting in TABLE if setting.is_argument and setting.has_variable]
OTHER = {
    "enabled": ("false", False),
    "evidence": ("kept", "kept"),
    "sample": ("0.25", 0.25),
    "cases": ("cases", "cases"),
    "live": ("true", True),
    "set_global": ("on", True),
    "threads": ("false", False),
    "content": ("digest", "digest"),
    "mask_fields": ("account_ref, born", ("account_ref", "born")),
    "mask_paths": ("/profile/*/answer", ("/profile/*/answer",)),
    "key": ("k" * 20, "k" * 20),
    "idle_s": ("2.5", 2.5),
    "exit_s": ("0", 0.0),
    "memory_records": ("10", 10),
    "memory_records_without_file": ("20", 20),
    "memory_bytes": ("1 MiB", 1 << 20),
    "keep_days": ("7", 7.0),
    "keep_bytes": ("2GB", 2_000_000_000),
}
"""Of each setting another value than its default, as text and as it is read."""

by_name = {"ids": lambda setting: setting.name}


@pytest.fixture
def project(tmp_path: Path):
    def write(text: str) -> Path:
        (tmp_path / "pyproject.toml").write_text(text, "utf-8")
        return tmp_path

    return write


def said(value: Any, folder: Path) -> Any:
    """A path as it is used; anything else as it is."""
    return folder / value if isinstance(value, str) and value in ("kept", "cases") else value


# The table


def test_the_documentation_has_the_table_of_the_code():
    page = (ROOT / "docs/reference/configuration.md").read_text("utf-8")
    rows = [
        " | ".join(
            [
                f"| `{one.name}`" if one.is_argument else "| (none)",
                f"`{one.variable}`" if one.variable else "(none)",
                f"`{one.key}`" if one.key else "(none)",
                one.kind.words,
                "none" if one.default in (None, ()) else f"`{shown(one.default)}`",
                f"{one.means} |",
            ]
        )
        for one in TABLE
    ]

    section = page.split("## Settings\n")[1].split("\n## ")[0]
    written = [line for line in section.splitlines() if line.startswith("|")]
    assert written[2:] == rows


def test_configure_takes_what_the_table_says_and_nothing_else():
    arguments = set(inspect.signature(agenttrace.configure).parameters)

    assert arguments == {setting.name for setting in TABLE if setting.is_argument}


def test_the_recorder_has_the_defaults_of_the_table():
    settings = Settings()
    # Nothing is removed from a folder that no configuration speaks of.
    kept = {"keep_days", "keep_bytes"}

    ours = {name: getattr(settings, name) for name in BY_NAME if hasattr(settings, name)}
    assert ours.keys() > kept
    assert {n: v for n, v in ours.items() if n not in kept} == {
        name: BY_NAME[name].default for name in ours if name not in kept
    }


def test_every_variable_that_the_code_reads_is_in_the_table():
    known = {setting.variable for setting in TABLE}
    used = set()
    for path in (ROOT / "src").rglob("*.py"):
        used |= set(re.findall(rf"{PREFIX}[A-Z][A-Z_]*[A-Z]", path.read_text("utf-8")))

    assert used - known == set()


def test_every_setting_has_another_value_in_these_tests():
    assert set(OTHER) == {setting.name for setting in WITH_VARIABLE}


# Precedence


@pytest.mark.parametrize("setting", WITH_VARIABLE, **by_name)
def test_a_variable_is_read(setting, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, value = OTHER[setting.name]

    found = resolve({}, environ={setting.variable: text})

    assert found[setting.name] == said(value, tmp_path) != setting.default
    assert (found.origin(setting.name), found.problems) == (setting.variable, [])


@pytest.mark.parametrize("setting", [one for one in WITH_VARIABLE if one.key], **by_name)
def test_the_project_file_is_read(setting, project):
    text, value = OTHER[setting.name]
    written = f'"{text}"' if isinstance(value, str) or "i" in text.lower() else text
    written = {"on": "true", "2GB": '"2GB"', "false": "false", "true": "true"}.get(text, written)
    written = str(list(value)) if isinstance(value, tuple) else written
    folder = project(f"[tool.agenttrace]\n{setting.name} = {written}\n")

    found = resolve({}, environ={}, directory=folder)

    assert found[setting.name] == said(value, folder)
    assert found.origin(setting.name) == str(folder / "pyproject.toml")
    assert found.problems == []


def test_arguments_come_before_variables_before_the_project_before_defaults(project):
    folder = project("[tool.agenttrace]\nidle_s = 3\nexit_s = 3\nmemory_records = 3\n")
    environ = {"AGENTTRACE_IDLE_S": "2", "AGENTTRACE_EXIT_S": "2"}

    found = resolve({"idle_s": 1}, environ=environ, directory=folder)

    names = ("idle_s", "exit_s", "memory_records", "memory_records_without_file")
    assert [found[name] for name in names] == [1, 2, 3, 50_000]
    assert [found.origin(name).rpartition("/")[2] for name in names] == [
        "argument",
        "AGENTTRACE_EXIT_S",
        "pyproject.toml",
        "default",
    ]


@pytest.mark.parametrize(
    ("environ", "enabled", "origin"),
    [
        ({"OTEL_SDK_DISABLED": "true"}, False, "OTEL_SDK_DISABLED"),
        ({"OTEL_SDK_DISABLED": "TRUE"}, False, "OTEL_SDK_DISABLED"),
        ({"OTEL_SDK_DISABLED": "1"}, True, "default"),
        ({"OTEL_SDK_DISABLED": "true", "AGENTTRACE_ENABLED": "1"}, True, "AGENTTRACE_ENABLED"),
        ({"AGENTTRACE_ENABLED": ""}, True, "default"),
    ],
    ids=str,
)
def test_the_standard_switch_counts_where_nothing_of_ours_says_more(
    environ, enabled, origin, tmp_path
):
    found = resolve({}, environ=environ, directory=tmp_path)

    assert (found["enabled"], found.origin("enabled")) == (enabled, origin)


def test_the_nearest_project_file_counts_whatever_it_says(project):
    folder = project("[tool.agenttrace]\nsample = 0.5\n")
    inner = folder / "package" / "deep"
    inner.mkdir(parents=True)

    assert resolve({}, environ={}, directory=inner)["sample"] == 0.5

    (inner.parent / "pyproject.toml").write_text("[project]\nname = 'package'\n")

    assert resolve({}, environ={}, directory=inner)["sample"] == 1.0


def test_paths_of_a_project_file_are_below_its_folder(project):
    folder = project('[tool.agenttrace]\nevidence = "kept"\ncases = "cases"\n')
    (folder / "inner").mkdir()

    found = resolve({}, environ={}, directory=folder / "inner")

    assert (found["evidence"], found["cases"]) == (folder / "kept", folder / "cases")


@pytest.mark.parametrize(
    ("text", "evidence"), [("0", False), ("off", False), ("FALSE", False), ("./0", "0")]
)
def test_evidence_may_be_switched_off_by_text(text, evidence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    found = resolve({}, environ={"AGENTTRACE_EVIDENCE": text})["evidence"]

    assert found == (tmp_path / evidence if evidence else False)


@pytest.mark.parametrize("name", ["keep_days", "keep_bytes"])
@pytest.mark.parametrize("text", ["false", "off", "no"])
def test_false_is_no_limit(name, text, tmp_path):
    variable = BY_NAME[name].variable

    assert resolve({}, environ={variable: text}, directory=tmp_path)[name] is None
    assert resolve({name: False}, environ={}, directory=tmp_path)[name] is None


def test_a_current_folder_that_is_gone_changes_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    found = resolve({}, environ={})

    assert (found["sample"], found.problems) == (1.0, [])
    assert not os.path.isabs(found["evidence"])  # noqa: PTH117


# What cannot be used


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("AGENTTRACE_ENABLED", "maybe"),
        ("AGENTTRACE_SAMPLE", "1.5"),
        ("AGENTTRACE_SAMPLE", "nan"),
        ("AGENTTRACE_SAMPLE", "half"),
        ("AGENTTRACE_IDLE_S", "0"),
        ("AGENTTRACE_IDLE_S", "inf"),
        ("AGENTTRACE_EXIT_S", "-1"),
        ("AGENTTRACE_EXIT_S", "1e300"),
        ("AGENTTRACE_MEMORY_RECORDS", "many"),
        ("AGENTTRACE_MEMORY_RECORDS", "0"),
        ("AGENTTRACE_MEMORY_BYTES", "9" * 400),
        ("AGENTTRACE_MEMORY_BYTES", "5 parsecs"),
        ("AGENTTRACE_KEEP_DAYS", "0"),
        ("AGENTTRACE_KEEP_BYTES", "0"),
        ("AGENTTRACE_STRICT", "true"),
    ],
)
def test_a_variable_that_cannot_be_used_is_passed_over_and_named(variable, text, tmp_path):
    found = resolve({}, environ={variable: text}, directory=tmp_path)

    name = variable.removeprefix(PREFIX).lower()
    assert (found[name], found.origin(name)) == (BY_NAME[name].default, "default")
    (problem,) = found.problems
    assert variable in problem.message
    assert text[:40] in problem.message


@pytest.mark.parametrize(
    "line",
    [
        'enabled = "yes"',
        "sample = true",
        "sample = -0.1",
        "evidence = 3",
        "evidence = []",
        "memory_records = 1.5",
        "memory_records = true",
        'idle_s = "5"',
        "idle_s = 1979-05-27",
        "keep_days = { days = 3 }",
        f"exit_s = {'9' * 400}",
    ],
)
def test_a_key_that_cannot_be_used_is_passed_over_and_named(line, project):
    folder = project(f"[tool.agenttrace]\n{line}\nmemory_records_without_file = 7\n")

    found = resolve({}, environ={}, directory=folder)

    name = line.partition(" ")[0]
    assert found.origin(name) == "default"
    assert found["memory_records_without_file"] == 7
    (problem,) = found.problems
    assert f"{name} in [tool.agenttrace] of {folder / 'pyproject.toml'}" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "[tool.agenttrace\n",
        "tool = 3\n",
        "[tool]\nagenttrace = 'on'\n",
        "x = " + "[" * 100_000,
        "\N{BYTE ORDER MARK}[tool.agenttrace]\n",
    ],
    ids=["syntax", "tool", "agenttrace", "deep", "mark"],
)
def test_a_project_file_that_cannot_be_used_is_one_problem(text, project):
    found = resolve({}, environ={}, directory=project(text))

    (problem,) = found.problems
    assert "pyproject.toml" in problem.message
    assert all(one.origin == "default" for one in found.settings.values())


def test_a_project_file_that_is_no_text_is_one_problem(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[tool.agenttrace]")

    assert len(resolve({}, environ={}, directory=tmp_path).problems) == 1


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("AGENTTRACE_SAMPL", "Did you mean AGENTTRACE_SAMPLE?"),
        ("AGENTTRACE_IDLE", "Did you mean AGENTTRACE_IDLE_S?"),
        ("AGENTTRACE_QQQ", "Known are: AGENTTRACE_ENABLED"),
    ],
)
def test_an_unknown_variable_is_named_with_the_nearest_one(name, near, tmp_path):
    (problem,) = resolve({}, environ={name: "a-secret"}, directory=tmp_path).problems

    assert name in problem.message
    assert near in problem.message
    assert "a-secret" not in problem.message


def test_an_unknown_key_is_named_with_the_nearest_one(project):
    folder = project('[tool.agenttrace]\nkeep-days = 3\nstrict = true\nexporter = "x"\n')

    problems = resolve({}, environ={}, directory=folder).problems

    assert [problem.name for problem in problems] == ["exporter", "keep-days", "strict"]
    assert "Did you mean keep_days?" in problems[1].message


def test_a_key_in_the_project_file_is_not_used_and_not_shown(project):
    found = resolve({}, environ={}, directory=project('[tool.agenttrace]\nkey = "hunter2-hunter2"'))

    (problem,) = found.problems
    assert (found["key"], "AGENTTRACE_KEY" in problem.message) == (None, True)
    assert "hunter2" not in problem.message


def test_a_secret_is_not_shown(tmp_path):
    found = resolve({"key": "hunter2-hunter2-hunter2"}, environ={}, directory=tmp_path)

    assert found.settings["key"].state == "set, not shown (argument)"


@pytest.mark.parametrize("setting", [one for one in TABLE if one.is_argument], **by_name)
def test_an_argument_of_a_foreign_type_is_refused(setting, tmp_path):
    class Foreign:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(ConfigurationError, match=rf"configure\({setting.name}=Foreign\) takes"):
        resolve({setting.name: Foreign()}, environ={}, directory=tmp_path)
