from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.cli import main


@pytest.fixture
def findings(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run() -> dict[tuple[str, str], dict[str, Any]]:
        main(["doctor", "--json"])
        found = json.loads(capsys.readouterr().out)
        return {(one["section"], one["name"]): one for one in found["findings"]}

    return run


def test_doctor_says_what_is_installed_and_hooked(findings):
    found = findings()

    assert found["versions", "opentelemetry-sdk"]["ok"] is True
    assert ("extras", "yaml") in found
    assert ("libraries", "openai") in found
    assert ("tracing", "TracerProvider") in found
    assert ("masking", "key") in found


def test_doctor_shows_no_secret_of_the_otlp_configuration(findings, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret-token")

    found = findings()

    assert found["OTLP", "OTEL_EXPORTER_OTLP_ENDPOINT"]["state"] == "http://localhost:4318"
    assert "secret-token" not in json.dumps(list(found.values()))


def test_doctor_makes_no_folder(findings, tmp_path: Path):
    assert findings()["local evidence", "folder"]["ok"] is True
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_where_evidence_cannot_be_written(findings, tmp_path: Path):
    (tmp_path / ".agenttrace").write_text("a file where the folder should be")

    found = findings()["local evidence", "folder"]

    assert found["ok"] is False
    assert "is not writable" in found["state"]


def test_doctor_prints_a_section_a_line_for_people(capsys: pytest.CaptureFixture[str]):
    main(["doctor"])

    out = capsys.readouterr().out
    assert out.startswith("versions\n  ok   agenttrace: ")
    assert "\n\nextras\n" in out


def test_doctor_shows_each_setting_and_where_it_came_from(findings, monkeypatch, tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text("[tool.agenttrace]\nkeep_days = 7\n")
    monkeypatch.setenv("AGENTTRACE_SAMPLE", "0.5")

    found = findings()

    def state(name: str) -> str:
        return found["settings", name]["state"]

    assert state("sample") == "0.5 (AGENTTRACE_SAMPLE)"
    assert state("keep_days") == f"7 ({tmp_path / 'pyproject.toml'})"
    assert state("idle_s") == "5 (default)"
    assert state("evidence") == f"{(tmp_path / '.agenttrace/runs').as_posix()} (default)"


def test_doctor_names_what_was_passed_over_and_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 0

    monkeypatch.setenv("AGENTTRACE_SAMPL", "0.5")

    assert main(["doctor"]) == 1
    assert "  FAIL AGENTTRACE_SAMPL: " in capsys.readouterr().out


def test_doctor_shows_no_key(findings, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_KEY", "hunter2-hunter2-hunter2")

    found = findings()

    assert found["settings", "key"]["state"] == "set, not shown (AGENTTRACE_KEY)"
    assert "hunter2" not in json.dumps(list(found.values()))


def test_doctor_looks_at_the_configured_folder(findings, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("AGENTTRACE_EVIDENCE", str(tmp_path / "kept"))
    assert str(tmp_path / "kept") in findings()["local evidence", "folder"]["state"]

    monkeypatch.setenv("AGENTTRACE_EVIDENCE", "off")
    assert findings()["local evidence", "folder"]["ok"] is None
