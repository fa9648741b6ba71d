"""Settings that hide values: one that cannot be used must not show what was to be hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenttrace.errors import ConfigurationError
from agenttrace.redaction import Redactor
from agenttrace.settings import BY_NAME, masking_of, resolve


@pytest.fixture
def project(tmp_path: Path):
    def write(text: str) -> Path:
        (tmp_path / "pyproject.toml").write_text(text, "utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("text", ["digest", "DIGEST", "Digest", " digest "])
def test_content_counts_in_any_case(text, project):
    folder = project(f'[tool.agenttrace]\ncontent = "{text}"\n')

    in_file = resolve({}, environ={}, directory=folder)
    in_variable = resolve({}, environ={"AGENTTRACE_CONTENT": text}, directory=folder.parent)

    assert [in_file["content"], in_variable["content"]] == ["digest", "digest"]
    assert [*in_file.problems, *in_variable.problems] == []


@pytest.mark.parametrize("text", ["digests", "none", "off", "0", "-"])
def test_for_a_content_that_nobody_knows_the_strictest_is_taken(text, project):
    folder = project('[tool.agenttrace]\ncontent = "values"\n')
    environ = {"AGENTTRACE_CONTENT": text}

    found = resolve({}, environ=environ, directory=folder)

    (problem,) = found.problems
    assert (found["content"], found.origin("content")) == ("digest", "AGENTTRACE_CONTENT")
    assert "`digest`, the strictest, was taken" in problem.message
    assert repr(text) in problem.message
    assert resolve({"content": "values"}, environ=environ, directory=folder)["content"] == "values"


@pytest.mark.parametrize("value", ['"digests"', "false", "3", '["digest"]', '""'])
def test_for_a_content_in_the_project_that_nobody_knows_the_strictest_is_taken(value, project):
    found = resolve({}, environ={}, directory=project(f"[tool.agenttrace]\ncontent = {value}\n"))

    assert (found["content"], len(found.problems)) == ("digest", 1)


NO_NAMES = ["_", "-._ ", "[]", "", "  ", "\u00a0", "x" * 129]
NO_PATHS = ["answer", "", "/**", "/a/**/b", "/~2"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        *(("mask_fields", ["account_ref", "born"], each) for each in NO_NAMES),
        *(("mask_fields", ["account_ref"], each) for each in (1, None, ["x"])),
        *(("mask_paths", ["/profile/*/answer", "/a/b"], each) for each in NO_PATHS),
        *(("mask_paths", ["/a"], each) for each in (1, None, ["/x"])),
    ],
)
def test_of_a_list_in_the_project_one_bad_entry_is_named_and_the_others_count(
    name, good, bad, project, monkeypatch
):
    table = {"tool": {"agenttrace": {name: [good[0], bad, *good[1:]]}}}
    monkeypatch.setattr("agenttrace.settings._resolve.tomllib.loads", lambda text: table)

    found = resolve({}, environ={}, directory=project(""))

    (problem,) = found.problems
    assert found[name] == tuple(good)
    assert repr(bad)[:60] in problem.message
    assert "the rest is used" in problem.message
    with pytest.raises(ConfigurationError, match=rf"configure\({name}=list\) takes"):
        resolve({name: [good[0], bad]}, environ={}, directory=project(""))


@pytest.mark.parametrize(
    ("name", "text", "used"),
    [
        ("mask_fields", "account_ref, _, born", ("account_ref", "born")),
        ("mask_paths", "profile/answer, /a, /**", ("/a",)),
        ("mask_fields", "_", ("of_the_project",)),
        ("mask_paths", "/**", ("/of/the/project",)),
    ],
)
def test_of_a_list_in_a_variable_the_good_entries_count(name, text, used, project):
    folder = project(
        '[tool.agenttrace]\nmask_fields = "of_the_project"\nmask_paths = ["/of/the/project"]\n'
    )

    found = resolve({}, environ={BY_NAME[name].variable: text}, directory=folder)

    assert (found[name], len(found.problems)) == (used, 1)


@pytest.mark.parametrize("name", ["account_ref", "Born On", "ü", "x" * 128, "a.b", "[x]", "$"])
def test_every_name_that_is_taken_masks_its_field(name, tmp_path):
    resolved = resolve({"mask_fields": [name]}, environ={}, directory=tmp_path)

    redactor = Redactor(b"k" * 32, **masking_of(resolved))

    assert redactor.group_of(name) is not None
    assert all(redactor.group_of(other) is None for other in NO_NAMES)
